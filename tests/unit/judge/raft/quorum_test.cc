#include <algorithm>

#include <gtest/gtest.h>

#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

TEST(QuorumMargin, OneOfThreeKilled) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2);
  EXPECT_EQ(told(cluster.watch(2s)), Told{});
  const Assessment found = cluster.watch(1s);
  EXPECT_EQ(told(found), (Told{"critical RAFT_MEMBER_DOWN ctl-3", "warning RAFT_QUORUM_MARGIN"}));
  EXPECT_EQ(found.quorum.live, 2U);
  EXPECT_EQ(the(Code::kRaftQuorumMargin, found).summary,
            "2 of 3 voters answer or are heard, 2 are needed: the next failure stops all writes");
}

TEST(QuorumMargin, NotWithOneOfFiveDown) {
  FakeCluster cluster(5);
  cluster.kill(4);
  EXPECT_EQ(told(cluster.watch(60s)), Told{"critical RAFT_MEMBER_DOWN ctl-5"});
}

TEST(QuorumMargin, NotWithTwoVotersWhichNeverHaveOne) {
  FakeCluster cluster(2);
  EXPECT_EQ(told(cluster.watch(30s)), Told{"info RAFT_CLUSTER_SIZE"});
}

TEST(QuorumMargin, UnknownWhenNobodyCanTellOfAVoter) {
  FakeCluster cluster(3);
  cluster.node(0).configured = false;
  cluster.node(1).configured = false;
  const Assessment look = cluster.watch(30s);
  EXPECT_EQ(told(look), Told{})
      << "a lone follower proves a quorum, and tells nothing of the third";
  EXPECT_GE(look.quorum.live, look.quorum.needed);
}

// Captures 10 and 11: the plunger says quorum=1 here.
TEST(NoQuorum, TwoOfThreeKilledAndAFollowerSurvives) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(0);
  cluster.kill(1);
  EXPECT_EQ(told(cluster.watch(2s)), Told{});
  Assessment found = cluster.watch(1s);
  const Told expected{"critical RAFT_NO_QUORUM", "critical RAFT_MEMBER_DOWN ctl-1",
                      "critical RAFT_MEMBER_DOWN ctl-2"};
  EXPECT_EQ(told(found), expected);
  cluster.node(2).role = Role::kCandidate;
  cluster.node(2).standing = Standing::kDisconnected;
  for (int i = 0; i < 60; ++i) {
    ++cluster.node(2).term;
    found = cluster.watch(1s);
    ASSERT_EQ(told(found), expected);
  }
  const Finding& finding = the(Code::kRaftNoQuorum, found);
  EXPECT_EQ(finding.summary, "1 of 3 voters answer or are heard, 2 are needed to write");
  EXPECT_NE(finding.advice->text.find("cannot work"), std::string::npos);
  EXPECT_TRUE(finding.advice->command.empty());
}

TEST(NoQuorum, TwoOfThreeKilledAndTheLeaderSurvives) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(1);
  cluster.kill(2);
  const Told expected{"critical RAFT_NO_QUORUM", "critical RAFT_MEMBER_DOWN ctl-2",
                      "critical RAFT_MEMBER_DOWN ctl-3"};
  EXPECT_EQ(told(cluster.watch(3s)), expected)
      << "the leader heard them a moment ago, and their sockets refuse";
}

// Seen on a real cluster: a follower goes on for a round hearing a leader that has already stepped
// down.
TEST(NoQuorum, AFollowerThatStillHearsTheFormerLeaderProvesNothing) {
  FakeCluster cluster(4);
  cluster.watch(5s);
  cluster.kill(1);
  cluster.kill(3);
  cluster.watch(1s);
  cluster.node(0).role = Role::kCandidate;
  cluster.node(0).follows.reset();
  cluster.node(0).term = 2;
  cluster.edit = [](std::vector<Opinion>& opinions) {
    opinions[2].status->servers[0].last_message = 1200ms;
  };
  const Assessment found = cluster.watch(2s);
  EXPECT_EQ(found.quorum.live, 2U);
  EXPECT_TRUE(has(Code::kRaftNoQuorum, found));
}

TEST(NoQuorum, MembersThatWeMayNotAskAreNotDead) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.node(0).silence = ReasonCode::kDenied;
  cluster.node(1).silence = ReasonCode::kDenied;
  cluster.isolate(2);
  cluster.node(2).role = Role::kCandidate;
  EXPECT_FALSE(has(Code::kRaftNoQuorum, cluster.watch(30s)));
}

