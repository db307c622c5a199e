#include <gtest/gtest.h>

#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

TEST(Healthy, NothingIsFoundInAMinute) {
  for (const std::size_t size : {3, 5, 9}) {
    FakeCluster cluster(size);
    const Assessment last = cluster.watch(60s);
    EXPECT_EQ(told(last), Told{});
    EXPECT_TRUE(last.observed.empty());
    EXPECT_EQ(last.verdict, Verdict::kOk);
    EXPECT_EQ(last.leader, 0U);
    EXPECT_EQ(last.quorum.live, size);
    EXPECT_EQ(last.quorum.needed, size / 2 + 1);
  }
}

// Metrics name each server by its full id, also while its member is silent.
TEST(Healthy, EveryListedServerIsNamedWithItsFullIdAndItsAddress) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(1);
  const Assessment look = cluster.watch(5s);
  ASSERT_EQ(look.servers.size(), 3U);
  ASSERT_EQ(look.ids.size(), 3U);
  for (const std::size_t i : {0, 1, 2}) {
    EXPECT_EQ(look.servers[i].id, cluster.node(i).id);
    EXPECT_EQ(look.servers[i].address, cluster.node(i).address);
    EXPECT_EQ(look.ids[i], cluster.node(i).id);
  }
  EXPECT_EQ(look.cluster_id, cluster.node(0).cluster_id);
}

TEST(Healthy, AnElectionIsNotAFinding) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.elect(1);
  EXPECT_EQ(told(cluster.watch(10s)), Told{});
  EXPECT_EQ(cluster.look().leader, 1U);
}

TEST(Healthy, ACandidateForOneRoundIsNotAFinding) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  for (const std::size_t i : {0, 1, 2}) cluster.node(i).role = Role::kCandidate;
  EXPECT_EQ(told(cluster.watch(2s)), Told{});
  cluster.elect(2);
  EXPECT_EQ(told(cluster.watch(5s)), Told{});
}

TEST(TwoLeadersSameTerm, AreFoundAtOnce) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.node(1).role = Role::kLeader;
  const Assessment found = cluster.look();
  EXPECT_EQ(told(found), Told{"critical RAFT_TWO_LEADERS_SAME_TERM ctl-1"});
  EXPECT_EQ(found.verdict, Verdict::kCritical);
  const Finding& finding = the(Code::kRaftTwoLeadersSameTerm, found);
  ASSERT_EQ(finding.evidence.size(), 2U);
  EXPECT_EQ(finding.evidence[1].by, "ctl-2");
  EXPECT_EQ(finding.evidence[1].says,
            "Role: leader; Term: 1; Cluster ID: b563 (b563dad3-5d5e-4b38-a150-859542fb32c9)");
}

TEST(TwoLeadersSameTerm, AFailedLeaderIsNotASecondOne) {
  FakeCluster cluster(3);
  cluster.node(1).role = Role::kLeader;
  cluster.node(1).standing = Standing::kFailed;
  EXPECT_FALSE(has(Code::kRaftTwoLeadersSameTerm, cluster.look()));
}

// A partitioned leader serves on for up to two election timeouts while the others elect another
// (capture 20a).
TEST(StaleLeader, IsObservedThenAWarningThenCritical) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.isolate(0);
  cluster.elect(1);
  Assessment look = cluster.watch(1s);
  EXPECT_EQ(told(look), Told{});
  ASSERT_EQ(look.observed.size(), 1U);
  EXPECT_EQ(look.observed[0].code, Code::kRaftStaleLeader);
  EXPECT_EQ(look.observed[0].due - look.observed[0].since, 2s);
  EXPECT_EQ(look.leader, 1U);
  EXPECT_EQ(told(cluster.watch(1s)), Told{});
  look = cluster.watch(1s);
  EXPECT_EQ(told(look), Told{"warning RAFT_STALE_LEADER ctl-1"});
  EXPECT_EQ(the(Code::kRaftStaleLeader, look).summary,
            "ctl-1 (dea6) still leads in term 1, while the cluster is in term 2");
  EXPECT_EQ(told(cluster.watch(1s)),
            (Told{"warning RAFT_STALE_LEADER ctl-1", "warning RAFT_QUORUM_MARGIN"}))
      << "it has been of no use to the cluster for one round";
  EXPECT_EQ(told(cluster.watch(1s)),
            (Told{"critical RAFT_STALE_LEADER ctl-1", "warning RAFT_QUORUM_MARGIN"}));
}

