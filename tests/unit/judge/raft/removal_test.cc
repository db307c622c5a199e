// Whom nobody may advise to remove. Each story was seen on a real cluster, where the agent did it.

#include <gtest/gtest.h>

#include <algorithm>

#include "judge/raft/repair_view.h"
#include "unit/judge/raft/fake_cluster.h"
#include "unit/judge/raft/removal_fixture.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

/// `witness` prints in each look that it heard the server with these digits so long ago.
void let_hear(std::vector<Opinion>& all, std::size_t witness, const std::string& id,
              Milliseconds age) {
  for (Server& line : all[witness].status->servers)
    if (line.nickname == id) line.last_message = age;
}

/// Node 3 is wiped while the agent cannot see it, joins as another at its address, and goes down.
void wipe_unseen(FakeCluster& cluster) {
  cluster.kill(2);
  cluster.watch(10s);
  cluster.node(2).id = *parse_member_id(kSuccessor);
  cluster.enlist(2);
}

TEST(Removal, WhomAFollowerHearsIsNotDead) {
  FakeCluster cluster(4);
  const std::size_t cut = add_stranger(cluster);
  cluster.watch(5s);
  cluster.isolate(cut);
  cluster.edit = [](std::vector<Opinion>& all) {
    for (const std::size_t follower : {1, 2, 3}) let_hear(all, follower, "7b3a", 1741ms);
  };
  const Assessment look = cluster.watch(20min);
  EXPECT_FALSE(has(Code::kRaftDeadMember, look));
  expect_spared(cluster, look, "7b3a");
  EXPECT_TRUE(objection_of(cluster, "7b3a").contains("ctl-2 heard it 1741 ms ago"));
}

TEST(Removal, AWitnessInAnOldTermIsAWitness) {
  FakeCluster cluster(5);
  const std::size_t cut = add_stranger(cluster);
  cluster.watch(5s);
  cluster.isolate(cut);
  cluster.isolate(4);
  cluster.elect(0);
  cluster.edit = [](std::vector<Opinion>& all) { let_hear(all, 4, "7b3a", 300ms); };
  expect_spared(cluster, cluster.watch(20min), "7b3a");
}

// The member that has it may restart the next moment: it has been silent since then.
TEST(Removal, AConnectionThatComesInIsASignOfLife) {
  FakeCluster cluster(4);
  const std::size_t cut = add_stranger(cluster);
  cluster.watch(5s);
  cluster.isolate(cut);
  cluster.edit = [](std::vector<Opinion>& all) { all[3].status->links = {{"7b3a", false, true}}; };
  expect_spared(cluster, cluster.watch(20min), "7b3a");
  cluster.edit = [](std::vector<Opinion>& all) { all[3].status->links = {{"7b3a", true, false}}; };
  expect_spared(cluster, cluster.watch(9min), "7b3a");
  EXPECT_TRUE(objection_of(cluster, "7b3a").contains("its last message or connection is"));
  cluster.watch(2min);
  EXPECT_EQ(objection_of(cluster, "7b3a"), "none");
}

// A member just added is heard by the followers before the leader prints an age for it (OVS 3.5).
TEST(Removal, AMemberJustAddedIsNotDeadSinceItsBirth) {
  FakeCluster cluster(4);
  cluster.watch(5s);
  const std::size_t added = add_stranger(cluster);
  cluster.node(added).unheard_since = cluster.now() - 1h;
  EXPECT_FALSE(has(Code::kRaftDeadMember, cluster.watch(9s)));
  expect_spared(cluster, cluster.watch(5s), "7b3a");
}

TEST(Removal, GoneForGoodIsSilentForTenMinutes) {
  FakeCluster cluster(4);
  const std::size_t dead = add_stranger(cluster);
  cluster.watch(5s);
  cluster.kill(dead);
  Assessment look = cluster.watch(9min + 59s);
  EXPECT_TRUE(has(Code::kRaftDeadMember, look)) << "the finding comes earlier than the advice";
  expect_spared(cluster, look, "7b3a");
  EXPECT_TRUE(objection_of(cluster, "7b3a").contains("may come back until"));
  look = cluster.watch(5s);
  EXPECT_EQ(objection_of(cluster, "7b3a"), "none");
  ASSERT_FALSE(the(Code::kRaftDeadMember, look).advice->command.empty());
  EXPECT_EQ(the(Code::kRaftDeadMember, look).advice->command.back(), kStranger.substr(0, 4));
}

TEST(Removal, AnAgentThatHasJustStartedWaitsAsLong) {
  FakeCluster cluster(4);
  const std::size_t dead = add_stranger(cluster);
  cluster.node(dead).unheard_since = cluster.now() - 24h;
  expect_spared(cluster, cluster.watch(9min), "7b3a");
  cluster.watch(2min);
  EXPECT_EQ(objection_of(cluster, "7b3a"), "none");
}