TEST(NoQuorum, ALeaderThatHearsAMajorityProvesIt) {
  FakeCluster cluster(3);
  cluster.node(1).silence = ReasonCode::kUnreachable;
  cluster.node(2).silence = ReasonCode::kUnreachable;
  const Assessment look = cluster.watch(30s);
  EXPECT_EQ(told(look), Told{});
  EXPECT_EQ(look.quorum.live, 3U);
}

/// The first member alone answers, leads nobody and hears nobody; the others cannot be reached.
void cut_off_with_the_agent(FakeCluster& cluster) {
  for (const std::size_t i : {1, 2}) {
    cluster.kill(i, ReasonCode::kUnreachable);
  }
  cluster.node(0).role = Role::kCandidate;
  cluster.node(0).standing = Standing::kDisconnected;
  cluster.node(0).follows.reset();
}

// The agent's host is cut off with its own member, while the two others commit.
TEST(NoQuorum, AnAgentThatIsCutOffIsBlind) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cut_off_with_the_agent(cluster);
  const Assessment found = cluster.watch(5min);
  EXPECT_EQ(told(found), (Told{"critical RAFT_NO_LEADER", "warning MONITOR_BLIND ctl-2",
                               "warning MONITOR_BLIND ctl-3"}));
  EXPECT_EQ(the(Code::kRaftNoLeader, found).summary,
            "no member that answers leads, or hears a leader; nothing is known of ctl-2, ctl-3");
  for (const Finding& finding : found.findings) {
    EXPECT_FALSE(finding.advice->text.contains("new cluster")) << finding.advice->text;
    EXPECT_FALSE(finding.advice->text.contains("standalone")) << finding.advice->text;
  }
  EXPECT_EQ(found.members[1].outcome, Outcome::kUnknown);
}

// A leader that is cut off goes on calling itself leader for two rounds, and hears nobody.
TEST(NoQuorum, ALeaderThatIsCutOffWithTheAgentIsNoWitness) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cut_off_with_the_agent(cluster);
  cluster.node(0).role = Role::kLeader;
  cluster.node(0).standing = Standing::kMember;
  const Assessment found = cluster.watch(5min);
  EXPECT_FALSE(has(Code::kRaftNoQuorum, found));
  EXPECT_FALSE(has(Code::kRaftMemberDown, found));
  EXPECT_FALSE(has(Code::kRaftDeadMember, found));
}

bool is_seen(Code code, const Assessment& look) {
  return std::ranges::find(look.observed, code, &Observed::code) != look.observed.end();
}

// Its connections fall silent first, and only the next ones show that nobody can be reached.
TEST(NoQuorum, WhatOneLookShowedHidesNoOutage) {
  FakeCluster cluster(3);
  cluster.watch(15s);
  cut_off_with_the_agent(cluster);
  for (const std::size_t i : {1, 2}) cluster.node(i).silence = ReasonCode::kHung;
  EXPECT_TRUE(is_seen(Code::kRaftNoQuorum, cluster.watch(1s)));
  for (const std::size_t i : {1, 2}) cluster.node(i).silence = ReasonCode::kUnreachable;
  Assessment look = cluster.watch(3s);
  EXPECT_EQ(told(look), Told{"critical RAFT_NO_LEADER"});
  for (int i = 0; i < 180; ++i) {
    look = cluster.watch(1s);
    ASSERT_EQ(look.verdict, Verdict::kCritical) << i;
    ASSERT_TRUE(has(Code::kRaftNoLeader, look)) << i;
    EXPECT_FALSE(is_seen(Code::kRaftNoQuorum, look)) << i;
    EXPECT_FALSE(is_seen(Code::kRaftMemberHung, look)) << i;
  }
}

TEST(NoQuorum, AFailedMemberAndTwoThatDoNotAnswerAreNeverHealthy) {
  for (const ReasonCode silence : {ReasonCode::kUnreachable, ReasonCode::kHung, ReasonCode::kDenied,
                                   ReasonCode::kRefused, ReasonCode::kProberStarved}) {
    FakeCluster cluster(3);
    cluster.watch(15s);
    cut_off_with_the_agent(cluster);
    for (const std::size_t i : {1, 2}) cluster.node(i).silence = silence;
    for (int i = 0; i < 90; ++i)
      ASSERT_NE(cluster.watch(1s).verdict, Verdict::kOk) << to_string(silence) << i;
  }
}

