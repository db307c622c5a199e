// Whom nobody may call dead, rebuild or start. Each story was seen on a real cluster.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "judge/raft/repair_view.h"
#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

std::string doubt_about(const FakeCluster& cluster, const std::string& member) {
  const RepairView view = cluster.repair_view();
  const RepairServer* const server = view.server_of(member);
  return server != nullptr ? server->doubt.value_or("none") : "not listed";
}

const RepairMember& repair_member(const RepairView& view, const std::string& member) {
  return *view.member(member);
}

/// The agent runs beside node 0 and has the control socket of that one alone.
void see_the_others_by_tcp(FakeCluster& cluster) {
  cluster.edit = [](std::vector<Opinion>& all) {
    for (std::size_t i = 1; i < all.size(); ++i) {
      all[i].status.reset();
      all[i].status_source.reason.code = ReasonCode::kNotProbed;
    }
  };
}

TEST(Doubt, ADownMemberThatEveryoneSaysNothingOfIsDead) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.watch(30s);
  EXPECT_EQ(doubt_about(cluster, "ctl-3"), "none");
  EXPECT_TRUE(repair_member(cluster.repair_view(), "ctl-3").out);
}

TEST(Doubt, WhomWeDoNotReachMayLive) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2, ReasonCode::kUnreachable);
  const Assessment look = cluster.watch(30s);
  const Finding& finding = the(Code::kRaftMemberDown, look);
  EXPECT_TRUE(finding.summary.contains("cannot be reached")) << finding.summary;
  EXPECT_FALSE(repair_member(cluster.repair_view(), "ctl-3").out);
}

TEST(Doubt, AFollowerThatDoesNotSayMayHearIt) {
  FakeCluster cluster(3);
  see_the_others_by_tcp(cluster);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.watch(30s);
  EXPECT_TRUE(doubt_about(cluster, "ctl-3").contains("ctl-2")) << doubt_about(cluster, "ctl-3");
}

TEST(Doubt, NobodyTellsOfItWithoutALeader) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.isolate(0);
  cluster.watch(30s);
  EXPECT_NE(doubt_about(cluster, "ctl-3"), "none");
}

TEST(Doubt, SilenceBeginsAnewWithALeaderThatVouchesForIt) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  for (std::size_t i = 0; i < 3; ++i) cluster.kill(i);
  cluster.watch(60s);
  cluster.heal(0);
  cluster.heal(1);
  cluster.elect(0);
  const TimePoint back = cluster.now();
  cluster.watch(10s);
  const RepairView view = cluster.repair_view();
  const RepairServer* const server = view.server_of("ctl-3");
  ASSERT_NE(server, nullptr);
  ASSERT_TRUE(server->silent_since.has_value());
  EXPECT_GE(*server->silent_since, back) << "before, nobody could have told";
}

TEST(Doubt, ASocketThatIsShutSaysNothingOfTheRaftBehindIt) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  // Only a follower is asked; its connections with ctl-3 are up.
  cluster.node(0).configured = false;
  const std::string peer = short_name(cluster.node(2).id);
  cluster.node(1).links = {{.peer = peer, .outgoing = true, .up = true},
                           {.peer = peer, .outgoing = false, .up = true}};
  cluster.watch(5s);
  cluster.kill(2);
  const Assessment look = cluster.watch(30s);
  EXPECT_FALSE(has(Code::kRaftMemberDown, look));
  EXPECT_FALSE(has(Code::kRaftQuorumMargin, look));
  cluster.node(1).links.clear();
  EXPECT_TRUE(has(Code::kRaftMemberDown, cluster.watch(30s)));
}

TEST(Doubt, NobodyIsRemovedWhileTwoMembersAnswerAsOne) {
  FakeCluster cluster(4);
  cluster.expectation.gone_after = 30s;
  cluster.watch(5s);
  cluster.node(3).configured = false;
  cluster.kill(3);
  cluster.watch(5min);
  const RepairView before = cluster.repair_view();
  EXPECT_FALSE(before.find(cluster.node(3).id)->objection)
      << *before.find(cluster.node(3).id)->objection;
  // The line of ctl-3 leads to ctl-2 now.
  cluster.edit = [](std::vector<Opinion>& all) {
    const std::string name = all[2].member;
    all[2] = all[1];
    all[2].member = name;
  };
  cluster.watch(5s);
  const RepairView after = cluster.repair_view();
  const auto& objection = after.find(cluster.node(3).id)->objection;
  ASSERT_TRUE(objection.has_value());
  EXPECT_TRUE(objection->contains("ctl-2 and ctl-3 answer as one server")) << *objection;
}

TEST(Doubt, TwoSocketsOfAMemberThatLeadToTwoServersAreTold) {
  FakeCluster cluster(3);
  cluster.edit = [](std::vector<Opinion>& all) { all[2].local = all[1].local; };
  const Finding finding = the(Code::kRaftServerIdCloned, cluster.watch(5s));
  EXPECT_EQ(finding.subjects, std::vector<std::string>{"ctl-3"});
  EXPECT_TRUE(finding.advice->text.contains("Correct the sockets of ctl-3"))
      << finding.advice->text;
  EXPECT_NE(doubt_about(cluster, "ctl-2"), "none");
}

TEST(Doubt, AMemberOfAnotherClusterStaysItsMemberWhenItIsDown) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.node(2).cluster_id = *parse_member_id("aaaa0000-dac6-4762-a00e-834c7c7479df");
  cluster.watch(5s);
  EXPECT_TRUE(repair_member(cluster.repair_view(), "ctl-3").foreign);
  cluster.kill(2);
  cluster.watch(30s);
  EXPECT_TRUE(repair_member(cluster.repair_view(), "ctl-3").foreign)
      << "its database holds what no other has";
}

