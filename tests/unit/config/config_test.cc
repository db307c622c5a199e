#include "config/config.h"

#include <gtest/gtest.h>

#include <array>

#include "base/format.h"
#include "net/asio_runtime.h"
#include "unit/config/config_fixture.h"

namespace wardmote::config {
namespace {

constexpr std::string_view kWhole = R"(
node: {name: ctl-1, labels: {zone: a}}
api: {listen: 127.0.0.1:9470, socket: /run/wardmote/api.sock}
clusters:
  - name: ovn-nb
    ovn:
      database: OVN_Northbound
      members:
        - {name: ctl-1, control: /run/ovn/ovnnb_db.ctl, ovsdb: "unix:/run/ovn/ovnnb_db.sock"}
        - {name: ctl-2, ovsdb: "tcp:10.0.0.2:6641"}
      expect: ["tcp:10.0.0.1:6643", "ssl:10.0.0.2:6643", "unix:/run/ovn/nb.raft"]
      gone_after: 30m
      replicas: 3
    every: 1s
    timeout: 900ms
checks:
  - {name: bird, fake: {target: /run/bird.ctl, count: 3, limit: 5s, strict: true, names: [a, b]}, every: 5s,
     timeout: 2s, fall: 4, rise: 5, optional: true, unknown_limit: 30s, start_period: 2m}
gates:
  ready: {all: [bird, ovn-nb]}
)";

TEST(Config, ReadsAWholeFile) {
  const auto config = parse(kWhole);
  ASSERT_TRUE(config) << fmt::format("{}", fmt::join(complaints(kWhole), "\n"));
  EXPECT_EQ(config->node.name, "ctl-1");
  EXPECT_EQ(config->node.labels.at("zone"), "a");
  EXPECT_EQ(config->api.listen, runtime::Endpoint::tcp("127.0.0.1", 9470));
  EXPECT_EQ(config->api.socket, runtime::Endpoint::unix_socket("/run/wardmote/api.sock"));

  ASSERT_EQ(config->clusters.size(), 1U);
  const Cluster& cluster = config->clusters[0];
  EXPECT_EQ(cluster.name, "ovn-nb");
  EXPECT_EQ(cluster.expectation.database, "OVN_Northbound");
  EXPECT_EQ(cluster.expectation.addresses,
            (Lines{"tcp:10.0.0.1:6643", "ssl:10.0.0.2:6643", "unix:/run/ovn/nb.raft"}));
  EXPECT_EQ(cluster.expectation.gone_after, 30min);
  EXPECT_EQ(cluster.expectation.replicas, 3U);
  EXPECT_EQ(cluster.schedule.every, 1s);
  EXPECT_EQ(cluster.schedule.timeout, 900ms);
  ASSERT_EQ(cluster.members.size(), 2U);
  EXPECT_EQ(cluster.members[0].control, runtime::Endpoint::unix_socket("/run/ovn/ovnnb_db.ctl"));
  EXPECT_EQ(cluster.members[0].ovsdb, runtime::Endpoint::unix_socket("/run/ovn/ovnnb_db.sock"));
  EXPECT_EQ(cluster.members[1].control, std::nullopt);
  EXPECT_EQ(cluster.members[1].ovsdb, runtime::Endpoint::tcp("10.0.0.2", 6641));

  ASSERT_EQ(config->checks.size(), 2U);
  EXPECT_EQ(config->checks[0].kind, &cluster_kind()) << "the clusters come first";
  const Check& check = config->checks[1];
  EXPECT_EQ(check.name, "bird");
  EXPECT_EQ(check.kind, &kFakeKinds[0]);
  EXPECT_EQ(std::get<std::string>(check.params.at("target")), "unix:/run/bird.ctl");
  EXPECT_EQ(std::get<std::int64_t>(check.params.at("count")), 3);
  EXPECT_EQ(std::get<Duration>(check.params.at("limit")), 5s);
  EXPECT_TRUE(std::get<bool>(check.params.at("strict")));
  EXPECT_EQ(std::get<Lines>(check.params.at("names")), (Lines{"a", "b"}));
  EXPECT_EQ(check.schedule.policy.fall, 4);
  EXPECT_EQ(check.schedule.policy.rise, 5);
  EXPECT_EQ(check.schedule.policy.unknown_limit, 30s);
  EXPECT_EQ(check.schedule.policy.start_period, 2min);
  EXPECT_TRUE(check.schedule.optional);

  ASSERT_EQ(config->gates.size(), 1U);
  EXPECT_EQ(config->gates[0].all, (Lines{"bird", "ovn-nb"}));
}

TEST(Config, FillsInWhatIsLeftOut) {
  const auto config = parse(R"(
checks:
  - {name: a, other: {}}
  - {name: b, other: {}, optional: true, every: 1s}
)");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->node.name, "");
  EXPECT_EQ(config->api.listen, runtime::Endpoint::tcp("127.0.0.1", 9470)) << "loopback only";
  EXPECT_EQ(config->api.socket, std::nullopt);
  EXPECT_EQ(config->checks[0].schedule.every, 5s);
  EXPECT_EQ(config->checks[0].schedule.timeout, 2s);
  EXPECT_EQ(config->checks[1].schedule.timeout, 900ms) << "never longer than the interval";
  ASSERT_EQ(config->gates.size(), 1U);
  EXPECT_EQ(config->gates[0].name, "ready");
  EXPECT_EQ(config->gates[0].all, Lines{"a"}) << "an optional check holds nothing back";
}

TEST(Config, NamesEveryProblemWithItsPlaceInOneGo) {
  EXPECT_EQ(complaints(R"(checks:
  - name: a
    other: {}
    evry: 1s
  - name: a
    other: {}
    timeout: 2s
    every: 1s
  - name: b
    fake: {count: many}
gates:
  ready: {all: [aa]}
)"),
            (Lines{
                "4:5: unknown key 'evry': check 1 has no such key; did you mean 'every'?",
                "5:11: name 'a': already used in line 2; choose another name",
                "7:14: timeout 2s: longer than every (1s); write at most 1s",
                "10:11: fake: no 'target'; add 'target: ...'",
                "10:19: count 'many': not a whole number; write a whole number without quotes, for "
                "example 3",
                "12:17: 'aa': no check or cluster has this name; did you mean 'a'?",
            }));
}

TEST(Config, RefusesBytesThatAreNotUtf8) {
  EXPECT_EQ(complaints("checks:\n  - {name: ab\xe9, other: {}}"),
            Lines{"2:14: byte 0xe9: not text in UTF-8; save the file as UTF-8 without control "
                  "characters"});
}

TEST(Config, RefusesWrongTypes) {
  EXPECT_EQ(
      complaints("checks: [{name: a, other: {}, optional: yes, fall: '3', every: [1s]}]"),
      (Lines{
          "1:41: optional 'yes': neither true nor false; write true or false without quotes",
          "1:52: fall '3': not a whole number; write a whole number without quotes, for example 3",
          "1:64: every: it is a list, not a duration; write a whole number and ms, s, m or h, for "
          "example 500ms",
      }));
  EXPECT_EQ(
      complaints("- a"),
      Lines{"1:1: the configuration: it is a list, not a map; write 'key: value' lines below it, "
            "or {key: value}"});
  EXPECT_EQ(complaints("checks: 3").size(), 1U);
  EXPECT_EQ(complaints("checks: [3]").size(), 1U);
  EXPECT_EQ(complaints("node: {name: }\nchecks: [{name: a, other: {}}]").size(), 1U);
}

TEST(Config, RefusesBadUnits) {
  EXPECT_EQ(complaints("checks: [{name: a, other: {}, every: 5, timeout: 1sec}]"),
            (Lines{
                "1:38: every '5': no unit; write 5s or 5ms",
                "1:50: timeout '1sec': not a duration; write a whole number and ms, s, m or h, for "
                "example 500ms",
            }));
  EXPECT_EQ(complaints("checks: [{name: a, other: {}, every: 1ms}]"),
            Lines{"1:38: every 1ms: out of range; write 100ms to 24h"});
}

TEST(Config, RefusesTwoMembersThatAreOneProcess) {
  EXPECT_EQ(
      complaints(R"(clusters:
  - name: nb
    ovn:
      database: OVN_Northbound
      members:
        - {name: a, control: /run/nb.ctl, ovsdb: "unix:/run/nb.sock"}
        - {name: b, control: "unix:/run/nb.ctl", ovsdb: /run/nb.sock}
)"),
      (Lines{
          "7:30: socket 'unix:/run/nb.ctl': member 'a' has it already; give every member its own",
          "7:57: socket 'unix:/run/nb.sock': member 'a' has it already; give every member its own",
      }));
}

// Somebody expected three voters and listed two: the third was removed.
TEST(Config, RefusesANumberOfVotersThatTheListContradicts) {
  const auto with = [](std::string_view replicas) {
    return complaints(fmt::format(R"(clusters:
  - name: nb
    ovn:
      database: OVN_Northbound
      members: [{{name: a, control: /run/nb.ctl}}]
      expect: ["tcp:10.0.0.1:6643", "tcp:10.0.0.2:6643"]
      replicas: {}
)",
                                  replicas));
  };
  EXPECT_EQ(with("2"), Lines{});
  EXPECT_EQ(with("3"),
            Lines{"7:17: replicas: 3 voters are expected, and 'expect' lists 2 addresses; correct "
                  "'expect', and leave 'replicas' out: it is their number"});
  EXPECT_EQ(with("1").size(), 1U);
}

