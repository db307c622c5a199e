#include "judge/check_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace wardmote::judge {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1000s};
constexpr CheckPolicy kPolicy{.fall = 3, .rise = 2, .unknown_limit = 10s, .every = 1s};

/// A check that is fed one outcome each second.
class Fed {
 public:
  explicit Fed(CheckPolicy policy = kPolicy) : policy_(policy) {}
  Fed& feed(Outcome outcome, int times = 1) {
    // Unknown without more is what we could not do.
    return feed(outcome, outcome == Outcome::kUnknown ? ReasonCode::kDenied : ReasonCode::kState,
                times);
  }
  Fed& feed(Outcome outcome, ReasonCode reason, int times = 1) {
    for (int i = 0; i < times; ++i) {
      now_ += 1s;
      const Step next = step(state_, policy_, outcome, reason, now_);
      state_ = next.next;
      if (next.transition) ++transitions_;
    }
    return *this;
  }
  Fed& pass(Duration time) {
    now_ += time;
    return *this;
  }
  [[nodiscard]] const CheckState& state() const { return state_; }
  [[nodiscard]] bool ready(bool optional = false) const { return judge::ready(state_, optional); }
  [[nodiscard]] int exit_code(bool optional = false) const {
    return judge::exit_code(state_, optional);
  }
  [[nodiscard]] int transitions() const { return transitions_; }

 private:
  CheckPolicy policy_;
  TimePoint now_ = kStart;
  CheckState state_ = begin_check(kStart);
  int transitions_ = 0;
};

TEST(CheckMachine, BeginsInDiscoveryAndIsNotReady) {
  const Fed check;
  EXPECT_EQ(check.state().state, State::kDiscovery);
  EXPECT_FALSE(check.ready());
  EXPECT_TRUE(check.ready(true));
  EXPECT_EQ(check.exit_code(), 3);
}

TEST(CheckMachine, EnoughGoodLooksMakeItHealthy) {
  Fed check;
  check.feed(Outcome::kOk);
  EXPECT_EQ(check.state().state, State::kDiscovery);
  EXPECT_TRUE(check.ready(true)) << "an optional one is not held back by half a proof";
  check.feed(Outcome::kOk);
  EXPECT_EQ(check.state().state, State::kHealthy);
  EXPECT_TRUE(check.ready());
  EXPECT_EQ(check.exit_code(), 0);
}

TEST(CheckMachine, AWarningKeepsItHealthyAndMarksItDegraded) {
  Fed check;
  check.feed(Outcome::kOk, 2).feed(Outcome::kWarn);
  EXPECT_EQ(check.state().state, State::kHealthy);
  EXPECT_TRUE(check.state().degraded);
  EXPECT_EQ(check.exit_code(), 1);
  check.feed(Outcome::kOk);
  EXPECT_FALSE(check.state().degraded);
}

TEST(CheckMachine, FailuresPassThroughErrorAndAreReportedAfterFall) {
  Fed check;
  check.feed(Outcome::kOk, 2).feed(Outcome::kFail);
  EXPECT_EQ(check.state().state, State::kError);
  EXPECT_TRUE(check.ready());
  check.feed(Outcome::kFail);
  EXPECT_EQ(check.state().state, State::kError);
  check.feed(Outcome::kFail);
  EXPECT_EQ(check.state().state, State::kReported);
  EXPECT_FALSE(check.ready());
  EXPECT_EQ(check.exit_code(), 2);
}

TEST(CheckMachine, OneGoodOutcomeForgivesAnError) {
  Fed check;
  check.feed(Outcome::kOk, 2).feed(Outcome::kFail, 2).feed(Outcome::kOk).feed(Outcome::kFail, 2);
  EXPECT_EQ(check.state().state, State::kError);
}

TEST(CheckMachine, ReportedNeedsRiseGoodOutcomesInARow) {
  Fed check;
  check.feed(Outcome::kOk, 2)
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
  check.feed(Outcome::kOk, 2).feed(Outcome::kFail, 2).feed(Outcome::kUnknown, 9);
  EXPECT_EQ(check.state().state, State::kError);
  EXPECT_FALSE(check.state().blind);
  check.feed(Outcome::kUnknown);
  EXPECT_TRUE(check.state().blind);
  EXPECT_FALSE(check.ready());
  EXPECT_EQ(check.exit_code(), 3);
  check.feed(Outcome::kFail);
  EXPECT_EQ(check.state().state, State::kReported) << "unknown neither counted nor forgave";
  check.feed(Outcome::kUnknown, 20);
  EXPECT_TRUE(check.state().blind);
  EXPECT_EQ(check.exit_code(), 2) << "what is confirmed does not become better by looking away";
}

