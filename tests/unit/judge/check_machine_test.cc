#include "judge/check_machine.h"

#include <gtest/gtest.h>

namespace wardmote::judge {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1000s};
constexpr CheckPolicy kPolicy{.fall = 3, .rise = 2, .unknown_limit = 10s, .discovery_limit = 60s};

/// A check that is fed one outcome each second.
class Fed {
 public:
  Fed& feed(Outcome outcome, int times = 1) {
    for (int i = 0; i < times; ++i) {
      now_ += 1s;
      const Step next = step(state_, kPolicy, outcome, now_);
      state_ = next.next;
      if (next.transition) ++transitions_;
    }
    return *this;
  }
  [[nodiscard]] const CheckState& state() const { return state_; }
  [[nodiscard]] int transitions() const { return transitions_; }

 private:
  TimePoint now_ = kStart;
  CheckState state_ = begin_check(kStart);
  int transitions_ = 0;
};

TEST(CheckMachine, BeginsInDiscoveryAndIsNotReady) {
  Fed check;
  EXPECT_EQ(check.state().state, State::kDiscovery);
  EXPECT_FALSE(ready(check.state(), false));
  EXPECT_TRUE(ready(check.state(), true));
  EXPECT_EQ(exit_code(check.state()), 3);
}

TEST(CheckMachine, FirstGoodOutcomeMakesItHealthy) {
  Fed check;
  check.feed(Outcome::kOk);
  EXPECT_EQ(check.state().state, State::kHealthy);
  EXPECT_TRUE(ready(check.state(), false));
  EXPECT_EQ(exit_code(check.state()), 0);
}

TEST(CheckMachine, AWarningKeepsItHealthyAndMarksItDegraded) {
  Fed check;
  check.feed(Outcome::kOk).feed(Outcome::kWarn);
  EXPECT_EQ(check.state().state, State::kHealthy);
  EXPECT_TRUE(check.state().degraded);
  EXPECT_EQ(exit_code(check.state()), 1);
  check.feed(Outcome::kOk);
  EXPECT_FALSE(check.state().degraded);
}

TEST(CheckMachine, FailuresPassThroughErrorAndAreReportedAfterFall) {
  Fed check;
  check.feed(Outcome::kOk).feed(Outcome::kFail);
  EXPECT_EQ(check.state().state, State::kError);
  EXPECT_TRUE(ready(check.state(), false));
  check.feed(Outcome::kFail);
  EXPECT_EQ(check.state().state, State::kError);
  check.feed(Outcome::kFail);
  EXPECT_EQ(check.state().state, State::kReported);
  EXPECT_FALSE(ready(check.state(), false));
  EXPECT_EQ(exit_code(check.state()), 2);
}

TEST(CheckMachine, OneGoodOutcomeForgivesAnError) {
  Fed check;
  check.feed(Outcome::kOk).feed(Outcome::kFail, 2).feed(Outcome::kOk).feed(Outcome::kFail, 2);
  EXPECT_EQ(check.state().state, State::kError);
}

TEST(CheckMachine, ReportedNeedsRiseGoodOutcomesInARow) {
  Fed check;
  check.feed(Outcome::kOk)
      .feed(Outcome::kFail, 3)
      .feed(Outcome::kOk)
      .feed(Outcome::kFail)
      .feed(Outcome::kOk);
  EXPECT_EQ(check.state().state, State::kReported);
  check.feed(Outcome::kOk);
  EXPECT_EQ(check.state().state, State::kHealthy);
}

TEST(CheckMachine, UnknownMovesNoCounterAndAgesToBlind) {
  Fed check;
  check.feed(Outcome::kOk).feed(Outcome::kFail, 2).feed(Outcome::kUnknown, 9);
  EXPECT_EQ(check.state().state, State::kError);
  EXPECT_FALSE(check.state().blind);
  check.feed(Outcome::kUnknown);
  EXPECT_TRUE(check.state().blind);
  EXPECT_FALSE(ready(check.state(), false));
  EXPECT_EQ(exit_code(check.state()), 3);
  check.feed(Outcome::kFail);
  EXPECT_EQ(check.state().state, State::kReported) << "unknown neither counted nor forgave";
}

TEST(CheckMachine, FailingFromTheStartStaysInDiscoveryAndBecomesOverdue) {
  Fed check;
  check.feed(Outcome::kFail, 59);
  EXPECT_EQ(check.state().state, State::kDiscovery);
  EXPECT_FALSE(check.state().overdue);
  check.feed(Outcome::kFail);
  EXPECT_TRUE(check.state().overdue);
  check.feed(Outcome::kOk);
  EXPECT_FALSE(check.state().overdue);
  EXPECT_EQ(check.transitions(), 1);
}

}  // namespace
}  // namespace wardmote::judge
