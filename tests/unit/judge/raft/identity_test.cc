#include <gtest/gtest.h>

#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

const std::string kOld = "1430fed6-ec54-4795-89a5-cf985d758750";
const std::string kNew = "d8d142e3-c38f-46e8-ae36-3db41907e3ae";
const std::vector<std::string> kKickFromFirst = {
    "ovn-appctl", "-t", "/run/ovn/ctl-1.ctl", "cluster/kick", "OVN_Northbound", kOld};

/// Node 3 was wiped and has rejoined at its address under a new id (capture 14).
void wipe_and_rejoin(FakeCluster& cluster) {
  cluster.kill(2);
  cluster.watch(1s);
  cluster.heal(2);
  cluster.node(2).id = *parse_member_id(kNew);
  cluster.enlist(2);
}

TEST(StaleMember, WipedAndRejoinedAtTheSameAddress) {
  FakeCluster cluster(3);
  cluster.expectation.replicas = 3;
  cluster.watch(5s);
  wipe_and_rejoin(cluster);
  EXPECT_EQ(told(cluster.watch(2s)), Told{"warning RAFT_QUORUM_MARGIN"})
      << "since the node went down";
  EXPECT_TRUE(the(Code::kRaftStaleMember, cluster.watch(10s)).advice->command.empty());
  const Assessment found = cluster.watch(3s);
  EXPECT_EQ(told(found), (Told{"critical RAFT_STALE_MEMBER " + kOld, "warning RAFT_QUORUM_MARGIN",
                               "warning RAFT_CLUSTER_SIZE"}));

  const Finding& ghost = the(Code::kRaftStaleMember, found);
  EXPECT_EQ(ghost.subjects, (std::vector<std::string>{kOld, "tcp:10.0.0.3:6643"}));
  EXPECT_EQ(
      ghost.summary,
      "1430 is listed at tcp:10.0.0.3:6643, but d8d1 lives there: a ghost that counts as a voter");
  ASSERT_EQ(ghost.evidence.size(), 2U);
  EXPECT_EQ(ghost.evidence[0].by, "ctl-1");
  EXPECT_EQ(ghost.evidence[1].by, "ctl-3");
  EXPECT_EQ(ghost.evidence[1].says,
            "Server ID: d8d1 (" + kNew + "); Address: tcp:10.0.0.3:6643; Status: cluster member");
  EXPECT_EQ(ghost.advice->command, kKickFromFirst);
  EXPECT_EQ(ghost.advice->run_on, "ctl-1");
  EXPECT_EQ(found.members[2].outcome, Outcome::kWarn);
  EXPECT_EQ(found.members[2].reason.text, "stale-server-id (is d8d1, known as 1430)");

  EXPECT_EQ(told(cluster.watch(60s)),
            (Told{"critical RAFT_STALE_MEMBER " + kOld, "warning RAFT_QUORUM_MARGIN",
                  "warning RAFT_CLUSTER_SIZE"}))
      << "the ghost is not a dead member too";
  cluster.strike("1430");
  EXPECT_EQ(told(cluster.watch(1s)), Told{});
}

TEST(StaleMember, NoKickWhenQuorumIsLost) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  wipe_and_rejoin(cluster);
  cluster.watch(5s);
  cluster.kill(1);
  cluster.isolate(2);
  cluster.node(0).role = Role::kCandidate;
  cluster.node(0).links = {{"d8d1", true, true}};
  const Assessment found = cluster.watch(10s);
  const Advice advice = *the(Code::kRaftStaleMember, found).advice;
  EXPECT_TRUE(advice.command.empty());
  EXPECT_NE(advice.text.find("Quorum is lost"), std::string::npos);
}

TEST(StaleMember, NoKickWhileAServerIsBeingAdded) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  wipe_and_rejoin(cluster);
  cluster.list().back().phase = Phase::kAddingCommitting;
  const Finding finding = the(Code::kRaftStaleMember, cluster.watch(20s));
  EXPECT_TRUE(finding.summary.ends_with("it is no full member now")) << finding.summary;
  EXPECT_TRUE(finding.advice->command.empty());
  EXPECT_TRUE(finding.advice->text.starts_with("Remove none of them")) << finding.advice->text;
}

