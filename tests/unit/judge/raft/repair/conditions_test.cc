#include "judge/raft/repair/conditions.h"

#include <chrono>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "judge/plan/plan.h"
#include "judge/raft/member_id.h"
#include "judge/raft/repair_view.h"
#include "unit/judge/raft/repair/plan_fixture.h"

namespace wardmote::judge::raft::repair {
namespace {

using namespace std::chrono_literals;

class PlanConditions : public PlanFixture {
 protected:
  std::string objects() { return objection(plan_, view_).value_or(""); }
  std::string objects_to_rejoin() { return objection_to_rejoin(plan_, view_).value_or(""); }
  std::string missing() { return missing_to_whole(plan_, view_).value_or(""); }
};

TEST_F(PlanConditions, AMemberThatIsOutMayBeRebuilt) {
  EXPECT_EQ(objects(), "");
}

TEST_F(PlanConditions, NothingIsChangedWithoutAClearView) {
  view_.starved = true;
  EXPECT_EQ(objects(), "the agent is too starved to see the whole cluster");
  view_.starved = false;
  view_.changing = true;
  EXPECT_EQ(objects(), "a server is being added or removed");
  view_.changing = false;
  view_.leader.clear();
  EXPECT_EQ(objects(), "no leader answers, and nothing can be changed without one");
}

TEST_F(PlanConditions, OnlyWhoIsCertainlyOutIsRebuilt) {
  view_.members[2].out = false;
  EXPECT_EQ(objects(), "it is not certain that ctl-3 is out");
  view_.members[2].out = true;
  view_.leader = "ctl-3";
  EXPECT_EQ(objects(), "ctl-3 leads");
  view_.leader = "ctl-1";
  view_.members.pop_back();
  EXPECT_EQ(objects(), "ctl-3 is no member of it");
}

TEST_F(PlanConditions, TheServerMustStillBeThatMember) {
  view_.servers[2].member = "ctl-9";
  EXPECT_EQ(objects(), "1111 is not ctl-3 any more");
  view_.servers.push_back(listed_server("ctl-3", kNew, false));
  EXPECT_EQ(objects(), "1111 is not ctl-3 any more");
  view_.servers.erase(view_.servers.begin() + 2);
  plan_.server = {};
  EXPECT_EQ(objects(), "nobody knows whether ctl-3 was aaaa");
}

// Two servers began with 0502; the kick of the dead one by these four digits hit the living one.
TEST_F(PlanConditions, AnIdThatTwoListedServersMayHaveIsNotKicked) {
  plan_.server = view_.servers[2].id = *parse_member_id("0502");
  EXPECT_EQ(objects(), "");
  view_.servers[1].id = *parse_member_id("05021111-0000-4000-8000-000000000002");
  EXPECT_EQ(objects(), "the id 0502 is not unique in the list");
}

// Stopped or killed, and not meant to be gone: no configuration named it.
TEST_F(PlanConditions, WhoIsNoMemberIsRemovedOnlyWhereTheOperatorSaysWhoIsOne) {
  remove_only();
  EXPECT_EQ(objects(), "");
  plan_.code = Code::kRaftDeadMember;
  EXPECT_EQ(objects(),
            "nothing says that tcp:ctl-3:6643 is not meant to be there: name the raft addresses of "
            "all servers of the cluster under 'expect'");
  view_.told_of = true;
  EXPECT_EQ(objects(), "");
}

TEST_F(PlanConditions, WhoMayLiveIsNotRebuilt) {
  view_.servers[2].doubt = "ctl-2 heard it 20 ms ago";
  EXPECT_EQ(objects(), "1111 may live: ctl-2 heard it 20 ms ago");
}

TEST_F(PlanConditions, AMemberOfAnotherClusterIsNotRebuilt) {
  view_.members[2].foreign = true;
  EXPECT_EQ(objects(), "ctl-3 belongs to another cluster: its database may hold what no other has");
}

TEST_F(PlanConditions, WhoIsNotListedAndDoesNotJoinWasRemovedOnPurpose) {
  plan_.server = {};
  kicked();
  EXPECT_EQ(objects(), "ctl-3 is not listed: whoever removed it may have meant it");
  plan_.code = Code::kRaftJoiningStuck;
  plan_.former = kOld;
  view_.members[2] = {"ctl-3", false, true, true, kOld};
  EXPECT_EQ(objects(), "");
}

// What its host says is of the one that joins; whether the former one runs elsewhere nobody says.
TEST_F(PlanConditions, TheFormerServerOfAMemberThatJoinsStaysListedAndHindersNothing) {
  plan_.code = Code::kRaftJoiningStuck;
  plan_.server = {};
  plan_.former = kNew;
  view_.members[2] = {"ctl-3", false, true, true, kNew};
  EXPECT_EQ(objects(), "");
  EXPECT_EQ(objects_to_rejoin(), "");
  view_.members[2].joining = false;
  EXPECT_EQ(objects(), "nobody knows whether ctl-3 was 1111");
}

// The command of a plan that is unclear had worked, and the member fell again before anybody
// looked.
TEST_F(PlanConditions, WhoJoinedAndFellAgainIsNotEmptiedWhileItIsListed) {
  kicked();
  EXPECT_EQ(objects_to_rejoin(), "");
  view_.servers.push_back(listed_server("ctl-3", kNew, false));
  const std::string listed =
      "ctl-3 is listed as aaaa now, which this plan does not remove: reject the plan, and ask for "
      "another";
  EXPECT_EQ(objects_to_rejoin(), listed);
  // Whose it is nobody remembers after a restart.
  view_.servers.back().member.clear();
  EXPECT_EQ(objects_to_rejoin(), listed);
  view_.servers.back().address = "tcp:ctl-4:6643";
  EXPECT_EQ(objects_to_rejoin(), "aaaa at tcp:ctl-4:6643 does not acknowledge the leader either");
}

// It had no server that could be kicked, and what is listed at its address may be the former one.
TEST_F(PlanConditions, WhatIsListedForAStuckJoinerHindersOnlyAsItsOwn) {
  stuck_joining();
  view_.changing = false;
  view_.members[2] = {"ctl-3", false, false, true, {}};
  view_.servers.push_back(listed_server("ctl-3", kNew, false));
  view_.servers.back().guessed = true;
  EXPECT_EQ(objects_to_rejoin(), "");
  view_.servers.back().guessed = false;
  EXPECT_EQ(
      objects_to_rejoin(),
      "ctl-3 is listed as aaaa now, which this plan does not remove: reject the plan, and ask for "
      "another");
}

/// An election ends what a leader did for it, and the next leader begins anew.
TEST_F(PlanConditions, WhoAsksToJoinHasAMinuteAfterAnElectionOrAJoinThatBroke) {
  plan_.code = Code::kRaftJoiningStuck;
  plan_.server = {};
  plan_.former = kNew;
  view_.members[2] = {"ctl-3", false, true, true, kNew};
  view_.unsettled = now_ - 59s;
  EXPECT_EQ(objects(), "a server is being added or removed");
  EXPECT_EQ(objects_to_rejoin(), "a server is being added or removed");
  view_.unsettled = now_ - 60s;
  EXPECT_EQ(objects(), "");
  // What the plan itself has changed is no reason.
  view_.unsettled = now_ - 1s;
  plan_.server = kOld;
  kicked();
  EXPECT_EQ(objects_to_rejoin(), "");
}

TEST_F(PlanConditions, WhoIsDownHasNoUseForAnotherMinute) {
  view_.unsettled = now_ - 1s;
  EXPECT_EQ(objects(), "");
}

TEST_F(PlanConditions, OneMemberAtATime) {
  view_.members[1].answers = false;
  EXPECT_EQ(objects(), "ctl-2 is not well either: one member at a time");
  view_.members[1].answers = true;
  view_.servers[1].acknowledges = false;
  EXPECT_EQ(objects(), "0002 at tcp:ctl-2:6643 does not acknowledge the leader either");
  view_.servers[1].voter = false;
  EXPECT_EQ(objects(), "") << "it has no vote yet";
  view_.servers.push_back(listed_server("", kNew, false));
  EXPECT_EQ(objects(), "aaaa at tcp::6643 does not acknowledge the leader either");
}

TEST_F(PlanConditions, QuorumIsNeverSpent) {
  view_.acknowledging = 1;
  EXPECT_EQ(objects(), "without ctl-3 quorum would be lost: 1 of 3 voters acknowledge, 2 needed");
  // After the kick the rest needs a majority of its own: three of four.
  view_.servers.push_back(listed_server("ctl-4", kNew, true));
  view_.servers.push_back(listed_server("ctl-5", *parse_member_id("0005"), true));
  view_.voters = 5;
  view_.acknowledging = 3;
  view_.needed = 3;
  EXPECT_EQ(objects(), "");
  view_.needed = 2;
  view_.acknowledging = 2;
  EXPECT_EQ(objects(), "without ctl-3 quorum would be lost: 2 of 5 voters acknowledge, 3 needed");
  view_.servers[2].voter = false;
  view_.voters = 3;
  EXPECT_EQ(objects(), "") << "without a vote its removal costs none";
  view_.voters = 4;
  EXPECT_NE(objects(), "");
}

TEST_F(PlanConditions, TheServerToKickMustBeWhereItWas) {
  remove_only();
  EXPECT_EQ(objects(), "");
  view_.servers[2].address = "tcp:ctl-9:6643";
  EXPECT_EQ(objects(), "1111 is listed at tcp:ctl-9:6643 now");
  view_.servers[2].address = plan_.address;
  view_.servers[2].objection = "it may be a configured member";
  EXPECT_EQ(objects(), "it may be a configured member");
  kicked();
  EXPECT_EQ(objects(), "1111 is not listed any more: somebody else has removed it");
}

TEST_F(PlanConditions, SaysWhyNobodyNeedsThePlanAnyMore) {
  EXPECT_FALSE(recovered(plan_, view_));
  view_.servers[2].answers = true;
  EXPECT_EQ(recovered(plan_, view_), "1111 answers");
  view_.servers[2].answers = false;
  view_.servers[2].acknowledges = true;
  EXPECT_EQ(recovered(plan_, view_), "the leader hears 1111");
  view_.members[2] = {"ctl-3", false, true, true, kNew};
  EXPECT_EQ(recovered(plan_, view_), "ctl-3 is joining, by somebody else's hand");
  view_.members[2] = {"ctl-3", true, false, false, kOld};
  EXPECT_EQ(recovered(plan_, view_), "ctl-3 answers and takes part");
}

TEST_F(PlanConditions, AnEmptyListIsNoRemovalBySomebodyElse) {
  kicked();
  EXPECT_TRUE(recovered(plan_, view_));
  view_.leader.clear();
  EXPECT_FALSE(recovered(plan_, view_));
  remove_only();
  EXPECT_FALSE(recovered(plan_, view_));
}

TEST_F(PlanConditions, AMemberIsWellWhenItTakesPartAndNotWhenItJoins) {
  EXPECT_FALSE(is_well(plan_, view_));
  view_.members[2] = {"ctl-3", false, true, true, kNew};
  EXPECT_FALSE(is_well(plan_, view_));
  view_.members[2] = {"ctl-3", true, false, false, kNew};
  EXPECT_TRUE(is_well(plan_, view_));
  view_.members.pop_back();
  EXPECT_FALSE(is_well(plan_, view_));
}

TEST_F(PlanConditions, AServerIsWellWhenSomebodyHearsItOrItIsGone) {
  remove_only();
  EXPECT_FALSE(is_well(plan_, view_));
  view_.servers[2].answers = true;
  EXPECT_TRUE(is_well(plan_, view_));
  view_.servers[2].answers = false;
  view_.servers[2].acknowledges = true;
  EXPECT_TRUE(is_well(plan_, view_));
  kicked();
  EXPECT_TRUE(is_well(plan_, view_));
  view_.leader.clear();
  EXPECT_FALSE(is_well(plan_, view_)) << "nobody stands behind that list";
}

TEST_F(PlanConditions, RejoinsWhenTheListIsClearedAndTheRestIsWell) {
  EXPECT_EQ(objects_to_rejoin(), "1111 is still listed");
  kicked();
  EXPECT_EQ(objects_to_rejoin(), "");
  view_.acknowledging = 1;
  EXPECT_EQ(objects_to_rejoin(), "the cluster has no quorum");
  view_.members[1].answers = false;
  EXPECT_EQ(objects_to_rejoin(), "ctl-2 is not well either: one member at a time");
  view_.changing = true;
  EXPECT_EQ(objects_to_rejoin(), "a server is being added or removed");
}

TEST_F(PlanConditions, IsWholeWhenTheMemberVotesAndHasEverything) {
  EXPECT_EQ(missing(), "1111 is still listed");
  kicked();
  EXPECT_EQ(missing(), "ctl-3 is no member in good standing yet");
  come_back(true);
  EXPECT_EQ(missing(), "");
  raft::RepairServer& server = view_.servers.back();
  server.voter = false;
  EXPECT_EQ(missing(), "the leader does not hear ctl-3 as a voter yet");
  server.voter = true;
  server.acknowledges = false;
  EXPECT_EQ(missing(), "the leader does not hear ctl-3 as a voter yet");
  server.acknowledges = true;
  server.match_index.reset();
  EXPECT_EQ(missing(), "ctl-3 has entries up to 0 of 10");
  server.leads = true;
  EXPECT_EQ(missing(), "") << "a leader has all there is";
  view_.changing = true;
  EXPECT_EQ(missing(), "the list is still changing");
  view_.leader.clear();
  EXPECT_EQ(missing(), "no leader answers");
}

TEST_F(PlanConditions, ARemovalIsWholeWhenTheServerIsGone) {
  remove_only();
  EXPECT_EQ(missing(), "1111 is still listed");
  kicked();
  EXPECT_EQ(missing(), "");
}

TEST_F(PlanConditions, WhoAnswersAsAnotherServerHasBegunAnew) {
  EXPECT_FALSE(has_begun_anew(plan_, view_));
  view_.members[2] = {"ctl-3", false, false, true, kNew};
  EXPECT_FALSE(has_begun_anew(plan_, view_)) << "what it was is no proof of what it is";
  view_.members[2] = {"ctl-3", false, true, true, kNew};
  EXPECT_TRUE(has_begun_anew(plan_, view_));
  view_.members[2] = {"ctl-3", true, false, false, kNew};
  EXPECT_TRUE(has_begun_anew(plan_, view_));
  view_.members[2].id = kOld;
  EXPECT_FALSE(has_begun_anew(plan_, view_));
}

}  // namespace
}  // namespace wardmote::judge::raft::repair
