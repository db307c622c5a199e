#include <gtest/gtest.h>
#include <algorithm>

#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

/// The leader writes `pace` entries a second and follower 2 has `has(leader's last index)` of them.
void write(FakeCluster& cluster, std::uint64_t pace,
           std::function<std::uint64_t(std::uint64_t)> has) {
  cluster.edit = [&cluster, pace, has](std::vector<Opinion>& all) {
    for (std::size_t i = 0; i < 3; ++i) cluster.node(i).log_next += pace;
    const std::uint64_t last = all[0].status->log_next - 1;
    all[0].status->servers[2].match_index = has(last);
  };
}

TEST(LogLag, AFollowerThatStandsStill) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  write(cluster, 100, [](std::uint64_t) { return 4; });
  EXPECT_EQ(told(cluster.watch(6s)), Told{}) << "a round behind, for two rounds";
  const Assessment found = cluster.watch(2s);
  EXPECT_EQ(told(found), (Told{"warning RAFT_QUORUM_MARGIN", "warning RAFT_LOG_LAG ctl-3"}));
  EXPECT_EQ(the(Code::kRaftLogLag, found).summary,
            "ctl-3 (1430) is 700 entries and more than 6.0s behind the leader ctl-1 (dea6), and "
            "does not catch up");
  write(cluster, 100, [](std::uint64_t last) { return last; });
  EXPECT_EQ(told(cluster.watch(1s)), Told{});
}

/// A snapshot of its virtual machine.
TEST(LogRolledBack, ADiskThatWasPutBackIsFound) {
  FakeCluster cluster(3);
  for (std::size_t i = 0; i < 3; ++i) cluster.node(i).log_next = 50;
  cluster.watch(5s);
  cluster.kill(1);
  cluster.watch(1s);
  cluster.node(1).silence = ReasonCode::kNone;
  cluster.node(1).log_next = 20;
  const Assessment found = cluster.watch(5s);
  EXPECT_EQ(the(Code::kRaftLogRolledBack, found).summary,
            "the log of ctl-2 (499b) ended at 19, and it had committed 49: its disk was put back");
  cluster.node(1).log_next = 60;
  EXPECT_TRUE(has(Code::kRaftLogRolledBack, cluster.watch(60s))) << "it has fetched it again";
}

/// Raft gives it again what it has lost.
TEST(LogRolledBack, WhoFollowsALeaderThatHadAllIsWellAgain) {
  for (const std::uint64_t leader_had : {50U, 49U}) {
    FakeCluster cluster(3);
    for (std::size_t i = 0; i < 3; ++i) cluster.node(i).log_next = 50;
    cluster.node(0).log_next = leader_had;
    cluster.watch(5s);
    cluster.kill(1);
    cluster.watch(1s);
    cluster.heal(1);
    cluster.node(1).log_next = 20;
    cluster.watch(5s);
    cluster.node(1).log_next = 49;
    EXPECT_TRUE(has(Code::kRaftLogRolledBack, cluster.watch(5s))) << "one entry is not there yet";
    cluster.node(0).log_next = cluster.node(1).log_next = 60;
    EXPECT_EQ(has(Code::kRaftLogRolledBack, cluster.watch(5s)), leader_had < 50)
        << "others may have written what is there now";
  }
}

TEST(LogRolledBack, AMemberThatIsCalledOtherwiseIsTheSame) {
  FakeCluster cluster(3);
  for (std::size_t i = 0; i < 3; ++i) cluster.node(i).log_next = 50;
  cluster.watch(5s);
  cluster.kill(1);
  cluster.node(1).silence = ReasonCode::kNone;
  cluster.node(1).log_next = 20;
  cluster.watch(5s);
  cluster.rename(1, "ctl-0");
  EXPECT_EQ(the(Code::kRaftLogRolledBack, cluster.watch(5s)).subjects.front(), "ctl-0");
}

