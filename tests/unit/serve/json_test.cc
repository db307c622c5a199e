#include "serve/json.h"

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "serve/bgp/mesh_view.h"
#include "serve/etcd/etcd_view.h"
#include "serve/failover/pair_view.h"
#include "unit/serve/sample_view.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;

json::object cluster_json(const ClusterView& cluster) {
  return cluster.to_json(sample_agent().moment());
}

TEST(ClusterJson, HoldsWhatEveryMemberSaysSideBySide) {
  const json::object cluster = cluster_json(sample_cluster());
  EXPECT_EQ(cluster.at("cluster"), "ovn-nb");
  EXPECT_EQ(cluster.at("database"), "OVN_Northbound");
  EXPECT_EQ(cluster.at("cluster_id"), "84d0b6ba-2d6f-4c4e-a1ab-9e5e6d1c2f3a");
  EXPECT_EQ(cluster.at("verdict"), "ok");
  EXPECT_EQ(cluster.at("at"), "2027-01-15T07:59:59.800Z");
  EXPECT_EQ(cluster.at("leader"), "ctl-1");
  EXPECT_EQ(cluster.at("quorum"), json::parse(R"({"voters": 3, "needed": 2, "live": 3})"));
  EXPECT_TRUE(cluster.at("findings").as_array().empty());

  const json::array& members = cluster.at("members").as_array();
  ASSERT_EQ(members.size(), 3U);
  EXPECT_EQ(members[0].at("looks"), 1);
  EXPECT_EQ(members[1], json::parse(R"({
    "name": "ctl-2", "server_id": "b8afbb22-0000-4000-8000-000000000002",
    "cluster_id": "84d0b6ba-2d6f-4c4e-a1ab-9e5e6d1c2f3a", "address": "tcp:10.0.0.2:6643", "outcome": "ok", "reason": null,
    "detail": null, "mode": "clustered", "role": "follower", "term": 41, "leader": "77f0", "vote": "77f0",
    "log": [8120, 9031], "uncommitted": 0, "unapplied": 0, "status": "cluster member", "connected": true, "index": 9030,
    "election_timer_ms": 1000, "connections": ["->77f0", "<-77f0", "->3c0b", "<-3c0b"], "age_ms": 250, "looks": 0,
    "servers": [
      {"nickname": "77f0", "id": "77f0", "address": "tcp:10.0.0.1:6643", "self": false, "phase": null,
       "next_index": null, "match_index": null, "last_msg_ms": 100},
      {"nickname": "b8af", "id": "b8af", "address": "tcp:10.0.0.2:6643", "self": true, "phase": null,
       "next_index": null, "match_index": null, "last_msg_ms": null},
      {"nickname": "3c0b", "id": "3c0b", "address": "tcp:10.0.0.3:6643", "self": false, "phase": null,
       "next_index": null, "match_index": null, "last_msg_ms": 100}]})"));
}

TEST(ClusterJson, SaysNullWhereASilentMemberIsNotKnown) {
  const json::object cluster = cluster_json(cluster_with_a_hung_member());
  const json::object& hung = cluster.at("members").as_array()[2].as_object();
  EXPECT_EQ(hung.at("outcome"), "fail");
  EXPECT_EQ(hung.at("reason"), "hung");
  EXPECT_EQ(hung.at("detail"), "no answer in 900ms");
  for (const char* key : {"server_id", "cluster_id", "address", "role", "term", "leader", "vote",
                          "log", "connected"}) {
    EXPECT_TRUE(hung.at(key).is_null()) << key;
  }
  EXPECT_TRUE(hung.at("servers").as_array().empty());
}

