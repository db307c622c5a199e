#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <string>
#include <string_view>

#include "cli/render/agent.h"
#include "cli/render/cluster.h"
#include "cli/render/fields.h"
#include "cli/render/findings.h"
#include "cli/render/incidents.h"
#include "cli/render/plans.h"
#include "cli/render/samples.h"
#include "cli/render/style.h"
#include "cli/render/words.h"
#include "unit/cli/fixture.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

constexpr Style kPlain{.color = false};
constexpr Style kColour{.color = true};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(ClusterTable, ShowsEveryMembersOwnOpinionSideBySide) {
  // The layout of product.md 4.3.
  EXPECT_EQ(draw_cluster_head(api_answer("cluster-stale-member.json"), kPlain),
            "ovn-sb  OVN_Southbound  cluster 84d0  CRITICAL  1 of 3 members disagrees\n"
            "MEMBER  ADDRESS               SEES-LEADER  ROLE      TERM  LOG          MATCH  "
            "LAST-MSG  PEERS(out/in)  VERDICT\n"
            "cp1     ssl:10.200.1.11:6644  7770         leader    41    [8120,9031]  -      -      "
            "   2/1            ok\n"
            "cp2     ssl:10.200.1.12:6644  7770         follower  41    [8120,9031]  9030   104ms  "
            "   1/1            ok\n"
            "cp3     ssl:10.200.1.14:6644  none         follower  40    [1,2]        -      -      "
            "   1/0            "
            "fail: joining, known to others as e85f\n");
}

TEST(ClusterTable, FindingsComeWithAdviceThatCanBeCopied) {
  EXPECT_EQ(
      draw_findings(api_answer("cluster-stale-member.json").at("findings").as_array(), kPlain),
      "CRITICAL RAFT_STALE_MEMBER  for 3m12s  e85f is listed at ssl:10.200.1.14:6644 but 5b4b "
      "answers there\n"
      "  do: remove the dead server; the cluster keeps its quorum without it\n"
      "      on cp1: ovn-appctl -t /run/ovn/ovnsb_db.ctl cluster/kick OVN_Southbound e85f\n");
}

TEST(ClusterTable, WhatTheAgentRepairsJustNowStandsBesideItsFindings) {
  const json::value plans = json::parse(R"({"plans":[
      {"id":3,"state":"running","summary":"kick ab12 from ovn-sb","cluster":"ovn-sb","reason":null,
       "steps":[{"kind":"recheck","state":"done"},{"kind":"kick","state":"begun"}]},
      {"id":4,"state":"proposed","summary":"kick cd34 from ovn-nb","cluster":"ovn-nb",
       "reason":"waits for an approval","steps":[]}]})");
  const std::string third = "plan 3 is running: kick ab12 from ovn-sb (kick begun)\n";
  const std::string see = "See 'wardmote get plans'.\n";
  EXPECT_EQ(draw_open_plans(Fields(plans), "ovn-sb", kPlain), "\n" + third + see);
  EXPECT_EQ(
      draw_open_plans(Fields(plans), "", kPlain),
      "\n" + third + "plan 4 is proposed: kick cd34 from ovn-nb (waits for an approval)\n" + see);
  EXPECT_EQ(draw_open_plans(Fields(plans), "other", kPlain), "");
}

TEST(ClusterTable, WhatPausesTheRepairsStandsBesideTheFindings) {
  const json::value plans = json::parse(R"({"plans":[],"pauses":[
      {"scope":"all","by":"the agent: an older copy","until":null},
      {"scope":"ovn-nb","by":"ann","until":"2026-11-30T12:00:00Z"}]})");
  const std::string all = "Paused: all by the agent: an older copy until somebody resumes\n";
  const std::string one = "Paused: ovn-nb by ann until 2026-11-30T12:00:00Z\n";
  const std::string see = "See 'wardmote get plans'.\n";
  EXPECT_EQ(draw_open_plans(Fields(plans), "", kPlain), "\n" + all + one + see);
  EXPECT_EQ(draw_open_plans(Fields(plans), "ovn-sb", kPlain), "\n" + all + see);
}

TEST(ClusterTable, ConditionsInsideTheirWindowAreShownAsSeen) {
  const json::value observed = json::parse(
      R"([{"code":"RAFT_MEMBER_DOWN","subject":"cp2","since":"2026-11-20T09:12:43.125Z","due_ms":1300}])");
  EXPECT_EQ(draw_observed(observed.as_array(), kPlain),
            "SEEN RAFT_MEMBER_DOWN  cp2  a finding in 1.3s if it lasts\n");
}

TEST(ClusterTable, SilentMembersAreNotSaidToDisagree) {
  const json::value status = api_answer("status.json");
  const std::string drawn = draw_cluster_head(status.at("clusters").at(0), kPlain);
  EXPECT_TRUE(has(drawn, "CRITICAL  2 of 3 members do not answer, 1 of 3 members disagrees\n"))
      << drawn;
  EXPECT_TRUE(has(drawn, "fail: connect /run/ovn/ovnnb_db.ctl: refused\n")) << drawn;
  EXPECT_TRUE(has(drawn, "unknown: no answer in 900 ms\n")) << drawn;
}