// Nobody leads, and then it is seen why: the one is told until the other is.
TEST(NoQuorum, ACauseThatIsOnlySeenTakesNoAlarmBack) {
  FakeCluster cluster(3);
  cluster.watch(15s);
  cut_off_with_the_agent(cluster);
  ASSERT_EQ(told(cluster.watch(10s)), Told{"critical RAFT_NO_LEADER"});
  for (const std::size_t i : {1, 2}) cluster.node(i).silence = ReasonCode::kRefused;
  EXPECT_EQ(told(cluster.watch(1s)), Told{"critical RAFT_NO_LEADER"});
  EXPECT_EQ(told(cluster.watch(1s)), Told{"critical RAFT_NO_LEADER"});
  EXPECT_EQ(told(cluster.watch(1s)),
            (Told{"critical RAFT_NO_QUORUM", "critical RAFT_MEMBER_DOWN ctl-2",
                  "critical RAFT_MEMBER_DOWN ctl-3"}));
}

// Two looks that lie minutes apart, with nothing known in between, are no outage of minutes.
TEST(NoQuorum, WhatNoLookCouldTellForLongBeginsAnew) {
  FakeCluster cluster(3);
  cluster.watch(15s);
  cluster.kill(2, ReasonCode::kRefused);
  cluster.watch(1s);
  cluster.node(2).silence = ReasonCode::kDenied;
  EXPECT_FALSE(has(Code::kRaftMemberDown, cluster.watch(2min)));
  cluster.node(2).silence = ReasonCode::kRefused;
  const Assessment look = cluster.watch(1s);
  EXPECT_FALSE(has(Code::kRaftMemberDown, look));
  EXPECT_TRUE(is_seen(Code::kRaftMemberDown, look));
  EXPECT_TRUE(has(Code::kRaftMemberDown, cluster.watch(3s)));
}

// A look now and then that shows nothing does not begin the window anew.
TEST(NoQuorum, BlindLooksInBetweenKeepNobodyFromBeingDown) {
  FakeCluster cluster(3);
  cluster.watch(15s);
  cluster.kill(2, ReasonCode::kRefused);
  cluster.watch(1s);
  cluster.node(2).silence = ReasonCode::kDenied;
  EXPECT_FALSE(has(Code::kRaftMemberDown, cluster.watch(5s)));
  cluster.node(2).silence = ReasonCode::kRefused;
  EXPECT_TRUE(has(Code::kRaftMemberDown, cluster.watch(1s)));
}

TEST(NoQuorum, EverybodyRefusesAndTheListIsRemembered) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  for (const std::size_t i : {0, 1, 2}) cluster.kill(i);
  const Assessment found = cluster.watch(5s);
  EXPECT_EQ(told(found),
            (Told{"critical RAFT_NO_QUORUM", "critical RAFT_MEMBER_DOWN ctl-1",
                  "critical RAFT_MEMBER_DOWN ctl-2", "critical RAFT_MEMBER_DOWN ctl-3"}));
  EXPECT_EQ(found.verdict, Verdict::kCritical);
}

TEST(NoQuorum, AListThatWasNeverCommittedProvesNone) {
  for (const bool committed : {false, true}) {
    FakeCluster cluster(3);
    cluster.node(2).configured = false;
    cluster.watch(5s);
    cluster.kill(1);
    cluster.kill(2);
    cluster.watch(1s);
    cluster.strike(1);
    if (!committed) {
      cluster.edit = [](std::vector<Opinion>& all) {
        if (all[0].status) all[0].status->changes.push_back({.phase = Phase::kRemoving});
      };
    }
    cluster.watch(3s);
    cluster.kill(0);
    EXPECT_EQ(has(Code::kRaftNoQuorum, cluster.watch(60s)), committed);
  }
}

/// The last list that the agent could read was that of a leader which had written a removal and
/// died before the others had it.
TEST(NoQuorum, ARememberedListThatLacksWhoTakesPartMayBeOld) {
  FakeCluster cluster(3);
  cluster.node(2).configured = false;
  cluster.node(1).status_silence = ReasonCode::kNotProbed;
  cluster.watch(5s);
  cluster.kill(1);
  cluster.watch(3s);
  cluster.strike(1);
  cluster.watch(3s);
  cluster.kill(0);
  EXPECT_TRUE(has(Code::kRaftNoQuorum, cluster.watch(60s)));
  cluster.heal(1);
  const Finding after = the(Code::kRaftNoQuorum, cluster.watch(60s));
  EXPECT_TRUE(after.summary.ends_with(kUnconfirmed)) << "it takes part, in some list";
}

