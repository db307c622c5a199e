#include <gtest/gtest.h>

#include "judge/raft/companion.h"
#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

/// A northbound and a southbound cluster, watched side by side by the northbound's watcher.
struct Deployment {
  FakeCluster north{3};
  FakeCluster south{3};
  ConditionTracker tracker;

  Assessment watch(Duration time) {
    Assessment last;
    for (Duration passed{}; passed < time; passed += 1s) {
      last = north.watch(1s);
      const Assessment other = south.watch(1s);
      add_report(last, compare_sides({"ovn-nb", last, north.now()}, {"ovn-sb", other, south.now()},
                                     tracker, 1000ms, north.now()));
    }
    return last;
  }
};

TEST(Companion, LeadersOnDifferentHostsAreHarmless) {
  Deployment both;
  both.south.elect(1);
  EXPECT_EQ(told(both.watch(20s)), Told{});
}

TEST(Companion, VotersOnDifferentHosts) {
  Deployment both;
  both.south.node(2).address = "tcp:10.0.0.4:6643";
  both.south.enlist(2);
  EXPECT_EQ(told(both.watch(4s)), Told{});
  const Assessment found = both.watch(1s);
  EXPECT_EQ(told(found), Told{"warning OVN_NB_SB_DIVERGENCE ovn-nb"});
  EXPECT_EQ(found.verdict, Verdict::kWarning);
  const Finding& finding = the(Code::kOvnNbSbDivergence, found);
  EXPECT_EQ(finding.subjects, (Told{"ovn-nb", "ovn-sb", "10.0.0.3", "10.0.0.4"}));
  EXPECT_EQ(finding.evidence[1], (Evidence{"ovn-sb", "voters on 10.0.0.1, 10.0.0.2, 10.0.0.4"}));
  ASSERT_TRUE(finding.advice);
  EXPECT_EQ(finding.advice->text,
            "A member was moved or removed in one database only: 10.0.0.3. Compare both with the "
            "hosts that should serve them.");
}

TEST(Companion, DatabasesOnHostsOfTheirOwnAreMeantSo) {
  Deployment both;
  for (const std::size_t i : {0, 1, 2}) {
    both.south.node(i).address = "tcp:10.0.9." + std::to_string(i) + ":6644";
    both.south.enlist(i);
  }
  EXPECT_EQ(told(both.watch(20s)), Told{});
}

TEST(Companion, OnlyOneIsIll) {
  Deployment both;
  both.watch(5s);
  both.south.kill(1);
  both.south.kill(2);
  const Assessment found = both.watch(10s);
  EXPECT_EQ(told(found), Told{"info OVN_NB_SB_DIVERGENCE ovn-sb"});
  EXPECT_EQ(found.verdict, Verdict::kOk) << "of the northbound database";
  EXPECT_EQ(the(Code::kOvnNbSbDivergence, found).summary,
            "only ovn-sb is ill and ovn-nb is not: the fault is in the database, not in the hosts");
  both.north.kill(1);
  both.north.kill(2);
  EXPECT_FALSE(has(Code::kOvnNbSbDivergence, both.watch(10s))) << "now it may be the hosts";
}

TEST(Companion, WhatIsUnknownIsNotCompared) {
  Deployment both;
  both.watch(5s);
  for (const std::size_t i : {0, 1, 2}) both.south.node(i).silence = ReasonCode::kDenied;
  EXPECT_EQ(told(both.watch(90s)), Told{});
}

}  // namespace
}  // namespace wardmote::judge::raft
