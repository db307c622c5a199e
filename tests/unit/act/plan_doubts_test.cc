// What two agents do that share a store when orders may be lost.

#include <array>
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "act/plan/plan_runner.h"
#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "unit/act/two_agents.h"

namespace wardmote::act {
namespace {

TEST_F(PlanLeadership, ADoubtWhetherOrdersAreLostPausesEverythingWhoeverLeads) {
  a_.runner().doubt_orders("the store was emptied");
  a_.rule();
  watch(2s);
  constexpr const char* kWhy =
      "everything is paused by the agent: the store was emptied; what somebody paused or rejected "
      "may be lost";
  EXPECT_EQ(plan(a_).reason, kWhy);
  a_.lose();
  b_.win();
  watch(5s);
  EXPECT_EQ(plan(b_).reason, kWhy);
  EXPECT_EQ(shared_.acts, 0);
}

TEST_F(PlanLeadership, WhatAnAgentKnowsToBeLostItKnowsUntilSomebodyHasPausedEverything) {
  SharingAgent c(world_, "c", shared_, true);
  const auto note = c.runner().make_note();
  c.runner().doubt_orders("the store was emptied");
  watch(5s);
  EXPECT_EQ(note->told(), "the store was emptied");
  const auto heard = a_.runner().make_note();
  heard->hear("c", note->told(), world_.now());
  watch(5s);
  EXPECT_TRUE(a_.runner().planner().pauses().contains(""));
  EXPECT_EQ(note->told(), "") << "who leads has seen to it";
  ASSERT_TRUE(a_.runner().resume("", "ann"));
  heard->hear("c", "the store was emptied", world_.now());
  EXPECT_TRUE(a_.runner().planner().pauses().empty()) << "that was said before";
  a_.lose();
  c.win();
  watch(5s);
  EXPECT_TRUE(c.runner().planner().pauses().empty());
}

/// Or one of which an older copy of the store has what it wrote in an earlier life.
TEST_F(PlanLeadership, AnAgentWhoseNameTwoSeemToHaveIsHeard) {
  const auto heard = a_.runner().make_note();
  heard->doubt("c", "the store was emptied", world_.now());
  watch(5s);
  EXPECT_TRUE(a_.runner().planner().pauses().contains(""));
}

TEST_F(PlanLeadership, APersonsPauseOfEverythingDoesNotEndTheDoubtOfAnAgent) {
  SharingAgent c(world_, "c", shared_, true);
  const auto note = c.runner().make_note();
  ASSERT_TRUE(a_.runner().pause("", std::nullopt, "ann"));
  watch(1s);
  c.runner().doubt_orders("the store was emptied");
  watch(5s);
  EXPECT_EQ(note->told(), "the store was emptied") << "when she resumes she must know it";
  const auto heard = a_.runner().make_note();
  heard->hear("c", note->told(), world_.now());
  watch(5s);
  EXPECT_EQ(note->told(), "") << "who leads has said it in the pause";
  EXPECT_EQ(c.runner().actions().back().kind, "doubted");
}

// What is not written down is not known after kill -9, so the next life must doubt.
TEST_F(PlanLeadership, AnAgentIsMarkedWhileItDoubtsOrOwes) {
  EXPECT_FALSE(a_.marked);
  a_.runner().owe("x", true);
  EXPECT_TRUE(a_.marked);
  a_.runner().owe("x", false);
  EXPECT_FALSE(a_.marked);
  a_.runner().doubt_orders("the store was emptied");
  a_.runner().owe("x", true);
  a_.runner().owe("x", false);
  EXPECT_TRUE(a_.marked) << "the doubt stands";
  watch(5s);
  ASSERT_TRUE(a_.runner().resume("", "ann"));
  EXPECT_FALSE(a_.marked) << "somebody has looked";
}

// SIGSTOP, or a host that sleeps: what is looked at may be another when the agent goes on.
TEST_F(PlanLeadership, NothingIsBegunOnALookFromBeforeTheAgentWasStopped) {
  a_.rule();
  world_.run_for(10ms);
  const TimePoint before = world_.now();
  a_.host().pause();
  world_.run_for(5s);
  a_.host().resume();
  a_.runner().heard(shared_.site.remedy(before), shared_.site.findings(since_));
  world_.run_for(200ms);
  EXPECT_EQ(plan(a_).steps[0].state, judge::plan::StepState::kWaiting);
  a_.look(since_);
  world_.run_for(200ms);
  EXPECT_EQ(plan(a_).steps[0].state, judge::plan::StepState::kDone);
}

// Who had heard of it told it on as his own, and paused everything once more when he led.
TEST_F(PlanLeadership, WhatAnotherAgentDoubtedAndSomebodyHasSeenToIsOver) {
  SharingAgent c(world_, "c", shared_, true);
  const auto note = c.runner().make_note();
  a_.runner().doubt_orders("the store was emptied");
  watch(5s);
  note->hear("a", a_.runner().make_note()->told(), world_.now());
  EXPECT_EQ(note->told(), "") << "it is not its own";
  ASSERT_TRUE(a_.runner().resume("", "ann"));
  note->hear("a", a_.runner().make_note()->told(), world_.now());
  watch(5s);
  a_.lose();
  c.win();
  watch(5s);
  EXPECT_TRUE(c.runner().planner().pauses().empty());
}

// The one that was told to resume dies before it can say that its doubt is over.
TEST_F(PlanLeadership, ADoubtOfTheLeaderThatEndsWithItIsNotTheNextOnes) {
  SharingAgent c(world_, "c", shared_, true);
  const auto note = c.runner().make_note();
  a_.runner().doubt_orders("the store was emptied");
  watch(5s);
  ASSERT_TRUE(c.runner().planner().pauses().contains(""));
  note->hear("a", "the store was emptied", world_.now());
  watch(1s);
  ASSERT_TRUE(a_.runner().resume("", "ann"));
  watch(1s);
  a_.lose();
  c.win();
  watch(5s);
  EXPECT_TRUE(c.runner().planner().pauses().empty());
}

TEST_F(PlanLeadership, WhatAnotherAgentDoubtedBeforeItWentAwayPausesEverything) {
  SharingAgent c(world_, "c", shared_, true);
  const auto note = c.runner().make_note();
  note->hear("b", "the store was emptied", world_.now());
  note->lose("b", "", world_.now());
  a_.lose();
  c.win();
  watch(5s);
  ASSERT_TRUE(c.runner().planner().pauses().contains(""));
  EXPECT_EQ(c.runner().planner().pauses().at("").by,
            "the agent: b says: the store was emptied; what somebody paused or rejected may be "
            "lost");
}

/// The pause that it had seen is what was lost.
TEST_F(PlanLeadership, AFollowerBelievesADoubtAlthoughItSawEverythingPausedBefore) {
  SharingAgent c(world_, "c", shared_, true);
  const auto note = c.runner().make_note();
  ASSERT_TRUE(a_.runner().pause("", std::nullopt, "ann"));
  watch(2s);
  ASSERT_TRUE(c.runner().planner().pauses().contains(""));
  a_.lose();
  shared_.disk.rows("UPDATE store_meta SET revision = revision + 1");
  shared_.disk.rows("DELETE FROM store_kv WHERE key LIKE 'pause/%'");
  note->hear("b", "the store is an older copy", world_.now());
  watch(1s);
  c.win();
  watch(5s);
  ASSERT_TRUE(c.runner().planner().pauses().contains(""));
  EXPECT_TRUE(c.runner().planner().pauses().at("").by.starts_with("the agent: b says"));
}

TEST_F(PlanLeadership, WhoKnewOfALossBeforeHeLedPausesEverything) {
  b_.runner().doubt_orders("the store was emptied");
  watch(2s);
  EXPECT_TRUE(b_.runner().planner().pauses().empty()) << "another agent leads";
  a_.lose();
  b_.win();
  a_.rule();
  watch(5s);
  EXPECT_TRUE(plan(b_).reason.starts_with("everything is paused by the agent")) << plan(b_).reason;
  EXPECT_EQ(shared_.acts, 0);
}

// The store is away while somebody orders, and whoever led is the one who leads when it is back.
TEST_F(PlanLeadership, AnOrderThatNobodyWillFindAgainPausesEverything) {
  shared_.disk.fail_with(Errc::kTimeout);
  a_.pause();
  watch(2s);
  a_.lose();
  shared_.disk.fail_with(std::nullopt);
  a_.win();
  watch(5s);
  ASSERT_TRUE(a_.runner().planner().pauses().contains(""));
  EXPECT_EQ(a_.runner().planner().pauses().at("").by,
            "the agent: 'paused' by ann could not be written down in time; what somebody paused or "
            "rejected may be lost");
  a_.rule();
  watch(5s);
  EXPECT_EQ(shared_.acts, 0);
}

// A follower reads the emptied store before it leads.
TEST_F(PlanLeadership, WhoSawOrdersThatAreNotInTheStoreAnyMorePausesEverything) {
  SharingAgent c(world_, "c", shared_, true);
  a_.pause();
  watch(5s);
  ASSERT_TRUE(c.runner().planner().pauses().contains(""));
  a_.lose();
  shared_.disk.rows("UPDATE store_meta SET revision = revision + 1");
  for (const char* const table : {"store_kv", "store_lease", "store_event"})
    shared_.disk.rows("DELETE FROM " + std::string(table));
  shared_.disk.rows("UPDATE store_meta SET revision = 1, compacted = 0, last_lease = 0");
  watch(20s);
  c.win();
  watch(5s);
  ASSERT_TRUE(c.runner().planner().pauses().contains(""));
  EXPECT_TRUE(c.runner().planner().pauses().at("").by.starts_with("the agent: the store is empty"))
      << c.runner().planner().pauses().at("").by;
}

/// A store of two agents that follow, of which c leads, and its older copy.
class OlderCopy : public PlanLeadership {
 protected:
  OlderCopy() {
    a_.lose();
    c_.win();
    watch_all(5s);
  }
  void watch_all(Duration time) {
    for (Duration passed{}; passed < time; passed += 500ms) {
      c_.look(since_);
      d_.look(since_);
      world_.run_for(500ms);
    }
  }
  void copy() {
    for (const char* const table : kTables)
      shared_.disk.rows(fmt::format("CREATE TABLE copy_{0} AS SELECT * FROM {0}", table));
  }
  void restore() {
    // The file notes each change, also this one, as a change of the next revision.
    shared_.disk.rows("UPDATE store_meta SET revision = revision + 1");
    shared_.disk.rows("DELETE FROM store_kv");
    shared_.disk.rows("UPDATE store_meta SET revision = revision + 1");
    shared_.disk.rows("INSERT INTO store_kv SELECT * FROM copy_store_kv");
    for (const char* const table : {"store_lease", "store_event", "store_meta"}) {
      shared_.disk.rows(fmt::format("DELETE FROM {}", table));
      shared_.disk.rows(fmt::format("INSERT INTO {0} SELECT * FROM copy_{0}", table));
    }
    c_.notice_copy();
    d_.notice_copy();
  }
  /// It is being written anew, and that takes a while.
  void restore_slowly() {
    shared_.disk.set_read_latency(10ms);
    restore();
    world_.run_for(5ms);
  }
  static void expect_known(const SharingAgent& agent) {
    EXPECT_EQ(plan(agent).state, PlanState::kRejected);
    EXPECT_TRUE(agent.runner().planner().pauses().contains("ovn-nb"));
  }