TEST(Removal, AServerThatRestartedMeanwhileBeginsAnew) {
  FakeCluster cluster(4);
  const std::size_t restarts = add_stranger(cluster);
  cluster.watch(5s);
  cluster.kill(restarts);
  cluster.watch(9min);
  cluster.heal(restarts);
  cluster.watch(2s);
  cluster.kill(restarts);
  expect_spared(cluster, cluster.watch(9min), "7b3a");
}

// The agent was frozen, or could not look, while the server may have come and gone.
TEST(Removal, WhatTheAgentDidNotSeeIsNoSilence) {
  FakeCluster cluster(4);
  const std::size_t dead = add_stranger(cluster);
  cluster.watch(5s);
  cluster.kill(dead);
  cluster.edit = [](std::vector<Opinion>& all) {
    for (Server& line : all[0].status->servers)
      if (line.nickname == "7b3a") line.last_message.reset();
  };
  cluster.watch(5min);
  cluster.sleep(10min);
  expect_spared(cluster, cluster.watch(2s), "7b3a");
}

TEST(Removal, TheAgeIsConfigured) {
  FakeCluster cluster(4);
  cluster.expectation.gone_after = 1min;
  const std::size_t dead = add_stranger(cluster);
  cluster.watch(5s);
  cluster.kill(dead);
  cluster.watch(65s);
  EXPECT_EQ(objection_of(cluster, "7b3a"), "none");
}

TEST(Removal, WhoeverMayHearItHasToSaySo) {
  FakeCluster cluster(5);
  const std::size_t dead = add_stranger(cluster);
  cluster.watch(5s);
  cluster.kill(dead);
  cluster.node(4).status_silence = ReasonCode::kNotProbed;
  expect_spared(cluster, cluster.watch(20min), "7b3a");
  EXPECT_TRUE(objection_of(cluster, "7b3a").contains("may hear it"));
}

// Two of four acknowledge nothing, and the agent sees the leader for the first time in minutes: who
// stands still is not known yet, but that nothing is committed is.
TEST(Removal, NobodyIsKickedWhileTheLeaderCommitsNothing) {
  FakeCluster cluster(5);
  const std::size_t dead = add_stranger(cluster);
  cluster.watch(5s);
  cluster.kill(dead);
  cluster.watch(20min);
  ASSERT_EQ(objection_of(cluster, "7b3a"), "none");
  cluster.node(0).log_next = 500;
  cluster.node(0).uncommitted = 300;
  cluster.watch(1s);
  EXPECT_TRUE(objection_of(cluster, "7b3a").contains("entries that it does not commit"))
      << "not even at the first look";
  cluster.watch(10s);
  EXPECT_TRUE(objection_of(cluster, "7b3a").contains("entries that it does not commit"));
}

TEST(Removal, ALeaderThatAlwaysHasSomethingToCommitCommits) {
  FakeCluster cluster(5);
  const std::size_t dead = add_stranger(cluster);
  cluster.watch(5s);
  cluster.kill(dead);
  for (int look = 0; look < 1300; ++look) {
    for (std::size_t i = 0; i < 5; ++i) cluster.node(i).log_next += 7;
    cluster.node(0).uncommitted = 3;
    cluster.watch(1s);
  }
  EXPECT_EQ(objection_of(cluster, "7b3a"), "none");
}

TEST(Removal, OfTwoAtAnAddressWhereNobodyAnswersNeitherIsTheGhost) {
  FakeCluster cluster(5);
  cluster.watch(5s);
  wipe_unseen(cluster);
  const Assessment look = cluster.watch(30min);
  const Finding& both = the(Code::kRaftStaleMember, look);
  EXPECT_EQ(
      both.summary,
      "1430, d8d1 are all listed at tcp:10.0.0.3:6643, and no configured member answers there");
  expect_spared(cluster, look, "d8d1");
  expect_spared(cluster, look, "1430");
}

TEST(Removal, TheGhostIsKickedOnceTheLiveOneAnswers) {
  FakeCluster cluster(5);
  cluster.watch(5s);
  wipe_unseen(cluster);
  cluster.watch(10s);
  cluster.heal(2);
  const Assessment look = cluster.watch(20s);
  ASSERT_FALSE(the(Code::kRaftStaleMember, look).advice->command.empty());
  EXPECT_TRUE(the(Code::kRaftStaleMember, look).advice->command.back().starts_with("1430"));
  expect_spared(cluster, look, "d8d1");
}

TEST(Removal, AGhostThatSomebodyHearsIsNone) {
  FakeCluster cluster(5);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.watch(5s);
  cluster.heal(2);
  cluster.node(2).id = *parse_member_id(kSuccessor);
  cluster.enlist(2);
  cluster.edit = [](std::vector<Opinion>& all) { let_hear(all, 1, "1430", 500ms); };
  expect_spared(cluster, cluster.watch(20min), "1430");
}

