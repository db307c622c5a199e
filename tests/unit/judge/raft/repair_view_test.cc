// What a plan is told of a cluster.

#include "judge/raft/repair_view.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "judge/raft/member_id.h"
#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

TEST(RepairView, SaysWhoLeadsWhoVotesAndHowFarTheyAre) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.watch(10s);
  cluster.edit = [](std::vector<Opinion>& all) { all[1].begun -= 300ms; };
  const RepairView view = cluster.repair_view();
  EXPECT_EQ(view.begun, cluster.now() - 300ms) << "of the earliest look";
  EXPECT_EQ(view.leader, "ctl-1");
  EXPECT_EQ(view.committed, 4U);
  EXPECT_EQ(view.voters, 3U);
  EXPECT_EQ(view.needed, 2U);
  EXPECT_EQ(view.acknowledging, 2U);
  EXPECT_FALSE(view.starved);
  ASSERT_EQ(view.servers.size(), 3U);
  const RepairServer& leader = view.servers[0];
  EXPECT_TRUE(leader.leads && leader.answers && leader.acknowledges && leader.voter);
  EXPECT_EQ(leader.member, "ctl-1");
  const RepairServer& follower = view.servers[1];
  EXPECT_TRUE(follower.answers && follower.acknowledges && follower.voter && !follower.leads);
  EXPECT_EQ(follower.match_index, 4U);
  const RepairServer& dead = view.servers[2];
  EXPECT_FALSE(dead.answers || dead.acknowledges || dead.leads || dead.guessed);
  EXPECT_EQ(dead.member, "ctl-3");
  EXPECT_EQ(dead.id, cluster.node(2).id);
  EXPECT_EQ(dead.address, "tcp:10.0.0.3:6643");
  EXPECT_EQ(dead.names, (std::vector<std::string>{"ctl-3", to_string(cluster.node(2).id),
                                                  "tcp:10.0.0.3:6643"}));
  ASSERT_EQ(view.members.size(), 3U);
  EXPECT_TRUE(view.members[0].answers && !view.members[0].out);
  EXPECT_EQ(view.members[0].id, cluster.node(0).id);
  EXPECT_TRUE(view.members[2].out && !view.members[2].answers && !view.members[2].joining);
  EXPECT_FALSE(view.members[2].id.known()) << "what it was is no proof of what it is";
}

TEST(RepairView, NamesWhoIsConnectedAndInNoList) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  EXPECT_TRUE(cluster.repair_view().strangers.empty());
  cluster.edit = [](std::vector<Opinion>& all) {
    all[0].status->links.push_back({.peer = "dddd", .outgoing = false});
    all[0].status->links.push_back({.peer = "eeee", .outgoing = true});
  };
  EXPECT_EQ(cluster.repair_view().strangers, std::vector<std::string>{"dddd"});
}

TEST(RepairView, AListThatChangesIsNotYetAnother) {
  for (const Phase phase : {Phase::kAddingCatchup, Phase::kRemoving}) {
    FakeCluster cluster(4);
    EXPECT_FALSE(cluster.repair_view().changing);
    EXPECT_FALSE(cluster.repair_view().reconfiguring);
    cluster.list()[3].phase = phase;
    EXPECT_TRUE(cluster.repair_view().changing);
    EXPECT_TRUE(cluster.repair_view().reconfiguring);
  }
  FakeCluster cluster(4);
  cluster.node(3).standing = Standing::kLeaving;
  EXPECT_TRUE(cluster.repair_view().changing);
  EXPECT_TRUE(cluster.repair_view().reconfiguring);
}

TEST(RepairView, KnowsWhenTheListOrTheLeaderChangedLast) {
  FakeCluster cluster(4);
  EXPECT_FALSE(cluster.repair_view().unsettled);
  cluster.list()[3].phase = Phase::kAddingCatchup;
  static_cast<void>(cluster.look());
  const auto adding = cluster.repair_view().unsettled;
  ASSERT_TRUE(adding);
  cluster.list()[3].phase = Phase::kNone;
  static_cast<void>(cluster.watch(30s));
  static_cast<void>(cluster.look());
  EXPECT_EQ(cluster.repair_view().unsettled, adding);
}

TEST(RepairView, TheListOfAnotherClusterChangesNothingHere) {
  FakeCluster cluster(4);
  cluster.node(3).cluster_id = *parse_member_id("9cc89a56-316d-4636-ab64-528ac2b92174");
  cluster.node(3).own_list = cluster.list();
  cluster.node(3).own_list->front().phase = Phase::kRemoving;
  EXPECT_FALSE(cluster.repair_view().changing);
  EXPECT_FALSE(cluster.repair_view().reconfiguring);
  EXPECT_TRUE(cluster.repair_view().members[3].foreign) << "it belongs elsewhere";
}

TEST(RepairView, WhoHangsIsOutAndWhoMayNotBeAskedIsNot) {
  for (const ReasonCode silence :
       {ReasonCode::kRefused, ReasonCode::kMissing, ReasonCode::kHung, ReasonCode::kDenied,
        ReasonCode::kUnknownCluster, ReasonCode::kProberStarved}) {
    FakeCluster cluster(3);
    cluster.watch(5s);
    cluster.kill(2, silence);
    const RepairView view = cluster.repair_view();
    const bool out = silence == ReasonCode::kRefused || silence == ReasonCode::kMissing ||
                     silence == ReasonCode::kHung;
    EXPECT_EQ(view.members[2].out, out) << to_string(silence);
    EXPECT_FALSE(view.members[2].answers);
    EXPECT_EQ(view.starved, silence == ReasonCode::kProberStarved);
  }
}