TEST(NoQuorum, EverybodyRefusesFromTheStart) {
  FakeCluster cluster(3);
  for (const std::size_t i : {0, 1, 2}) cluster.kill(i);
  EXPECT_EQ(cluster.look().verdict, Verdict::kUnknown) << "one sample is not enough";
  EXPECT_EQ(cluster.watch(5s).verdict, Verdict::kCritical);
}

TEST(NoQuorum, EverybodyDeniesUsIsUnknown) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  for (const std::size_t i : {0, 1, 2}) cluster.node(i).silence = ReasonCode::kDenied;
  const Assessment look = cluster.watch(60s);
  EXPECT_EQ(told(look), Told{});
  EXPECT_EQ(look.verdict, Verdict::kUnknown);
}

// Capture 15: a ghost raises the majority, so that one more death is too many.
TEST(NoQuorum, AGhostCountsAsAVoter) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.watch(5s);
  cluster.heal(2);
  cluster.node(2).id = *parse_member_id("d8d142e3-c38f-46e8-ae36-3db41907e3ae");
  cluster.enlist(2);
  cluster.watch(20s);
  cluster.kill(1);
  const Assessment found = cluster.watch(5s);
  EXPECT_EQ(told(found), (Told{"critical RAFT_NO_QUORUM",
                               "critical RAFT_STALE_MEMBER 1430fed6-ec54-4795-89a5-cf985d758750",
                               "critical RAFT_MEMBER_DOWN ctl-2", "info RAFT_CLUSTER_SIZE"}));
}

// Its disk is full: it answers, and the leader hears it, and it writes nothing down.
TEST(QuorumMargin, AFollowerThatAcknowledgesNothingDoesNotCount) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.edit = [](std::vector<Opinion>& all) { all[0].status->servers[2].match_index = 4; };
  cluster.watch(10s);
  Assessment found = cluster.look();
  EXPECT_EQ(told(found), Told{}) << "nothing is written, so there is nothing to acknowledge";
  for (int i = 0; i < 20; ++i) {
    for (const std::size_t node : {0, 1}) ++cluster.node(node).log_next;
    found = cluster.watch(1s);
  }
  const Finding& margin = the(Code::kRaftQuorumMargin, found);
  ASSERT_EQ(margin.evidence.size(), 1U) << "the voter that does not count";
  EXPECT_EQ(margin.evidence[0].by, "ctl-1");
  EXPECT_TRUE(margin.evidence[0].says.contains("1430 (1430 at tcp:10.0.0.3:6643)"));
  EXPECT_TRUE(margin.evidence[0].says.contains("match_index=4")) << margin.evidence[0].says;
  EXPECT_EQ(found.quorum.live, 2U);
  EXPECT_FALSE(has(Code::kRaftNoQuorum, found));
  EXPECT_EQ(cluster.repair_view().acknowledging, 2U);
}

TEST(QuorumMargin, AFollowerThatCatchesUpSlowlyCounts) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  std::uint64_t has = 4;
  cluster.edit = [&](std::vector<Opinion>& all) { all[0].status->servers[2].match_index = has; };
  for (int i = 0; i < 30; ++i) {
    for (const std::size_t node : {0, 1}) cluster.node(node).log_next += 10;
    ++has;
    ASSERT_EQ(cluster.watch(1s).quorum.live, 3U);
  }
}

TEST(ClusterSize, AVoterMoreThanExpected) {
  FakeCluster cluster(4);
  cluster.expectation.replicas = 3;
  EXPECT_EQ(told(cluster.watch(4s)), Told{});
  const Assessment look = cluster.watch(2s);
  EXPECT_EQ(told(look), Told{"warning RAFT_CLUSTER_SIZE"});
  EXPECT_TRUE(look.findings[0].advice->text.starts_with("Remove no server for this:"));
}

TEST(ClusterSize, WhoIsMissingShallJoin) {
  FakeCluster cluster(3);
  cluster.expectation.replicas = 5;
  const Assessment look = cluster.watch(10s);
  EXPECT_EQ(told(look), Told{"warning RAFT_CLUSTER_SIZE"});
  EXPECT_TRUE(look.findings[0].advice->text.starts_with("Join the members that are missing"));
}

TEST(ClusterSize, EvenAndSingleAreWorthKnowing) {
  EXPECT_EQ(told(FakeCluster(4).watch(10s)), Told{"info RAFT_CLUSTER_SIZE"});
  FakeCluster single(1);
  const Assessment look = single.watch(10s);
  EXPECT_EQ(told(look), Told{"info RAFT_CLUSTER_SIZE"});
  EXPECT_EQ(look.verdict, Verdict::kOk);
}