// Its old disk was put back between two looks of one round.
TEST(Removal, AGhostThatHasAConnectionIsNotCalledOne) {
  FakeCluster cluster(5);
  cluster.watch(5s);
  cluster.node(2).id = *parse_member_id(kSuccessor);
  cluster.enlist(2);
  cluster.edit = [](std::vector<Opinion>& all) {
    all[1].status->links.push_back({"1430", false, true});
  };
  const Assessment look = cluster.watch(3s);
  EXPECT_FALSE(the(Code::kRaftStaleMember, look).summary.contains("a ghost"));
  // Nobody keeps a connection with the dead for so long.
  const Assessment later = cluster.watch(10s);
  EXPECT_TRUE(the(Code::kRaftStaleMember, later)
                  .summary.contains("two of them seem to have been alive at once"));
}

// A host was replaced at an address that the agent cannot reach, its old id was kicked, and the new
// host restarts.
TEST(Removal, ASilentMemberWhoseIdLeftTheListMayBeAnyServer) {
  FakeCluster cluster(5);
  cluster.watch(5s);
  cluster.kill(2, ReasonCode::kUnreachable);
  cluster.watch(5s);
  cluster.strike(2);
  const std::size_t host = add_stranger(cluster);
  cluster.watch(60s);
  cluster.kill(host);
  expect_spared(cluster, cluster.watch(20min), "7b3a");
  EXPECT_TRUE(objection_of(cluster, "7b3a").contains("it may be ctl-3"));
}

TEST(Removal, EveryMemberThatDoesNotAnswerAsAnotherMayBeIt) {
  for (const ReasonCode silence :
       {ReasonCode::kRefused, ReasonCode::kHung, ReasonCode::kUnreachable, ReasonCode::kDenied,
        ReasonCode::kProtocol, ReasonCode::kProberStarved, ReasonCode::kUnknownCluster,
        ReasonCode::kNotProbed}) {
    FakeCluster cluster(5);
    const std::size_t dead = add_stranger(cluster);
    cluster.watch(5s);
    cluster.kill(dead);
    cluster.kill(3, silence);
    expect_spared(cluster, cluster.watch(15min), "7b3a");
  }
}

// `ovsdb-server/remove-db` on a member, and the agent has started since.
TEST(Removal, AMemberWhoseDatabaseIsDetachedIsNotDead) {
  FakeCluster cluster(3);
  cluster.isolate(2);
  cluster.node(2).mode = Mode::kAbsent;
  cluster.node(2).silence = ReasonCode::kUnknownCluster;
  expect_spared(cluster, cluster.watch(20min), "1430");
}

TEST(Removal, AnExpectedAddressIsKeptForItsServer) {
  FakeCluster cluster(4);
  const std::size_t down = add_stranger(cluster);
  cluster.expectation.addresses = {"tcp:10.0.0.1:6643", "tcp:10.0.0.9:6643"};
  cluster.watch(5s);
  cluster.kill(down);
  expect_spared(cluster, cluster.watch(20min), "7b3a");
  EXPECT_TRUE(objection_of(cluster, "7b3a").contains("tcp:10.0.0.9:6643 is an expected address"));
}

// A member was moved, its old server is gone, and the operator has said so.
TEST(Removal, AFormerAddressThatIsNotExpectedAnyMoreIsNoHeirs) {
  FakeCluster cluster(4);
  const std::vector<std::string> first = {"tcp:10.0.0.1:6643", "tcp:10.0.0.2:6643",
                                          "tcp:10.0.0.3:6643", "tcp:10.0.0.4:6643"};
  cluster.expectation.addresses = first;
  cluster.watch(5s);
  const std::string old_id = cluster.list()[3].nickname;
  cluster.node(3).address = "tcp:10.0.0.9:6643";
  cluster.node(3).id = *parse_member_id(kSuccessor);
  cluster.enlist(3);
  cluster.watch(20min);
  EXPECT_TRUE(objection_of(cluster, old_id).contains("is an expected address"));
  cluster.expectation.addresses.back() = "tcp:10.0.0.9:6643";
  cluster.watch(2s);
  EXPECT_EQ(objection_of(cluster, old_id), "none");
  cluster.expectation.addresses.clear();
  cluster.watch(2s);
  EXPECT_TRUE(objection_of(cluster, old_id).contains("was the address of ctl-4"));
}

TEST(Removal, AnExpectedAddressIsTheSameUnderAnotherScheme) {
  FakeCluster cluster(4);
  const std::size_t down = add_stranger(cluster);
  cluster.expectation.addresses = {"ssl:10.0.0.9:6643"};
  cluster.watch(5s);
  cluster.kill(down);
  expect_spared(cluster, cluster.watch(20min), "7b3a");
}

