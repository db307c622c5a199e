#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include "unit/judge/raft/fake_cluster.h"

// Who runs and is in no list that counts: removed, or left alone by a copy that lists itself only.

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

// Capture 18: kicked while it was down, and started again with its old database.
TEST(ZombieMember, KickedWhileDownAndRestarted) {
  FakeCluster cluster(3);
  cluster.expectation.addresses = {"tcp:10.0.0.1:6643", "tcp:10.0.0.2:6643", "tcp:10.0.0.3:6643"};
  cluster.watch(5s);
  cluster.kill(2);
  cluster.watch(3s);
  const std::vector<Server> old = cluster.list();
  cluster.strike(2);
  for (const std::size_t i : {0, 1}) cluster.node(i).log_next += 3;
  cluster.watch(3s);
  Node& zombie = cluster.node(2);
  zombie.silence = ReasonCode::kNone;
  zombie.role = Role::kCandidate;
  zombie.standing = Standing::kDisconnected;
  zombie.own_list = old;
  for (int i = 0; i < 20; ++i) {
    ++zombie.term;
    cluster.watch(1s);
  }
  const Assessment found = cluster.look();
  EXPECT_EQ(told(found),
            (Told{"critical RAFT_ZOMBIE_MEMBER ctl-3",
                  "warning RAFT_MISSING_MEMBER tcp:10.0.0.3:6643", "warning RAFT_CLUSTER_SIZE"}));
  EXPECT_EQ(found.members[2].outcome, Outcome::kFail);
  EXPECT_EQ(found.quorum.voters, 2U);
}

TEST(ZombieMember, WhoHasAppliedMoreThanAnOldListIsNone) {
  FakeCluster cluster(4);
  cluster.watch(5s);
  // The only one that gives its status hears the leader, but its disk takes no writes.
  for (const std::size_t i : {0U, 2U, 3U}) {
    cluster.node(i).status_silence = ReasonCode::kNotProbed;
    cluster.node(i).log_next = 9;
  }
  std::vector<Server> old = cluster.list();
  old.pop_back();
  cluster.node(1).own_list = old;
  EXPECT_FALSE(has(Code::kRaftZombieMember, cluster.watch(60s)));
}

/// A broken copy of the database has elected itself (kube-ovn 6363).
TEST(ZombieMember, TheMajorityIsNoneWhateverALeaderOfOneLists) {
  for (const std::uint64_t later : {0U, 8U}) {
    FakeCluster cluster(3);
    cluster.watch(5s);
    cluster.isolate(1);
    Node& broken = cluster.node(1);
    broken.role = Role::kLeader;
    broken.follows.reset();
    broken.term += later;
    broken.log_next = 1002;
    std::vector<Server> alone = {cluster.list()[1]};
    broken.own_list = alone;
    const Assessment found = cluster.watch(30s);
    EXPECT_FALSE(has(Code::kRaftZombieMember, found));
    EXPECT_FALSE(has(Code::kRaftMissingMember, found));
    if (has(Code::kRaftStaleLeader, found))
      EXPECT_EQ(the(Code::kRaftStaleLeader, found).subjects.front(), "ctl-2");
    EXPECT_EQ(found.leader, 0U);
    EXPECT_EQ(found.quorum.voters, 3U);
  }
}

/// It says that it leads, and nobody follows it: the others go on with the leader that they had.
TEST(ZombieMember, WhoIsMissingInTheListOfALeaderThatNobodyFollowsIsNone) {
  FakeCluster cluster(4);
  cluster.watch(5s);
  Node& liar = cluster.node(1);
  liar.role = Role::kLeader;
  liar.follows.reset();
  liar.term = 50;
  std::vector<Server> list = cluster.list();
  list.pop_back();
  liar.own_list = list;
  cluster.isolate(3);
  EXPECT_FALSE(has(Code::kRaftZombieMember, cluster.watch(60s)));
  // Those who are asked last follow it by now.
  for (const std::size_t i : {0U, 2U}) {
    cluster.node(i).role = Role::kFollower;
    cluster.node(i).follows = 1;
    cluster.node(i).term = 50;
    cluster.node(i).own_list = list;
  }
  EXPECT_TRUE(has(Code::kRaftZombieMember, cluster.watch(60s)));
}