TEST(DeadMember, IsNotSaidToBeKickedLaterWhileItMayComeBack) {
  FakeCluster cluster(4);
  cluster.node(3).configured = false;
  cluster.expectation.addresses = {"tcp:10.0.0.1:6643", "tcp:10.0.0.2:6643", "tcp:10.0.0.3:6643"};
  cluster.watch(5s);
  cluster.kill(3);
  cluster.list()[1].phase = Phase::kAddingCommitting;
  const Advice advice = *the(Code::kRaftUnexpectedMember, cluster.watch(60s)).advice;
  EXPECT_TRUE(advice.command.empty());
  EXPECT_TRUE(advice.text.starts_with("Do not remove")) << advice.text;
}

TEST(StaleMember, NoKickWithoutALeaderToRunItOn) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  wipe_and_rejoin(cluster);
  cluster.node(0).silence = ReasonCode::kDenied;
  const Advice advice = *the(Code::kRaftStaleMember, cluster.watch(20s)).advice;
  EXPECT_TRUE(advice.command.empty());
  EXPECT_NE(advice.text.find("may hear it, and does not say"), std::string::npos) << advice.text;
}

TEST(StaleMember, NoKickThatTheRestCouldNotCommit) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  wipe_and_rejoin(cluster);
  cluster.watch(20s);
  cluster.isolate(1);  // it answers us, and the leader does not hear it
  const Advice advice = *the(Code::kRaftStaleMember, cluster.watch(20s)).advice;
  EXPECT_TRUE(advice.command.empty());
  EXPECT_NE(advice.text.find("not safe"), std::string::npos) << advice.text;
}

TEST(StaleMember, NoKickOfAnAmbiguousId) {
  FakeCluster cluster(3);
  wipe_and_rejoin(cluster);
  cluster.node(2).id = *parse_member_id("1430ffff-0000-4000-8000-000000000001");
  cluster.list().push_back(
      {.nickname = "14300", .id = *parse_member_id("1430ffff"), .address = "tcp:10.0.0.3:6643"});
  cluster.strike("d8d1");
  cluster.list()[2].id = *parse_member_id("14");
  const Assessment found = cluster.watch(10s);
  for (const Finding& finding : found.findings)
    EXPECT_TRUE(finding.advice->command.empty()) << finding.summary;
}

TEST(StaleMember, TheSuccessorThatIsDownNowIsNotTheGhost) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  wipe_and_rejoin(cluster);
  cluster.watch(10s);
  cluster.kill(2);
  const Assessment found = cluster.watch(30s);
  EXPECT_EQ(told(found), (Told{"critical RAFT_NO_QUORUM", "critical RAFT_STALE_MEMBER " + kOld,
                               "critical RAFT_MEMBER_DOWN ctl-3", "info RAFT_CLUSTER_SIZE"}))
      << "whichever of the two ran there, its process is down";
  const Finding& both = the(Code::kRaftStaleMember, found);
  EXPECT_TRUE(both.summary.starts_with("1430, d8d1 are all listed")) << both.summary;
  EXPECT_TRUE(both.advice->command.empty());
}

TEST(StaleMember, TheVerdictGetsNoBetterWhenTheSuccessorDies) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  wipe_and_rejoin(cluster);
  ASSERT_EQ(cluster.watch(10s).verdict, Verdict::kCritical);
  cluster.kill(2);
  for (int look = 0; look < 30; ++look) {
    const Assessment found = cluster.watch(1s);
    EXPECT_EQ(found.verdict, Verdict::kCritical) << look << " s after it died";
    EXPECT_TRUE(has(Code::kRaftStaleMember, found)) << look << " s after it died";
  }
}

TEST(StaleMember, WithoutALiveProcessBothAreNamedAndNoneIsAdvisedAgainst) {
  FakeCluster cluster(3);
  cluster.node(2).configured = false;
  cluster.kill(2);
  cluster.list().push_back(
      {.nickname = "d8d1", .id = *parse_member_id("d8d1"), .address = "tcp:10.0.0.3:6643"});
  const Assessment found = cluster.watch(5s);
  const Finding& ghost = the(Code::kRaftStaleMember, found);
  EXPECT_EQ(
      ghost.summary,
      "1430, d8d1 are all listed at tcp:10.0.0.3:6643, and no configured member answers there");
  EXPECT_TRUE(ghost.advice->command.empty());
}