TEST(Config, RefusesMembersThatCannotBeAsked) {
  EXPECT_EQ(
      complaints(R"(clusters:
  - name: nb
    ovn:
      database: OVN_NorthBound
      members:
        - {name: a}
        - {name: b, control: {command: []}, ovsdb: {shell: x}}
        - {name: c, control: "tcp:10.0.0.1:1"}
        - {name: d, ovsdb: "ssl:10.0.0.2:6641"}
      expect: [10.0.0.1:6643, "tcp:10.0.0.1:6643", "tcp:10.0.0.1:6643"]
)"),
      (Lines{
          "4:17: database 'OVN_NorthBound': no database of OVN has this name; did you mean "
          "'OVN_Northbound'?",
          "6:9: member 'd': it is asked over ssl:, and nothing says whom to believe; add 'tls: "
          "{ca: "
          "..., certificate: ..., key: ...}' beside 'members'",
          "6:11: member 1: neither 'control' nor 'ovsdb'; add 'control: /run/ovn/ovnnb_db.ctl', "
          "'ovsdb: unix:/run/ovn/ovnnb_db.sock' or both",
          "7:40: command of 'control': not a program and at most 63 arguments; write for example "
          "command: [ssh, ctl-2, ovn-appctl, -t, /run/ovn/ovnnb_db.ctl]",
          "7:52: ovsdb: no 'command'; add 'command: [kubectl, exec, POD, --, ovsdb-client, query, "
          "'unix:/run/ovn/ovnnb_db.sock']'",
          "7:53: unknown key 'shell': ovsdb has no such key; it may have: command",
          "8:30: control: not the absolute path of a unix socket; write for example "
          "/run/ovn/ovnnb_db.ctl",
          "10:16: expect '10.0.0.1:6643': not a raft address; write it as cluster/status does: "
          "tcp:10.0.0.1:6643, ssl:10.0.0.1:6643 or unix:/run/ovn/nb.raft",
          "10:52: expect 'tcp:10.0.0.1:6643': listed twice; remove one",
      }));
}

