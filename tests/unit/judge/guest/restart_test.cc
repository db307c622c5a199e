// When a guest may be restarted, and what speaks against it.

#include "judge/guest/restart_remedy.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/guest/activity.h"
#include "judge/guest/facts.h"
#include "judge/guest/machine.h"
#include "judge/guest/restart_view.h"
#include "judge/plan/machine.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "judge/plan/remedy.h"
#include "judge/remedies.h"

namespace wardmote::judge::guest {
namespace {

using namespace std::chrono_literals;
using plan::Decision;
using plan::Move;
using plan::Plan;
using plan::PlanState;
using plan::StepState;

const TimePoint kNow(10h);

/// A guest that hangs, of which everybody says so.
RestartView hung() {
  RestartView view;
  view.begun = kNow;
  view.names = {"web", "00000000-0000-4000-8000-000000000001", ""};
  view.watched = true;
  view.verdict = Verdict::kSpinning;
  view.since = kNow - 5min;
  view.process = 7;
  view.failures = 30;
  view.channel = Channel::kConnected;
  view.activity = Activity::kSpinning;
  view.counted = 2min;
  view.ran_ago = 1s;
  view.lost = 1;
  view.standing = Standing{Run::kRunning, Ended::kRuns, 7, true, ""};
  return view;
}

RestartView panicked() {
  RestartView view = hung();
  view.verdict = Verdict::kPanic;
  view.failures = 0;
  view.activity = Activity::kUnknown;
  view.standing->run = Run::kCrashed;
  return view;
}

RestartView died() {
  RestartView view = hung();
  view.verdict = Verdict::kDied;
  view.failures = 0;
  view.activity = Activity::kUnknown;
  view.standing = Standing{Run::kShutOff, Ended::kFailed, -1, true, ""};
  return view;
}

RestartView stuck_at_boot() {
  RestartView view = hung();
  view.verdict = Verdict::kBootStuck;
  view.failures = 0;
  view.channel = Channel::kDisconnected;
  view.boots_for = view.policy.boot_deadline;
  return view;
}

Finding finding_of(const RestartView& view) {
  Finding finding;
  finding.code = code_of(view.verdict).value_or(Code::kGuestNoAnswer);
  finding.subjects = {view.names.name, view.names.uuid};
  finding.summary = "guest web does not answer";
  finding.since = view.since;
  return finding;
}

Plan planned(const RestartView& view) {
  auto plan = RestartRemedy(view).draft(finding_of(view));
  EXPECT_TRUE(plan) << plan.error();
  plan->id = 1;
  plan->state = PlanState::kRunning;
  plan->created = plan->begun = plan->changed = kNow - 1s;
  return *plan;
}

std::vector<std::string> steps_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const plan::Step& step : plan.steps) names.push_back(step.name);
  return names;
}

std::string refused(const RestartView& view) {
  return objection(view, 7).value_or("");
}

TEST(GuestRestart, FourWaysToBeDead) {
  for (const RestartView& view : {hung(), panicked(), died(), stuck_at_boot()})
    EXPECT_EQ(refused(view), "") << to_string(view.verdict);
  EXPECT_EQ(steps_of(planned(hung())),
            (std::vector<std::string>{"confirm_dead", "destroy", "start", "verify"}));
  EXPECT_EQ(steps_of(planned(died())),
            (std::vector<std::string>{"confirm_dead", "start", "verify"}));
}

TEST(GuestRestart, WithADumpAnNmiComesFirstAndNotForAKernelThatHasGivenUp) {
  RestartView view = hung();
  view.policy.restart.dump = 2min;
  EXPECT_EQ(steps_of(planned(view)),
            (std::vector<std::string>{"confirm_dead", "inject_nmi", "destroy", "start", "verify"}));
  view = panicked();
  view.policy.restart.dump = 2min;
  EXPECT_EQ(steps_of(planned(view)),
            (std::vector<std::string>{"confirm_dead", "destroy", "start", "verify"}));
}

/// Only these say that the guest itself is dead.
TEST(GuestRestart, NoOtherVerdictLeadsToARestart) {
  for (int number = 0; number <= static_cast<int>(Verdict::kHostStorage); ++number) {
    const auto verdict = static_cast<Verdict>(number);
    const bool dead = verdict == Verdict::kIdleHung || verdict == Verdict::kSpinning ||
                      verdict == Verdict::kBootStuck || verdict == Verdict::kPanic ||
                      verdict == Verdict::kDied;
    const auto code = code_of(verdict);
    const RemedyInfo* const info = code ? remedy_for(*code) : nullptr;
    EXPECT_EQ(info != nullptr, dead) << to_string(verdict);
    if (dead) continue;
    RestartView view = hung();
    view.verdict = verdict;
    EXPECT_NE(refused(view), "") << to_string(verdict);
    EXPECT_FALSE(RestartRemedy(view).draft_for("restart")) << to_string(verdict);
  }
}

