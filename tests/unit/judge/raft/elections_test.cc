#include <gtest/gtest.h>

#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kIsolated = 2;

/// Node 2 hears nobody and starts an election every `pause`; from OVS 3.3 on its term stands still.
void campaign(FakeCluster& cluster, Milliseconds pause = 1500ms) {
  cluster.isolate(kIsolated);
  Node& node = cluster.node(kIsolated);
  node.role = Role::kCandidate;
  node.standing = Standing::kDisconnected;
  const TimePoint begun = cluster.now();
  cluster.edit = [&cluster, begun, pause](std::vector<Opinion>& all) {
    if (!all[kIsolated].status) return;
    const auto time = std::chrono::duration_cast<Milliseconds>(cluster.now() - begun);
    all[kIsolated].status->election_started = time % pause;
    all[kIsolated].status->election_reason = "timeout";
  };
}

// Seen live on OVS 3.5.5: an isolated follower stays in term 1 for ever.
TEST(ElectionStorm, AnIsolatedFollowerWhoseTermStandsStill) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  campaign(cluster);
  EXPECT_EQ(told(cluster.watch(6s)), Told{"warning RAFT_QUORUM_MARGIN"});
  const Assessment found = cluster.watch(4s);
  EXPECT_EQ(told(found), (Told{"warning RAFT_QUORUM_MARGIN", "warning RAFT_ELECTION_STORM ctl-3"}));
  const Finding& storm = the(Code::kRaftElectionStorm, found);
  EXPECT_EQ(storm.summary,
            "ctl-3 (1430) keeps starting elections: 7 in 9.0s; it does not hear the leader ctl-1 "
            "(dea6)");
  ASSERT_EQ(storm.evidence.size(), 2U);
  EXPECT_EQ(storm.evidence[0].says,
            "Status: disconnected from the cluster (election timeout); Role: candidate; Term: 1; "
            "Last Election started 1000 ms ago, reason: timeout");
  EXPECT_EQ(storm.evidence[1].by, "ctl-1");
  EXPECT_TRUE(storm.evidence[1].says.contains("last msg"));
}

TEST(ElectionStorm, EndsWhenTheMemberHearsItsLeader) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  campaign(cluster);
  ASSERT_TRUE(has(Code::kRaftElectionStorm, cluster.watch(12s)));
  cluster.heal(kIsolated);
  cluster.node(kIsolated).role = Role::kFollower;
  cluster.node(kIsolated).standing = Standing::kMember;
  EXPECT_EQ(told(cluster.watch(1s)), Told{});
}

TEST(ElectionStorm, AtALongTimerTakesAsManyElections) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  campaign(cluster, 16'500ms);
  const auto own_elections = cluster.edit;
  cluster.edit = [&](std::vector<Opinion>& all) {
    own_elections(all);
    for (Opinion& opinion : all) opinion.status->election_timer = 16s;
  };
  EXPECT_FALSE(has(Code::kRaftElectionStorm, cluster.watch(60s)));
  EXPECT_TRUE(has(Code::kRaftElectionStorm, cluster.watch(60s)));
}

// OVS 2.9 to 2.14 do not print when the last election began; there the term tells.
TEST(ElectionStorm, IsTheExplanationOnlyWhereTheTermIsNot) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.isolate(kIsolated);
  cluster.node(kIsolated).role = Role::kCandidate;
  cluster.edit = [&](std::vector<Opinion>&) { ++cluster.node(kIsolated).term; };
  const Assessment found = cluster.watch(20s);
  EXPECT_EQ(told(found),
            (Told{"warning RAFT_QUORUM_MARGIN", "warning RAFT_TERM_DIVERGENCE ctl-3"}));
}

// Seen live on OVS 3.1: a healed partition, where the others have taken over the candidate's term
// and it has not yet heard the leader. Its elections belong to the partition, which was told.
TEST(ElectionStorm, WhatItDidWhileItsTermHadPartedIsNotToldAgain) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  campaign(cluster);
  const auto own_elections = cluster.edit;
  cluster.edit = [&](std::vector<Opinion>& all) {
    own_elections(all);
    ++cluster.node(kIsolated).term;
  };
  ASSERT_TRUE(has(Code::kRaftTermDivergence, cluster.watch(20s)));
  cluster.edit = own_elections;
  cluster.node(0).term = cluster.node(1).term = cluster.node(kIsolated).term;
  for (int look = 0; look < 3; ++look) {
    EXPECT_FALSE(has(Code::kRaftElectionStorm, cluster.watch(1s))) << look;
  }
  // But if they do not end, there is more to it.
  EXPECT_TRUE(has(Code::kRaftElectionStorm, cluster.watch(4s)));
}

TEST(ElectionStorm, AFailoverIsNone) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  int looks = 0;
  cluster.edit = [&](std::vector<Opinion>& all) {
    // Three elections in a row, then peace.
    ++looks;
    all[1].status->election_started = Milliseconds(looks <= 3 ? 300 : 300 + 1000 * (looks - 3));
  };
  EXPECT_EQ(told(cluster.watch(60s)), Told{});
}