TEST(Config, KeepsItsDataInAnAbsoluteFolderOnly) {
  const std::string checks = "checks:\n- {name: a, fake: {target: /x}}\n";
  EXPECT_EQ(parse(checks)->data, "");
  EXPECT_EQ(parse("data: /var/lib/wardmote\n" + checks)->data, "/var/lib/wardmote");
  EXPECT_EQ(complaints("data: here\n" + checks),
            (Lines{"1:7: data 'here': not an absolute path; write /var/lib/wardmote"}));
}

TEST(Config, AMemberMayBeAskedByCommands) {
  const config::Config config = *parse(R"(clusters:
  - name: nb
    ovn:
      database: OVN_Northbound
      members:
        - name: b
          control: {command: [ssh, b, ovn-appctl, -T, "1", -t, /run/ovn/ovnnb_db.ctl]}
          ovsdb: {command: [ssh, b, ovsdb-client, query, "unix:/run/ovn/ovnnb_db.sock"]}
        - {name: c, control: /run/ovn/ovnnb_db.ctl, ovsdb: {command: [ssh, c, ovsdb-client, query]}}
)");
  const std::vector<Member>& members = config.clusters[0].members;
  EXPECT_EQ(members[0].control_command,
            (std::vector<std::string>{"ssh", "b", "ovn-appctl", "-T", "1", "-t",
                                      "/run/ovn/ovnnb_db.ctl"}));
  EXPECT_EQ(members[0].ovsdb_command.back(), "unix:/run/ovn/ovnnb_db.sock");
  EXPECT_FALSE(members[0].control || members[0].ovsdb);
  EXPECT_TRUE(members[1].control.has_value());
  EXPECT_EQ(members[1].ovsdb_command.size(), 4U);
}

