#include <gtest/gtest.h>
#include <algorithm>

#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

TEST(MonitorBlind, AMemberThatMayNotBeAsked) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.node(1).silence = ReasonCode::kDenied;
  EXPECT_EQ(told(cluster.watch(60s)), Told{});
  const Assessment found = cluster.watch(1s);
  EXPECT_EQ(told(found), Told{"warning MONITOR_BLIND ctl-2"}) << "the others tell of the cluster";
  EXPECT_EQ(found.verdict, Verdict::kWarning);
  EXPECT_EQ(the(Code::kMonitorBlind, found).evidence[0], (Evidence{"ctl-2", "denied"}));
  cluster.heal(1);
  EXPECT_EQ(told(cluster.watch(1s)), Told{});
}

// It was told as over, and two seconds later as dead.
TEST(MonitorBlind, LastsUntilAMemberThatIsFoundDeadIsAFinding) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.node(1).silence = ReasonCode::kDenied;
  EXPECT_EQ(told(cluster.watch(61s)), Told{"warning MONITOR_BLIND ctl-2"});
  cluster.kill(1);
  bool blind = true;
  for (int i = 0; i < 60 && blind; ++i) {
    const Told now = told(cluster.watch(200ms));
    const bool down = std::ranges::find(now, "critical RAFT_MEMBER_DOWN ctl-2") != now.end();
    blind = std::ranges::find(now, "warning MONITOR_BLIND ctl-2") != now.end();
    EXPECT_NE(blind, down) << "either nothing is known of it, or that it is down";
  }
  EXPECT_FALSE(blind);
}

TEST(MonitorBlind, NothingAtAllIsKnown) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  for (const std::size_t i : {0, 1, 2}) cluster.node(i).silence = ReasonCode::kDenied;
  const Assessment found = cluster.watch(61s);
  EXPECT_EQ(told(found), (Told{"critical MONITOR_BLIND ctl-1", "critical MONITOR_BLIND ctl-2",
                               "critical MONITOR_BLIND ctl-3"}));
  EXPECT_EQ(found.verdict, Verdict::kUnknown) << "to be blind is neither good nor bad news";
}

TEST(MonitorBlind, OwnStarvationIsBlindnessToo) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  for (const std::size_t i : {0, 1, 2}) cluster.node(i).silence = ReasonCode::kProberStarved;
  EXPECT_EQ(the(Code::kMonitorBlind,
                [&] {
                  Assessment look = cluster.watch(61s);
                  look.findings.resize(1);
                  return look;
                }())
                .summary,
            "nothing is known of ctl-1 (dea6): prober_starved");
}

// The socket was moved, the server runs on.
TEST(MonitorBlind, OthersHearItAndWeDoNot) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.node(2).silence = ReasonCode::kMissing;
  EXPECT_EQ(the(Code::kMonitorBlind, cluster.watch(70s)).summary,
            "ctl-3 (1430) is heard by others and not by this agent: missing");
}

TEST(MonitorBlind, NobodyHasLookedYet) {
  FakeCluster cluster(3);
  Memory memory;
  std::vector<Opinion> opinions = cluster.opinions();
  opinions[2] = Opinion{.member = "ctl-3"};
  for (int i = 0; i < 120; ++i) {
    const TimePoint now = cluster.now() + std::chrono::seconds(i);
    for (const std::size_t k : {0, 1}) opinions[k].begun = opinions[k].ended = now;
    EXPECT_EQ(told(assess(opinions, cluster.expectation, memory, now)), Told{});
  }
}

TEST(AgesRewound, AMemberThatWasPaused) {
  FakeCluster cluster(3);
  cluster.watch(30s);
  cluster.kill(2, ReasonCode::kHung);
  ASSERT_TRUE(has(Code::kRaftMemberHung, cluster.watch(20s)));
  cluster.heal(2);
  // What it says first is of the time when it was paused (capture 08b).
  cluster.edit = [](std::vector<Opinion>& all) { *all[2].status->servers[1].last_message -= 20s; };
  const Assessment found = cluster.watch(1s);
  EXPECT_EQ(told(found), Told{"info RAFT_AGES_REWOUND ctl-3"});
  EXPECT_EQ(found.verdict, Verdict::kOk);
  EXPECT_TRUE(the(Code::kRaftAgesRewound, found)
                  .summary.starts_with("ctl-3 (1430) stood still for about "));
  cluster.edit = {};
  EXPECT_EQ(told(cluster.watch(59s)), Told{"info RAFT_AGES_REWOUND ctl-3"});
  EXPECT_EQ(told(cluster.watch(1s)), Told{});
}

TEST(AgesRewound, AMessageMakesAnAgeYoungAndThatIsNone) {
  FakeCluster cluster(3);
  cluster.watch(30s);
  cluster.edit = [](std::vector<Opinion>& all) {
    all[2].status->servers[1].last_message = 950ms;
    all[0].status->election_started = 400ms;
  };
  EXPECT_EQ(told(cluster.watch(1s)), Told{});
}

// The long age of the one was compared with the shorter one of the other.
TEST(AgesRewound, TwoServersWhoseIdsBeginAlikeAreNone) {
  FakeCluster cluster(4);
  Milliseconds older = 11h;
  Milliseconds younger = 20s;
  cluster.edit = [&](std::vector<Opinion>& all) {
    std::vector<Server>& lines = all[2].status->servers;
    lines[3].id = lines[1].id;
    lines[1].last_message = older += 1s;
    lines[3].last_message = younger += 1s;
  };
  EXPECT_FALSE(has(Code::kRaftAgesRewound, cluster.watch(30s)));
}

TEST(AgesRewound, SlowLooksAndClocksThatDriftAreNone) {
  FakeCluster cluster(3);
  cluster.watch(30s);
  int look = 0;
  cluster.edit = [&](std::vector<Opinion>& all) {
    ++look;
    all[2].ended = all[2].begun + 900ms;
    *all[2].status->servers[1].last_message += (look % 2 == 0 ? 900ms : 0ms) - look * 1ms;
  };
  EXPECT_EQ(told(cluster.watch(60s)), Told{});
}

}  // namespace
}  // namespace wardmote::judge::raft