TEST(ClusterTable, ColourOnlyRepeatsWhatTheWordsSay) {
  const json::value cluster = api_answer("cluster-stale-member.json");
  const std::string coloured = draw_cluster(cluster, kColour);
  std::string stripped;
  for (std::size_t i = 0; i < coloured.size();) {
    if (coloured[i] == '\x1b') {
      i = coloured.find('m', i) + 1;
    } else {
      stripped += coloured[i++];
    }
  }
  EXPECT_NE(coloured, stripped);
  EXPECT_EQ(stripped, draw_cluster(cluster, kPlain));
}

TEST(ClusterTable, TextFromPeersCannotDriveTheTerminal) {
  json::value cluster = api_answer("cluster-stale-member.json");
  json::object& member = cluster.at("members").at(0).as_object();
  member["address"] = "\x1b]0;owned\x07";
  member["role"] = "leader\nfake line";
  cluster.as_object()["cluster"] = "a\u202eb";
  cluster.at("findings").at(0).as_object()["summary"] = "x\x1b[2Jy";
  const std::string drawn = draw_cluster(cluster, kPlain);
  EXPECT_EQ(drawn.find('\x1b'), std::string::npos);
  EXPECT_EQ(drawn.find('\x07'), std::string::npos);
  EXPECT_TRUE(has(drawn, "leader\\nfake line")) << drawn;
  EXPECT_TRUE(has(drawn, "a\\u{202e}b")) << drawn;
}

TEST(ClusterTable, AnAnswerOfTheWrongShapeIsShownAsUnknown) {
  for (const char* text :
       {"null", "[]", "{}", R"({"members":[1,null,"x",{}],"findings":[[]],"verdict":7})",
        R"({"members":[{"log":["a"],"connections":[1],"servers":{},"term":-1.5}]})",
        R"({"members":[{"log":[1e300,1.5],"term":1e300}],"observed":[{}, 1, {"due_ms":"x"}]})"}) {
    EXPECT_TRUE(has(draw_cluster(json::parse(text), kPlain), "UNKNOWN")) << text;
  }
}

TEST(AgentScreen, HasTheAgentItsClustersChecksAndGates) {
  const std::string drawn = draw_agent(api_answer("status.json"), kPlain);
  EXPECT_TRUE(
      drawn.starts_with("ctl-1  wardmote 0.1.0  CRITICAL  1 cluster, 1 check  up 4h03m\n"
                        "the agent itself is degraded: a timer was 812 ms late\n"))
      << drawn;
  EXPECT_TRUE(
      has(drawn, "\nCRITICAL RAFT_NO_QUORUM  for 1m04s  1 of 3 voters is alive, 2 are needed\n"))
      << drawn;
  EXPECT_TRUE(has(drawn,
                  "\nCHECK    KIND  STATE      FOR    LAST-LOOK  TOOK  REASON\n"
                  "db-port  tcp   error 2/3  10.0s  400ms ago  2ms   tcp:10.0.0.5:6641: refused\n"))
      << drawn;
  EXPECT_TRUE(has(drawn,
                  "\nGATE   STATE      HELD-BY\n"
                  "live   ready      -\n"
                  "ready  not ready  ovn-nb, db-port\n"))
      << drawn;
}

// One that flaps and is calm, or one of another node.
TEST(AgentScreen, SaysThatItIsBadForAnIncidentWhenNothingFailsHere) {
  json::value status = json::parse(
      R"({"incidents": {"open": 1}, "checks": [{"name": "a", "exit_code": 0}, {"name": "b", "exit_code": 0}]})");
  const std::string hint =
      "\nan incident is open: no check fails here now, 'wardmote get incidents' says why\n";
  EXPECT_TRUE(has(draw_agent(status, kPlain), hint)) << draw_agent(status, kPlain);
  status.at("checks").at(1).as_object()["exit_code"] = 1;
  EXPECT_FALSE(has(draw_agent(status, kPlain), hint));
  status.at("checks").at(1).as_object()["exit_code"] = 0;
  status.at("incidents").as_object()["open"] = 0;
  EXPECT_FALSE(has(draw_agent(status, kPlain), hint));
}

TEST(AgentScreen, SaysThatAConfigurationWasRefusedAndWhy) {
  const json::value status = json::parse(
      R"({"config": {"refused": {"at": "2027-01-15T08:00:00.000Z", "problems": ["a.yaml:1:1: bad", "a.yaml:2:1: worse"]}}})");
  EXPECT_TRUE(
      has(draw_agent(status, kPlain),
          "\na new configuration was refused at 2027-01-15T08:00:00.000Z; the one before it "
          "runs on:\n  a.yaml:1:1: bad\n  a.yaml:2:1: worse\n"));
}