TEST(ClusterSize, AMemberThatIsBeingAddedIsNotAVoterYet) {
  FakeCluster cluster(3);
  cluster.expectation.replicas = 3;
  const std::size_t fourth =
      cluster.add_node("ctl-4", "2e3dde73-c10d-493c-98ae-03173911ef81", "tcp:10.0.0.4:6643");
  cluster.node(fourth).standing = Standing::kJoining;
  cluster.enlist(fourth, Phase::kAddingCatchup);
  const Assessment look = cluster.watch(20s);
  EXPECT_EQ(told(look), Told{});
  EXPECT_EQ(look.quorum.voters, 3U);
}

TEST(ClusterSize, AMemberThatIsBeingRemovedStillVotes) {
  FakeCluster cluster(3);
  cluster.list()[2].phase = Phase::kRemoving;
  EXPECT_EQ(cluster.watch(2s).quorum.voters, 3U);
}

TEST(CommitStall, UncommittedEntriesThatDoNotMove) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.node(0).uncommitted = 1;
  ++cluster.node(0).log_next;
  EXPECT_EQ(told(cluster.watch(4s)), Told{});
  EXPECT_EQ(told(cluster.watch(1s)), Told{"critical RAFT_COMMIT_STALL ctl-1"});
}

TEST(CommitStall, ABusyLeaderCommits) {
  FakeCluster cluster(3);
  cluster.node(0).uncommitted = 1;
  for (int i = 0; i < 30; ++i) {
    for (const std::size_t node : {0, 1, 2}) cluster.node(node).log_next += 7;
    ASSERT_EQ(told(cluster.watch(1s)), Told{});
  }
}

TEST(CommitStall, IsOnlyTheConsequenceOfALostQuorum) {
  FakeCluster cluster(3);
  cluster.watch(2s);
  cluster.node(0).uncommitted = 1;
  cluster.kill(1, ReasonCode::kHung);
  cluster.kill(2, ReasonCode::kHung);
  EXPECT_EQ(told(cluster.watch(10s)),
            (Told{"critical RAFT_NO_QUORUM", "critical RAFT_MEMBER_HUNG ctl-2",
                  "critical RAFT_MEMBER_HUNG ctl-3"}));
}

// Nobody answers: one is down for sure, and two cannot be reached.
TEST(QuorumMargin, IsNotClaimedWhileTheMajorityCouldNotBeAsked) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(0);
  cluster.kill(1, ReasonCode::kUnreachable);
  cluster.node(2).silence = ReasonCode::kUnreachable;
  const Assessment look = cluster.watch(2min);
  EXPECT_FALSE(has(Code::kRaftQuorumMargin, look));
  EXPECT_FALSE(has(Code::kRaftNoQuorum, look));
}

TEST(NoQuorum, IsNotOverWhenTheLastMemberDies) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(1);
  cluster.kill(2);
  ASSERT_TRUE(has(Code::kRaftNoQuorum, cluster.watch(30s)));
  cluster.kill(0);
  const Assessment dark = cluster.watch(5min);
  EXPECT_TRUE(has(Code::kRaftNoQuorum, dark));
  EXPECT_EQ(dark.verdict, Verdict::kCritical);
}

// By TCP alone nobody tells a list.
TEST(NoLeader, IsNotOverWhenTheLastMemberDies) {
  FakeCluster cluster(3);
  for (std::size_t i = 0; i < 3; ++i) cluster.node(i).status_silence = ReasonCode::kNotProbed;
  cluster.watch(5s);
  cluster.kill(1);
  cluster.kill(2);
  cluster.node(0).role = Role::kCandidate;
  cluster.edit = [](std::vector<Opinion>& all) {
    if (all[0].local) all[0].local->connected = false;
  };
  ASSERT_TRUE(has(Code::kRaftNoLeader, cluster.watch(60s)));
  cluster.kill(0);
  EXPECT_TRUE(has(Code::kRaftNoLeader, cluster.watch(5min)));
}

TEST(Quorum, ALeaderThatIsNotAskedIsHeardByWhomeverItReaches) {
  FakeCluster cluster(5);
  cluster.node(0).configured = false;
  cluster.watch(5s);
  cluster.isolate(1);
  const Assessment look = cluster.watch(10s);
  EXPECT_FALSE(has(Code::kRaftNoQuorum, look));
  EXPECT_EQ(look.quorum.live, 5U) << "the leader is heard, and the one that is cut off answers";
}

}  // namespace
}  // namespace wardmote::judge::raft
