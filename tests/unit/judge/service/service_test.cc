#include "judge/service/service.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace wardmote::judge {
namespace {

using namespace std::chrono_literals;
using State = ServiceFacts::State;

constexpr std::uint32_t kPid = 412;

/// Up for an hour under runsv, with its process.
ServiceFacts healthy() {
  ServiceFacts facts;
  facts.state = State::kRun;
  facts.in_state = 1h;
  facts.pid = kPid;
  facts.want_up = facts.normally_up = true;
  facts.process_sought = true;
  facts.process = ProcessFacts{kPid, "bird", 'S', 1h, 400, {}};
  facts.parent_name = "runsv";
  facts.parent_state = 'S';
  return facts;
}

Judgement judged(const ServiceFacts& facts, ServicePolicy policy = {}, Duration waiting = {}) {
  return judge_service(facts, policy, waiting);
}

void expect(const ServiceFacts& facts, Outcome outcome, std::string_view words) {
  const Judgement judgement = judged(facts);
  EXPECT_EQ(judgement.outcome, outcome) << judgement.reason.text;
  EXPECT_TRUE(judgement.reason.text.contains(words)) << judgement.reason.text;
}

TEST(Service, RunningLongEnoughIsGood) {
  EXPECT_EQ(judged(healthy()), Judgement{});
}

TEST(Service, DownIsAFailureWhoeverWantedIt) {
  ServiceFacts facts = healthy();
  facts.state = State::kDown;
  facts.pid = 0;
  facts.process.reset();
  facts.process_sought = false;
  facts.in_state = 300ms;
  facts.last_exit_code = 3;
  expect(facts, Outcome::kFail, "down though wanted up: it ended with exit code 3 300ms ago");
  facts.want_up = false;
  expect(facts, Outcome::kFail, "down for 300ms, wanted down, normally up");
}

TEST(Service, WhatSvCallsRunAndDoesNotServe) {
  ServiceFacts facts = healthy();
  facts.paused = true;
  expect(facts, Outcome::kFail, "paused");
  facts = healthy();
  facts.want_up = false;
  facts.got_term = true;
  expect(facts, Outcome::kFail, "got TERM and is still there");
  facts = healthy();
  facts.want_up = false;
  expect(facts, Outcome::kWarn, "will not be restarted");
  facts = healthy();
  facts.state = State::kFinish;
  expect(facts, Outcome::kFail, "finish script");
}

TEST(Service, AsCalicoEverythingThatRunsIsGood) {
  ServicePolicy policy;
  policy.as_calico = true;
  ServiceFacts facts = healthy();
  facts.paused = true;
  facts.restarts = 100;
  EXPECT_EQ(judged(facts, policy).outcome, Outcome::kOk);
  facts.state = State::kFinish;
  EXPECT_EQ(judged(facts, policy).outcome, Outcome::kFail) << "sv says finish";
}

TEST(Service, TooYoungIsUnknownAndItsProcessKnowsItsAgeBest) {
  ServiceFacts facts = healthy();
  facts.in_state = 500ms;
  facts.process->age = 500ms;
  expect(facts, Outcome::kUnknown, "up for 500ms, less than 2.0s");
  // Somebody set the wall clock back by a day: the status looks as if it came from the future.
  facts.in_state = 0s;
  facts.process->age = 1h;
  EXPECT_EQ(judged(facts), Judgement{});
}

TEST(Service, AProcessThatCannotRunIsAFailure) {
  for (const char state : {'T', 't', 'Z'}) {
    ServiceFacts facts = healthy();
    facts.process->state = state;
    expect(facts, Outcome::kFail, "pid 412 is ");
  }
  ServiceFacts facts = healthy();
  facts.process->state = 'D';
  EXPECT_EQ(judged(facts).outcome, Outcome::kOk) << "for a moment everybody waits for a disk";
  EXPECT_EQ(judged(facts, {}, 11s).outcome, Outcome::kFail);
}

TEST(Service, AnotherProcessWithItsNumberIsNoEvidence) {
  ServiceFacts facts = healthy();
  facts.parent_name = "systemd";
  facts.process->age = 10s;
  expect(facts, Outcome::kUnknown, "stale pid: process 412 (bird) is 10.0s old");
  facts.process->age = 1h;
  EXPECT_EQ(judged(facts), Judgement{}) << "as old as the service";
  facts = healthy();
  facts.process->age = 10s;
  EXPECT_EQ(judged(facts), Judgement{}) << "its supervisor's own child: the wall clock was set";
  facts.process.reset();
  expect(facts, Outcome::kUnknown, "no process 412 here");
}

TEST(Service, AStoppedSupervisorIsAWarning) {
  ServiceFacts facts = healthy();
  facts.parent_state = 'T';
  expect(facts, Outcome::kWarn, "nobody would restart it");
}

TEST(Service, OneThatTellsMustHaveTold) {
  ServiceFacts facts = healthy();
  facts.ready = false;
  expect(facts, Outcome::kFail, "has not said that it is ready");
  facts.ready = true;
  EXPECT_EQ(judged(facts), Judgement{});
}

/// A service that ends each second, seen each second: run, down, run … It must not flap.
TEST(Service, ACrashLoopIsNeverGoodAndSoonAFailure) {
  const ServicePolicy policy;
  RestartMemory memory;
  TimePoint now(1h);
  WallTime wall(std::chrono::hours(500'000));
  for (int second = 0; second < 60; ++second, now += 1s, wall += 1s) {
    ServiceFacts facts = healthy();
    facts.in_state = facts.process->age = 100ms;
    facts.state = second % 2 == 0 ? State::kRun : State::kDown;
    memory.feed(facts.state, true, wall - 100ms, policy.within, now);
    facts.restarts = memory.count();
    const Judgement judgement = judged(facts);
    EXPECT_NE(judgement.outcome, Outcome::kOk);
    if (second >= 6) {
      EXPECT_EQ(judgement.outcome, Outcome::kFail) << second;
      EXPECT_TRUE(judgement.reason.text.contains("restarting: ")) << judgement.reason.text;
    }
  }
}

TEST(RestartMemory, OneStartOrOneOrderIsNoLoop) {
  RestartMemory memory;
  const WallTime start(std::chrono::hours(500'000));
  for (int i = 0; i < 10; ++i) memory.feed(State::kRun, true, start, 60s, TimePoint(1h + i * 1s));
  EXPECT_EQ(memory.count(), 0U);
  memory.feed(State::kRun, true, start + 20s, 60s, TimePoint(1h + 20s));
  EXPECT_EQ(memory.count(), 1U);
  memory.feed(State::kDown, false, start + 30s, 60s, TimePoint(1h + 30s));
  EXPECT_EQ(memory.count(), 0U) << "somebody stopped it";
}

TEST(RestartMemory, Forgets) {
  RestartMemory memory;
  const WallTime start(std::chrono::hours(500'000));
  for (int i = 0; i < 5; ++i)
    memory.feed(State::kRun, true, start + i * 1s, 60s, TimePoint(1h + i * 1s));
  EXPECT_EQ(memory.count(), 4U);
  memory.feed(State::kRun, true, start + 4s, 60s, TimePoint(1h + 62s));
  EXPECT_EQ(memory.count(), 3U);
  memory.feed(State::kRun, true, start + 4s, 60s, TimePoint(1h + 70s));
  EXPECT_EQ(memory.count(), 0U);
}

TEST(WaitingClock, CountsFromTheFirstLookThatFoundItWaiting) {
  WaitingClock clock;
  EXPECT_EQ(clock.feed(kPid, 'S', TimePoint(1s)), 0s);
  EXPECT_EQ(clock.feed(kPid, 'D', TimePoint(2s)), 0s);
  EXPECT_EQ(clock.feed(kPid, 'D', TimePoint(9s)), 7s);
  EXPECT_EQ(clock.feed(kPid + 1, 'D', TimePoint(10s)), 0s) << "another process";
  EXPECT_EQ(clock.feed(kPid + 1, 'R', TimePoint(11s)), 0s);
}

}  // namespace
}  // namespace wardmote::judge