struct Guard {
  std::string_view name;
  std::function<RestartView()> dead;
  std::function<void(RestartView&)> but;
  std::string_view says;
};

const std::vector<Guard>& guards() {
  static const std::vector<Guard> kAll = {
      {"answers", hung, [](RestartView& v) { v.verdict = Verdict::kHealthy; }, "it answers"},
      {"another process", hung, [](RestartView& v) { v.standing->process = 8; }, "started anew"},
      {"another process seen", hung, [](RestartView& v) { v.process = 8; }, "started anew"},
      {"gone", hung, [](RestartView& v) { v.gone = true; }, "no such guest"},
      {"not watched", hung, [](RestartView& v) { v.watched = false; }, "not watched"},
      {"no word", hung, [](RestartView& v) { v.standing.reset(); }, "did not say"},
      {"own policy", hung, [](RestartView& v) { v.policy.restart.wanted = false; }, "restart='no'"},
      {"Nova", hung, [](RestartView& v) { v.nova = true; }, "belongs to Nova"},
      {"transient", hung, [](RestartView& v) { v.standing->persistent = false; }, "transient"},
      {"migrates", hung, [](RestartView& v) { v.migrates = true; }, "it migrates"},
      {"a job", hung, [](RestartView& v) { v.standing->job = "a block job of vda"; }, "vda"},
      {"frozen", hung, [](RestartView& v) { v.frozen = true; }, "frozen"},
      {"held", hung, [](RestartView& v) { v.held = true; }, "somebody else's command"},
      {"again", hung, [](RestartView& v) { v.again = true; }, "again and again"},
      {"many", hung, [](RestartView& v) { v.lost = 3; }, "look at the host"},
      {"paused", hung, [](RestartView& v) { v.standing->run = Run::kPaused; }, "paused"},
      {"shuts down", hung, [](RestartView& v) { v.standing->run = Run::kShuttingDown; }, "shut"},
      {"boots", hung, [](RestartView& v) { v.boots_for = 10s; }, "it boots"},
      {"no port", hung, [](RestartView& v) { v.channel = Channel::kDisconnected; }, "port"},
      {"few pings", hung, [](RestartView& v) { v.failures = 2; }, "2 of 3 pings"},
      {"works", hung, [](RestartView& v) { v.activity = Activity::kBusy; }, "counters"},
      {"no counters", hung, [](RestartView& v) { v.activity = Activity::kUnknown; }, "counters"},
      {"QEMU is stopped", hung, [](RestartView& v) { v.activity = Activity::kFrozen; }, "counters"},
      {"QEMU is stopped since", hung, [](RestartView& v) { v.ran_ago = 16s; }, "no CPU time"},
      {"QEMU was never counted", hung, [](RestartView& v) { v.ran_ago.reset(); }, "no CPU time"},
      {"counted shortly", hung, [](RestartView& v) { v.counted = 59s; }, "are needed"},
      {"runs after all", panicked, [](RestartView& v) { v.standing->run = Run::kRunning; }, "is"},
      {"shut down since", died, [](RestartView& v) { v.standing->ended = Ended::kOrdered; },
       "shut it down"},
      {"ended by hand since", died, [](RestartView& v) { v.standing->ended = Ended::kDestroyed; },
       "shut it down"},
      {"boots shortly", stuck_at_boot, [](RestartView& v) { v.boots_for = 4min; }, "whole of"},
      {"was heard", stuck_at_boot, [](RestartView& v) { v.boots_for.reset(); }, "whole of"},
      {"boots and works", stuck_at_boot, [](RestartView& v) { v.activity = Activity::kBusy; },
       "counters"},
  };
  return kAll;
}