TEST(ClusterJson, TellsAFindingWithEvidenceAndAdvice) {
  const json::object cluster = cluster_json(cluster_with_a_hung_member());
  ASSERT_EQ(cluster.at("findings").as_array().size(), 1U);
  EXPECT_EQ(cluster.at("findings").as_array()[0], json::parse(R"({
    "code": "RAFT_MEMBER_HUNG", "severity": "critical",
    "subjects": ["ctl-3", "3c0bcc33-0000-4000-8000-000000000003", "tcp:10.0.0.3:6643"],
    "summary": "ctl-3 accepts connections and answers nothing.",
    "evidence": [{"by": "ctl-1", "says": "3c0b (3c0b at tcp:10.0.0.3:6643) last msg 4100 ms ago"}],
    "advice": {"text": "Look at the process.", "command": ["kill", "-CONT", "4711"], "run_on": "ctl-3"},
    "since": "2027-01-15T07:59:56.000Z", "age_ms": 4000})"));
}

TEST(ClusterJson, ShowsAMemberThatNobodyHasLookedAtYet) {
  ClusterView unseen = sample_cluster();
  unseen.opinions[0] = {};
  unseen.assessment = {};
  const json::object cluster = cluster_json(unseen);
  EXPECT_EQ(cluster.at("verdict"), "unknown");
  EXPECT_TRUE(cluster.at("leader").is_null());
  const json::object& member = cluster.at("members").as_array()[0].as_object();
  EXPECT_EQ(member.at("outcome"), "unknown");
  EXPECT_EQ(member.at("reason"), "not_probed");
  EXPECT_TRUE(member.at("age_ms").is_null());
}