TEST(SamplesTable, HasALineForEachSpanAndOfRaftMembersTheirLogs) {
  const json::value shown = json::parse(R"({"subject":"nb/ctl-2","stored":true,"subjects":null,
    "series":[
      {"measure":"good","samples":[{"at":"2027-01-15T08:00:00.000Z","count":60,"sum":57,"min":0,"max":1}]},
      {"measure":"log_entries","samples":[{"at":"2027-01-15T08:00:00.000Z","count":60,"sum":60000,"min":900,"max":1100}]},
      {"measure":"took_us","samples":[
        {"at":"2027-01-15T08:00:00.000Z","count":60,"sum":90000,"min":1000,"max":12345},
        {"at":"2027-01-15T08:01:00.000Z","count":1,"sum":900000,"min":900000,"max":900000}]}]})");
  EXPECT_EQ(
      draw_samples(shown, kPlain),
      "FROM                      LOOKS  GOOD  TOOK      AT MOST   LOG   UNCOMMITTED  UNAPPLIED\n"
      "2027-01-15T08:00:00.000Z  60     95 %  1.5 ms    12.3 ms   1100  -            -\n"
      "2027-01-15T08:01:00.000Z  1      -     900.0 ms  900.0 ms  -     -            -\n");
}

TEST(SamplesTable, SaysWhyThereIsNothing) {
  const auto drawn = [](const char* text) { return draw_samples(json::parse(text), kPlain); };
  EXPECT_TRUE(has(drawn(R"({"stored":false})"), "set 'data'"));
  EXPECT_TRUE(has(drawn(R"({"stored":true,"subject":"x","series":[]})"), "measured of 'x'"));
  EXPECT_TRUE(has(drawn(R"({"stored":true,"subjects":["bird"],"series":[]})"), "bird\n"));
  EXPECT_TRUE(has(drawn(R"({"stored":true,"subjects":[],"series":[]})"), "takes a minute"));
  EXPECT_TRUE(has(drawn(R"([])"), "set 'data'"));
}

TEST(Columns, AreMeasuredAsATerminalShowsThem) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("Zürich"), 6U);
  EXPECT_EQ(display_width("e\u0301"), 1U);  // combining acute accent
  EXPECT_EQ(display_width("控制"), 4U);
  Table table({"A", "B"});
  table.add({{"控制"}, {"x"}});
  table.add({{"abc"}, {""}});
  EXPECT_EQ(table.draw(kPlain), "A     B\n控制  x\nabc   -\n");
}

TEST(ShellLine, SplitsIntoTheSameWords) {
  EXPECT_EQ(shell_line({"ovn-appctl", "-t", "/run/x.ctl", "tcp:[::1]:6643"}),
            "ovn-appctl -t /run/x.ctl 'tcp:[::1]:6643'");
  EXPECT_EQ(shell_line({"echo", "", "it's; rm -rf /", "$HOME"}),
            "echo '' 'it'\\''s; rm -rf /' '$HOME'");
}

TEST(IncidentTable, SaysThatAStormRagesOnlyWhileThereIsOne) {
  const auto drawn = [](const char* incidents) {
    return draw_incidents(
        json::parse(std::string(R"({"acts_frozen": true, "incidents": [)") + incidents + "]}"),
        kPlain);
  };
  EXPECT_TRUE(has(drawn(R"({"id": 1, "phase": "open", "storm": true})"), "A storm is going on"));
  for (const char* const none : {"", R"({"id": 1, "phase": "open", "storm": false})",
                                 R"({"id": 1, "phase": "resolved", "storm": true})"}) {
    EXPECT_FALSE(has(drawn(none), "storm is going on")) << none;
    EXPECT_TRUE(has(drawn(none), "the agent runs no repairs until none")) << none;
  }
}

// With the store away it said that no incident was open, in an outage.
TEST(IncidentTable, WhatMayBeOldIsNotSaidToBeAll) {
  const json::value stale = json::parse(
      R"({"acts_frozen": false, "stale": "the store was not heard for 17s", "incidents": []})");
  EXPECT_EQ(
      draw_incidents(stale, kPlain),
      "No incident is known.\nthis may be old, and not all: the store was not heard for 17s\n");
  EXPECT_EQ(exit_of_incidents(stale), Exit::kUnknown);
  const json::value fresh =
      json::parse(R"({"acts_frozen": false, "stale": null, "incidents": []})");
  EXPECT_EQ(draw_incidents(fresh, kPlain), "No incident is open.\n");
  EXPECT_EQ(exit_of_incidents(fresh), Exit::kGood);
  const json::value begun = json::parse(
      R"({"verdict": "unknown", "acts_frozen": false, "stale": null, "incidents": []})");
  EXPECT_TRUE(draw_incidents(begun, kPlain).contains("Not all that is watched is known"));
  EXPECT_EQ(exit_of_incidents(begun), Exit::kUnknown);
}

}  // namespace
}  // namespace wardmote::cli
