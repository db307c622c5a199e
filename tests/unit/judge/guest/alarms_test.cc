// How often a guest may be reported as lost before it is said that it keeps failing.

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/condition/condition_tracker.h"
#include "judge/finding.h"
#include "judge/guest/assess.h"
#include "judge/guest/facts.h"
#include "judge/guest/inside.h"
#include "judge/guest/machine.h"

namespace wardmote::judge::guest {
namespace {

using namespace std::chrono_literals;

/// A guest that panics and boots again, and what is said of it.
class Guest {
 public:
  explicit Guest(const Policy& policy = {}) : machine(policy, now_) {
    machine.found(Run::kRunning, Pause::kOrdered, now_);
    machine.pinged(Ping::kAnswered, now_);
  }

  void pass(Duration time) { now_ += time; }
  void panic() { machine.panicked(now_); }
  void die() { machine.died(now_); }
  void boot() {
    machine.started(true, now_);
    machine.pinged(Ping::kAnswered, now_);
  }
  Code says() {
    const Assessment made = assess(machine, inside_, {"web", "u", ""}, memory_, now_);
    EXPECT_EQ(made.findings.size(), 1U);
    last_ = made.findings.empty() ? Finding() : made.findings[0];
    return last_.code;
  }
  [[nodiscard]] const Finding& last() const { return last_; }
  void restart_of_the_agent() {
    const Machine::Record record = machine.record();
    machine = Machine(machine.policy(), now_);
    machine.recall(record, now_);
  }

 private:
  TimePoint now_ = TimePoint(1h);
  InsideWatch inside_;
  ConditionTracker memory_;
  Finding last_;

 public:
  Machine machine;
};

TEST(GuestAlarms, AfterThreeInAnHourTheFourthSaysThatItKeepsFailing) {
  Guest guest;
  for (int i = 0; i < 3; ++i) {
    guest.panic();
    EXPECT_EQ(guest.says(), Code::kGuestPanic) << i;
    guest.boot();
    guest.pass(10min);
  }
  guest.panic();
  EXPECT_EQ(guest.says(), Code::kVmKeepsFailing);
  EXPECT_EQ(guest.last().summary, "guest web panicked, as often before");
  EXPECT_EQ(guest.last().evidence[0].says, "GUEST_PANIC, the alarm number 4 within 1h00m");
  EXPECT_EQ(guest.machine.verdict(TimePoint(2h)), Verdict::kPanic) << "which is still true";
}

TEST(GuestAlarms, OldOnesCountNoMore) {
  Guest guest;
  for (int i = 0; i < 10; ++i) {
    guest.panic();
    EXPECT_EQ(guest.says(), Code::kGuestPanic) << i;
    guest.boot();
    guest.pass(20min);
  }
}

TEST(GuestAlarms, APanicAndTheDeathOfItsQemuAreOne) {
  Guest guest;
  for (int i = 0; i < 3; ++i) {
    guest.panic();
    guest.die();
    guest.boot();
  }
  EXPECT_EQ(guest.machine.alarms(), 3U);
}

TEST(GuestAlarms, ZeroIsAnyNumberAndMasakarisRulesKnowNone) {
  Policy policy;
  policy.max_alarms = 0;
  Guest guest(policy);
  for (int i = 0; i < 200; ++i) {
    guest.panic();
    EXPECT_EQ(guest.says(), Code::kGuestPanic);
    guest.boot();
  }
  EXPECT_LE(guest.machine.alarms(), 101U) << "and they are bounded";
  policy.max_alarms = 1;
  policy.compat = true;
  Guest compat(policy);
  for (int i = 0; i < 3; ++i) {
    compat.die();
    EXPECT_EQ(compat.says(), Code::kGuestDied);
    compat.boot();
  }
}

TEST(GuestAlarms, ARestartOfTheAgentForgetsNone) {
  Guest guest;
  for (int i = 0; i < 3; ++i) {
    guest.panic();
    guest.boot();
    guest.restart_of_the_agent();
  }
  guest.panic();
  EXPECT_EQ(guest.says(), Code::kVmKeepsFailing);
  guest.restart_of_the_agent();
  EXPECT_EQ(guest.says(), Code::kVmKeepsFailing);
}

TEST(GuestAlarms, WhatSparesTheGuestCountsNot) {
  Guest guest;
  for (int i = 0; i < 5; ++i) {
    guest.machine.paused(Pause::kStorage, TimePoint(1h + i * 1min));
    EXPECT_EQ(guest.says(), Code::kHostStorage);
    guest.machine.resumed(TimePoint(1h + i * 1min));
  }
  EXPECT_EQ(guest.machine.alarms(), 0U);
}

}  // namespace
}  // namespace wardmote::judge::guest