TEST(StaleLeader, IsKnownByItsOwnAgesWhenNobodyElseLeads) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.isolate(1);
  cluster.isolate(2);
  for (const std::size_t i : {1, 2}) {
    cluster.node(i).role = Role::kCandidate;
    cluster.node(i).standing = Standing::kDisconnected;
  }
  const Assessment found = cluster.watch(4s);
  EXPECT_EQ(told(found), Told{"warning RAFT_STALE_LEADER ctl-1"});
  const Finding& stale = the(Code::kRaftStaleLeader, found);
  EXPECT_EQ(stale.summary, "ctl-1 (dea6) leads and hears no majority of the voters");
  ASSERT_EQ(stale.evidence.size(), 3U) << "its own term, and the ages of the two others";
  EXPECT_TRUE(stale.evidence[1].says.starts_with("499b")) << stale.evidence[1].says;
  EXPECT_TRUE(stale.evidence[2].says.starts_with("1430")) << stale.evidence[2].says;
}

// On OVS <= 3.2 a member that is cut off raises its term for ever (capture 20); the leader of the
// others is not stale.
TEST(StaleLeader, AHigherTermWithoutALeaderMakesNobodyStale) {
  FakeCluster cluster(3);
  cluster.isolate(2);
  cluster.node(2).role = Role::kCandidate;
  cluster.node(2).standing = Standing::kDisconnected;
  cluster.node(2).term = 51;
  EXPECT_EQ(told(cluster.watch(20s)),
            (Told{"warning RAFT_QUORUM_MARGIN", "warning RAFT_TERM_DIVERGENCE ctl-3"}));
}

TEST(TermDivergence, IsFoundBehindTheClusterToo) {
  FakeCluster cluster(3);
  cluster.elect(1);
  cluster.isolate(0);
  cluster.node(0).role = Role::kCandidate;
  cluster.node(0).term = 1;
  EXPECT_EQ(told(cluster.watch(4s)), Told{"warning RAFT_QUORUM_MARGIN"});
  const Assessment found = cluster.watch(1s);
  EXPECT_EQ(told(found),
            (Told{"warning RAFT_QUORUM_MARGIN", "warning RAFT_TERM_DIVERGENCE ctl-1"}));
  EXPECT_EQ(the(Code::kRaftTermDivergence, found).summary,
            "ctl-1 (dea6) is behind the cluster: term 1 against 2");
}

TEST(TermDivergence, NotForAJoiningMember) {
  FakeCluster cluster(3);
  const std::size_t fourth =
      cluster.add_node("ctl-4", "2e3dde73-c10d-493c-98ae-03173911ef81", "tcp:10.0.0.4:6643");
  cluster.node(fourth).standing = Standing::kJoining;
  cluster.node(fourth).term = 0;
  EXPECT_EQ(told(cluster.watch(20s)), Told{});
}

// Capture 37: the disk of the leader is full, the others have elected another.
TEST(FailedLeader, IsFoundAtOnceAndExplainsItsOldTerm) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.node(0).standing = Standing::kFailed;
  Assessment found = cluster.look();
  EXPECT_EQ(told(found), Told{"critical RAFT_FAILED_LEADER ctl-1"});
  EXPECT_EQ(the(Code::kRaftFailedLeader, found).evidence[0].says,
            "Status: failed; Role: leader; Term: 1");
  EXPECT_FALSE(found.leader);
  cluster.isolate(0);
  cluster.elect(1);
  found = cluster.watch(20s);
  EXPECT_EQ(told(found), (Told{"critical RAFT_FAILED_LEADER ctl-1", "warning RAFT_QUORUM_MARGIN"}));
  EXPECT_EQ(found.members[0].outcome, Outcome::kFail);
  EXPECT_EQ(found.members[0].reason.text, "failed leader");
}

TEST(FailedLeader, WithoutItsStatusItIsGivenOneRound) {
  FakeCluster cluster(3);
  cluster.node(0).standing = Standing::kFailed;
  cluster.node(0).status_silence = ReasonCode::kDenied;
  cluster.isolate(0);
  cluster.elect(1);
  cluster.node(0).role = Role::kLeader;
  EXPECT_FALSE(has(Code::kRaftFailedLeader, cluster.look()));
  EXPECT_TRUE(has(Code::kRaftFailedLeader, cluster.watch(3s)));
}

TEST(FailedLeader, AFailedFollowerIsDown) {
  FakeCluster cluster(3);
  cluster.node(2).standing = Standing::kFailed;
  const Assessment found = cluster.watch(10s);
  EXPECT_EQ(told(found), (Told{"critical RAFT_MEMBER_DOWN ctl-3", "warning RAFT_QUORUM_MARGIN"}));
  EXPECT_EQ(the(Code::kRaftMemberDown, found).summary,
            "ctl-3 (1430) stopped serving after an error");
}

TEST(NoLeader, IsFoundAfterOneRoundWhileAMajorityLives) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  for (const std::size_t i : {0, 1, 2}) cluster.node(i).role = Role::kCandidate;
  EXPECT_EQ(told(cluster.watch(2s)), Told{});
  const Assessment found = cluster.watch(1s);
  EXPECT_EQ(told(found), Told{"critical RAFT_NO_LEADER"});
  EXPECT_EQ(the(Code::kRaftNoLeader, found).evidence.size(), 3U);
}