TEST(LogRolledBack, WhatWasNeverCommittedMayGo) {
  FakeCluster cluster(3);
  for (std::size_t i = 0; i < 3; ++i) cluster.node(i).log_next = 50;
  cluster.node(1).uncommitted = 10;
  cluster.watch(5s);
  cluster.node(1).log_next = 40;
  cluster.node(1).uncommitted = 0;
  EXPECT_FALSE(has(Code::kRaftLogRolledBack, cluster.watch(5s)));
  cluster.node(1).log_next = 39;
  EXPECT_TRUE(has(Code::kRaftLogRolledBack, cluster.watch(5s)));
}

/// A majority that went back lists nobody who joined since.
TEST(LogRolledBack, WhomTheOldListLacksIsNotCalledRemoved) {
  for (const bool runs : {true, false}) {
    FakeCluster cluster(3);
    for (std::size_t i = 0; i < 3; ++i) cluster.node(i).log_next = 50;
    cluster.watch(5s);
    const std::vector<Server> list = cluster.list();
    cluster.node(2).own_list = list;
    cluster.isolate(2);
    cluster.strike(2);
    for (const std::size_t i : {0U, 1U}) cluster.node(i).log_next = 20;
    if (!runs) cluster.kill(2);
    const Assessment found = cluster.watch(60s);
    EXPECT_TRUE(has(Code::kRaftLogRolledBack, cluster.look()) ||
                std::ranges::count(told(found), "critical RAFT_LOG_ROLLED_BACK ctl-1") == 1);
    EXPECT_FALSE(has(Code::kRaftZombieMember, found));
    for (const Finding& finding : found.findings) {
      const bool speaks =
          finding.advice && finding.advice->text.contains("Find out who removed it");
      EXPECT_FALSE(speaks) << finding.advice->text;
      if (!finding.advice || finding.code == Code::kRaftLogRolledBack) continue;
      EXPECT_TRUE(finding.advice->text.starts_with(
          "Before you start, stop or change anything, copy the databases of all servers aside"))
          << finding.advice->text;
      EXPECT_TRUE(finding.advice->command.empty());
    }
    for (const RepairServer& server : cluster.repair_view().servers)
      EXPECT_TRUE(server.objection.has_value());
    EXPECT_EQ(cluster.repair_view().rolled_back, "ctl-1");
  }
}

TEST(LogLag, AFewEntriesBehindAtAnyPaceIsNone) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  write(cluster, 10'000, [](std::uint64_t last) { return last - 9'000; });
  EXPECT_EQ(told(cluster.watch(60s)), Told{}) << "less than a second behind";
}

TEST(LogLag, CatchingUpSoonIsNone) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  std::uint64_t has = 4;
  cluster.node(0).log_next = 20'000;
  write(cluster, 0, [&](std::uint64_t last) { return has = std::min(last, has + 1'500); });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(told(cluster.watch(1s)), Told{}) << has;
}

TEST(LogLag, OneThatCatchesUpHidesNoneThatDoesNot) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  std::uint64_t has = 4;
  cluster.node(0).log_next = 20'000;
  cluster.edit = [&](std::vector<Opinion>& all) {
    has = std::min<std::uint64_t>(19'999, has + 1'500);
    all[0].status->servers[1].match_index = has;
    all[0].status->servers[2].match_index = 4;
  };
  const Assessment found = cluster.watch(10s);
  EXPECT_LT(has, 19'999U);
  EXPECT_EQ(the(Code::kRaftLogLag, found).subjects.front(), "ctl-3");
}

TEST(LogLag, OneThatIsAFewEntriesBehindHidesNoneThatIsFarBehind) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.edit = [&](std::vector<Opinion>& all) {
    for (std::size_t i = 0; i < 3; ++i) cluster.node(i).log_next += 100;
    all[0].status->servers[1].match_index = all[0].status->log_next - 50;
    all[0].status->servers[2].match_index = 4;
  };
  EXPECT_EQ(the(Code::kRaftLogLag, cluster.watch(10s)).subjects.front(), "ctl-3");
}

TEST(LogLag, CatchingUpInALongTimeIsTold) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  std::uint64_t has = 4;
  cluster.node(0).log_next = 20'000;
  write(cluster, 0, [&](std::uint64_t) { return has += 100; });
  const Assessment found = cluster.watch(20s);
  EXPECT_EQ(told(found), Told{"warning RAFT_LOG_LAG ctl-3"});
  EXPECT_TRUE(the(Code::kRaftLogLag, found).summary.contains("and needs 2m59s more to catch up"))
      << the(Code::kRaftLogLag, found).summary;
}