TEST(Config, RefusesACheckOfNoneOrTwoKinds) {
  EXPECT_EQ(complaints("checks:\n- {name: a}\n- {name: b, other: {}, fake: {target: /x}}\n"),
            (Lines{
                "2:3: check 1: it does not say what to look at; add one of: fake, other",
                "3:20: 'other': this check is of kind 'fake' already; make it a check of its own",
            }));
}

TEST(Config, RefusesAnythingThatWouldWatchNothingAndSayReady) {
  EXPECT_EQ(complaints("node: {name: a}").size(), 1U);
  EXPECT_EQ(complaints("").size(), 1U);
  EXPECT_EQ(complaints("checks: [{name: a, other: {}}]\ngates: {ready: {all: []}}").size(), 1U);
}

TEST(Config, AReporterIsACheckForEachQuality) {
  const auto config = parse(
      "reporters:\n"
      "- {name: felix, timeout: 90s, override: 0s, socket: /run/felix.sock}\n"
      "- {name: typha, reports: [ready], optional: true}\n"
      "gates: {live: {all: [felix.live]}}\n");
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->reporters[0], (Reporter{"felix",
                                            {.timeout = 90s, .override = 0s},
                                            runtime::Endpoint::unix_socket("/run/felix.sock")}));
  EXPECT_EQ(config->reporters[1], (Reporter{"typha", {.live = false, .timeout = 30s}, {}}));
  Lines names;
  for (const Check& check : config->checks) names.push_back(check.name);
  EXPECT_EQ(names, (Lines{"felix.live", "felix.ready", "typha.ready"}));
  EXPECT_EQ(config->gates.back().all, (Lines{"felix.live", "felix.ready"}));
}

TEST(Config, RefusesReportersThatCannotBeTold) {
  const auto of = [](std::string_view reporters) {
    return complaints(fmt::format("reporters: {}", reporters)).size();
  };
  EXPECT_EQ(of("[{name: a, reports: [alive]}]"), 2U);
  EXPECT_EQ(of("[{name: a, reports: []}]"), 1U);
  EXPECT_EQ(of("[{timeout: 1s}]"), 1U);
  EXPECT_EQ(of("[{name: a}, {name: a}]"), 2U) << "a.live and a.ready";
  EXPECT_EQ(of("[{name: a, socket: 127.0.0.1:80}]"), 1U);
  EXPECT_EQ(of("[{name: a, socket: /x}, {name: b, socket: /x}]"), 1U);
  EXPECT_EQ(of("{name: a}"), 1U);
}

constexpr std::string_view kThreeChecks =
    "checks: [{name: a, other: {}}, {name: b, other: {}}, {name: c, other: {}}]\n";

TEST(Config, AGateMayWantEnoughOfSeveral) {
  const auto config = parse(std::string(kThreeChecks) +
                            "gates:\n  ready: {all: [a], at_least: {count: 2, of: [a, b, c]}}\n"
                            "  store: {at_least: {count: 4, of: {a: 3, b: 1}}}\n");
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->gates[0],
            (Gate{"ready", {"a"}, Gate::AtLeast{2, {{"a", 1}, {"b", 1}, {"c", 1}}}}));
  EXPECT_EQ(config->gates[1], (Gate{"store", {}, Gate::AtLeast{4, {{"a", 3}, {"b", 1}}}}));
}

