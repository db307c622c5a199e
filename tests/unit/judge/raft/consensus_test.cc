#include "judge/raft/consensus.h"

#include <gtest/gtest.h>

#include "judge/raft/address.h"
#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;
using Ids = std::vector<std::string>;

const std::string kFirst = "dea645fa-f66d-419f-89d2-9ef5ed65767e";
const std::string kSecond = "499b257a-9bd2-4c64-91ea-a30aa618ef17";
const std::string kThird = "1430fed6-ec54-4795-89a5-cf985d758750";
const std::string kNew = "d8d142e3-c38f-46e8-ae36-3db41907e3ae";

TEST(Consensus, AllAgree) {
  FakeCluster cluster(3);
  cluster.expectation.addresses = {"tcp:10.0.0.1:6643", "tcp:10.0.0.2:6643", "tcp:10.0.0.3:6643"};
  const ExtendedConsensusResult result = analyze_consensus(cluster.opinions(), cluster.expectation);
  EXPECT_TRUE(result.all_agree);
  EXPECT_TRUE(result.has_majority);
  EXPECT_EQ(result.quorum_size, 2U);
  EXPECT_EQ(result.majority_members, (Ids{kThird, kSecond, kFirst}));
  EXPECT_EQ(result.union_members, result.reporters);
  EXPECT_EQ(result.union_ips, (Ids{"10.0.0.1", "10.0.0.2", "10.0.0.3"}));
  EXPECT_EQ(result.members_count, 3U);
  EXPECT_EQ(result.expected_members, 3U);
  EXPECT_TRUE(result.minority_members.empty() && result.diffs.empty() &&
              result.missing_reporters.empty());
  EXPECT_TRUE(result.unexpected_ips.empty() && result.missing_expected_ips.empty() &&
              result.ip_conflicts.empty());
  EXPECT_TRUE(result.suspect_stale_ids.empty() && result.sid_address_disagreements.empty());
}

// N1: the original folds the ghost into the member that lives at its address, and sees three of
// three.
TEST(Consensus, AGhostAtALiveAddressIsCountedAndInConflict) {
  FakeCluster cluster(3);
  cluster.node(2).id = *parse_member_id(kNew);
  cluster.enlist(2);
  cluster.expectation.replicas = 3;
  const ExtendedConsensusResult result = analyze_consensus(cluster.opinions(), cluster.expectation);
  EXPECT_EQ(result.members_count, 4U);
  EXPECT_TRUE(result.too_many_members);
  EXPECT_EQ(result.expected_excess, 1U);
  ASSERT_EQ(result.ip_conflicts.size(), 1U);
  EXPECT_EQ(result.ip_conflicts.begin()->second, (Ids{"1430", kNew}));
  EXPECT_EQ(result.missing_reporters, Ids{"1430"});
  EXPECT_EQ(result.suspect_stale_ids, Ids{"1430"});
}

// N2: members of one host differ by their ports.
TEST(Consensus, OneHostWithThreePortsHasThreeMembers) {
  FakeCluster cluster(0);
  for (int i = 1; i <= 3; ++i) {
    const std::size_t n = cluster.add_node(
        "m" + std::to_string(i), Ids{kFirst, kSecond, kThird}[static_cast<std::size_t>(i - 1)],
        "tcp:127.0.0.1:1664" + std::to_string(i));
    cluster.enlist(n);
  }
  cluster.node(0).role = Role::kLeader;
  const ExtendedConsensusResult result = analyze_consensus(cluster.opinions(), cluster.expectation);
  EXPECT_EQ(result.members_count, 3U);
  EXPECT_EQ(result.union_ips, Ids{"127.0.0.1"});
  EXPECT_TRUE(result.ip_conflicts.empty());
}