TEST(GuestRestart, EachGuardHoldsBackAPlanAndEndsOneThatRunsBeforeItDoesAnything) {
  for (const Guard& guard : guards()) {
    RestartView view = guard.dead();
    const Plan plan = planned(view);
    ASSERT_FALSE(RestartRemedy(view).obstacle(plan)) << guard.name;
    ASSERT_EQ(RestartRemedy(view).decide(plan, kNow).move, Move::kFinish) << guard.name;
    guard.but(view);
    const std::string says = RestartRemedy(view).obstacle(plan).value_or("");
    EXPECT_NE(says.find(guard.says), std::string::npos) << guard.name << ": " << says;
    for (const std::size_t step : {0U, 1U}) {
      Plan runs = plan;
      if (step > 0) runs.steps[0].state = StepState::kDone;
      const Decision decision = RestartRemedy(view).decide(runs, kNow);
      const Move wanted = view.standing || view.gone ? Move::kWithdraw : Move::kWait;
      EXPECT_EQ(decision.move, wanted) << guard.name << " at step " << step;
    }
  }
}

TEST(GuestRestart, NovasGuestsOnlyWhenSomebodySaysSo) {
  RestartView view = hung();
  view.nova = true;
  view.policy.restart.nova = true;
  EXPECT_EQ(refused(view), "");
  view.policy.restart = {.nova = false, .dump = {}, .wanted = true};
  EXPECT_EQ(refused(view), "");
  view.policy.restart = {.nova = true, .dump = {}, .wanted = false};
  EXPECT_NE(refused(view), "");
}

TEST(GuestRestart, APlanIsForOneProcessOfOneGuest) {
  const Plan plan = planned(hung());
  RestartView view = hung();
  EXPECT_TRUE(RestartRemedy(view).is_same(plan, planned(view)));
  EXPECT_TRUE(RestartRemedy(view).is_rejected_by(plan, planned(view)));
  EXPECT_FALSE(RestartRemedy(view).is_well(plan));
  view.process = view.standing->process = 8;
  EXPECT_FALSE(RestartRemedy(view).is_same(plan, planned(view))) << "the next episode";
  EXPECT_FALSE(RestartRemedy(view).is_rejected_by(plan, planned(view)));
  EXPECT_TRUE(RestartRemedy(view).is_well(plan)) << "what was rejected is over";
  view = hung();
  view.names.uuid.back() = '2';
  EXPECT_FALSE(RestartRemedy(view).is_same(plan, planned(view)));
  EXPECT_TRUE(RestartRemedy(view).obstacle(plan)) << "another guest has the name";
  EXPECT_EQ(RestartRemedy(view).decide(plan, kNow).move, Move::kWithdraw);
  view = hung();
  view.process = -1;
  EXPECT_FALSE(RestartRemedy(view).draft(finding_of(view)));
}

TEST(GuestRestart, WhoHasAnsweredSinceThePlanWasMadeIsAnotherEpisode) {
  const Plan plan = planned(hung());
  RestartView view = hung();
  view.since = kNow + 1min;
  EXPECT_EQ(RestartRemedy(view).decide(plan, kNow + 5min).move, Move::kWithdraw);
}

TEST(GuestRestart, AnotherVerdictIsAnotherPlan) {
  const Plan plan = planned(hung());
  RestartView view = hung();
  view.verdict = Verdict::kIdleHung;
  view.activity = Activity::kIdle;
  EXPECT_EQ(RestartRemedy(view).decide(plan, kNow).move, Move::kWithdraw)
      << "its policy may be for GUEST_SPINNING only";
}

/// A plan at this step.
Plan at(const RestartView& view, std::string_view step) {
  Plan plan = planned(view);
  for (plan::Step& one : plan.steps) {
    if (one.name == step) break;
    one.state = StepState::kDone;
    one.tries = plan::is_act(one.impact) ? 1 : 0;
  }
  return plan;
}

TEST(GuestRestart, ADestroyWhoseEndNobodyKnowsIsLookedForFirst) {
  Plan plan = at(hung(), kDestroy);
  plan.current()->state = StepState::kBegun;
  plan.current()->tries = 1;
  RestartView view = hung();
  const auto decide = [&](Duration later) {
    return RestartRemedy(view).decide(plan, kNow + later).move;
  };
  EXPECT_EQ(decide(1s), Move::kWait);
  EXPECT_EQ(decide(20s), Move::kBegin) << "it runs, so it was not done";
  plan.current()->tries = 3;
  EXPECT_EQ(decide(20s), Move::kAsk);
  plan.current()->tries = 1;
  view.verdict = Verdict::kHealthy;
  EXPECT_EQ(decide(20s), Move::kEnd) << "it has answered since";
  view = hung();
  view.standing->process = 8;
  EXPECT_EQ(decide(20s), Move::kEnd) << "somebody has started it anew";
  view = hung();
  view.failures = 0;
  EXPECT_EQ(decide(20s), Move::kWait) << "what an earlier life saw is no evidence";
  EXPECT_EQ(decide(3min), Move::kAsk);
  view = hung();
  view.watched = false;
  EXPECT_EQ(decide(20s), Move::kWait);
  view.standing = Standing{Run::kShutOff, Ended::kDestroyed, -1, true, ""};
  EXPECT_EQ(decide(1s), Move::kFinish) << "it was done";
  view.standing.reset();
  EXPECT_EQ(decide(1s), Move::kWait);
  view.gone = true;
  EXPECT_EQ(decide(1s), Move::kAsk);
}

