#include <gtest/gtest.h>

#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

const std::vector<std::string> kThree = {"tcp:10.0.0.1:6643", "tcp:10.0.0.2:6643",
                                         "tcp:10.0.0.3:6643"};

TEST(Expectation, AsExpectedIsSilent) {
  FakeCluster cluster(3);
  cluster.expectation.addresses = kThree;
  EXPECT_EQ(told(cluster.watch(20s)), Told{});
}

TEST(Expectation, BareHostsWillDo) {
  FakeCluster cluster(3);
  cluster.expectation.addresses = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};
  EXPECT_EQ(told(cluster.watch(20s)), Told{});
}

TEST(UnexpectedMember, ListedDeadAndNotExpected) {
  FakeCluster cluster(4);
  cluster.expectation.addresses = kThree;
  cluster.node(3).configured = false;
  cluster.watch(5s);
  cluster.kill(3);
  const Assessment found = cluster.watch(30s);
  EXPECT_EQ(told(found),
            (Told{"warning RAFT_QUORUM_MARGIN", "warning RAFT_DEAD_MEMBER 2e3d",
                  "warning RAFT_UNEXPECTED_MEMBER 2e3d", "warning RAFT_CLUSTER_SIZE"}));
  EXPECT_TRUE(the(Code::kRaftUnexpectedMember, found).summary.ends_with("and nobody hears it"));
  // A check saw it at a name that leads to another server now.
  cluster.elsewhere = {{.server = *parse_member_id("2e3d"), .by = "check nb"}};
  EXPECT_TRUE(the(Code::kRaftUnexpectedMember, cluster.watch(1s))
                  .summary.ends_with("and nobody knows whether it lives"));
}

TEST(StaleHint, AMemberMoreThanExpectedThatLives) {
  FakeCluster cluster(4);
  cluster.expectation.addresses = kThree;
  cluster.expectation.replicas = 4;
  const Assessment found = cluster.watch(20s);
  EXPECT_EQ(told(found), (Told{"warning RAFT_STALE_HINT ctl-4", "info RAFT_CLUSTER_SIZE"}));
  EXPECT_NE(the(Code::kRaftStaleHint, found).advice->text.find("Never remove"), std::string::npos);
}

TEST(StaleHint, AStrangerThatTheLeaderHasNotHeardForARoundLivesNoLonger) {
  FakeCluster cluster(4);
  cluster.node(3).configured = false;
  cluster.expectation.addresses = kThree;
  EXPECT_TRUE(has(Code::kRaftStaleHint, cluster.watch(60s)));
  cluster.kill(3);
  EXPECT_TRUE(has(Code::kRaftStaleHint, cluster.watch(1s)));
  EXPECT_FALSE(has(Code::kRaftStaleHint, cluster.watch(2s)));
}

TEST(StaleHint, AMemberThatMovedAndWasKicked) {
  FakeCluster cluster(3);
  cluster.expectation.addresses = {"tcp:10.0.0.1:6643", "tcp:10.0.0.2:6643", "tcp:10.0.0.9:6643"};
  EXPECT_EQ(told(cluster.watch(20s)), Told{"warning RAFT_STALE_HINT tcp:10.0.0.9:6643"});
}

TEST(MissingMember, ExpectedAndInNobodysList) {
  FakeCluster cluster(3);
  cluster.expectation.addresses = kThree;
  cluster.expectation.addresses.emplace_back("tcp:10.0.0.4:6643");
  cluster.expectation.replicas = 3;
  EXPECT_EQ(told(cluster.watch(4s)), Told{});
  EXPECT_EQ(told(cluster.watch(1s)), Told{"warning RAFT_MISSING_MEMBER tcp:10.0.0.4:6643"});
}

/// A follower lists no more whom a leader was removing that is lost: nothing of that was committed.
TEST(MissingMember, WhoseRemovalWasNotCommittedIsNotToBeJoinedAnew) {
  FakeCluster cluster(3);
  cluster.expectation.addresses = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};
  cluster.watch(5s);
  cluster.kill(2);
  cluster.watch(5s);
  cluster.strike(2);
  cluster.edit = [](std::vector<Opinion>& all) { all[1].status->uncommitted = 1; };
  cluster.kill(0);
  cluster.node(1).role = Role::kCandidate;
  cluster.node(1).standing = Standing::kDisconnected;
  cluster.node(1).follows.reset();
  Assessment found = cluster.watch(2min);
  EXPECT_FALSE(has(Code::kRaftMissingMember, found));
  EXPECT_FALSE(has(Code::kRaftClusterSize, found));
  cluster.edit = nullptr;
  found = cluster.watch(2min);
  EXPECT_TRUE(has(Code::kRaftMissingMember, found)) << "it was";
}

TEST(MissingMember, ADeadExpectedMemberIsNotMissing) {
  FakeCluster cluster(3);
  cluster.expectation.addresses = kThree;
  cluster.watch(5s);
  cluster.kill(1);
  EXPECT_EQ(told(cluster.watch(30s)),
            (Told{"critical RAFT_MEMBER_DOWN ctl-2", "warning RAFT_QUORUM_MARGIN"}));
}

TEST(Expectation, AServerThatIsBeingAddedIsNoMemberYet) {
  for (const bool configured : {true, false}) {
    FakeCluster cluster(3);
    cluster.expectation.addresses = kThree;
    const std::size_t fourth =
        cluster.add_node("ctl-4", "2e3dde73-c10d-493c-98ae-03173911ef81", "tcp:10.0.0.4:6643");
    cluster.node(fourth).configured = configured;
    cluster.node(fourth).standing = Standing::kJoining;
    cluster.enlist(fourth, Phase::kAddingCatchup);
    if (!configured) cluster.isolate(fourth);
    EXPECT_EQ(told(cluster.watch(25s)), Told{});
  }
}

TEST(Expectation, NothingIsClaimedWhenNobodySpeaks) {
  FakeCluster cluster(3);
  cluster.expectation.addresses = {"tcp:10.0.0.7:6643"};
  for (const std::size_t i : {0, 1, 2}) cluster.node(i).silence = ReasonCode::kDenied;
  EXPECT_EQ(told(cluster.watch(30s)), Told{});
}

// ctl-2 has moved, and then ctl-1 is away for a while: its address is right.
TEST(StaleHint, OnlyTheAddressThatSomebodyLeftIsOld) {
  FakeCluster cluster(5);
  for (std::size_t i = 0; i < 5; ++i)
    cluster.expectation.addresses.push_back(cluster.node(i).address);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.watch(5s);
  cluster.heal(2);
  cluster.node(2).id = *parse_member_id("d8d142e3-c38f-46e8-ae36-3db41907e3ae");
  cluster.node(2).address = "tcp:10.0.0.33:6643";
  cluster.enlist(2);
  cluster.watch(20s);
  cluster.kill(1);
  const Assessment look = cluster.watch(30s);
  const Finding& old = the(Code::kRaftStaleHint, look);
  EXPECT_TRUE(old.summary.starts_with("tcp:10.0.0.3:6643 is expected")) << old.summary;
  EXPECT_FALSE(old.summary.contains("tcp:10.0.0.2:6643")) << old.summary;
}

}  // namespace
}  // namespace wardmote::judge::raft
