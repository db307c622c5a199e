// Where a majority may work that the agent does not see.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "judge/raft/member_id.h"
#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

TEST(NoQuorum, VotersThatNobodyIsConfiguredToAskMayHaveOne) {
  FakeCluster cluster(5);
  for (const std::size_t i : {2, 3, 4}) cluster.node(i).configured = false;
  cluster.isolate(0);
  cluster.isolate(1);
  for (const std::size_t i : {0, 1}) {
    cluster.node(i).role = Role::kCandidate;
    cluster.node(i).follows.reset();
  }
  EXPECT_FALSE(has(Code::kRaftNoQuorum, cluster.watch(60s)));
}

TEST(NoQuorum, OneRefusalToOthersThatCannotBeReachedIsNotEnough) {
  FakeCluster cluster(5);
  cluster.watch(5s);
  cluster.kill(1);
  for (const std::size_t i : {2, 3, 4}) cluster.kill(i, ReasonCode::kUnreachable);
  cluster.node(0).role = Role::kCandidate;
  cluster.node(0).follows.reset();
  EXPECT_FALSE(has(Code::kRaftNoQuorum, cluster.watch(60s)));
}

// The agent has the control socket of the member that leaves alone: of the three that stay, one
// dies, one is not configured and one leads.
TEST(NoQuorum, AListThatIsOlderThanARemovalProvesNothing) {
  FakeCluster cluster(4);
  cluster.node(0).status_silence = ReasonCode::kNotProbed;
  cluster.node(2).status_silence = ReasonCode::kNotProbed;
  cluster.node(1).configured = false;
  cluster.watch(5s);
  cluster.node(3).standing = Standing::kLeft;
  cluster.strike(3);
  cluster.kill(0);
  EXPECT_FALSE(has(Code::kRaftNoQuorum, cluster.watch(60s))) << "nobody leads yet";
  cluster.elect(2);
  EXPECT_FALSE(has(Code::kRaftNoQuorum, cluster.watch(60s)));
}

// The leader is not configured, and a member that was taken out long ago refuses. Then one dies,
// and the other is not reached: the leader and this one commit.
TEST(NoQuorum, WhoRefusesMayBeAnotherThanTheSilentOneOfARememberedList) {
  FakeCluster cluster(3);
  cluster.node(0).configured = false;
  cluster.kill(cluster.add_node("ctl-4", "4444", "tcp:10.0.0.4:6643"));
  cluster.watch(5s);
  cluster.kill(1);
  cluster.node(2).silence = ReasonCode::kUnreachable;
  EXPECT_FALSE(has(Code::kRaftNoQuorum, cluster.watch(60s)));
}

/// The list cannot tell the two apart.
void name_alike(FakeCluster& cluster, std::size_t a, std::size_t b) {
  constexpr std::uint64_t kFour = 0xffffULL << 48;
  MemberId& id = cluster.node(b).id;
  id.high = (cluster.node(a).id.high & kFour) | (id.high & ~kFour);
  cluster.list()[b].nickname = cluster.list()[a].nickname;
  cluster.list()[b].id = cluster.list()[a].id;
}

/// OVS 2.9 to 2.14.
void print_no_ages(std::vector<Opinion>& all) {
  for (Opinion& opinion : all) {
    if (!opinion.status) continue;
    for (Server& line : opinion.status->servers) line.last_message.reset();
  }
}

// The leader goes on in another place than the one that refuses, and of the third the agent learns
// only what OVSDB tells.
TEST(NoQuorum, WhoIsConnectedHasAMajority) {
  FakeCluster cluster(3);
  cluster.node(1).status_silence = ReasonCode::kNotProbed;
  cluster.watch(5s);
  cluster.node(0).silence = ReasonCode::kRefused;
  cluster.kill(2);
  EXPECT_FALSE(has(Code::kRaftNoQuorum, cluster.watch(60s)));
  cluster.edit = [](std::vector<Opinion>& all) { all[1].local->connected = false; };
  EXPECT_TRUE(has(Code::kRaftNoQuorum, cluster.watch(60s)));
}

// A server moved, and another one waits at its address to be let in.
TEST(NoQuorum, WhoWaitsAtAnAddressIsNoProofThatItsServerIsDead) {
  FakeCluster cluster(3);
  cluster.edit = print_no_ages;
  cluster.watch(5s);
  const std::size_t moved =
      cluster.add_node("moved", to_string(cluster.node(2).id), cluster.node(2).address);
  cluster.node(moved).configured = false;
  cluster.node(2).id = *parse_member_id("5c1f0000-1111-4222-8333-444444444444");
  cluster.node(2).standing = Standing::kJoining;
  cluster.node(2).own_list = std::vector<Server>{};
  cluster.kill(1);
  EXPECT_FALSE(has(Code::kRaftNoQuorum, cluster.watch(60s)));
  cluster.node(0).role = Role::kCandidate;
  cluster.node(0).follows.reset();
  EXPECT_TRUE(has(Code::kRaftNoQuorum, cluster.watch(60s))) << "it has stepped down";
}

// It was removed and does not know it yet: its id is not that of the server that stays.
TEST(NoQuorum, WhoWasRemovedIsNotTheOneWithTheSameFourDigits) {
  FakeCluster cluster(3);
  cluster.edit = print_no_ages;
  name_alike(cluster, 1, 2);
  cluster.node(2).configured = false;
  cluster.list().erase(cluster.list().begin() + 1);
  cluster.watch(2s);
  cluster.kill(1);
  EXPECT_FALSE(has(Code::kRaftNoQuorum, cluster.watch(60s)));
}

// All three begin alike, and TCP tells no address of the one that was removed.
TEST(NoQuorum, FourDigitsOfSeveralTellNothing) {
  FakeCluster cluster(3);
  cluster.edit = print_no_ages;
  name_alike(cluster, 0, 1);
  name_alike(cluster, 0, 2);
  cluster.node(1).status_silence = ReasonCode::kNotProbed;
  cluster.node(2).configured = false;
  cluster.list().erase(cluster.list().begin() + 1);
  cluster.watch(2s);
  cluster.kill(1);
  EXPECT_FALSE(has(Code::kRaftNoQuorum, cluster.watch(60s)));
}

// Two that were taken out refuse, and as many of the list are nobody's.
TEST(NoQuorum, SeveralThatRefuseMayBeOthersThanTheSilentOnes) {
  FakeCluster cluster(5);
  for (const std::size_t i : {2, 3}) cluster.node(i).configured = false;
  cluster.kill(cluster.add_node("ctl-6", "6666", "tcp:10.0.0.6:6643"));
  cluster.kill(cluster.add_node("ctl-7", "7777", "tcp:10.0.0.7:6643"));
  cluster.watch(5s);
  cluster.kill(1);
  cluster.kill(4);
  cluster.node(0).silence = ReasonCode::kUnreachable;
  EXPECT_FALSE(has(Code::kRaftNoQuorum, cluster.watch(60s)));
}

}  // namespace
}  // namespace wardmote::judge::raft