TEST(Config, RefusesANumberThatSaysNothing) {
  const auto of_gate = [](std::string_view gate) {
    return complaints(fmt::format("{}gates: {{ready: {}}}", kThreeChecks, gate));
  };
  EXPECT_EQ(of_gate("{at_least: {count: 0, of: [a]}}"),
            Lines{"2:35: count 0: it would always pass; write 1 to 1"});
  EXPECT_EQ(of_gate("{at_least: {count: 4, of: [a, b, c]}}"),
            Lines{"2:35: count 4: it would never pass: all together update 3; write 1 to 3"});
  EXPECT_EQ(of_gate("{at_least: {count: 2, of: [a, a]}}"),
            Lines{"2:42: 'a': named twice, so it would count twice; remove one, or write {NAME: 2} "
                  "for a weight"});
  EXPECT_EQ(of_gate("{at_least: {count: 1, of: [a, x]}}").size(), 1U);
  EXPECT_EQ(of_gate("{at_least: {count: 1, of: {a: 0}}}").size(), 1U);
  EXPECT_EQ(of_gate("{at_least: {of: [a]}}").size(), 1U);
  EXPECT_EQ(of_gate("{at_least: {count: 1}}").size(), 1U);
  EXPECT_EQ(of_gate("{at_least: {count: 1, of: [a], weight: 2}}").size(), 1U);
  EXPECT_EQ(of_gate("{}").size(), 1U);
}

TEST(Config, ReportsTheSyntaxErrorAndItsPlace) {
  const Lines lines = complaints("checks:\n  - {name: a\n");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].starts_with("3:1: YAML: ")) << lines[0];
}

TEST(Config, RefusesWhatWouldHideThePartOfTheFileThatFollows) {
  EXPECT_TRUE(complaints("checks: [{name: a, other: {}}]\n\x04hidden: 1\n")[0].starts_with(
      "2:1: byte 0x04"));
  EXPECT_TRUE(complaints("checks: [{name: a, other: {}}]\n---\nhidden: 1\n")[0].contains(
      "second document"));
}

TEST(Config, RefusesAnchorsAliasesAndTags) {
  EXPECT_TRUE(
      complaints("checks: &x [{name: a, other: {}}]")[0].contains("anchors are not supported"));
  EXPECT_TRUE(complaints("checks: !!set {}")[0].contains("tags are not supported"));
}

TEST(Config, RefusesAKeyGivenTwice) {
  EXPECT_EQ(complaints("checks:\n- name: a\n  other: {}\n  every: 1s\n  every: 2s\n"),
            Lines{"5:3: key 'every': given before, in line 4; keep one of them"});
}

TEST(Config, CapsSizeAndDepth) {
  EXPECT_TRUE(complaints(std::string(5 << 20, ' '))[0].contains("bytes, more than"));
  EXPECT_TRUE(complaints(std::string(100'000, '['))[0].contains("deeper than"));
  std::string many = "checks:\n";
  for (int i = 0; i < 10'001; ++i) many += fmt::format("- {{name: c{}, other: {{}}}}\n", i);
  EXPECT_EQ(complaints(many),
            Lines{"2:1: checks: not a list of at most 10000 checks; write '- {name: "
                  "..., KIND: {...}}' lines below it"});
}

TEST(Config, ListsAHundredProblemsAndCountsTheRest) {
  std::string many = "checks:\n";
  for (int i = 0; i < 150; ++i) many += fmt::format("- {{name: c{}, other: {{}}, bad: 1}}\n", i);
  const Lines lines = complaints(many);
  ASSERT_EQ(lines.size(), 101U);
  EXPECT_TRUE(lines.back().contains("50 more")) << lines.back();
}

TEST(Config, QuotesHostileTextHarmlessly) {
  const Lines lines = complaints("checks: [{name: \"a\\e[31m\", other: {}}]");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].find('\x1b'), std::string::npos);
}

TEST(Config, LetsTheKindsRefuseParametersThatDoNotGoTogether) {
  net::AsioRuntime runtime;
  const auto config = parse_config(
      "checks:\n- {name: good, ovn: {control: /run/x.ctl}}\n- {name: bad, ovn: {database: X}}\n",
      observe::probe_kinds());
  ASSERT_TRUE(config);
  Problems problems;
  try_probes(*config, runtime, problems);
  const std::vector<Problem> refused = std::move(problems).take();
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_TRUE(describe("f", refused[0]).starts_with("f:3:3: check 'bad': "))
      << describe("f", refused[0]);
}

}  // namespace
}  // namespace wardmote::config
