#include "judge/service/systemd.h"

#include <gtest/gtest.h>

#include <chrono>

namespace wardmote::judge {
namespace {

using namespace std::chrono_literals;

SystemdFacts running() {
  SystemdFacts facts;
  facts.id = "bird.service";
  facts.load_state = "loaded";
  facts.active_state = "active";
  facts.sub_state = "running";
  facts.in_state = 1h;
  facts.result = "success";
  facts.main_pid = 412;
  facts.process_sought = true;
  facts.process = ProcessFacts{412, "bird", 'S', 1h, 1, std::nullopt};
  return facts;
}

Judgement judged(const SystemdFacts& facts, Duration waiting = {}) {
  return judge_systemd(facts, {}, waiting);
}

TEST(Systemd, ARunningServiceIsGood) {
  EXPECT_EQ(judged(running()), Judgement());
  SystemdFacts done = running();
  done.sub_state = "exited";
  done.main_pid = 0;
  done.process_sought = false;
  done.process.reset();
  EXPECT_EQ(judged(done), Judgement()) << "a oneshot that remains";
}

TEST(Systemd, StatesOfUnits) {
  SystemdFacts facts = running();
  facts.active_state = "failed";
  facts.sub_state = "failed";
  facts.result = "exit-code";
  facts.exit_code = 3;
  facts.in_state = 3s;
  EXPECT_EQ(judged(facts).outcome, Outcome::kFail);
  EXPECT_EQ(judged(facts).reason.text, "failed for 3.0s: exit-code, exit code 3");
  facts.active_state = "inactive";
  EXPECT_EQ(judged(facts).outcome, Outcome::kFail);
  facts.active_state = "deactivating";
  EXPECT_EQ(judged(facts).outcome, Outcome::kFail);
  facts.active_state = "activating";
  facts.sub_state = "start-pre";
  EXPECT_EQ(judged(facts).outcome, Outcome::kUnknown);
  facts.sub_state = "auto-restart";
  EXPECT_EQ(judged(facts).outcome, Outcome::kFail);
  facts.active_state = "a state of years to come";
  facts.sub_state = "unheard of";
  EXPECT_EQ(judged(facts).outcome, Outcome::kUnknown);
  facts.load_state = "not-found";
  EXPECT_EQ(judged(facts).reason.code, ReasonCode::kMissing);
  facts.load_state = "masked";
  EXPECT_EQ(judged(facts).reason.text, "its unit is masked");
}

TEST(Systemd, ItsProcessCounts) {
  SystemdFacts facts = running();
  facts.process->state = 'T';
  EXPECT_EQ(judged(facts).reason.text, "pid 412 is stopped (T)");
  facts.process->state = 'D';
  EXPECT_EQ(judged(facts, 5s).outcome, Outcome::kOk);
  EXPECT_EQ(judged(facts, 11s).outcome, Outcome::kFail);
  facts.process.reset();
  EXPECT_EQ(judged(facts).outcome, Outcome::kUnknown) << "another namespace, perhaps";
}

TEST(Systemd, ALateWatchdog) {
  SystemdFacts facts = running();
  facts.watchdog = 30s;
  facts.watchdog_age = 20s;
  EXPECT_EQ(judged(facts).outcome, Outcome::kOk);
  facts.watchdog_age = 23s;
  EXPECT_EQ(judged(facts).outcome, Outcome::kWarn);
  facts.watchdog_age = 31s;
  EXPECT_EQ(judged(facts).outcome, Outcome::kFail);
  EXPECT_EQ(judged(facts).reason.text, "it told its watchdog 31.0s ago, its time is 30.0s");
}

TEST(Systemd, AYoungServiceIsUnknown) {
  SystemdFacts facts = running();
  facts.process->age = 400ms;
  facts.restarts = 7;
  EXPECT_EQ(judged(facts).outcome, Outcome::kUnknown);
  EXPECT_EQ(judged(facts).reason.text, "up for 400ms, less than 2.0s, after 7 restarts");
}

TEST(Systemd, RestartsBetweenLooksAreACrashLoop) {
  RestartCounter counter;
  const TimePoint begin{100s};
  EXPECT_EQ(counter.feed(40, 60s, begin), 0U) << "nobody knows when those were";
  EXPECT_EQ(counter.feed(42, 60s, begin + 10s), 2U);
  EXPECT_EQ(counter.feed(43, 60s, begin + 20s), 3U);
  EXPECT_EQ(counter.feed(43, 60s, begin + 75s), 1U);
  EXPECT_EQ(counter.feed(0, 60s, begin + 76s), 0U) << "systemctl restart";

  SystemdFacts facts = running();
  facts.recent_restarts = 3;
  EXPECT_EQ(judged(facts).outcome, Outcome::kFail) << "though it runs just now";
}

}  // namespace
}  // namespace wardmote::judge
