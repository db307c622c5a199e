#include "serve/metrics/metrics.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.h"
#include "unit/serve/sample_view.h"

namespace wardmote::serve {
namespace {

constexpr std::string_view kCluster =
    R"(db="OVN_Northbound",cid="84d0b6ba-2d6f-4c4e-a1ab-9e5e6d1c2f3a")";
constexpr std::string_view kHungSid = "3c0b";

/// The value of the one sample that begins with `name{labels`; "" when there is none.
std::string sample(const std::string& metrics, const std::string& name,
                   const std::string& labels = "") {
  const std::string begin = labels.empty() ? name + " " : name + "{" + labels;
  for (const std::string_view line : split(metrics, '\n')) {
    if (line.starts_with(begin)) return std::string(line.substr(line.rfind(' ') + 1));
  }
  return "";
}

std::string of_cluster(const std::string& metrics, const std::string& name,
                       const std::string& special = "") {
  return sample(metrics, name, std::string(kCluster) + "," + special);
}

TEST(Metrics, AreWellFormedAndUnique) {
  std::set<std::string> seen;
  const std::string text = expose_metrics(sample_agent_with_a_hung_member());
  ASSERT_TRUE(text.ends_with('\n'));
  for (const std::string_view line :
       split(std::string_view(text).substr(0, text.size() - 1), '\n')) {
    ASSERT_FALSE(line.empty());
    if (line.starts_with("# ")) continue;
    const std::string series(line.substr(0, line.rfind(' ')));
    EXPECT_TRUE(seen.insert(series).second) << series << " is there twice";
    EXPECT_NE(std::isalpha(static_cast<unsigned char>(line[0])), 0) << line;
  }
}

TEST(Metrics, OfAHealthyCluster) {
  const std::string text = expose_metrics(sample_agent());
  EXPECT_EQ(of_cluster(text, "ovn_cluster_quorum"), "1");
  EXPECT_EQ(sample(text, "wardmote_cluster_verdict", "cluster=\"ovn-nb\""), "0");
  EXPECT_EQ(of_cluster(text, "ovn_ops_leader_transitions_total"), "1");
  EXPECT_EQ(of_cluster(text, "ovn_ops_snapshot_timestamp_seconds"), "1799999999.8");
  EXPECT_EQ(of_cluster(text, "ovn_raft_term", R"(sid="b8afbb22-0000-4000-8000-000000000002")"),
            "41");
  EXPECT_EQ(of_cluster(text, "ovn_member_leader", R"(sid="77f0aa11-0000-4000-8000-000000000001")"),
            "1");
  EXPECT_EQ(of_cluster(text, "ovn_member_leader", R"(sid="b8afbb22-0000-4000-8000-000000000002")"),
            "0");
  EXPECT_EQ(of_cluster(text, "ovn_member_connected",
                       R"(sid="b8afbb22-0000-4000-8000-000000000002",ip="10.0.0.2")"),
            "1");
  EXPECT_EQ(
      of_cluster(text, "ovn_member_index_gap", R"(sid="b8afbb22-0000-4000-8000-000000000002")"),
      "0");
  EXPECT_EQ(
      of_cluster(
          text, "ovn_raft_link_up",
          R"(from="77f0aa11-0000-4000-8000-000000000001",to="b8afbb22-0000-4000-8000-000000000002",dir="out")"),
      "1");
  EXPECT_EQ(of_cluster(text, "ovn_raft_probe_seconds_count",
                       R"(sid="77f0aa11-0000-4000-8000-000000000001")"),
            "1");
  EXPECT_EQ(sample(text, "wardmote_gate_ready", R"(gate="ready")"), "1");
  EXPECT_EQ(text.find("ovn_finding{"), std::string::npos);
}

TEST(Metrics, OfASilentMemberAreThereWhereTheLeaderKnowsThem) {
  ClusterView cluster = cluster_with_a_hung_member();
  judge::raft::Status& leader = *cluster.opinions[0].status;
  leader.servers[2].match_index = 9000;
  leader.servers[2].last_message = judge::raft::Milliseconds(4100);
  AgentView agent = sample_agent_with_a_hung_member();
  agent.things = agent_with(cluster).things;
  const std::string text = expose_metrics(agent);
  const std::string hung = "sid=\"" + std::string(kHungSid) + "\"";
  EXPECT_EQ(of_cluster(text, "ovn_member_index_gap", hung), "30")
      << "the original had no sample for the laggard";
  EXPECT_EQ(of_cluster(text, "ovn_member_last_msg_ms", hung), "4100");
  EXPECT_EQ(of_cluster(text, "ovn_member_connected",
                       R"(sid="",ip="unknown",cluster="ovn-nb",member="ctl-3")"),
            "0");
  EXPECT_EQ(of_cluster(text, "ovn_member_reporter", R"(sid="",cluster="ovn-nb",member="ctl-3")"),
            "0");
  EXPECT_EQ(of_cluster(text, "ovn_finding", R"(code="RAFT_MEMBER_HUNG",severity="critical")"), "1");
  EXPECT_EQ(sample(text, "wardmote_check_status", R"(check="ovn-nb",kind="cluster")"), "2");
}

// A series that loses its labels when its member dies is another series: alerts on it never fire.
TEST(Metrics, AMemberThatDiesKeepsItsLabels) {
  const std::string first = "77f0aa11-0000-4000-8000-000000000001";
  ClusterView cluster = sample_cluster();
  const judge::raft::MemberId cid = cluster_id_of(cluster);
  cluster.assessment.cluster_id = cid;
  for (judge::raft::Opinion& opinion : cluster.opinions) {
    cluster.assessment.ids.push_back(opinion.server_id());
    opinion.status.reset();
    opinion.local.reset();
  }
  cluster.assessment.leader.reset();
  const std::string text = expose_metrics(agent_with(cluster));
  EXPECT_EQ(of_cluster(text, "ovn_member_reporter", "sid=\"" + first + "\""), "0");
  EXPECT_NE(text.find("ovn_member_reporter{db=\"OVN_Northbound\",cid=\"" + to_string(cid)),
            std::string::npos);
}

TEST(Metrics, AGhostHasItsFullIdEverywhere) {
  const std::string full = "dea645fa-f66d-419f-89d2-9ef5ed65767e";
  ClusterView cluster = sample_cluster();
  judge::raft::Server ghost;
  ghost.nickname = "dea6";
  ghost.id = *judge::raft::parse_member_id("dea6");
  ghost.address = "tcp:10.0.0.3:6643";
  ghost.match_index = 1;
  ghost.last_message = judge::raft::Milliseconds(90'000);
  cluster.opinions[0].status->servers.push_back(ghost);
  cluster.assessment.servers = {{*judge::raft::parse_member_id(full), ghost.address}};
  const std::string text = expose_metrics(agent_with(cluster));
  EXPECT_EQ(of_cluster(text, "ovn_member_last_msg_ms", "sid=\"" + full + "\""), "90000");
  EXPECT_EQ(of_cluster(text, "ovn_member_missing_reporter", "sid=\"" + full + "\""), "1");
  EXPECT_EQ(text.find("\"dea6\""), std::string::npos);
}

TEST(Metrics, CompareTheListsOfThoseWhoAnswer) {
  ClusterView cluster = sample_cluster();
  std::string text = expose_metrics(agent_with(cluster));
  EXPECT_EQ(of_cluster(text, "ovn_cluster_all_agree"), "1");
  EXPECT_EQ(of_cluster(text, "ovn_cluster_members_observed"), "3");
  EXPECT_EQ(of_cluster(text, "ovn_cluster_members_expected"), "3");
  EXPECT_EQ(of_cluster(text, "ovn_cluster_ips_expected"), "3") << "of the hints, not of the lists";
  EXPECT_EQ(of_cluster(text, "ovn_consensus_majority_size"), "3");
  EXPECT_EQ(of_cluster(text, "ovn_cluster_ip_conflicts"), "0");

  // A ghost of ctl-3 at its address, which only the leader still lists.
  judge::raft::Server ghost;
  ghost.nickname = "dea6";
  ghost.id = *judge::raft::parse_member_id("dea6");
  ghost.address = "tcp:10.0.0.3:6643";
  cluster.opinions[0].status->servers.push_back(ghost);
  cluster.expectation.addresses.pop_back();
  text = expose_metrics(agent_with(cluster));
  EXPECT_EQ(of_cluster(text, "ovn_cluster_all_agree"), "0");
  EXPECT_EQ(of_cluster(text, "ovn_cluster_members_observed"), "4");
  EXPECT_EQ(of_cluster(text, "ovn_cluster_excess_members"), "2");
  EXPECT_EQ(of_cluster(text, "ovn_consensus_minority_size"), "1");
  EXPECT_EQ(of_cluster(text, "ovn_consensus_ip_conflict", R"(ip="10.0.0.3")"), "2");
  EXPECT_EQ(of_cluster(text, "ovn_consensus_unexpected_ip", R"(ip="10.0.0.3")"), "1");
  EXPECT_EQ(of_cluster(text, "ovn_member_missing_reporter", R"(sid="dea6")"), "1");
  EXPECT_EQ(of_cluster(text, "ovn_consensus_suspect_stale", R"(sid="dea6")"), "1");
  EXPECT_EQ(of_cluster(text, "ovn_consensus_suspect_stale", R"(sid="3c0b)"), "") << "it lives";
}

TEST(Metrics, SayNothingOfListsWhileNobodyAnswers) {
  ClusterView cluster = sample_cluster();
  for (judge::raft::Opinion& opinion : cluster.opinions) {
    opinion.status.reset();
    opinion.local.reset();
  }
  const std::string text = expose_metrics(agent_with(cluster));
  EXPECT_EQ(text.find("ovn_cluster_all_agree{"), std::string::npos);
  EXPECT_EQ(text.find("ovn_cluster_members_observed{"), std::string::npos);
}

TEST(Metrics, DoNotCallAQuorumWhatIsNotKnown) {
  ClusterView cluster = sample_cluster();
  cluster.assessment.quorum = {};
  EXPECT_EQ(of_cluster(expose_metrics(agent_with(cluster)), "ovn_cluster_quorum"), "");
  cluster.assessment.quorum = {3, 2, 1};
  EXPECT_EQ(of_cluster(expose_metrics(agent_with(cluster)), "ovn_cluster_quorum"), "0");
}

TEST(Metrics, StayBoundedWhateverAMemberLists) {
  ClusterView cluster = sample_cluster();
  judge::raft::Status& status = *cluster.opinions[0].status;
  for (int i = 0; i < 1024; ++i) {
    judge::raft::Server ghost;
    ghost.nickname = std::string(2000, 'g') + std::to_string(i);
    ghost.id =
        judge::raft::MemberId{.high = static_cast<std::uint64_t>(i) << 40, .low = 0, .digits = 6};
    ghost.address = "tcp:10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250) + ":6643";
    ghost.last_message = judge::raft::Milliseconds(1);
    status.servers.push_back(ghost);
    status.links.push_back({ghost.nickname, true, false});
  }
  EXPECT_LT(expose_metrics(agent_with(cluster)).size(), 200'000U);
}

TEST(Metrics, TellHowTheAgentItselfIs) {
  AgentView agent = sample_agent();
  agent.self.complaint = "prober starved";
  agent.self.lateness = std::chrono::milliseconds(300);
  agent.self.worst_lateness = std::chrono::seconds(2);
  agent.self.voided = 4;
  agent.self.look_lateness.p99 = std::chrono::milliseconds(7);
  const std::string text = expose_metrics(agent);
  EXPECT_EQ(sample(text, "wardmote_degraded"), "1");
  EXPECT_EQ(sample(text, "wardmote_lateness_seconds"), "0.3");
  EXPECT_EQ(sample(text, "wardmote_worst_lateness_seconds"), "2");
  EXPECT_EQ(sample(text, "wardmote_starved_total"), "4");
  EXPECT_EQ(sample(text, "wardmote_look_lateness_seconds", R"(percentile="99")"), "0.007");
  EXPECT_EQ(sample(text, "wardmote_start_time_seconds"), "1799999940");
}

TEST(Metrics, TellWhichConfigurationRuns) {
  AgentView agent = sample_agent();
  EXPECT_EQ(sample(expose_metrics(agent), "wardmote_config_last_reload_successful"), "")
      << "it was read from no file";
  agent.config.path = "/etc/wardmote/wardmote.yaml";
  agent.config.hash = "00c0ffee00c0ffee";
  agent.config.applied = agent.started;
  agent.config.reloads_refused = 3;
  std::string text = expose_metrics(agent);
  EXPECT_EQ(sample(text, "wardmote_config_info", R"(hash="00c0ffee00c0ffee")"), "1");
  EXPECT_EQ(sample(text, "wardmote_config_applied_time_seconds"), "1799999940");
  EXPECT_EQ(sample(text, "wardmote_config_reloads_total", R"(result="refused")"), "3");
  EXPECT_EQ(sample(text, "wardmote_config_last_reload_successful"), "1");
  agent.config.refused.emplace();
  text = expose_metrics(agent);
  EXPECT_EQ(sample(text, "wardmote_config_last_reload_successful"), "0");
}

}  // namespace
}  // namespace wardmote::serve