TEST(DeadMember, AfterTenSecondsAndItsKickCommandAfterTenMinutes) {
  FakeCluster cluster(5);
  cluster.node(4).configured = false;
  cluster.watch(5s);
  cluster.kill(4);
  EXPECT_EQ(told(cluster.watch(9s)), Told{});
  const Assessment found = cluster.watch(1s);
  EXPECT_EQ(told(found), Told{"warning RAFT_DEAD_MEMBER e830"});
  const Finding& dead = the(Code::kRaftDeadMember, found);
  EXPECT_EQ(dead.advice->command, std::vector<std::string>());
  EXPECT_EQ(dead.evidence[0].says,
            "e830 (e830 at tcp:10.0.0.5:6643) next_index=5 match_index=0 last msg 10100 ms ago");
  const Assessment later = cluster.watch(10min);
  EXPECT_EQ(told(later), Told{"warning RAFT_DEAD_MEMBER e830"});
  ASSERT_FALSE(the(Code::kRaftDeadMember, later).advice->command.empty());
  EXPECT_EQ(the(Code::kRaftDeadMember, later).advice->command.back(), "e830");
}

TEST(DeadMember, NeedsTwoLooksHoweverOldTheSilenceIs) {
  FakeCluster cluster(5);
  cluster.node(4).configured = false;
  cluster.node(4).unheard_since = cluster.now() - 1h;
  EXPECT_FALSE(has(Code::kRaftDeadMember, cluster.look()));
  EXPECT_TRUE(has(Code::kRaftDeadMember, cluster.watch(1s)));
}

TEST(DeadMember, ASlowClusterIsGivenTenElectionTimers) {
  FakeCluster cluster(5);
  cluster.node(4).configured = false;
  cluster.edit = [](std::vector<Opinion>& all) {
    for (Opinion& opinion : all) opinion.status->election_timer = Milliseconds(10'000);
  };
  cluster.kill(4);
  EXPECT_FALSE(has(Code::kRaftDeadMember, cluster.watch(99s)));
  EXPECT_TRUE(has(Code::kRaftDeadMember, cluster.watch(3s)));
}

TEST(DeadMember, AConfiguredMemberThatIsDownIsOnlyDown) {
  FakeCluster cluster(5);
  cluster.watch(3s);
  cluster.kill(4);
  EXPECT_EQ(told(cluster.watch(60s)), Told{"critical RAFT_MEMBER_DOWN ctl-5"});
}

TEST(DeadMember, ASilentMemberThatWasNeverKnownAccountsForOne) {
  FakeCluster cluster(5);
  cluster.kill(4);
  EXPECT_EQ(told(cluster.watch(60s)), Told{"critical RAFT_MEMBER_DOWN ctl-5"});
  // A second dead server is one too many for it: then nobody can say which is which.
  cluster.list().push_back(
      {.nickname = "beef", .id = *parse_member_id("beef"), .address = "tcp:10.0.0.9:6643"});
  const Assessment found = cluster.watch(60s);
  EXPECT_TRUE(has(Code::kRaftDeadMember, found));
  for (const Finding& finding : found.findings) EXPECT_TRUE(finding.advice->command.empty());
}

// Capture 23: node 2 is dead for good, node 4 has taken its place.
TEST(DeadMember, ReplacedAtAnotherAddressTheDeadOneIsNamedAndTheLiveOneNever) {
  FakeCluster cluster(3);
  cluster.expectation.addresses = {"tcp:10.0.0.1:6643", "tcp:10.0.0.2:6643", "tcp:10.0.0.3:6643"};
  cluster.watch(5s);
  cluster.kill(1);
  cluster.node(1).configured = false;
  const std::size_t fourth =
      cluster.add_node("ctl-4", "7b3a0000-dac6-4762-a00e-834c7c7479df", "tcp:10.0.0.4:6643");
  cluster.enlist(fourth);
  const Assessment found = cluster.watch(30s);
  EXPECT_EQ(told(found), (Told{"warning RAFT_QUORUM_MARGIN",
                               "warning RAFT_DEAD_MEMBER 499b257a-9bd2-4c64-91ea-a30aa618ef17",
                               "warning RAFT_STALE_HINT ctl-4", "warning RAFT_CLUSTER_SIZE"}))
      << "nobody knows that ctl-4 has anything to do with the one that is down";
  EXPECT_TRUE(the(Code::kRaftStaleHint, found).advice->command.empty());
  EXPECT_TRUE(the(Code::kRaftDeadMember, cluster.watch(20min)).advice->command.empty())
      << "its address is still expected: it is the only one that can come back there";
  cluster.expectation.addresses[1] = "tcp:10.0.0.4:6643";
  const Assessment corrected = cluster.watch(1s);
  ASSERT_FALSE(the(Code::kRaftDeadMember, corrected).advice->command.empty());
  EXPECT_EQ(the(Code::kRaftDeadMember, corrected).advice->command.back(),
            "499b257a-9bd2-4c64-91ea-a30aa618ef17");
}

TEST(DeadMember, AGhostWhoseSuccessorWasTakenOutIsNamed) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  wipe_and_rejoin(cluster);
  cluster.watch(5s);
  cluster.strike(2);
  cluster.node(2).mode = Mode::kAbsent;
  cluster.kill(2, ReasonCode::kUnknownCluster);
  const Assessment found = cluster.watch(60s);
  ASSERT_TRUE(has(Code::kRaftDeadMember, found));
  EXPECT_EQ(the(Code::kRaftDeadMember, found).subjects.front(), kOld);
}