TEST(ElectionStorm, IsOnlyTheConsequenceOfALostQuorum) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(0);
  cluster.kill(1);
  campaign(cluster);
  EXPECT_EQ(told(cluster.watch(30s)),
            (Told{"critical RAFT_NO_QUORUM", "critical RAFT_MEMBER_DOWN ctl-1",
                  "critical RAFT_MEMBER_DOWN ctl-2"}));
}

void elect_now(FakeCluster& cluster, std::size_t leader, const std::string& reason) {
  cluster.elect(leader);
  cluster.edit = [leader, reason](std::vector<Opinion>& all) {
    all[leader].status->election_reason = reason;
  };
}

TEST(LeaderFlap, FourUnplannedChangesInTenMinutes) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  for (const std::size_t leader : {1, 2, 0}) {
    elect_now(cluster, leader, "timeout");
    EXPECT_EQ(told(cluster.watch(100s)), Told{});
  }
  elect_now(cluster, 1, "timeout");
  const Assessment found = cluster.watch(2s);
  EXPECT_EQ(told(found), Told{"warning RAFT_LEADER_FLAP ctl-1"});
  const Finding& flap = the(Code::kRaftLeaderFlap, found);
  EXPECT_EQ(flap.summary, "the leader changed 4 times in 5m01s, 0 of them planned transfers");
  EXPECT_EQ(flap.evidence.back(),
            (Evidence{"ctl-2", "became leader (499b) in term 5, reason: timeout"}));
  EXPECT_EQ(told(cluster.watch(10min)), Told{}) << "it has been quiet since";
}

TEST(LeaderFlap, TheSameLeaderInTermAfterTermIsAChangeToo) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  for (int i = 0; i < 4; ++i) {
    elect_now(cluster, 0, "timeout");
    cluster.watch(10s);
  }
  EXPECT_TRUE(has(Code::kRaftLeaderFlap, cluster.look()));
}

// A leader that compacts its database hands leadership over first, and so does the next.
TEST(LeaderFlap, PlannedTransfersAreWorthAWordOnlyWhenTheyAreMany) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  for (std::size_t i = 1; i <= 7; ++i) {
    elect_now(cluster, i % 3, "leadership_transfer");
    EXPECT_EQ(told(cluster.watch(30s)), Told{});
  }
  elect_now(cluster, 2, "leadership_transfer");
  const Assessment found = cluster.watch(3s);
  EXPECT_EQ(told(found), Told{"info RAFT_LEADER_FLAP ctl-1"});
  EXPECT_EQ(found.verdict, Verdict::kOk);
}

TEST(VoteAnomaly, ACandidateThatCannotWin) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  campaign(cluster);
  const auto elections = cluster.edit;
  cluster.edit = [elections](std::vector<Opinion>& all) {
    elections(all);
    all[kIsolated].status->servers[kIsolated].voted_for = "1430";
  };
  const Assessment early = cluster.watch(4s);
  const Finding& votes = the(Code::kRaftVoteAnomaly, early);
  EXPECT_EQ(votes.summary, "ctl-3 (1430) stands for election and has 1 of the 2 votes it needs");
  EXPECT_FALSE(has(Code::kRaftVoteAnomaly, cluster.watch(10s))) << "the storm says it better";
}

// Votes split in one election of a cluster that works ever since (capture 14: two of three voted
// for the winner).
TEST(VoteAnomaly, ALoserThatVotedForItselfIsNone) {
  FakeCluster cluster(3);
  cluster.edit = [](std::vector<Opinion>& all) {
    for (const std::size_t i : {0, 2}) all[i].status->vote.kind = PeerName::Kind::kSelf;
    all[1].status->vote = {PeerName::Kind::kNamed, "dea6"};
  };
  EXPECT_EQ(told(cluster.watch(30s)), Told{});
}

TEST(VoteAnomaly, ALeaderThatMostVotedAgainst) {
  FakeCluster cluster(3);
  cluster.edit = [](std::vector<Opinion>& all) {
    for (Opinion& opinion : all) opinion.status->vote.kind = PeerName::Kind::kSelf;
  };
  EXPECT_EQ(told(cluster.watch(1s)), Told{});
  const Assessment found = cluster.watch(3s);
  EXPECT_EQ(told(found), Told{"info RAFT_VOTE_ANOMALY ctl-1"});
  EXPECT_EQ(the(Code::kRaftVoteAnomaly, found).summary,
            "ctl-1 (dea6) leads in term 1, in which 2 of 3 voters voted for others");
  EXPECT_EQ(the(Code::kRaftVoteAnomaly, found).evidence[1].says,
            "Role: follower; Term: 1; Vote: self");
}

}  // namespace
}  // namespace wardmote::judge::raft
