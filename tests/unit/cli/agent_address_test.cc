#include "cli/agent_address.h"

#include <gtest/gtest.h>

namespace wardmote::cli {
namespace {

using runtime::Endpoint;

const Command kCommand{.name = "status", .summary = ""};

Call call(Call::Values values) {
  return Call({&kCommand}, std::move(values));
}

TEST(AgentAddress, IsTheSocketAndThenLoopbackByDefault) {
  const AgentAddress address = agent_address(call({}), "").value();
  EXPECT_EQ(address.endpoints,
            (std::vector<Endpoint>{Endpoint::unix_socket("/run/wardmote/api.sock"),
                                   Endpoint::tcp("127.0.0.1", 9470)}));
  EXPECT_FALSE(address.named);
}

TEST(AgentAddress, AnOptionBeatsTheEnvironment) {
  EXPECT_EQ(agent_address(call({}), "10.0.0.9:80")->endpoints,
            std::vector{Endpoint::tcp("10.0.0.9", 80)});
  EXPECT_EQ(agent_address(call({{"host", {"10.0.0.1:81"}}}), "10.0.0.9:80")->endpoints,
            std::vector{Endpoint::tcp("10.0.0.1", 81)});
  const AgentAddress by_socket =
      agent_address(call({{"socket", {"/x.sock"}}}), "10.0.0.9:80").value();
  EXPECT_EQ(by_socket.endpoints, std::vector{Endpoint::unix_socket("/x.sock")});
  EXPECT_TRUE(by_socket.named);
}

TEST(AgentAddress, TakesWhatPeopleWrite) {
  EXPECT_EQ(parse_agent_host("http://127.0.0.1:9470/"), Endpoint::tcp("127.0.0.1", 9470));
  EXPECT_EQ(parse_agent_host("http://[::1]:9470"), Endpoint::tcp("::1", 9470));
  EXPECT_EQ(parse_agent_host("https://10.0.0.1:9471"),
            Endpoint::tls_over_tcp("10.0.0.1", 9471, {}));
  EXPECT_EQ(parse_agent_host("https://ctl-1.example/"),
            Endpoint::tls_over_tcp("ctl-1.example", 9470, {}));
  EXPECT_EQ(parse_agent_host("ctl-1"), Endpoint::tcp("ctl-1", 9470));
  EXPECT_EQ(parse_agent_host("unix:/run/a.sock"), Endpoint::unix_socket("/run/a.sock"));
  EXPECT_EQ(parse_agent_host("/run/a.sock"), Endpoint::unix_socket("/run/a.sock"));
}

TEST(AgentAddress, SaysWhatIsWrong) {
  for (const char* text : {"", "https:///run/a.sock", "https://10.0.0.1:9470/status",
                           "10.0.0.1:http", "http://10.0.0.1:9470/status"}) {
    EXPECT_FALSE(parse_agent_host(text).has_value()) << text;
  }
  EXPECT_EQ(agent_address(call({{"host", {"a:b"}}}), "").error().code, Errc::kInvalid);
  EXPECT_EQ(agent_address(call({}), "a:b").error().context.substr(0, 14), "WARDMOTE_HOST:");
  EXPECT_EQ(agent_address(call({{"host", {"a"}}, {"socket", {"b"}}}), "").error().context,
            "--socket and --host name two agents");
}

}  // namespace
}  // namespace wardmote::cli