// One began a new, empty cluster while the others, which have all the data, were down. They were
// called removed, and their files were to be moved aside.
TEST(Doubt, WhoBelongsToTheFormerClusterWasNotRemoved) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  for (std::size_t i = 0; i < 3; ++i) cluster.kill(i);
  cluster.watch(10s);
  Node& first = cluster.node(0);
  first.cluster_id = *parse_member_id("aaaa0000-dac6-4762-a00e-834c7c7479df");
  first.id = *parse_member_id("d8d142e3-c38f-46e8-ae36-3db41907e3ae");
  first.own_list = std::vector<Server>{
      {.nickname = short_name(first.id), .id = first.id, .address = first.address}};
  cluster.heal(0);
  const Assessment look = cluster.watch(30s);
  std::size_t told = 0;
  for (const Finding& finding : look.findings) {
    EXPECT_FALSE(finding.summary.contains("not in the member list any more")) << finding.summary;
    EXPECT_FALSE(finding.advice->text.contains("aside")) << finding.advice->text;
    told += finding.code == Code::kRaftClusterIdMismatch ? 1 : 0;
  }
  EXPECT_EQ(told, 2U) << "of both that are down";
  EXPECT_TRUE(repair_member(cluster.repair_view(), "ctl-2").foreign);
}

// A host had no power for longer than `after`. It was rebuilt while it booted.
TEST(Doubt, TheTimeInWhichItCouldNotBeReachedIsNoneOfBeingOut) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2, ReasonCode::kUnreachable);
  cluster.watch(60s);
  const TimePoint boots = cluster.now();
  cluster.node(2).silence = ReasonCode::kRefused;
  cluster.watch(5s);
  const RepairMember member = repair_member(cluster.repair_view(), "ctl-3");
  EXPECT_TRUE(member.out);
  ASSERT_TRUE(member.out_since.has_value());
  EXPECT_GE(*member.out_since, boots);
}

TEST(Doubt, AGhostWhomSomebodyMayHearIsNotKicked) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  const MemberId old = cluster.node(2).id;
  cluster.kill(2);
  cluster.watch(5s);
  cluster.heal(2);
  cluster.node(2).id = *parse_member_id("d8d142e3-c38f-46e8-ae36-3db41907e3ae");
  cluster.enlist(2);
  cluster.watch(30s);
  EXPECT_FALSE(cluster.repair_view().find(old)->objection);
  see_the_others_by_tcp(cluster);
  cluster.watch(5s);
  EXPECT_TRUE(cluster.repair_view().find(old)->objection);
}

void expect_not_to_be_started(const Assessment& look) {
  const Finding& finding = the(Code::kRaftMemberDown, look);
  EXPECT_TRUE(finding.summary.contains("not in the member list any more")) << finding.summary;
  EXPECT_TRUE(finding.advice->text.contains("ot start it")) << finding.advice->text;
}

TEST(Doubt, WhoWasRemovedIsNotToBeStarted) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.strike(2);
  expect_not_to_be_started(cluster.watch(30s));
}

TEST(Doubt, WhoIsListedByAMemberOfAnotherClusterIsNotMissing) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.expectation.addresses = {"tcp:10.0.0.1:6643", "tcp:10.0.0.2:6643", "tcp:10.0.0.3:6643"};
  cluster.node(2).cluster_id = *parse_member_id("aaaa0000-dac6-4762-a00e-834c7c7479df");
  cluster.node(2).own_list = cluster.list();
  cluster.strike(2);
  EXPECT_FALSE(has(Code::kRaftMissingMember, cluster.watch(60s)));
}

// The old disk was put back and its server stopped: another one is the member by now.
TEST(Doubt, WhoWasRemovedAndReplacedIsNotToBeStarted) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  const MemberId old = cluster.node(2).id;
  cluster.kill(2);
  cluster.watch(5s);
  cluster.strike(2);
  cluster.heal(2);
  cluster.node(2).id = *parse_member_id("d8d142e3-c38f-46e8-ae36-3db41907e3ae");
  cluster.enlist(2);
  cluster.watch(10s);
  cluster.node(2).id = old;
  cluster.isolate(2);
  cluster.watch(10s);
  cluster.kill(2);
  expect_not_to_be_started(cluster.watch(30s));
}

// Its sockets lead to another server now, and the one that they led to may live behind a broken
// network: it is the only one that can come back at its address.
TEST(Doubt, AnAddressThatAMemberHadIsNobodyElses) {
  FakeCluster cluster(5);
  cluster.expectation.gone_after = 30s;
  cluster.watch(5s);
  const MemberId old = cluster.node(2).id;
  cluster.node(2).id = *parse_member_id("d8d142e3-c38f-46e8-ae36-3db41907e3ae");
  cluster.node(2).address = "tcp:10.0.0.9:6643";
  cluster.enlist(2);
  const Assessment look = cluster.watch(5min);
  EXPECT_TRUE(the(Code::kRaftDeadMember, look).advice->command.empty());
  const RepairView view = cluster.repair_view();
  const auto& objection = view.find(old)->objection;
  ASSERT_TRUE(objection.has_value());
  EXPECT_TRUE(objection->contains("tcp:10.0.0.3:6643 was the address of ctl-3")) << *objection;
}

}  // namespace
}  // namespace wardmote::judge::raft
