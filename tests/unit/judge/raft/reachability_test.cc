#include <gtest/gtest.h>

#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

// Capture 08: stopped by a signal; the kernel still accepts connections.
TEST(MemberHung, APausedFollower) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2, ReasonCode::kHung);
  EXPECT_EQ(told(cluster.watch(2s)), Told{});
  Assessment found = cluster.watch(1s);
  EXPECT_EQ(told(found), (Told{"critical RAFT_MEMBER_HUNG ctl-3", "warning RAFT_QUORUM_MARGIN"}));
  EXPECT_EQ(the(Code::kRaftMemberHung, found).evidence.back().by, "ctl-1")
      << "its peers bear witness";
  cluster.heal(2);
  EXPECT_EQ(told(cluster.watch(1s)), Told{});
}

TEST(MemberHung, OneSlowAnswerIsNotEnough) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.edit = [](std::vector<Opinion>& all) { all[2].ended = all[2].begun + 10s; };
  cluster.kill(2, ReasonCode::kHung);
  cluster.watch(1s);
  cluster.heal(2);
  EXPECT_EQ(told(cluster.watch(5s)), Told{});
}

TEST(MemberHung, NotIfOneWayIsOnlyShut) {
  FakeCluster cluster(3);
  cluster.edit = [](std::vector<Opinion>& all) {
    all[2].local_source.reason.code = ReasonCode::kDenied;
  };
  cluster.node(2).silence = ReasonCode::kHung;
  const Assessment look = cluster.watch(20s);
  EXPECT_EQ(told(look), Told{});
  EXPECT_EQ(look.members[2].outcome, Outcome::kUnknown);
}

TEST(MemberDown, ARefusingOneWhosePeersHearItIsUnknown) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.node(2).silence = ReasonCode::kMissing;  // the socket was moved, the server runs on
  const Assessment look = cluster.watch(30s);
  EXPECT_EQ(told(look), Told{});
  EXPECT_EQ(look.members[2].outcome, Outcome::kUnknown);
  EXPECT_EQ(look.members[2].reason.text, "others hear it, we do not (missing)");
}

TEST(MemberDown, AnUnreachableOneIsDownOnlyIfNobodyHearsIt) {
  FakeCluster cluster(5);
  cluster.watch(5s);
  cluster.node(3).silence = ReasonCode::kUnreachable;
  cluster.kill(4, ReasonCode::kUnreachable);
  EXPECT_EQ(told(cluster.watch(30s)), Told{"critical RAFT_MEMBER_DOWN ctl-5"});
}

TEST(MemberDown, AnUnreachableStrangerMayBeTheServerThatTheLeaderHears) {
  FakeCluster cluster(3);
  cluster.node(2).silence = ReasonCode::kUnreachable;  // it was never known to us
  EXPECT_EQ(told(cluster.watch(30s)), Told{});
}

TEST(MemberDown, OtherReasonsAreUnknownAndNoFinding) {
  for (const ReasonCode code :
       {ReasonCode::kDenied, ReasonCode::kProtocol, ReasonCode::kClosed, ReasonCode::kOverLimit,
        ReasonCode::kRejected, ReasonCode::kNotProbed}) {
    FakeCluster cluster(3);
    cluster.watch(5s);
    cluster.node(1).silence = code;
    const Assessment look = cluster.watch(30s);
    EXPECT_EQ(told(look), Told{}) << to_string(code);
    EXPECT_EQ(look.members[1].outcome, Outcome::kUnknown);
    EXPECT_EQ(look.members[1].reason.code, code);
  }
}

TEST(Starved, OwnSicknessStartsNothing) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  for (const std::size_t i : {0, 1, 2}) cluster.node(i).silence = ReasonCode::kProberStarved;
  const Assessment look = cluster.watch(30s);
  EXPECT_EQ(told(look), Told{});
  EXPECT_EQ(look.verdict, Verdict::kUnknown);
  EXPECT_EQ(look.members[0].reason.code, ReasonCode::kProberStarved);
}

TEST(Starved, OwnSicknessClearsNothing) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(1);
  cluster.kill(2);
  const Told before = told(cluster.watch(10s));
  EXPECT_EQ(before.size(), 3U);
  for (const std::size_t i : {0, 1, 2}) cluster.node(i).silence = ReasonCode::kProberStarved;
  EXPECT_EQ(told(cluster.watch(1s)), before);
  cluster.node(0).silence = ReasonCode::kNone;
  for (const std::size_t i : {1, 2}) cluster.kill(i);
  EXPECT_EQ(told(cluster.watch(1s)), before) << "the windows did not begin again";
  for (const std::size_t i : {1, 2}) cluster.heal(i);
  EXPECT_EQ(told(cluster.watch(1s)), Told{});
}

TEST(Starved, WhatIsKeptAdvisesNoCommand) {
  FakeCluster cluster(3);
  cluster.node(2).id = *parse_member_id("d8d142e3-c38f-46e8-ae36-3db41907e3ae");
  cluster.enlist(2);
  EXPECT_FALSE(the(Code::kRaftStaleMember, cluster.watch(5s)).advice->command.empty());
  for (const std::size_t i : {0, 1, 2}) cluster.node(i).silence = ReasonCode::kProberStarved;
  EXPECT_TRUE(the(Code::kRaftStaleMember, cluster.watch(1s)).advice->command.empty());
}

TEST(Starved, OneMemberVoidsOnlyWhatConcernsIt) {
  FakeCluster cluster(5);
  cluster.watch(5s);
  cluster.kill(4);
  cluster.watch(10s);
  cluster.node(3).silence = ReasonCode::kProberStarved;
  cluster.heal(4);
  EXPECT_EQ(told(cluster.watch(1s)), Told{});
}

}  // namespace
}  // namespace wardmote::judge::raft