/// A host was replaced, and its name leads to the new server, which does not answer.
TEST(MemberDown, WhoMayHaveJoinedAnewWasNotJustRemoved) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.watch(5s);
  cluster.strike(2);
  const std::size_t fourth =
      cluster.add_node("ctl-4", "7b3a0000-dac6-4762-a00e-834c7c7479df", "tcp:10.0.0.4:6643");
  cluster.node(fourth).configured = false;
  cluster.enlist(fourth);
  const Finding down = the(Code::kRaftMemberDown, cluster.watch(5s));
  EXPECT_EQ(down.advice->text,
            "Do not start it with the data that it had. No configured member answers as 7b3a at "
            "tcp:10.0.0.4:6643, which is listed: it may be this one, joined anew. Look on the host "
            "which server is there, and move nothing aside before.");
}

/// A leader's list lacks whom it removes from when it has written that, and the next leader may not
/// have it.
TEST(MemberDown, WhoseRemovalIsNotCommittedWasNotRemoved) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.watch(5s);
  cluster.strike(2);
  cluster.edit = [](std::vector<Opinion>& all) {
    all[0].status->changes.push_back({.adding = false, .phase = Phase::kRemoving});
  };
  Finding down = the(Code::kRaftMemberDown, cluster.watch(5s));
  EXPECT_EQ(down.advice->text,
            "Leave its data as they are: what is not committed may still be undone.");
  cluster.edit = [](std::vector<Opinion>& all) {
    all[0] = {};
    all[0].member = "ctl-1";
    all[1].status->uncommitted = 1;
  };
  down = the(Code::kRaftMemberDown, cluster.watch(1s));
  EXPECT_TRUE(down.summary.ends_with("and is being removed")) << "as its follower tells";
  cluster.edit = nullptr;
  down = the(Code::kRaftMemberDown, cluster.watch(5s));
  EXPECT_TRUE(down.advice->text.starts_with("Find out who removed it")) << down.advice->text;
}

const Finding* down_of(const Assessment& look, std::string_view member) {
  const auto found = std::ranges::find_if(look.findings, [&](const Finding& finding) {
    return finding.code == Code::kRaftMemberDown && finding.subjects.front() == member;
  });
  return found == look.findings.end() ? nullptr : &*found;
}

/// An agent that began after the removal, as one that was restarted while its own plan ran: it does
/// not know which server the member was.
TEST(MemberDown, WhomTheListHasNoRoomForIsNotToBeStarted) {
  FakeCluster cluster(3);
  cluster.kill(2);
  cluster.strike(2);
  Finding down = the(Code::kRaftMemberDown, cluster.watch(10s));
  EXPECT_TRUE(down.summary.ends_with("and no server of the member list can be this one"))
      << down.summary;
  EXPECT_TRUE(down.advice->text.contains("do not start it with that file")) << down.advice->text;
  cluster.edit = [](std::vector<Opinion>& all) {
    all[0].status->changes.push_back({.adding = false, .phase = Phase::kRemoving});
  };
  down = the(Code::kRaftMemberDown, cluster.watch(5s));
  EXPECT_TRUE(down.summary.ends_with("and is being removed")) << down.summary;
}

/// One that is listed may be it.
TEST(MemberDown, WhomTheListMayHaveIsToBeStarted) {
  FakeCluster cluster(3);
  cluster.kill(2);
  const Finding down = the(Code::kRaftMemberDown, cluster.watch(10s));
  EXPECT_TRUE(down.advice->text.starts_with("Start the server")) << down.advice->text;
}

