#include "judge/report/reporters.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace wardmote::judge {
namespace {

using namespace std::chrono_literals;

const Report kReady{.live = false, .ready = true};
const Report kLive{.live = true, .ready = false};
const Report kBoth{.live = true, .ready = true};
const Report kNeither{.live = false, .ready = false};

/// The three reporters of Calico's own tests (libcalico-go/lib/health): source1 reports readiness,
/// source2 both, source3 liveness, each for 100 ms.
class HealthAggregator : public ::testing::Test {
 protected:
  HealthAggregator() {
    add("source1", {.live = false, .timeout = 100ms});
    add("source2", {.timeout = 100ms});
    add("source3", {.ready = false, .timeout = 100ms});
  }
  void add(std::string name, ReporterRule rule) {
    reporters_.add(std::move(name), std::move(rule), now_);
  }
  void report(std::string_view name, Report report) {
    EXPECT_TRUE(reporters_.report(name, std::move(report), now_));
  }
  void expect(bool live, bool ready) {
    EXPECT_EQ(summarize(reporters_.standings(now_)), (ReporterSummary{live, ready}));
  }

  TimePoint now_{1h};
  Reporters reporters_;
};

TEST_F(HealthAggregator, OnlyRegistered) {  // A1
  expect(true, false);
}

TEST_F(HealthAggregator, ReadyWhenAllWhoReportItAre) {  // A2, A3
  report("source1", kReady);
  report("source2", kBoth);
  expect(true, true);
  report("source3", kLive);
  expect(true, true);
}

TEST_F(HealthAggregator, OneThatIsNotReadyAnyMore) {  // A4
  report("source1", kReady);
  report("source2", kBoth);
  report("source1", kNeither);
  expect(true, false);
}

TEST_F(HealthAggregator, OneIsSilentThenReportsThenAllAreSilent) {  // A5, A6, A7
  report("source3", kLive);
  report("source2", kBoth);
  expect(true, false);
  report("source1", kReady);
  expect(true, true);
  now_ += 200ms;
  expect(false, false);
}

TEST_F(HealthAggregator, OneThatIsNotLive) {  // A8
  report("source3", kLive);
  report("source2", kBoth);
  report("source3", kNeither);
  expect(false, false);
}

TEST_F(HealthAggregator, ATimeoutOfZeroHoldsForEver) {  // A9, A10
  reporters_.remove("source3");
  add("source2", {.timeout = 0ms});
  report("source1", kReady);
  report("source2", {.live = true, .ready = true, .detail = "but very busy!"});
  expect(true, true);
  now_ += 200ms;
  expect(true, false);
  EXPECT_TRUE(reporters_.standing("source1", now_)->timed_out);
  EXPECT_FALSE(reporters_.standing("source2", now_)->timed_out);
}

TEST_F(HealthAggregator, AnOverrideWins) {  // A11
  reporters_.remove("source3");
  add("source1", {.live = false, .timeout = 100ms, .override = 300ms});
  add("source2", {.timeout = 0ms});
  report("source1", kReady);
  report("source2", kBoth);
  EXPECT_TRUE(reporters_.standing("source1", now_)->overridden);
  EXPECT_EQ(reporters_.standing("source1", now_)->timeout, 300ms);
  now_ += 200ms;
  expect(true, true);
  now_ += 200ms;
  expect(true, false);
}

TEST_F(HealthAggregator, TheTimeoutItselfIsStillInTime) {
  report("source1", kReady);
  report("source2", kBoth);
  report("source3", kLive);
  now_ += 100ms;
  expect(true, true);
  now_ += 1ns;
  expect(false, false);
}

TEST_F(HealthAggregator, TheLatestReportWins) {
  report("source2", kNeither);
  report("source2", {.live = true, .ready = true, .detail = "first", .timeout = 1h});
  report("source2", {.live = true, .ready = true, .detail = "last", .timeout = 2h});
  const ReporterStanding standing = reporters_.standing("source2", now_).value();
  EXPECT_EQ(standing.report.detail, "last");
  EXPECT_EQ(standing.timeout, 2h) << "what the reporter says beats the rule";
}

TEST_F(HealthAggregator, WhoIsNotKnownIsNotHeard) {
  EXPECT_FALSE(reporters_.report("source4", kBoth, now_));
  EXPECT_FALSE(reporters_.standing("source4", now_).has_value());
}

TEST_F(HealthAggregator, RegisteringAgainBeginsAnew) {
  report("source2", kNeither);
  expect(false, false);
  add("source2", {.timeout = 100ms});
  expect(true, false);
}

TEST_F(HealthAggregator, NobodyAtAllIsLiveAndReady) {
  EXPECT_EQ(summarize({}), (ReporterSummary{true, true}));
}

/// Felix: live and not ready first; a datastore that was never initialised counts as ready; and a
/// main loop that hangs is not live after its watchdog's time.
TEST(Reporters, FelixStartsUpAndItsMainLoopHangs) {
  Reporters reporters;
  TimePoint now(1h);
  const auto summary = [&] { return summarize(reporters.standings(now)); };
  reporters.add("FelixStartup", {}, now);
  EXPECT_EQ(summary(), (ReporterSummary{true, false}));
  now += 1h;
  EXPECT_EQ(summary(), (ReporterSummary{true, false})) << "waiting for Typha is no reason to die";
  reporters.report("FelixStartup",
                   {.live = true, .ready = true, .detail = "datastore not initialised"}, now);
  EXPECT_EQ(summary(), (ReporterSummary{true, true}));
  reporters.remove("FelixStartup");
  reporters.add("CalculationGraph", {.timeout = 30s}, now);
  reporters.add("InternalDataplaneMainLoop", {.timeout = 90s}, now);
  EXPECT_EQ(summary(), (ReporterSummary{true, false}));
  for (int i = 0; i < 6; ++i, now += 10s) {
    reporters.report("CalculationGraph", {.live = true, .ready = true}, now);
    reporters.report("InternalDataplaneMainLoop", {.live = true, .ready = true}, now);
    EXPECT_EQ(summary(), (ReporterSummary{true, true}));
  }
  for (int i = 0; i < 8; ++i, now += 10s) {
    reporters.report("CalculationGraph", {.live = true, .ready = true}, now);
    EXPECT_EQ(summary(), (ReporterSummary{true, true})) << i;
  }
  now += 1s;
  reporters.report("CalculationGraph", {.live = true, .ready = true}, now);
  EXPECT_EQ(summary(), (ReporterSummary{false, false}));
}

TEST(Reporters, WhatTheyComeToAsChecks) {
  Reporters reporters;
  const TimePoint start(1h);
  reporters.add("r", {.timeout = 10s}, start);
  const auto judged = [&](ReportQuality quality, TimePoint now) {
    return judge_reporter(*reporters.standing("r", now), quality);
  };
  EXPECT_EQ(judged(ReportQuality::kLive, start), Judgement{});
  EXPECT_EQ(judged(ReportQuality::kReady, start + 2s).reason.text, "no report yet for 2.0s");
  reporters.report("r", {.live = true, .ready = false, .detail = "no leader"}, start);
  EXPECT_EQ(judged(ReportQuality::kReady, start).reason.text,
            "reports that it is not ready: no leader");
  EXPECT_EQ(judged(ReportQuality::kLive, start + 11s).reason.text,
            "timed out: no report for 11.0s, its timeout is 10.0s");
  EXPECT_EQ(judged(ReportQuality::kLive, start + 11s).reason.code, ReasonCode::kHung);
}

TEST_F(HealthAggregator, ThatAReportHoldsStillIsNoSignOfLifeAfterAPause) {
  const auto presumed = [this] { return reporters_.standing("source2", now_)->presumed; };
  EXPECT_TRUE(presumed()) << "it has not reported yet";
  report("source2", kBoth);
  EXPECT_FALSE(presumed());
  now_ += 1h;
  EXPECT_FALSE(presumed()) << "it is overdue";
  reporters_.resume(now_);
  EXPECT_TRUE(reporters_.standing("source2", now_)->live());
  EXPECT_TRUE(presumed());
  now_ += 101ms;
  EXPECT_FALSE(presumed()) << "overdue again";
  report("source2", kBoth);
  EXPECT_FALSE(presumed());
  add("source2", {.timeout = 0ms});
  EXPECT_TRUE(presumed());
  report("source2", kBoth);
  reporters_.resume(now_);
  EXPECT_FALSE(presumed()) << "it holds for ever";
}

TEST_F(HealthAggregator, WhatWasHeardByAnEarlierLifeHasNoAge) {
  reporters_.recall("source2", kBoth, now_);
  reporters_.recall("nobody", kBoth, now_);
  EXPECT_TRUE(reporters_.standing("source2", now_)->recalled);
  EXPECT_TRUE(reporters_.standing("source2", now_)->presumed);
  now_ += 200ms;
  const auto overdue = judge_reporter(*reporters_.standing("source2", now_), ReportQuality::kLive);
  EXPECT_EQ(overdue.outcome, Outcome::kFail);
  EXPECT_TRUE(overdue.reason.text.contains("since the agent began")) << overdue.reason.text;
  report("source2", kBoth);
  EXPECT_FALSE(reporters_.standing("source2", now_)->recalled);
}

}  // namespace
}  // namespace wardmote::judge