TEST(StaleMember, OneThatIsHeardIsToBeConfiguredAndTheSilentToBeBroughtBack) {
  for (const bool heard : {true, false}) {
    FakeCluster cluster(3);
    cluster.node(2).configured = false;
    if (!heard) cluster.kill(2);
    cluster.list().push_back(
        {.nickname = "d8d1", .id = *parse_member_id("d8d1"), .address = "tcp:10.0.0.3:6643"});
    const Assessment look = cluster.watch(30s);
    const std::string advice = the(Code::kRaftStaleMember, look).advice->text;
    EXPECT_TRUE(advice.starts_with(heard ? "One of them is heard" : "Bring the server")) << advice;
  }
}

TEST(ServerIdCloned, ACopiedDatabaseIsFoundAtOnce) {
  FakeCluster cluster(3);
  cluster.watch(3s);
  const std::size_t copy = cluster.add_node("ctl-4", kOld, "tcp:10.0.0.3:6643");
  cluster.isolate(copy);
  const Assessment found = cluster.look();
  EXPECT_EQ(told(found), Told{"critical RAFT_SERVER_ID_CLONED ctl-3"});
  EXPECT_EQ(found.quorum.live, 3U) << "a server counts once";
}

TEST(ServerIdCloned, NobodyIsStoppedBeforeTheConfigurationWasCompared) {
  FakeCluster cluster(3);
  cluster.node(2).id = cluster.node(1).id;
  const Assessment look = cluster.watch(5s);
  EXPECT_TRUE(the(Code::kRaftServerIdCloned, look)
                  .advice->text.starts_with("First compare their sockets in the configuration"));
}

TEST(ServerIdCloned, TwoLeadersOfOneIdAreItsConsequence) {
  FakeCluster cluster(3);
  const std::size_t copy =
      cluster.add_node("ctl-4", "dea645fa-f66d-419f-89d2-9ef5ed65767e", "tcp:10.0.0.1:6643");
  cluster.node(copy).role = Role::kLeader;
  EXPECT_EQ(told(cluster.look()), Told{"critical RAFT_SERVER_ID_CLONED ctl-1"});
}