/// The follower dies as well, so that the removal is not committed, and the leader steps down: its
/// list lacks the removed one still.
TEST(MemberDown, WhoseRemovalLostItsLeaderIsLeftAlone) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.watch(5s);
  cluster.strike(2);
  cluster.kill(1);
  cluster.node(0).role = Role::kFollower;
  cluster.node(0).follows.reset();
  cluster.node(0).uncommitted = 1;
  const Assessment look = cluster.watch(10s);
  const Finding* const removed = down_of(look, "ctl-3");
  ASSERT_NE(removed, nullptr);
  EXPECT_TRUE(removed->summary.ends_with("and is not in the newest member list"))
      << removed->summary;
  EXPECT_TRUE(removed->advice->text.starts_with("Leave its data as they are"))
      << removed->advice->text;
  const Finding* const listed = down_of(look, "ctl-2");
  ASSERT_NE(listed, nullptr);
  EXPECT_TRUE(listed->advice->text.starts_with("Start the server")) << listed->advice->text;
}

const std::string kJoined = "82bf42e3-c38f-46e8-ae36-3db41907e3ae";

/// ctl-2 has elected itself, with a list of itself.
void lead_alone(FakeCluster& cluster) {
  cluster.isolate(1);
  Node& broken = cluster.node(1);
  broken.role = Role::kLeader;
  broken.follows.reset();
  broken.term += 5;
  broken.own_list = std::vector<Server>{cluster.list()[1]};
}

/// ctl-3 has lost its leader.
void lose_the_leader(FakeCluster& cluster) {
  cluster.kill(0);
  cluster.node(2).role = Role::kCandidate;
  cluster.node(2).standing = Standing::kDisconnected;
  cluster.node(2).follows.reset();
}

TEST(ZombieMember, WhoFollowsALeaderThatNobodyAsksIsNone) {
  FakeCluster cluster(3);
  cluster.node(0).configured = false;
  cluster.watch(5s);
  lead_alone(cluster);
  const Assessment found = cluster.watch(30s);
  EXPECT_FALSE(has(Code::kRaftZombieMember, found));
  EXPECT_EQ(found.quorum.voters, 3U);
}

TEST(ZombieMember, WhoServesByItsDatabaseAloneIsNone) {
  FakeCluster cluster(3);
  for (const std::size_t i : {0U, 2U}) cluster.node(i).status_silence = ReasonCode::kNotProbed;
  cluster.watch(5s);
  lead_alone(cluster);
  EXPECT_FALSE(has(Code::kRaftZombieMember, cluster.watch(30s)));
}

TEST(ZombieMember, WhoseLeaderIsLostBesideALeaderOfOneIsNoneAsFarAsTheDatabaseTells) {
  FakeCluster cluster(3);
  for (const std::size_t i : {0U, 2U}) cluster.node(i).status_silence = ReasonCode::kNotProbed;
  cluster.watch(5s);
  lead_alone(cluster);
  cluster.watch(10s);
  lose_the_leader(cluster);
  EXPECT_FALSE(has(Code::kRaftZombieMember, cluster.watch(60s)));
}

TEST(ZombieMember, WhoseLeaderIsLostBesideALeaderOfOneIsNone) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  lead_alone(cluster);
  cluster.watch(10s);
  lose_the_leader(cluster);
  const Assessment found = cluster.watch(60s);
  EXPECT_FALSE(has(Code::kRaftZombieMember, found));
  EXPECT_EQ(told(found), (Told{"critical RAFT_NO_LEADER", "critical RAFT_MEMBER_DOWN ctl-1",
                               "warning RAFT_MEMBER_LIST_MISMATCH ctl-2"}));
  cluster.node(1).own_list.reset();
  cluster.watch(1s);
  cluster.node(1).own_list = std::vector<Server>{cluster.list()[1]};
  EXPECT_TRUE(has(Code::kRaftZombieMember, cluster.watch(30s)))
      << "a list of others, and nobody has gone on without it since";
}