// Row 36: `connected` of _Server stays true through the first lost election (capture 11c).
TEST(NoLeader, AConnectedCandidateHasNoLeader) {
  FakeCluster cluster(3);
  for (const std::size_t i : {0, 1, 2}) cluster.node(i).role = Role::kCandidate;
  cluster.edit = [](std::vector<Opinion>& all) {
    for (Opinion& opinion : all) opinion.local->connected = true;
  };
  EXPECT_TRUE(has(Code::kRaftNoLeader, cluster.watch(5s)));
}

TEST(NoLeader, AFollowerThatHearsALeaderWeCannotReachHasOne) {
  FakeCluster cluster(3);
  cluster.node(0).silence = ReasonCode::kDenied;
  cluster.node(1).silence = ReasonCode::kDenied;
  const Assessment look = cluster.watch(30s);
  EXPECT_EQ(told(look), Told{});
  EXPECT_EQ(look.verdict, Verdict::kWarning) << "two of three cannot be asked: not healthy";
  EXPECT_EQ(look.members[0].outcome, Outcome::kUnknown);
}

// The list names first the one that is dead.
TEST(NoLeader, OfTwoWithTheSameFourDigitsTheOneThatIsHeardLeads) {
  FakeCluster cluster(3);
  MemberId& id = cluster.node(1).id;
  id.high = (cluster.node(0).id.high & (0xffffULL << 48)) | (id.high & ~(0xffffULL << 48));
  cluster.list()[1].nickname = cluster.list()[0].nickname;
  cluster.list()[1].id = cluster.list()[0].id;
  cluster.elect(1);
  cluster.kill(0);
  cluster.node(1).silence = ReasonCode::kUnreachable;
  const Assessment found = cluster.watch(30s);
  EXPECT_FALSE(has(Code::kRaftNoLeader, found));
  EXPECT_FALSE(has(Code::kRaftNoQuorum, found));
}

TEST(NoLeader, NamingALeaderThatIsNotHeardIsNotEnough) {
  FakeCluster cluster(3);
  cluster.watch(3s);
  cluster.node(0).configured = false;
  cluster.isolate(0);
  EXPECT_EQ(told(cluster.watch(3s)), Told{}) << "two seconds of silence are legal, then one round";
  EXPECT_TRUE(has(Code::kRaftNoLeader, cluster.watch(1s)));
}

TEST(LeaderDisagreement, TwoFollowersOfDifferentLeadersInOneTerm) {
  FakeCluster cluster(5);
  cluster.node(4).follows = 1;
  EXPECT_EQ(told(cluster.watch(4s)), Told{});
  const Assessment found = cluster.watch(2s);
  EXPECT_EQ(told(found), Told{"critical RAFT_LEADER_DISAGREEMENT ctl-1"});
  EXPECT_EQ(the(Code::kRaftLeaderDisagreement, found).summary,
            "ctl-1 (dea6) takes dea6 for the leader, ctl-5 (e830) takes 499b");
}

TEST(LeaderDisagreement, NotInDifferentTerms) {
  FakeCluster cluster(5);
  cluster.node(4).follows = 1;
  cluster.node(4).term = 0;
  EXPECT_FALSE(has(Code::kRaftLeaderDisagreement, cluster.watch(10s)));
}

TEST(LeaderDisagreement, ALeaderInNobodysList) {
  FakeCluster cluster(3);
  cluster.edit = [](std::vector<Opinion>& all) { all[2].status->leader.name = "beef"; };
  EXPECT_EQ(told(cluster.watch(10s)), Told{"critical RAFT_LEADER_DISAGREEMENT ctl-3"});
}

TEST(LeaderDisagreement, NicknamesOfUnixAddressesAreResolved) {
  FakeCluster cluster(3);
  cluster.edit = [](std::vector<Opinion>& all) {
    for (Opinion& opinion : all) {
      for (Server& server : opinion.status->servers) {
        if (server.nickname == "dea6") server.nickname = "alpha";
      }
      if (opinion.member != "ctl-1") opinion.status->leader.name = "alpha";
    }
  };
  const Assessment look = cluster.watch(10s);
  EXPECT_EQ(told(look), Told{});
  EXPECT_EQ(look.members[1].outcome, Outcome::kOk);
}

TEST(LeaderDisagreement, TwoLocalViewsThatBothLead) {
  FakeCluster cluster(3);
  cluster.node(1).role = Role::kLeader;
  for (const std::size_t i : {0, 1, 2}) cluster.node(i).status_silence = ReasonCode::kNotProbed;
  EXPECT_EQ(told(cluster.watch(10s)), Told{"critical RAFT_LEADER_DISAGREEMENT ctl-1"});
}

}  // namespace
}  // namespace wardmote::judge::raft