// S1: one unexpected address makes the original suspect everybody. S2: it suspects the healthy
// replacement.
TEST(Consensus, TheDeadIsSuspectAndTheLivingNever) {
  FakeCluster cluster(3);
  cluster.expectation.addresses = {"tcp:10.0.0.1:6643", "tcp:10.0.0.2:6643", "tcp:10.0.0.3:6643"};
  cluster.kill(1);
  cluster.node(1).configured = false;
  const std::size_t fourth =
      cluster.add_node("ctl-4", "7b3a0000-dac6-4762-a00e-834c7c7479df", "tcp:10.0.0.4:6643");
  cluster.enlist(fourth);
  cluster.watch(10s);
  ExtendedConsensusResult result = analyze_consensus(cluster.opinions(), cluster.expectation);
  EXPECT_EQ(result.suspect_stale_ids, Ids{"499b"});
  EXPECT_EQ(result.unexpected_ips, Ids{"10.0.0.4"});
  cluster.strike(1);
  result = analyze_consensus(cluster.opinions(), cluster.expectation);
  EXPECT_EQ(result.missing_expected_ips, Ids{"10.0.0.2"});
  EXPECT_TRUE(result.suspect_stale_ids.empty());
}

TEST(Consensus, AMinorityAndItsDifference) {
  FakeCluster cluster(3);
  std::vector<Server> other = cluster.list();
  other[2].address = "tcp:10.0.0.33:6643";
  other.push_back(
      {.nickname = "beef", .id = *parse_member_id("beef"), .address = "tcp:10.0.0.9:6643"});
  std::swap(other[0], other[3]);
  other.erase(other.begin() + 3);
  cluster.node(1).own_list = other;
  const ExtendedConsensusResult result = analyze_consensus(cluster.opinions(), cluster.expectation);
  EXPECT_FALSE(result.all_agree);
  EXPECT_TRUE(result.has_majority);
  EXPECT_EQ(result.minority_members, Ids{kSecond});
  ASSERT_EQ(result.diffs.size(), 1U);
  const ViewDiff& diff = result.diffs.at(kSecond);
  EXPECT_EQ(diff.missing_ids, Ids{kFirst});
  EXPECT_EQ(diff.extra_ids, Ids{"beef"});
  EXPECT_EQ(diff.address_mismatches.at(kThird),
            std::pair(std::string("tcp:10.0.0.3:6643"), std::string("tcp:10.0.0.33:6643")));
  ASSERT_EQ(result.sid_address_disagreements.size(), 1U);
  EXPECT_EQ(result.sid_address_disagreements.at(kThird), 2U);
}

TEST(Consensus, ATieGoesToTheNewestView) {
  FakeCluster cluster(2);
  std::vector<Server> other = cluster.list();
  other.pop_back();
  cluster.node(1).own_list = other;
  std::vector<Opinion> opinions = cluster.opinions();
  for (int i = 0; i < 2; ++i) {
    const ExtendedConsensusResult result = analyze_consensus(opinions, cluster.expectation);
    EXPECT_FALSE(result.has_majority);
    EXPECT_EQ(result.truth_view.from_id, kFirst) << "the leader's";
    std::swap(opinions[0], opinions[1]);
  }
}

TEST(Consensus, NobodyAnswers) {
  const ExtendedConsensusResult result =
      analyze_consensus(std::span<const Opinion>{}, Expectation{});
  EXPECT_FALSE(result.all_agree);
  EXPECT_FALSE(result.has_majority);
  EXPECT_EQ(result.quorum_size, 1U);
}

TEST(HostOf, EveryShapeOfARaftAddress) {
  EXPECT_EQ(host_of("tcp:10.0.0.1:6643"), "10.0.0.1");
  EXPECT_EQ(host_of(" ssl:[fd00::1]:6643"), "fd00::1");
  EXPECT_EQ(host_of("ssl:ovn-1.example:6643"), "ovn-1.example");
  EXPECT_EQ(host_of("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(host_of("fd00::1"), "fd00::1");
  EXPECT_EQ(host_of("unix:/run/a.raft"), "unix:/run/a.raft");
  EXPECT_EQ(host_of("ssl:[fd00"), "[fd00");
  EXPECT_EQ(host_of(""), "");
}

}  // namespace
}  // namespace wardmote::judge::raft
