#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "base/format.h"
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

TEST(MemberDown, AConnectionWithAnotherOfItsNameIsNoSignOfLife) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.list().push_back(
      {.nickname = "1430", .id = *parse_member_id("1430"), .address = "tcp:10.0.0.9:6643"});
  cluster.edit = [](std::vector<Opinion>& all) {
    all[0].status->links.push_back({"1430", true, true});
  };
  EXPECT_TRUE(has(Code::kRaftMemberDown, cluster.watch(20s)));
}

// It was wiped, joins as another, and dies: the list still has what it was before.
TEST(MemberDown, TheListedServerThatItWasIsNamedToo) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.node(2).id = *parse_member_id("5ae1f4c6-0d3b-4b6c-8f5e-2a9d7c1b3e4f");
  cluster.node(2).standing = Standing::kJoining;
  cluster.isolate(2);
  cluster.watch(5s);
  cluster.kill(2);
  const Assessment look = cluster.watch(20s);
  const std::vector<std::string>& named = the(Code::kRaftMemberDown, look).subjects;
  EXPECT_EQ(named.front(), "ctl-3");
  EXPECT_TRUE(std::ranges::any_of(named, [](const auto& name) { return name.starts_with("1430"); }))
      << fmt::format("{}", fmt::join(named, " "));
}

TEST(MemberDown, AnUnreachableOneIsDownOnlyIfNobodyHearsIt) {
  FakeCluster cluster(5);
  cluster.watch(5s);
  cluster.node(3).silence = ReasonCode::kUnreachable;
  cluster.kill(4, ReasonCode::kUnreachable);
  EXPECT_EQ(told(cluster.watch(30s)), Told{"critical RAFT_MEMBER_DOWN ctl-5"});
}

// An agent on another host, whose own network is down.
TEST(MemberDown, MembersThatNobodyCanReachAreUnknown) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  for (const std::size_t i : {0, 1, 2}) cluster.node(i).silence = ReasonCode::kUnreachable;
  const Assessment look = cluster.watch(50s);
  EXPECT_EQ(told(look), Told{});
  EXPECT_EQ(look.verdict, Verdict::kUnknown);
  EXPECT_EQ(told(cluster.watch(15s)),
            (Told{"critical MONITOR_BLIND ctl-1", "critical MONITOR_BLIND ctl-2",
                  "critical MONITOR_BLIND ctl-3"}));
}

TEST(MemberDown, ARefusalOnOneOfTwoWaysIsOne) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2, ReasonCode::kUnreachable);
  cluster.kill(1, ReasonCode::kUnreachable);
  cluster.node(0).role = Role::kCandidate;
  cluster.edit = [](std::vector<Opinion>& all) {
    all[2].local_source.reason.code = ReasonCode::kRefused;
  };
  const Assessment look = cluster.watch(30s);
  EXPECT_EQ(the(Code::kRaftMemberDown, look).subjects.front(), "ctl-3");
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

TEST(CrashLoop, TheMemberThatRestartsIsNamed) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(has(Code::kRaftCrashLoop, cluster.look())) << i;
    cluster.kill(2);
    cluster.watch(1s);
    cluster.heal(2);
    cluster.watch(10s);
  }
  const Assessment found = cluster.look();
  EXPECT_EQ(told(found), Told{"warning RAFT_CRASH_LOOP ctl-3"});
  EXPECT_TRUE(
      the(Code::kRaftCrashLoop, found).summary.starts_with("ctl-3 (1430) restarted 4 times"));
  EXPECT_EQ(told(cluster.watch(11min)), Told{});
}

TEST(CrashLoop, AMemberThatIsAskedInAnotherWayBeginsAnew) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  for (int i = 0; i < 4; ++i) {
    cluster.kill(2);
    cluster.watch(1s);
    cluster.heal(2);
    cluster.watch(10s);
  }
  const auto forgetting = [&](const char* member) {
    Memory memory = cluster.memory();
    memory.forget(member);
    return told(assess(cluster.opinions(), cluster.expectation, memory, cluster.now()));
  };
  EXPECT_EQ(forgetting("ctl-1"), Told{"warning RAFT_CRASH_LOOP ctl-3"});
  EXPECT_EQ(forgetting("ctl-3"), Told{});
}

// It is back before the next look, every time: only what it counts tells.
TEST(CrashLoop, ARestartBetweenTwoLooksIsSeenByItsCounters) {
  FakeCluster cluster(3);
  for (int i = 0; i < 5; ++i) {
    cluster.node(1).disconnections = 3;
    cluster.watch(10s);
    cluster.node(1).disconnections = 0;
    cluster.watch(10s);
  }
  EXPECT_EQ(the(Code::kRaftCrashLoop, cluster.look()).subjects.front(), "ctl-2");
}