TEST(Removal, ANewerIdAtAMembersOldAddressIsItsOnlyHeir) {
  FakeCluster cluster(4);
  cluster.watch(5s);
  cluster.strike(3);
  const std::size_t heir = add_stranger(cluster, "tcp:10.0.0.4:6643");
  cluster.kill(heir);
  cluster.node(3).cluster_id = *parse_member_id("9cc89a56-316d-4636-ab64-528ac2b92174");
  cluster.isolate(3);
  expect_spared(cluster, cluster.watch(20min), "7b3a");
}

TEST(Removal, AnOldExpectationKicksNobodyThatRestarts) {
  FakeCluster cluster(4);
  cluster.expectation.addresses = {"tcp:10.0.0.1:6643", "tcp:10.0.0.2:6643", "tcp:10.0.0.3:6643"};
  const std::size_t restarts = add_stranger(cluster);
  cluster.watch(30s);
  cluster.kill(restarts);
  cluster.kill(3);
  const Assessment look = cluster.watch(60s);
  expect_spared(cluster, look, "7b3a");
  expect_spared(cluster, look, "2e3d");
  EXPECT_TRUE(has(Code::kRaftUnexpectedMember, look)) << "the configured one hides no other";
  for (const Finding& finding : look.findings) {
    if (finding.code != Code::kRaftUnexpectedMember) continue;
    EXPECT_EQ(finding.subjects.front(), "7b3a") << "ctl-4 is configured, so it is expected";
  }
}

TEST(Removal, TheGhostOfAMemberThatCannotJoinIsPartOfItsRepair) {
  FakeCluster cluster(5);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.watch(5s);
  cluster.heal(2);
  Node& joiner = cluster.node(2);
  joiner.id = *parse_member_id(kSuccessor);
  joiner.standing = Standing::kJoining;
  joiner.own_list = std::vector<Server>{};
  const Assessment look = cluster.watch(60s);
  EXPECT_TRUE(has(Code::kRaftJoiningStuck, look));
  const RepairView view = cluster.repair_view();
  EXPECT_FALSE(view.changing) << "who only asks to join changes nothing";
  const RepairServer* const ghost = view.server_of("ctl-3");
  ASSERT_NE(ghost, nullptr);
  EXPECT_EQ(short_name(ghost->id), "1430");
  EXPECT_FALSE(ghost->answers);
  EXPECT_TRUE(ghost->objection.has_value());
  cluster.watch(10min);
  EXPECT_EQ(objection_of(cluster, "1430"), "none");
}

TEST(Removal, TheGhostOfAMemberThatJoinsMayBeAnotherMember) {
  FakeCluster cluster(5);
  cluster.kill(4, ReasonCode::kUnreachable);
  cluster.strike(4);
  cluster.watch(5s);
  cluster.kill(1);
  cluster.watch(5s);
  cluster.heal(1);
  Node& joiner = cluster.node(1);
  joiner.id = *parse_member_id(kSuccessor);
  joiner.standing = Standing::kJoining;
  joiner.own_list = std::vector<Server>{};
  cluster.watch(20min);
  EXPECT_TRUE(objection_of(cluster, "499b").contains("it may be ctl-5"))
      << "nobody knows as whom that one runs: " << objection_of(cluster, "499b");
}

TEST(Removal, WhoJoinsElsewhereMayHaveBeenTheSilentServer) {
  FakeCluster cluster(5);
  cluster.kill(1, ReasonCode::kUnreachable);
  cluster.watch(5s);
  cluster.heal(1);
  Node& joiner = cluster.node(1);
  joiner.id = *parse_member_id(kSuccessor);
  joiner.address = "tcp:10.0.0.77:6643";
  joiner.standing = Standing::kJoining;
  joiner.own_list = std::vector<Server>{};
  cluster.watch(20min);
  EXPECT_TRUE(objection_of(cluster, "499b").contains("it may be ctl-2"))
      << objection_of(cluster, "499b");
}

TEST(Removal, RepairDoesNotGuessWhichServerAMemberWas) {
  FakeCluster cluster(5);
  cluster.kill(4);
  cluster.watch(30s);
  const RepairView view = cluster.repair_view();
  const RepairServer* const server = view.server_of("ctl-5");
  ASSERT_NE(server, nullptr);
  EXPECT_TRUE(server->guessed) << "only elimination says so: the agent never heard it";
  FakeCluster known(5);
  known.watch(5s);
  known.kill(4);
  known.watch(30s);
  EXPECT_FALSE(known.repair_view().server_of("ctl-5")->guessed);
}

}  // namespace
}  // namespace wardmote::judge::raft