// Its server went on on another host, and was cut off there later.
TEST(RepairView, WhoWasHeardSinceItsPlaceRefusesMayRunElsewhere) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.node(2).silence = ReasonCode::kRefused;
  cluster.watch(5s);
  EXPECT_FALSE(cluster.repair_view().members[2].out) << "it is heard";
  cluster.isolate(2);
  const Assessment look = cluster.watch(10min);
  EXPECT_FALSE(cluster.repair_view().members[2].out);
  const std::string advice = the(Code::kRaftMemberDown, look).advice->text;
  EXPECT_TRUE(advice.contains("others have heard it, or had a connection to its address, since"))
      << advice;
  cluster.heal(2);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.watch(60s);
  EXPECT_TRUE(cluster.repair_view().members[2].out) << "it was there again";
}

// A peer that is slow prints the connection of the dead for a moment.
TEST(RepairView, WhoHadAConnectionAMomentAgoDoesNotRunElsewhere) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.edit = [](std::vector<Opinion>& all) {
    all[0].status->links.push_back({"1430", false, true});
  };
  cluster.watch(2s);
  cluster.edit = nullptr;
  cluster.watch(60s);
  EXPECT_TRUE(cluster.repair_view().members[2].out);
}

/// Whether a server that joins where another was is said to have left a ghost; that was heard after
/// its place had begun to refuse, or not. The agent knows of it, or has just begun.
void expect_a_ghost_unless(bool heard, bool agent_knows) {
  FakeCluster cluster(4);
  if (agent_knows) cluster.watch(5s);
  const Node former = cluster.node(3);
  if (heard) cluster.node(3).silence = ReasonCode::kRefused;
  if (!heard) cluster.kill(3);
  cluster.watch(5s);
  cluster.kill(3);
  cluster.watch(60s);
  cluster.heal(3);
  cluster.node(3).id = *parse_member_id("d8d142e3-c38f-46e8-ae36-3db41907e3ae");
  cluster.enlist(3);
  const Assessment look = cluster.watch(60s);
  const std::string& summary = the(Code::kRaftStaleMember, look).summary;
  EXPECT_EQ(summary.contains("a ghost"), !heard) << summary;
  EXPECT_EQ(summary.contains("heard while nobody listened there"), heard) << summary;
  EXPECT_EQ(cluster.repair_view().find(former.id)->objection.has_value(), heard);
}

TEST(RepairView, WhoWasHeardSinceItsPlaceRefusedIsNoGhostOfWhoJoinsThere) {
  for (const bool heard : {true, false}) {
    for (const bool agent_knows : {true, false}) expect_a_ghost_unless(heard, agent_knows);
  }
}

// Its server was moved before the agent began: it is heard, and nobody listens in its place.
TEST(RepairView, TheOnlyServerWithoutAPlaceIsThatOfTheMemberThatWasNeverSeen) {
  FakeCluster cluster(3);
  cluster.node(2).silence = ReasonCode::kRefused;
  const Assessment look = cluster.watch(60s);
  EXPECT_FALSE(has(Code::kRaftMemberDown, look));
  EXPECT_EQ(look.members[2].outcome, Outcome::kUnknown);
  EXPECT_FALSE(cluster.repair_view().members[2].out);
  cluster.isolate(2);
  const std::string advice = the(Code::kRaftMemberDown, cluster.watch(60s)).advice->text;
  EXPECT_TRUE(advice.contains("Find it before you start one")) << advice;
  EXPECT_FALSE(cluster.repair_view().members[2].out);
}

// It is one of several.
TEST(RepairView, WhoMayBeTheServerOfAMemberThatWasNeverSeenIsNotStartedTwice) {
  FakeCluster cluster(4);
  cluster.node(3).configured = false;
  cluster.node(2).silence = ReasonCode::kRefused;
  const std::string advice = the(Code::kRaftMemberDown, cluster.watch(60s)).advice->text;
  EXPECT_TRUE(advice.contains("a server lives of which nobody knows the place")) << advice;
  EXPECT_FALSE(cluster.repair_view().members[2].out);
}

// Another agent looks at it where it runs, and it hangs there.
TEST(RepairView, WhoIsAwaitedElsewhereIsNotToBeStartedHere) {
  FakeCluster cluster(3);
  cluster.watch(5s);
  cluster.kill(2);
  cluster.elsewhere = {{cluster.node(2).id, {}, "the agent on ctl-9", cluster.now(), false}};
  const Assessment look = cluster.watch(60s);
  const std::string advice = the(Code::kRaftMemberDown, look).advice->text;
  EXPECT_TRUE(advice.contains("it answered the agent on ctl-9")) << advice;
  EXPECT_TRUE(advice.contains("Find it before you start one")) << advice;
}

TEST(RepairView, WithoutALeaderThereIsNoneToName) {
  FakeCluster cluster(3);
  cluster.node(0).silence = ReasonCode::kDenied;
  EXPECT_EQ(cluster.repair_view().leader, "");
  cluster.node(0).silence = ReasonCode::kNone;
  cluster.node(0).status_silence = ReasonCode::kDenied;
  EXPECT_EQ(cluster.repair_view().leader, "")
      << "without its status it tells nothing of its followers";
}

}  // namespace
}  // namespace wardmote::judge::raft
