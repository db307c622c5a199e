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

TEST(Metrics, TableFollowsTheConventions) {
  std::set<std::string_view> names;
  for (const MetricInfo& row : metrics_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " has two rows";
    EXPECT_TRUE(row.help.ends_with('.')) << row.name;
    EXPECT_EQ(row.help.find('\n'), std::string_view::npos) << row.name;
    if (row.type == MetricType::kCounter) {
      EXPECT_TRUE(row.name.ends_with("_total")) << row.name;
    }
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
  AgentView agent = sample_agent_with_a_hung_member();
  judge::raft::Status& leader = *agent.clusters[0].opinions[0].status;
  leader.servers[2].match_index = 9000;
  leader.servers[2].last_message = judge::raft::Milliseconds(4100);
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

TEST(Metrics, DoNotCallAQuorumWhatIsNotKnown) {
  AgentView agent = sample_agent();
  agent.clusters[0].assessment.quorum = {};
  EXPECT_EQ(of_cluster(expose_metrics(agent), "ovn_cluster_quorum"), "");
  agent.clusters[0].assessment.quorum = {3, 2, 1};
  EXPECT_EQ(of_cluster(expose_metrics(agent), "ovn_cluster_quorum"), "0");
}

TEST(Metrics, StayBoundedWhateverAMemberLists) {
  AgentView agent = sample_agent();
  judge::raft::Status& status = *agent.clusters[0].opinions[0].status;
  for (int i = 0; i < 5000; ++i) {
    judge::raft::Server ghost;
    ghost.nickname = std::string(2000, 'g') + std::to_string(i);
    ghost.last_message = judge::raft::Milliseconds(1);
    status.servers.push_back(ghost);
    status.links.push_back({ghost.nickname, true, false});
  }
  EXPECT_LT(expose_metrics(agent).size(), 200'000U);
}

TEST(Metrics, TellHowTheAgentItselfIs) {
  AgentView agent = sample_agent();
  agent.self = {"prober starved", std::chrono::milliseconds(300), std::chrono::seconds(2), 4};
  const std::string text = expose_metrics(agent);
  EXPECT_EQ(sample(text, "wardmote_degraded"), "1");
  EXPECT_EQ(sample(text, "wardmote_lateness_seconds"), "0.3");
  EXPECT_EQ(sample(text, "wardmote_worst_lateness_seconds"), "2");
  EXPECT_EQ(sample(text, "wardmote_starved_total"), "4");
  EXPECT_EQ(sample(text, "wardmote_start_time_seconds"), "1799999940");
}

}  // namespace
}  // namespace wardmote::serve
