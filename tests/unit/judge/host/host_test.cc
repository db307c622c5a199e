#include <gtest/gtest.h>

#include <chrono>

#include "judge/host/file.h"
#include "judge/host/process.h"

namespace wardmote::judge {
namespace {

using namespace std::chrono_literals;

ProcessListFacts processes(std::size_t count, char state = 'S') {
  ProcessListFacts facts;
  facts.count = count;
  for (std::uint32_t i = 0; i < count; ++i)
    facts.shown.push_back({100 + i, "bird", state, 1h, 1, 64U << 20});
  return facts;
}

Outcome outcome(const ProcessListFacts& facts, ProcessPolicy policy, Duration waiting = {}) {
  return judge_processes(facts, policy, waiting).outcome;
}

TEST(Processes, TheirNumberMustFit) {
  EXPECT_EQ(outcome(processes(1), {}), Outcome::kOk);
  EXPECT_EQ(outcome(processes(0), {}), Outcome::kFail);
  EXPECT_EQ(judge_processes(processes(0), {}, {}).reason.code, ReasonCode::kMissing);
  EXPECT_EQ(outcome(processes(1), {.least = 2}), Outcome::kFail);
  EXPECT_EQ(outcome(processes(3), {.least = 2, .most = 3}), Outcome::kOk);
  EXPECT_EQ(outcome(processes(4), {.least = 2, .most = 3}), Outcome::kFail);
  EXPECT_EQ(outcome(processes(0), {.least = 0, .most = 0}), Outcome::kOk);
}

TEST(Processes, OneThatCannotRunIsAFailure) {
  EXPECT_EQ(outcome(processes(2, 'T'), {}), Outcome::kFail);
  EXPECT_EQ(outcome(processes(2, 'Z'), {}), Outcome::kFail);
  EXPECT_EQ(outcome(processes(2, 'D'), {}, 9s), Outcome::kOk);
  EXPECT_EQ(outcome(processes(2, 'D'), {}, 11s), Outcome::kFail);
}

TEST(Processes, MemoryAndAge) {
  EXPECT_EQ(outcome(processes(1), {.most_rss = 64U << 20}), Outcome::kOk);
  EXPECT_EQ(outcome(processes(1), {.most_rss = 63U << 20}), Outcome::kFail);
  EXPECT_EQ(outcome(processes(1), {.min_uptime = 2h}), Outcome::kUnknown);
}

TEST(File, MustBeThereUnlessItMustNot) {
  EXPECT_EQ(judge_file({}, {}).outcome, Outcome::kFail);
  EXPECT_EQ(judge_file({.exists = true}, {}).outcome, Outcome::kOk);
  EXPECT_EQ(judge_file({}, {.absent = true}).outcome, Outcome::kOk);
  EXPECT_EQ(judge_file({.exists = true}, {.absent = true}).outcome, Outcome::kFail);
}

TEST(File, SizeAndAge) {
  const FilePolicy policy{.max_age = 1h, .min_size = 10, .max_size = 20};
  EXPECT_EQ(judge_file({true, 10, 1h}, policy).outcome, Outcome::kOk);
  EXPECT_EQ(judge_file({true, 9, 1h}, policy).outcome, Outcome::kFail);
  EXPECT_EQ(judge_file({true, 21, 1h}, policy).outcome, Outcome::kFail);
  EXPECT_EQ(judge_file({true, 10, 1h + 1ns}, policy).outcome, Outcome::kFail);
  EXPECT_EQ(judge_file({true, 10, -1s}, policy).outcome, Outcome::kOk);
  EXPECT_EQ(judge_file({true, 10, -1min}, policy).outcome, Outcome::kUnknown)
      << "an age from the future proves nothing";
}

}  // namespace
}  // namespace wardmote::judge
