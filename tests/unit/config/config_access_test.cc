#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "unit/config/config_fixture.h"

// Who may do what, and TLS.

namespace wardmote::config {
namespace {

TEST(Config, ReadsWhoMayDoWhat) {
  const auto config = parse(R"(
api:
  listen: 10.0.0.1:9470
  tokens: [{name: grafana, role: viewer, file: /etc/wardmote/grafana.token}]
  groups: {wheel: admin, 500: operator}
  hosts: [Ctl-1.Example.NET]
checks: [{name: a, other: {}}]
)");
  ASSERT_TRUE(config);
  using serve::Role;
  EXPECT_EQ(config->api.anonymous, Role::kNone) << "not on the loopback";
  ASSERT_EQ(config->api.tokens.size(), 1U);
  EXPECT_EQ(config->api.tokens[0].name, "grafana");
  EXPECT_EQ(config->api.tokens[0].role, Role::kViewer);
  EXPECT_EQ(config->api.tokens[0].file, "/etc/wardmote/grafana.token");
  EXPECT_EQ(config->api.groups,
            (std::map<std::string, Role>{{"wheel", Role::kAdmin}, {"500", Role::kOperator}}));
  EXPECT_EQ(config->api.hosts, Lines{"ctl-1.example.net"});
  const auto open = parse("api: {listen: \"[::1]:1\"}\nchecks: [{name: a, other: {}}]\n");
  ASSERT_TRUE(open);
  EXPECT_EQ(open->api.anonymous, Role::kViewer);
}

TEST(Config, RefusesRolesThatNobodyCanHave) {
  EXPECT_EQ(
      complaints(R"(
api:
  anonymous: admin
  tokens:
    - {name: a, role: none, file: a.token}
    - {name: a, file: /a}
  groups: {wheel: root}
  hosts: ["http://x:1"]
checks: [{name: a, other: {}}]
)"),
      (Lines{
          "3:3: api: it says not where to serve; give 'listen', 'socket' or both, or remove it",
          "3:14: anonymous: 'admin' is no role here; write none, viewer",
          "5:23: role: 'none' is no role here; write viewer, operator, admin",
          "5:35: file 'a.token': not an absolute path; begin it with '/'",
          "6:7: name 'a': already used in line 5; choose another name",
          "6:7: token 2: no 'role'; add 'role: viewer'",
          "7:19: group 'wheel': 'root' is no role here; write viewer, operator, admin",
          "8:11: 'http://x:1': not a host name; write the name alone, without scheme and port"}));
}

TEST(Config, GivesTlsToTheMembersThatAreAskedByIt) {
  const auto config = parse(
      R"(api: {listen: "[::]:9470", tls: {certificate: /t/api.pem, key: /t/api.key, client_ca: /t/ca.pem}, certificates: {"cn:ops": operator}}
clusters:
  - name: nb
    ovn:
      database: OVN_Northbound
      members:
        - {name: a, ovsdb: "unix:/run/ovn/ovnnb_db.sock"}
        - {name: b, ovsdb: "ssl:10.0.0.2:6641"}
      tls: {ca: /t/cacert, certificate: /t/cert, key: /t/key}
)");
  ASSERT_TRUE(config.has_value());
  const runtime::TlsSettings ovn{.ca = "/t/cacert",
                                 .certificate = "/t/cert",
                                 .key = "/t/key",
                                 .trust = runtime::TlsSettings::Trust::kChain};
  const std::vector<Member>& members = config->clusters.front().members;
  EXPECT_EQ(members[0].ovsdb->tls, nullptr);
  EXPECT_EQ(*members[1].ovsdb, runtime::Endpoint::tls_over_tcp("10.0.0.2", 6641, ovn));
  EXPECT_EQ(config->api.certificates.at("cn:ops"), serve::Role::kOperator);
  EXPECT_EQ(*config->api.listen,
            runtime::Endpoint::tls_over_tcp(
                "::", 9470, {.ca = "/t/ca.pem", .certificate = "/t/api.pem", .key = "/t/api.key"}));
}

TEST(Config, RefusesRolesByCertificatesThatNobodyChecks) {
  const std::string check = "\nchecks: [{name: a, fake: {target: /x}}]\n";
  const std::string tls = "tls: {certificate: /c, key: /k, client_ca: /ca}";
  EXPECT_EQ(complaints("api: {listen: 10.0.0.1:1, certificates: {\"cn:a\": viewer}}" + check),
            (Lines{"1:41: certificates: nothing says which authority to believe; add 'client_ca: "
                   "/etc/wardmote/tls/clients.pem' to 'tls'"}));
  EXPECT_EQ(
      complaints("api: {listen: 10.0.0.1:1, certificates: {a: viewer}, " + tls + "}" + check),
      (Lines{
          "1:42: certificate 'a': it does not say which name is meant; begin it with one of cn:, "
          "dns:, ip:, uri:, email:"}));
  EXPECT_EQ(
      complaints("api: {listen: 10.0.0.1:1, certificates: {\"cn:a\": root}, " + tls + "}" + check)
          .size(),
      1U);
}

TEST(Config, RefusesTlsThatIsNotWhole) {
  const std::string members =
      "clusters: [{name: nb, ovn: {database: OVN_Northbound, members: [{name: a, ovsdb: ";
  EXPECT_EQ(complaints(members + "\"ssl:h:1\"}], tls: {certificate: /c}}}]\n"),
            (Lines{"1:100: tls: no 'ca'; add 'ca: /etc/wardmote/tls/ca.pem'",
                   "1:100: tls: 'certificate' and 'key' go together; give both or neither"}));
  EXPECT_EQ(complaints(members + "\"ssl:h:1\"}], tls: {ca: ca.pem}}}]\n").size(), 1U);
  EXPECT_EQ(complaints(members + "\"tcp:h:1\"}], tls: {ca: /ca.pem}}}]\n").size(), 1U)
      << "a key that nothing uses is a mistake";
  EXPECT_EQ(complaints("api: {socket: /s, tls: {certificate: /c, key: /k}}\n"
                       "checks: [{name: a, fake: {target: /x}}]\n")
                .size(),
            1U);
}

}  // namespace
}  // namespace wardmote::config