// Capture 29: node 3 was wiped and bootstrapped a cluster of its own.
TEST(ClusterIdMismatch, IsFoundAtOnceAndItsOldServerIsDead) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  Node& rogue = cluster.node(2);
  rogue.unheard_since = cluster.now();
  rogue.cluster_id = *parse_member_id("9cc89a56-316d-4636-ab64-528ac2b92174");
  rogue.id = *parse_member_id("d9a3079c-8827-4ab5-8ab9-59eddc05cf45");
  rogue.role = Role::kLeader;
  rogue.own_list = {{.nickname = "d9a3", .id = *parse_member_id("d9a3"), .address = rogue.address}};
  EXPECT_EQ(told(cluster.look()), Told{"critical RAFT_CLUSTER_ID_MISMATCH ctl-3"});
  const Assessment found = cluster.watch(30s);
  EXPECT_EQ(told(found), (Told{"critical RAFT_CLUSTER_ID_MISMATCH ctl-3",
                               "warning RAFT_QUORUM_MARGIN", "warning RAFT_DEAD_MEMBER " + kOld}));
  EXPECT_TRUE(the(Code::kRaftDeadMember, cluster.watch(20min)).advice->command.empty())
      << "its old database may be put back at this address";
  EXPECT_EQ(found.members[2].reason.text, "other cluster (is 9cc8, the cluster is b563)");
}

TEST(ClusterIdMismatch, TheClusterOfBeforeIsJudgedWhenVotesAreEqual) {
  FakeCluster cluster(2);
  cluster.watch(5s);
  cluster.node(0).cluster_id = *parse_member_id("00009a56-316d-4636-ab64-528ac2b92174");
  cluster.node(0).log_next = 1000;
  EXPECT_EQ(told(cluster.look()),
            (Told{"critical RAFT_CLUSTER_ID_MISMATCH ctl-1", "info RAFT_CLUSTER_SIZE"}));
}

TEST(ClusterIdMismatch, TheLongerHistoryIsJudgedWhenNothingElseDecides) {
  FakeCluster cluster(2);
  cluster.node(0).cluster_id = *parse_member_id("00009a56-316d-4636-ab64-528ac2b92174");
  cluster.node(1).log_next = 1000;
  EXPECT_EQ(told(cluster.look()), Told{"critical RAFT_CLUSTER_ID_MISMATCH ctl-1"});
}

TEST(ClusterIdMismatch, NotForAMemberThatHasNotLearntItsCluster) {
  FakeCluster cluster(3);
  const std::size_t fourth =
      cluster.add_node("ctl-4", "736ef006-0c2f-4a09-9c89-6158fa4f8c9a", "tcp:10.0.0.4:6643");
  cluster.node(fourth).standing = Standing::kJoining;
  for (const char* id :
       {"00000000-0000-0000-0000-000000000000", "b563dad3-5d5e-4b38-a150-859542fb32c9"}) {
    cluster.node(fourth).cluster_id = *parse_member_id(id);
    EXPECT_EQ(told(cluster.look()), Told{});
  }
  cluster.node(fourth).cluster_id = {};
  EXPECT_EQ(told(cluster.look()), Told{});
}

// Whoever is only remembered may have been removed since.
TEST(StaleMember, OfARememberedListIsToldAsRemembered) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  wipe_and_rejoin(cluster);
  cluster.watch(10s);
  for (std::size_t i = 0; i < 3; ++i) cluster.node(i).status_silence = ReasonCode::kClosed;
  const Assessment look = cluster.watch(2min);
  for (const Finding& finding : look.findings) {
    if (finding.code == Code::kRaftStaleMember)
      EXPECT_TRUE(finding.summary.ends_with(kUnconfirmed)) << finding.summary;
  }
}

TEST(StaleMember, AMemberThatDoesNotSayItsAddressIsNamed) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.node(2).status_silence = ReasonCode::kNotProbed;
  wipe_and_rejoin(cluster);
  const Assessment look = cluster.watch(10s);
  const Finding& both = the(Code::kRaftStaleMember, look);
  EXPECT_EQ(both.summary,
            "1430, d8d1 are all listed at tcp:10.0.0.3:6643, and ctl-3 (d8d1) does not say its "
            "address");
  EXPECT_TRUE(both.advice->text.starts_with("Give the control socket of ctl-3"))
      << both.advice->text;
}

}  // namespace
}  // namespace wardmote::judge::raft