// Capture 12: 40 transactions while a follower is stopped.
TEST(LogLag, AHungFollowerIsHungAndNotBehind) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2, ReasonCode::kHung);
  write(cluster, 40, [](std::uint64_t) { return 4; });
  EXPECT_EQ(told(cluster.watch(30s)),
            (Told{"critical RAFT_MEMBER_HUNG ctl-3", "warning RAFT_QUORUM_MARGIN"}));
}

TEST(LogLag, IsKnownByTheLocalViewsWhereNothingElseIs) {
  FakeCluster cluster(3);
  for (const std::size_t i : {0, 1, 2}) cluster.node(i).status_silence = ReasonCode::kNotProbed;
  cluster.watch(5s);
  cluster.edit = [&](std::vector<Opinion>& all) {
    for (const std::size_t i : {0, 1}) cluster.node(i).log_next += 7;
    all[2].local->index = 4;
  };
  EXPECT_EQ(told(cluster.watch(20s)), Told{}) << "no list tells who is a voter";
  for (const std::size_t i : {0, 1, 2}) cluster.node(i).status_silence = ReasonCode::kNone;
  cluster.edit = {};
  cluster.node(2).log_next = cluster.node(0).log_next;
  cluster.watch(2s);
  for (const std::size_t i : {0, 1, 2}) cluster.node(i).status_silence = ReasonCode::kNotProbed;
  cluster.edit = [&](std::vector<Opinion>& all) {
    for (const std::size_t i : {0, 1}) cluster.node(i).log_next += 7;
    all[2].local->index = 4;
  };
  EXPECT_EQ(told(cluster.watch(20s)), Told{"warning RAFT_LOG_LAG ctl-3"});
}

TEST(ApplyStall, CommittedEntriesThatAreNotApplied) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.edit = [](std::vector<Opinion>& all) { all[1].status->unapplied = 2; };
  EXPECT_EQ(told(cluster.watch(4s)), Told{});
  const Assessment found = cluster.watch(1s);
  EXPECT_EQ(told(found), Told{"warning RAFT_APPLY_STALL ctl-2"});
  EXPECT_EQ(the(Code::kRaftApplyStall, found).summary,
            "ctl-2 (499b) does not apply 2 committed entries after index 2");
}

TEST(ApplyStall, ProgressOrUncommittedEntriesAreNone) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.edit = [&](std::vector<Opinion>& all) {
    for (std::size_t i = 0; i < 3; ++i) ++cluster.node(i).log_next;
    all[1].status->unapplied = 2;
  };
  EXPECT_EQ(told(cluster.watch(30s)), Told{}) << "it applies one after the other";
  FakeCluster waiting(3);
  waiting.watch(5s);
  waiting.edit = [](std::vector<Opinion>& all) {
    all[1].status->uncommitted = 3;
    all[1].status->unapplied = 3;
  };
  EXPECT_EQ(told(waiting.watch(30s)), Told{}) << "what is not committed cannot be applied";
}

TEST(LogGrowth, ALongLogThatIsNotCompacted) {
  FakeCluster cluster(3);
  for (std::size_t i = 0; i < 3; ++i) cluster.node(i).log_next = 90'000;
  EXPECT_EQ(told(cluster.watch(70s)), Told{});
  cluster.node(1).log_next = 110'000;
  EXPECT_FALSE(has(Code::kRaftLogGrowth, cluster.watch(60s)));
  const Assessment found = cluster.watch(1s);
  const Finding& growth = the(Code::kRaftLogGrowth, found);
  EXPECT_EQ(growth.severity, Severity::kInfo);
  EXPECT_EQ(growth.summary, "the log of ctl-2 (499b) has 109998 entries and is not compacted");
  EXPECT_EQ(growth.advice->command,
            (std::vector<std::string>{"ovn-appctl", "-t", "/run/ovn/ctl-2.ctl",
                                      "ovsdb-server/compact", "OVN_Northbound"}));
}

}  // namespace
}  // namespace wardmote::judge::raft