TEST(GuestRestart, AGuestIsStartedOnceAndNotWhenItsOwnerHasEndedIt) {
  Plan plan = at(hung(), kStart);
  RestartView view = hung();
  view.watched = false;
  view.standing = Standing{Run::kShutOff, Ended::kDestroyed, -1, true, ""};
  const auto decide = [&](Duration later) {
    return RestartRemedy(view).decide(plan, kNow + later).move;
  };
  EXPECT_EQ(decide(1s), Move::kBegin);
  EXPECT_EQ(decide(11min), Move::kAsk) << "the agent was away: it may be off on purpose";
  view.standing->ended = Ended::kOrdered;
  EXPECT_EQ(decide(1s), Move::kAsk);
  view.standing->ended = Ended::kDestroyed;
  plan.current()->state = StepState::kBegun;
  plan.current()->tries = 1;
  EXPECT_EQ(decide(5s), Move::kWait);
  EXPECT_EQ(decide(20s), Move::kBegin);
  plan.current()->tries = 3;
  EXPECT_EQ(decide(20s), Move::kAsk);
  view.standing = Standing{Run::kRunning, Ended::kRuns, 8, true, ""};
  EXPECT_EQ(decide(1s), Move::kFinish);
  view.gone = true;
  EXPECT_EQ(decide(1s), Move::kAsk);
}

TEST(GuestRestart, AfterAnNmiItHasTimeForItsDumpAndMayComeBackByItself) {
  RestartView view = hung();
  view.policy.restart.dump = 2min;
  Plan plan = at(view, kDestroy);
  const auto decide = [&](Duration later) {
    return RestartRemedy(view).decide(plan, kNow + later).move;
  };
  EXPECT_EQ(decide(1min), Move::kWait);
  EXPECT_EQ(decide(3min), Move::kBegin);
  view.boots_for = 5s;
  EXPECT_EQ(decide(3min), Move::kEnd) << "it boots by itself";
  view.boots_for.reset();
  view.verdict = Verdict::kHealthy;
  EXPECT_EQ(decide(3min), Move::kEnd);
  view.verdict = Verdict::kPanic;
  view.standing->run = Run::kCrashed;
  EXPECT_EQ(decide(1s), Move::kBegin) << "who has stopped writes no dump";
  view.standing->job = "a migration";
  EXPECT_EQ(decide(1s), Move::kWait);
  EXPECT_EQ(decide(3min), Move::kAsk);
}

TEST(GuestRestart, AnNmiOfWhichNobodyKnowsIsNotSentAgain) {
  RestartView view = hung();
  view.policy.restart.dump = 2min;
  Plan plan = at(view, kInjectNmi);
  EXPECT_EQ(RestartRemedy(view).decide(plan, kNow).move, Move::kBegin);
  plan.current()->state = StepState::kBegun;
  plan.current()->tries = 1;
  EXPECT_EQ(RestartRemedy(view).decide(plan, kNow).move, Move::kFinish);
}

TEST(GuestRestart, ItIsDoneWhenTheGuestAnswers) {
  const Plan plan = at(hung(), kVerify);
  RestartView view = hung();
  view.verdict = Verdict::kWaiting;
  view.process = view.standing->process = 8;
  const auto decide = [&](Duration later) {
    return RestartRemedy(view).decide(plan, kNow + later).move;
  };
  EXPECT_EQ(decide(1min), Move::kWait);
  EXPECT_EQ(decide(7min), Move::kAsk);
  view.verdict = Verdict::kNoAgent;
  EXPECT_EQ(decide(1min), Move::kFinish);
  view.verdict = Verdict::kHealthy;
  EXPECT_EQ(decide(1min), Move::kFinish);
  view.standing = Standing{Run::kShutOff, Ended::kFailed, -1, true, ""};
  EXPECT_EQ(decide(1min), Move::kAsk) << "it has ended again";
}

}  // namespace
}  // namespace wardmote::judge::guest