/// Who joins the broken copy is as far away from the others as that is.
TEST(ZombieMember, WhoseLeaderIsLostBesideALeaderThatSomebodyJoinedIsNone) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  lead_alone(cluster);
  cluster.watch(10s);
  const std::size_t joined = cluster.add_node("ctl-4", kJoined, "tcp:10.0.0.4:6643");
  Node& joiner = cluster.node(joined);
  std::vector<Server> both = {cluster.list()[1], cluster.list()[1]};
  both[1].id = *parse_member_id(kJoined);
  both[1].address = "tcp:10.0.0.4:6643";
  cluster.node(1).own_list = joiner.own_list = both;
  joiner.follows = 1;
  joiner.term = cluster.node(1).term;
  lose_the_leader(cluster);
  for (const bool asked : {false, true}) {
    joiner.configured = asked;
    const Assessment found = cluster.watch(60s);
    EXPECT_FALSE(has(Code::kRaftZombieMember, found)) << asked;
    EXPECT_FALSE(found.leader.has_value());
    EXPECT_EQ(found.quorum.voters, 3U);
  }
}

/// An agent that began when it could ask the broken copy alone remembers nobody else.
TEST(ZombieMember, ALeaderOfOneThatHasComeBackToTheOthersIsBelieved) {
  FakeCluster cluster(4);
  lead_alone(cluster);
  for (const std::size_t i : {0U, 2U}) cluster.node(i).silence = ReasonCode::kUnreachable;
  cluster.look();
  for (const std::size_t i : {0U, 2U}) cluster.node(i).silence = ReasonCode::kNone;
  EXPECT_EQ(cluster.watch(20s).leader, 0U);
  cluster.kill(3);
  cluster.watch(5s);
  cluster.strike(3);
  cluster.heal(1);
  Node& healed = cluster.node(1);
  healed.own_list.reset();
  healed.role = Role::kFollower;
  healed.term = cluster.node(0).term;
  healed.follows = 0;
  const Assessment found = cluster.watch(30s);
  EXPECT_EQ(found.leader, 0U);
  EXPECT_EQ(found.quorum.voters, 3U);
  EXPECT_EQ(found.quorum.live, 3U);
  cluster.elect(1);
  EXPECT_EQ(cluster.watch(5s).leader, 1U);
}

/// Its sockets are those of the broken copy by mistake, as far as one of them answers.
TEST(ZombieMember, WhoAnswersForAMomentAsTheLeaderOfOneIsStillAnother) {
  FakeCluster cluster(3);
  cluster.node(2).configured = false;
  cluster.watch(5s);
  lead_alone(cluster);
  cluster.watch(10s);
  for (const std::size_t i : {0U, 2U}) cluster.kill(i);
  cluster.edit = [](std::vector<Opinion>& all) {
    all[0] = all[1];
    all[0].member = "ctl-1";
    all[0].status.reset();
  };
  cluster.watch(20s);
  cluster.edit = nullptr;
  cluster.node(0).silence = ReasonCode::kNone;
  cluster.node(0).role = Role::kCandidate;
  cluster.node(0).standing = Standing::kDisconnected;
  cluster.node(0).follows.reset();
  EXPECT_FALSE(has(Code::kRaftZombieMember, cluster.watch(30s)));
}

/// A cluster was made smaller on purpose, and its only member reboots.
TEST(ZombieMember, WhoWasRemovedIsNotTheClusterWhenTheLastMemberReboots) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  const std::vector<Server> old = cluster.list();
  for (const std::size_t i : {1U, 2U}) {
    cluster.kill(i);
    cluster.watch(3s);
    cluster.list().pop_back();
  }
  cluster.list() = {old[0]};
  cluster.node(0).log_next += 8;
  cluster.watch(3s);
  for (const std::size_t i : {1U, 2U}) {
    Node& removed = cluster.node(i);
    removed.silence = ReasonCode::kNone;
    removed.role = Role::kCandidate;
    removed.standing = Standing::kDisconnected;
    removed.follows.reset();
    removed.own_list = old;
  }
  EXPECT_EQ(cluster.watch(30s).quorum.voters, 1U);
  cluster.kill(0);
  const Assessment found = cluster.watch(60s);
  EXPECT_EQ(found.quorum.voters, 1U);
  EXPECT_EQ(the(Code::kRaftNoQuorum, found).summary.substr(0, 15), "0 of 1 voters a");
  // Further than the list of one has come: then somebody else may have gone on.
  for (const std::size_t i : {1U, 2U}) cluster.node(i).log_next = cluster.node(0).log_next + 1;
  EXPECT_EQ(cluster.watch(60s).quorum.voters, 3U);
}