TEST(CheckMachine, FailingFromTheStartIsReportedAfterFall) {
  Fed check;
  check.feed(Outcome::kFail, 2);
  EXPECT_EQ(check.state().state, State::kDiscovery) << "not enough looks";
  EXPECT_FALSE(check.ready());
  check.feed(Outcome::kFail);
  EXPECT_EQ(check.state().state, State::kReported);
  EXPECT_EQ(check.exit_code(), 2);
  EXPECT_EQ(check.transitions(), 1);
}

TEST(CheckMachine, DiscoveryEndsAlsoForWhatIsGoodEveryOtherTime) {
  Fed check;
  check.feed(Outcome::kOk).feed(Outcome::kFail).feed(Outcome::kOk);
  EXPECT_EQ(check.state().state, State::kHealthy);
}

TEST(CheckMachine, AnotherLimitMakesNobodySee) {
  CheckPolicy policy;
  policy.unknown_limit = 10s;
  CheckState state = begin_check(kStart);
  state = step(state, policy, Outcome::kUnknown, ReasonCode::kDenied, kStart + 11s).next;
  EXPECT_TRUE(state.blind);
  policy.unknown_limit = 1h;
  state = step(state, policy, Outcome::kUnknown, ReasonCode::kDenied, kStart + 12s).next;
  EXPECT_TRUE(state.blind);
  state = step(state, policy, Outcome::kFail, ReasonCode::kRefused, kStart + 13s).next;
  EXPECT_FALSE(state.blind);
}

TEST(CheckMachine, WithinTheStartPeriodFailuresDoNotCount) {
  CheckPolicy patient = kPolicy;
  patient.start_period = 30s;
  Fed check(patient);
  check.feed(Outcome::kFail, 29);
  EXPECT_EQ(check.state().state, State::kDiscovery);
  EXPECT_FALSE(check.ready()) << "it is not ready either";
  check.feed(Outcome::kFail, 2);
  EXPECT_EQ(check.state().state, State::kDiscovery) << "they count from its end";
  check.feed(Outcome::kFail);
  EXPECT_EQ(check.state().state, State::kReported);
}

TEST(CheckMachine, AGoodLookEndsTheStartPeriod) {
  CheckPolicy patient = kPolicy;
  patient.start_period = 30s;
  Fed check(patient);
  check.feed(Outcome::kFail, 5).feed(Outcome::kOk).feed(Outcome::kFail, 3);
  EXPECT_EQ(check.state().state, State::kReported) << "it has started, and fails";
}

TEST(CheckMachine, AnOptionalOneThatWasNeverSeenGoodCountsNowhere) {
  Fed check;
  check.feed(Outcome::kFail, 5);
  EXPECT_EQ(check.state().state, State::kReported);
  EXPECT_FALSE(counts(check.state(), true));
  EXPECT_TRUE(check.ready(true));
  EXPECT_EQ(check.exit_code(true), 1);
  check.feed(Outcome::kOk, 2).feed(Outcome::kFail, 3);
  EXPECT_TRUE(counts(check.state(), true));
  EXPECT_FALSE(check.ready(true));
  EXPECT_EQ(check.exit_code(true), 1) << "a warning, as its incident is";
}

// One good result in the start of its subject closed the gate until the next.
TEST(CheckMachine, AnOptionalOneCountsFromWhenItIsHealthy) {
  Fed check;
  check.feed(Outcome::kFail, 3).feed(Outcome::kOk);
  EXPECT_FALSE(counts(check.state(), true));
  EXPECT_TRUE(check.ready(true));
  check.feed(Outcome::kFail).feed(Outcome::kOk, 2);
  EXPECT_TRUE(counts(check.state(), true));
}

