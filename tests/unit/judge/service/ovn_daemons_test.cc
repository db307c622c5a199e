#include "judge/service/ovn_daemons.h"

#include <gtest/gtest.h>

#include <chrono>

#include "judge/outcome.h"

namespace wardmote::judge {
namespace {

using namespace std::chrono_literals;

TEST(Northd, ActiveAndStandbyAreGoodAndPausedIsAWarning) {
  NorthdFacts facts{NorthdState::kActive, true, true};
  EXPECT_EQ(judge_northd(facts, {}).outcome, Outcome::kOk);
  EXPECT_EQ(judge_northd(facts, {}).reason.text, "active");
  facts.state = NorthdState::kStandby;
  EXPECT_EQ(judge_northd(facts, {}).outcome, Outcome::kOk);
  EXPECT_EQ(judge_northd(facts, {.active = true}).outcome, Outcome::kFail);
  facts.state = NorthdState::kPaused;
  EXPECT_EQ(judge_northd(facts, {}).outcome, Outcome::kWarn);
}

TEST(Northd, WithoutADatabaseItTranslatesNothing) {
  const NorthdFacts no_north{NorthdState::kActive, false, true};
  EXPECT_EQ(judge_northd(no_north, {}).outcome, Outcome::kFail);
  EXPECT_NE(judge_northd(no_north, {}).reason.text.find("northbound"), std::string::npos);
  const NorthdFacts no_south{NorthdState::kStandby, true, false};
  EXPECT_NE(judge_northd(no_south, {}).reason.text.find("southbound"), std::string::npos);
  const NorthdFacts silent{NorthdState::kActive, {}, {}};
  EXPECT_EQ(judge_northd(silent, {}).outcome, Outcome::kOk) << "an old one does not say";
}

TEST(Controller, WhoDoesNotFollowAHealthyDatabaseIsToldApart) {
  ControllerFacts facts{.connected = false, .southbound = SouthboundFacts{.serves = true}};
  EXPECT_EQ(judge_controller(facts).outcome, Outcome::kFail);
  EXPECT_NE(judge_controller(facts).reason.text.find("sb-cluster-state-reset"), std::string::npos);
  facts.southbound->serves = false;
  EXPECT_EQ(judge_controller(facts).outcome, Outcome::kFail);
  EXPECT_EQ(judge_controller(facts).reason.text.find("sb-cluster-state-reset"), std::string::npos)
      << "a database that is down is no reason to reset anything";
  EXPECT_EQ(judge_controller({.connected = true}).outcome, Outcome::kOk);
  EXPECT_EQ(judge_controller({.connected = true, .paused = true}).outcome, Outcome::kFail);
}

TEST(Controller, AConnectionThatComesAndGoesIsBadAlsoWhileItIsThere) {
  LossCounter losses;
  TimePoint now{};
  EXPECT_EQ(losses.feed(false, now), 0U) << "it was never there";
  for (std::size_t i = 1; i <= 4; ++i) {
    EXPECT_EQ(losses.feed(true, now += 5s), i - 1);
    EXPECT_EQ(losses.feed(false, now += 5s), i);
    EXPECT_EQ(losses.feed(false, now += 5s), i) << "still the same loss";
  }
  EXPECT_EQ(judge_controller({.connected = true, .losses = 4}).outcome, Outcome::kFail);
  EXPECT_EQ(judge_controller({.connected = true, .losses = 3}).outcome, Outcome::kOk);
  EXPECT_EQ(losses.feed(true, now + LossCounter::kWindow + 1s), 0U) << "long ago";
}

TEST(Vswitchd, OnlyALagThatStaysIsBad) {
  BehindClock clock;
  TimePoint now{};
  EXPECT_EQ(clock.feed(5, 5, now), 0s);
  EXPECT_EQ(clock.feed(6, 5, now += 1s), 0s);
  EXPECT_EQ(clock.feed(6, 5, now += 9s), 9s);
  EXPECT_EQ(clock.feed(7, 6, now += 9s), 0s) << "it moves on";
  EXPECT_EQ(clock.feed(7, 7, now += 9s), 0s);
  VswitchdFacts facts;
  facts.process.state = 'S';
  facts.next_cfg = 7;
  facts.cur_cfg = 6;
  facts.behind = 9s;
  EXPECT_EQ(judge_vswitchd(facts, {}, {}).outcome, Outcome::kOk);
  facts.behind = 10s;
  EXPECT_EQ(judge_vswitchd(facts, {}, {}).outcome, Outcome::kFail);
}

TEST(Vswitchd, AStoppedProcessIsBadAndAFaultyInterfaceAWarning) {
  VswitchdFacts facts;
  facts.process.state = 'T';
  EXPECT_EQ(judge_vswitchd(facts, {}, {}).outcome, Outcome::kFail);
  facts.process.state = 'S';
  facts.faulty = 1;
  facts.errors = {"vnet3: no such device"};
  EXPECT_EQ(judge_vswitchd(facts, {}, {}).outcome, Outcome::kWarn);
  EXPECT_NE(judge_vswitchd(facts, {}, {}).reason.text.find("vnet3"), std::string::npos);
}

}  // namespace
}  // namespace wardmote::judge