/// One round may have asked one server before the last removal and the other one after it.
TEST(ZombieMember, ALeaderOfOneThatASingleRoundSawBesideAnotherIsBelieved) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  lead_alone(cluster);
  cluster.watch(1s);
  lose_the_leader(cluster);
  EXPECT_TRUE(has(Code::kRaftZombieMember, cluster.watch(30s)));
}

/// The same, where it hears the leader again: it acknowledges all, and has nothing of it.
TEST(MemberListMismatch, WhoFollowsALeaderThatItsListLacksIsNotCountedOn) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.node(1).own_list = std::vector<Server>{cluster.list()[1]};
  const Assessment found = cluster.watch(10s);
  EXPECT_EQ(the(Code::kRaftMemberListMismatch, found).subjects.front(), "ctl-2");
  EXPECT_TRUE(has(Code::kRaftQuorumMargin, found));
  const RepairView view = cluster.repair_view();
  EXPECT_EQ(view.acknowledging, 2U);
}

/// An agent that began after all of that does not know which of the silent ones was removed.
TEST(MemberDown, WhereMoreAreSilentThanTheListHasRoomForNobodyIsToldToStartThemAll) {
  FakeCluster cluster(3);
  cluster.strike(2);
  cluster.kill(2);
  cluster.kill(0);
  cluster.node(1).role = Role::kCandidate;
  cluster.node(1).follows.reset();
  const Assessment look = cluster.watch(10s);
  for (const char* const member : {"ctl-1", "ctl-3"}) {
    const Finding* const down = down_of(look, member);
    ASSERT_NE(down, nullptr) << member;
    EXPECT_TRUE(
        down->summary.ends_with("and at most 1 of ctl-1, ctl-3 can be in the newest member list"))
        << down->summary;
    EXPECT_TRUE(down->advice->text.starts_with("Start the server that is listed: ")) << member;
    EXPECT_TRUE(down->advice->text.contains("Leave the data of the others as they are")) << member;
  }
}

/// The one that is listed lives, and only the way to it is closed.
TEST(MemberDown, WhereTheOnlyRoomInTheListIsOfOneThatLivesNobodyIsToldToStart) {
  FakeCluster cluster(4);
  cluster.strike(3);
  cluster.kill(3);
  cluster.node(2).silence = ReasonCode::kUnreachable;
  const Assessment look = cluster.watch(10s);
  const Finding* const down = down_of(look, "ctl-4");
  ASSERT_NE(down, nullptr);
  EXPECT_TRUE(
      down->summary.ends_with("and at most 1 of ctl-3, ctl-4 can be in the newest member list"))
      << down->summary;
  EXPECT_TRUE(down->advice->text.starts_with("Leave its data as they are")) << down->advice->text;
}

/// Its host has told that nobody listens there, which is not so any more.
TEST(MemberDown, WhoRunsAndWaitsToBeLetInIsNotSaidToBeSilent) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(0);
  cluster.kill(1);
  cluster.watch(10s);
  cluster.heal(1);
  cluster.edit = [](std::vector<Opinion>& all) {
    Status& status = *all[1].status;
    status.server_id = *parse_member_id("abcd5e84-7b90-4c1b-a3ab-29d6e4f5c001");
    status.standing = Standing::kJoining;
    status.servers.clear();
    all[1].local.reset();
  };
  const Assessment look = cluster.watch(40s);
  const Finding* const down = down_of(look, "ctl-2");
  ASSERT_NE(down, nullptr) << "it serves as little as before";
  EXPECT_TRUE(down->summary.ends_with("runs and waits to be let in, so it does not serve"))
      << down->summary;
  EXPECT_TRUE(down->advice->text.starts_with("No leader is there that could let it in. If the"))
      << down->advice->text;
  EXPECT_TRUE(the(Code::kRaftJoiningStuck, look).advice->text.contains("bring back the members"));
}

}  // namespace
}  // namespace wardmote::judge::raft