TEST(CheckMachine, AnAnswerThatCannotBeReadCountsLikeAFailure) {
  for (const ReasonCode reason :
       {ReasonCode::kClosed, ReasonCode::kProtocol, ReasonCode::kOverLimit}) {
    Fed check;
    check.feed(Outcome::kOk, 2).feed(Outcome::kUnknown, reason, 2);
    EXPECT_TRUE(check.ready()) << to_string(reason);
    check.feed(Outcome::kUnknown, reason);
    EXPECT_FALSE(check.ready()) << to_string(reason);
    EXPECT_EQ(check.exit_code(), 2) << to_string(reason);
    EXPECT_EQ(check.state().last, Outcome::kUnknown) << "and is not called bad";
    check.feed(Outcome::kUnknown, reason, 60);
    EXPECT_FALSE(check.state().blind) << "an answer came";
  }
}

TEST(CheckMachine, WhatWeCouldNotDoCountsNowhere) {
  for (const ReasonCode reason : {ReasonCode::kDenied, ReasonCode::kProberStarved,
                                  ReasonCode::kNoResolver, ReasonCode::kNotProbed}) {
    Fed check;
    check.feed(Outcome::kOk, 2).feed(Outcome::kUnknown, reason, 9);
    EXPECT_EQ(check.state().state, State::kHealthy) << to_string(reason);
    EXPECT_TRUE(check.ready()) << to_string(reason);
  }
}

TEST(CheckMachine, RefusedAndCutOffByTurnsIsAFailureInARow) {
  Fed check;
  check.feed(Outcome::kOk, 2)
      .feed(Outcome::kFail, ReasonCode::kRefused)
      .feed(Outcome::kUnknown, ReasonCode::kClosed)
      .feed(Outcome::kFail, ReasonCode::kRefused);
  EXPECT_EQ(check.state().state, State::kReported);
}

TEST(CheckMachine, TimeInWhichWeDidNotRunMakesNobodyBlind) {
  Fed check;
  check.feed(Outcome::kOk, 2).pass(66s).feed(Outcome::kUnknown);
  EXPECT_FALSE(check.state().blind);
  EXPECT_TRUE(check.ready());
  check.feed(Outcome::kUnknown, 8);
  EXPECT_TRUE(check.state().blind) << "two intervals for the pause, and eight more";
}

TEST(CheckMachine, WhatAnEarlierLifeKnewStaysReportedUntilItIsSeenGood) {
  CheckState state = resume_reported(kPolicy, true, kStart - 1h, kStart);
  EXPECT_FALSE(ready(state, true));
  EXPECT_EQ(exit_code(state, false), 2);
  EXPECT_EQ(state.since, kStart - 1h);
  state = step(state, kPolicy, Outcome::kOk, ReasonCode::kNone, kStart + 1s).next;
  EXPECT_EQ(state.state, State::kReported);
  state = step(state, kPolicy, Outcome::kOk, ReasonCode::kNone, kStart + 2s).next;
  EXPECT_EQ(state.state, State::kHealthy);
}

/// Whatever came before: after `fall` looks in a row that are no good, no gate passes it, and it
/// says critical.
RC_GTEST_PROP(CheckMachineProperty, FallBadLooksInARowCloseTheGate, ()) {
  const std::pair<Outcome, ReasonCode> looks[] = {{Outcome::kOk, ReasonCode::kNone},
                                                  {Outcome::kWarn, ReasonCode::kState},
                                                  {Outcome::kFail, ReasonCode::kRefused},
                                                  {Outcome::kUnknown, ReasonCode::kClosed},
                                                  {Outcome::kUnknown, ReasonCode::kDenied}};
  Fed check;
  for (int i = *rc::gen::inRange(0, 30); i > 0; --i) {
    const auto& [outcome, reason] = looks[*rc::gen::inRange(0, 5)];
    check.feed(outcome, reason);
  }
  for (int i = 0; i < kPolicy.fall; ++i) {
    const auto& [outcome, reason] = looks[*rc::gen::inRange(2, 4)];
    check.feed(outcome, reason);
  }
  RC_ASSERT(check.state().state == State::kReported);
  RC_ASSERT(!check.ready());
  RC_ASSERT(check.exit_code() == 2);
}

}  // namespace
}  // namespace wardmote::judge