TEST(ClusterJson, EscapesAndCapsWhatCameFromOutside) {
  ClusterView cluster = sample_cluster();
  cluster.opinions[0].status->address = "tcp:\x1b[31m" + std::string(100'000, 'x');
  cluster.opinions[0].status->links.push_back({"\"},\n", true, false});
  const std::string text = json::serialize(cluster_json(cluster));
  EXPECT_LT(text.size(), 10'000U);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NO_THROW(json::parse(text));
}

TEST(CheckJson, TellsStateReasonAndTimes) {
  const AgentView agent = sample_agent_with_a_hung_member();
  const json::object check = to_json(agent.checks[0], agent.now);
  EXPECT_EQ(check, json::parse(R"({
    "name": "ovn-nb", "kind": "cluster", "state": "reported", "outcome": "fail", "reason": "state",
    "detail": "RAFT_MEMBER_HUNG", "degraded": false, "blind": false, "optional": false, "seen_good": false, "failures": 0,
    "fall": 3, "rise": 2, "exit_code": 2, "since_ms": 60000, "age_ms": 200, "took_ms": 60, "looks": 7, "missed": 0, "every_ms": 1000})")
                       .as_object());
}

TEST(AgentJson, TellsTheWorstVerdict) {
  EXPECT_EQ(to_json(sample_agent()).at("verdict"), "ok");
  EXPECT_EQ(to_json(sample_agent_with_a_hung_member()).at("verdict"), "critical");
  EXPECT_EQ(to_json(AgentView{}).at("verdict"), "unknown") << "nothing watched is not good news";
  ClusterView unknown = sample_cluster();
  unknown.assessment.verdict = judge::Verdict::kUnknown;
  AgentView warned = sample_agent();
  warned.checks[0].state.degraded = true;
  EXPECT_EQ(to_json(warned).at("verdict"), "warning");
  warned.things = agent_with(unknown).things;
  EXPECT_EQ(to_json(warned).at("verdict"), "warning");
}

// For a minute after the last member had gone the node was HEALTHY.
TEST(AgentJson, IsNotOkWhileNothingIsKnownOfAThing) {
  AgentView agent = sample_agent();
  const auto verdict = [&](std::shared_ptr<const ThingView> thing) {
    agent.things = {std::move(thing)};
    return to_json(agent).at("verdict");
  };
  EXPECT_EQ(verdict(std::make_shared<EtcdView>("ovn-nb")), "unknown");
  EXPECT_EQ(verdict(std::make_shared<PairView>("ovn-nb")), "unknown");
  EXPECT_EQ(verdict(std::make_shared<MeshView>("ovn-nb")), "unknown");
  const auto mesh = std::make_shared<MeshView>("ovn-nb");
  mesh->assessment.outcome = judge::Outcome::kFail;
  EXPECT_EQ(verdict(mesh), "ok") << "its check waits until that has lasted";
  const auto etcd = std::make_shared<EtcdView>("ovn-nb");
  etcd->assessment.verdict = judge::Verdict::kCritical;
  EXPECT_EQ(verdict(etcd), "critical");
  agent.checks[0].optional = true;
  agent.checks[0].state.seen_good = true;
  EXPECT_EQ(verdict(etcd), "warning") << "as its incident";
  agent.checks[0].state.seen_good = false;
  EXPECT_EQ(verdict(etcd), "ok");
}

TEST(AgentJson, IsNeverBetterThanAnOpenIncident) {
  AgentView agent = sample_agent();
  EXPECT_EQ(to_json(agent).at("incidents"), json::parse(R"({"open": 0, "gravest": null})"));
  agent.incidents = {1, judge::Severity::kInfo};
  EXPECT_EQ(to_json(agent).at("verdict"), "ok");
  agent.incidents = {2, judge::Severity::kWarning};
  EXPECT_EQ(to_json(agent).at("verdict"), "warning");
  agent.incidents = {3, judge::Severity::kCritical};
  EXPECT_EQ(to_json(agent).at("verdict"), "critical");
  EXPECT_EQ(to_json(agent).at("incidents"), json::parse(R"({"open": 3, "gravest": "critical"})"));
  // After a restart, before anything was looked at.
  agent.checks[0].state = judge::begin_check(agent.now);
  agent.things = {std::make_shared<ClusterView>("ovn-nb")};
  EXPECT_EQ(to_json(agent).at("verdict"), "critical");
}

TEST(AgentJson, IsNotOkWhileAGateThatIsProbedIsClosed) {
  AgentView agent = sample_agent();
  agent.gates[0].ready = false;
  EXPECT_EQ(to_json(agent).at("verdict"), "unknown");
  agent.gates[0].name = "storage";
  EXPECT_EQ(to_json(agent).at("verdict"), "ok") << "a gate of the operator's own";
}

TEST(AgentJson, AnOptionalCheckCountsWhenItWasSeenGoodAndIsAWarning) {
  AgentView agent = sample_agent();
  CheckView& check = agent.checks.emplace_back(agent.checks[0]);
  check.name = "bird6";
  check.kind = "bird";
  check.optional = true;
  check.state.state = judge::State::kReported;
  EXPECT_EQ(to_json(agent).at("verdict"), "ok");
  check.state.seen_good = true;
  EXPECT_EQ(to_json(agent).at("verdict"), "warning") << "as its incident";
  check.optional = false;
  EXPECT_EQ(to_json(agent).at("verdict"), "critical");
}

TEST(AgentJson, TellsItsOwnSickness) {
  AgentView agent = sample_agent();
  agent.self.complaint = "prober starved";
  const json::object status = to_json(agent);
  EXPECT_EQ(status.at("self"),
            json::parse(R"({"degraded": true, "complaint": "prober starved", "put_aside": null})"));
  EXPECT_EQ(status.at("uptime_ms"), 60'000);
}

TEST(AgentJson, TellsWhichConfigurationRunsAndWhatIsWrongWithTheNextOne) {
  AgentView agent = sample_agent();
  EXPECT_TRUE(to_json(agent).at("config").is_null()) << "it was read from no file";
  agent.config = {.path = "/etc/wardmote/wardmote.yaml",
                  .hash = "00c0ffee00c0ffee",
                  .applied = agent.now - std::chrono::seconds(30),
                  .reloads_applied = 2};
  EXPECT_EQ(to_json(agent).at("config"), json::parse(R"({
    "path": "/etc/wardmote/wardmote.yaml", "hash": "00c0ffee00c0ffee", "applied": "2027-01-15T07:59:30.000Z",
    "reloads": 2, "restart_needed": [], "refused": null})"));
  agent.config.refused = {.at = agent.now, .problems = {"wardmote.yaml:1:1: bad\x1b"}};
  EXPECT_EQ(to_json(agent).at("config").at("refused"), json::parse(R"({
    "at": "2027-01-15T08:00:00.000Z", "problems": ["wardmote.yaml:1:1: bad\\x1b"]})"));
}

}  // namespace
}  // namespace wardmote::serve