  static constexpr auto kTables =
      std::to_array<const char*>({"store_kv", "store_lease", "store_event", "store_meta"});
  SharingAgent c_{world_, "c", shared_, true};
  SharingAgent d_{world_, "d", shared_, true};
};

// What was shown in force by who led on was not in the store, and the next one kicked.
TEST_F(OlderCopy, WhoLeadsOnWritesWhatWasOrderedSince) {
  copy();
  ASSERT_TRUE(c_.runner().reject(1, "ann", "no"));
  ASSERT_TRUE(c_.runner().pause("ovn-nb", std::nullopt, "ann"));
  watch_all(5s);
  restore();
  watch_all(20s);
  ASSERT_TRUE(c_.runner().planner().pauses().contains("")) << "somebody has to look";
  ASSERT_TRUE(c_.runner().resume("", "ann"));
  watch_all(5s);
  SharingAgent later(world_, "later", shared_, true);
  expect_known(later);
  EXPECT_EQ(later.runner().planner().pauses().size(), 1U);
  c_.lose();
  d_.win();
  watch_all(5s);
  expect_known(d_);
}

TEST_F(OlderCopy, WhatHasEndedSinceBeginsNotAgain) {
  ASSERT_TRUE(c_.runner().pause("ovn-nb", std::nullopt, "ann"));
  watch_all(5s);
  copy();
  ASSERT_TRUE(c_.runner().resume("ovn-nb", "ann"));
  watch_all(5s);
  restore();
  watch_all(20s);
  ASSERT_TRUE(c_.runner().resume("", "ann"));
  watch_all(5s);
  SharingAgent later(world_, "later", shared_, true);
  EXPECT_TRUE(later.runner().planner().pauses().empty());
}

// Whoever ordered in the moments in which the store was written anew was told that it holds.
TEST_F(OlderCopy, WhatIsAllowedWhileTheStoreIsWrittenAnewIsAllowed) {
  copy();
  ASSERT_TRUE(c_.runner().pause("ovn-nb", std::nullopt, "ann"));
  watch_all(5s);
  restore_slowly();
  ASSERT_TRUE(c_.runner().resume("", "ann")) << "somebody has looked";
  ASSERT_TRUE(c_.runner().resume("ovn-nb", "ann"));
  watch_all(5s);
  SharingAgent later(world_, "later", shared_, true);
  EXPECT_TRUE(later.runner().planner().pauses().empty());
}

TEST_F(OlderCopy, WhatIsForbiddenWhileTheStoreIsWrittenAnewIsForbidden) {
  copy();
  restore_slowly();
  ASSERT_TRUE(c_.runner().resume("", "ann")) << "somebody has looked";
  ASSERT_TRUE(c_.runner().pause("ovn-nb", std::nullopt, "ann"));
  watch_all(5s);
  SharingAgent later(world_, "later", shared_, true);
  EXPECT_TRUE(later.runner().planner().pauses().contains("ovn-nb"));
}

// The lead is lost with the copy, and won again, by the same agent or by another.
TEST_F(OlderCopy, WhoeverLeadsNextAndKnowsMoreWritesItDown) {
  copy();
  ASSERT_TRUE(c_.runner().reject(1, "ann", "no"));
  ASSERT_TRUE(c_.runner().pause("ovn-nb", std::nullopt, "ann"));
  watch_all(5s);
  c_.lose();
  restore();
  watch_all(20s);
  expect_known(d_);
  d_.win();
  watch_all(5s);
  expect_known(d_);
  d_.lose();
  c_.win();
  watch_all(5s);
  expect_known(c_);
  SharingAgent later(world_, "later", shared_, true);
  expect_known(later);
}

}  // namespace
}  // namespace wardmote::act