TEST(CrashLoop, AServerThatComesBackAsAnotherCounts) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  for (const char* id :
       {"d8d142e3-c38f-46e8-ae36-3db41907e3ae", "d9d142e3-c38f-46e8-ae36-3db41907e3ae",
        "dad142e3-c38f-46e8-ae36-3db41907e3ae", "dbd142e3-c38f-46e8-ae36-3db41907e3ae"}) {
    cluster.strike(2);
    cluster.node(2).id = *parse_member_id(id);
    cluster.enlist(2);
    cluster.watch(10s);
  }
  EXPECT_TRUE(has(Code::kRaftCrashLoop, cluster.look()));
}

TEST(CrashLoop, NotWhereOnlyOurWayToItComesAndGoes) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  for (int i = 0; i < 10; ++i) {
    cluster.node(2).silence = i % 2 == 0 ? ReasonCode::kUnreachable : ReasonCode::kNone;
    cluster.watch(10s);
  }
  EXPECT_EQ(told(cluster.look()), Told{});
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

// It lives for a moment and ends again: others hear it, and we are always refused.
// Its database serves clients no more, or its certificate has run out; its raft is well.
TEST(MemberDown, IsOverWhenOthersHearItForLong) {
  for (const auto& [silence, after] :
       {std::pair{ReasonCode::kRefused, 62s}, std::pair{ReasonCode::kExpired, 2s},
        std::pair{ReasonCode::kClosed, 2s}}) {
    FakeCluster cluster(4);
    cluster.watch(5s);
    cluster.kill(3);
    ASSERT_TRUE(has(Code::kRaftMemberDown, cluster.watch(10s)));
    cluster.heal(3);
    cluster.node(3).silence = silence;
    if (after > 2s) EXPECT_TRUE(has(Code::kRaftMemberDown, cluster.watch(after - 5s)));
    const Assessment look = cluster.watch(after > 2s ? 7s : after);
    EXPECT_FALSE(has(Code::kRaftMemberDown, look)) << to_string(silence);
    EXPECT_EQ(look.members[3].outcome, Outcome::kUnknown);
    EXPECT_TRUE(has(Code::kMonitorBlind, cluster.watch(62s))) << to_string(silence);
    // It is silent again, and that is news.
    cluster.kill(3, silence == ReasonCode::kRefused ? silence : ReasonCode::kRefused);
    EXPECT_TRUE(has(Code::kRaftMemberDown, cluster.watch(10s)));
  }
}

TEST(MemberDown, StaysWhileOthersHearItNowAndThen) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2);
  ASSERT_TRUE(has(Code::kRaftMemberDown, cluster.watch(10s)));
  cluster.heal(2);
  cluster.node(2).silence = ReasonCode::kRefused;
  for (int i = 0; i < 20; ++i) {
    const Assessment look = cluster.watch(1s);
    ASSERT_TRUE(has(Code::kRaftMemberDown, look)) << i;
    EXPECT_FALSE(the(Code::kRaftMemberDown, look).confirmed);
  }
  cluster.heal(2);
  EXPECT_FALSE(has(Code::kRaftMemberDown, cluster.watch(5s)));
}

TEST(Starved, WhatIsKeptAdvisesNoCommandAndIsNotToldAsSeen) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.watch(5s);
  cluster.heal(2);
  cluster.node(2).id = *parse_member_id("d8d142e3-c38f-46e8-ae36-3db41907e3ae");
  cluster.enlist(2);
  EXPECT_FALSE(the(Code::kRaftStaleMember, cluster.watch(20s)).advice->command.empty());
  for (const std::size_t i : {0, 1, 2}) cluster.node(i).silence = ReasonCode::kProberStarved;
  const Assessment kept = cluster.watch(2s);
  const Finding& ghost = the(Code::kRaftStaleMember, kept);
  EXPECT_TRUE(ghost.advice->command.empty());
  EXPECT_EQ(ghost.summary,
            "1430 is listed at tcp:10.0.0.3:6643, but d8d1 lives there: a ghost that counts as a "
            "voter (as last seen; not confirmed since)");
  for (const std::size_t i : {0, 1, 2}) cluster.node(i).silence = ReasonCode::kNone;
  const Assessment seen = cluster.watch(1s);
  EXPECT_FALSE(the(Code::kRaftStaleMember, seen).summary.contains("as last seen"));
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
