#include <gtest/gtest.h>

#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

TEST(AddressMismatch, AServerThatKnowsItselfAtAnotherAddress) {
  FakeCluster cluster(3);
  cluster.edit = [](std::vector<Opinion>& all) {
    all[2].status->address = "tcp:10.0.0.33:6643";
    all[2].status->servers[2].self = true;
  };
  EXPECT_FALSE(has(Code::kRaftAddressMismatch, cluster.watch(4s)));
  const Assessment found = cluster.watch(1s);
  const Finding& mismatch = the(Code::kRaftAddressMismatch, found);
  EXPECT_EQ(told(found), Told{"warning RAFT_ADDRESS_MISMATCH ctl-3"});
  EXPECT_EQ(mismatch.summary,
            "1430 is listed at tcp:10.0.0.3:6643, and at tcp:10.0.0.33:6643 by ctl-3 (1430)");
  EXPECT_EQ(mismatch.evidence.back().says,
            "Server ID: 1430 (1430fed6-ec54-4795-89a5-cf985d758750); Address: tcp:10.0.0.33:6643");
}

// It explains why the lists differ.
TEST(AddressMismatch, AListWithAnotherAddress) {
  FakeCluster cluster(3);
  cluster.watch(3s);
  std::vector<Server> other = cluster.list();
  other[2].address = "tcp:10.0.0.33:6643";
  cluster.node(1).own_list = other;
  const Assessment found = cluster.watch(10s);
  EXPECT_EQ(told(found), Told{"warning RAFT_ADDRESS_MISMATCH ctl-3"});
  EXPECT_EQ(the(Code::kRaftAddressMismatch, found).evidence.back().by, "ctl-2");
}

TEST(AddressMismatch, TwoServersWhoseIdsBeginAlikeAreTwo) {
  FakeCluster cluster(3);
  cluster.node(1).id = *parse_member_id("dea67777-9bd2-4c64-91ea-a30aa618ef17");
  cluster.list()[1].id = *parse_member_id("dea6");
  cluster.list()[1].nickname = "dea6";
  EXPECT_FALSE(has(Code::kRaftAddressMismatch, cluster.watch(10s)));
}

TEST(AddressMismatch, NoAddressAtAll) {
  FakeCluster cluster(3);
  cluster.list()[2].address.clear();
  cluster.node(2).configured = false;
  EXPECT_EQ(the(Code::kRaftAddressMismatch, cluster.watch(10s)).summary,
            "1430 is listed without an address");
}

TEST(AddressMismatch, MembersWithAndWithoutTls) {
  FakeCluster cluster(3);
  cluster.node(1).address = "ssl:10.0.0.2:6643";
  cluster.enlist(1);
  const Assessment found = cluster.watch(10s);
  EXPECT_EQ(told(found), Told{"warning RAFT_ADDRESS_MISMATCH ssl:10.0.0.2:6643"});
  EXPECT_EQ(the(Code::kRaftAddressMismatch, found).summary,
            "some members listen with TLS and some without: ssl:10.0.0.2:6643; "
            "tcp:10.0.0.1:6643, tcp:10.0.0.3:6643");
}

TEST(ElectionTimerMismatch, OneMemberWithAnother) {
  FakeCluster cluster(3);
  cluster.edit = [](std::vector<Opinion>& all) { all[2].status->election_timer = 4s; };
  EXPECT_EQ(told(cluster.watch(10s)), Told{}) << "two rounds of the longer one";
  const Assessment found = cluster.watch(1s);
  EXPECT_EQ(told(found), Told{"warning RAFT_ELECTION_TIMER_MISMATCH ctl-3"});
  EXPECT_EQ(the(Code::kRaftElectionTimerMismatch, found).summary,
            "ctl-3 (1430) runs with 4000 ms, the leader with 1000 ms");
}

TEST(ElectionTimerMismatch, WhoIsCutOffCannotKnowOfAChange) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.isolate(2);
  cluster.node(2).role = Role::kCandidate;
  cluster.edit = [](std::vector<Opinion>& all) {
    for (const std::size_t i : {0, 1}) all[i].status->election_timer = 2s;
  };
  EXPECT_FALSE(has(Code::kRaftElectionTimerMismatch, cluster.watch(60s)));
}

// Capture 21: `Election timer: 2000 (changing to 4000)` with nobody to commit it.
TEST(ElectionTimerMismatch, AChangeThatDoesNotEnd) {
  FakeCluster cluster(3);
  cluster.edit = [](std::vector<Opinion>& all) { all[0].status->election_timer_next = 2s; };
  EXPECT_EQ(told(cluster.watch(4s)), Told{});
  const Assessment found = cluster.watch(1s);
  EXPECT_EQ(told(found), Told{"warning RAFT_ELECTION_TIMER_MISMATCH ctl-1"});
  EXPECT_EQ(the(Code::kRaftElectionTimerMismatch, found).evidence[0].says,
            "Election timer: 1000 (changing to 2000); Entries not yet committed: 0");
}

TEST(ElectionTimerMismatch, WhatCannotBeCommittedIsACommitStall) {
  FakeCluster cluster(3);
  cluster.node(0).uncommitted = 1;
  cluster.edit = [](std::vector<Opinion>& all) { all[0].status->election_timer_next = 2s; };
  EXPECT_EQ(told(cluster.watch(10s)), Told{"critical RAFT_COMMIT_STALL ctl-1"});
}

}  // namespace
}  // namespace wardmote::judge::raft
