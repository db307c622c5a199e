#include "act/acts.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "act/act_log.h"
#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "store/store.h"
#include "unit/act/fake_leadership.h"

namespace wardmote::act {
namespace {

using namespace std::chrono_literals;
using Calls = std::vector<std::string>;

/// Notes how it is called.
class FakeAct final : public Act {
 public:
  explicit FakeAct(sim::SimRuntime& host) : host_(host) {}

  ActRecord intent() override { return note("intent"); }
  runtime::Task<std::optional<std::string>> recheck(runtime::Deadline) override {
    calls.emplace_back("recheck");
    co_await host_.sleep_until(host_.now() + look_takes);
    if (meanwhile) meanwhile();
    co_return objection;
  }
  runtime::Task<Result<std::string>> carry_out(runtime::Deadline deadline) override {
    calls.emplace_back("carry_out");
    given = deadline;
    co_await host_.sleep_until(host_.now() + 1s);
    co_return did;
  }
  ActRecord ended(const Result<std::string>& result) override {
    return note(result ? "result" : "unknown");
  }
  ActRecord dropped(const std::string& why) override {
    reason = why;
    return note("dropped");
  }
  void not_begun() override { calls.emplace_back("not_begun"); }

  Calls calls;
  std::string reason;
  std::optional<std::string> objection;
  std::function<void()> meanwhile;
  Duration look_takes = 100ms;
  Result<std::string> did = std::string("told");
  runtime::Deadline given;

 private:
  ActRecord note(std::string kind) {
    calls.push_back(kind);
    return {{.kind = kind, .plan = 1}, {{"plan/1", kind}}};
  }

  sim::SimRuntime& host_;
};

class ActsTest : public ::testing::Test {
 protected:
  ActsTest() { EXPECT_TRUE(run_task(world_, us_, log_.open())); }

  Acts::Outcome carry_out(Duration time = 1min) {
    return run_task(world_, us_, acts_.carry_out(&act_, us_.deadline_in(time)));
  }
  Calls kinds() {
    Calls found;
    for (const auto& row : disk_.rows("SELECT kind FROM journal ORDER BY seq"))
      found.push_back(*row.text(0));
    return found;
  }
  std::string state() {
    const auto found = disk_.rows("SELECT value FROM store_kv WHERE key = 'plan/1'");
    return found.empty() ? "" : *found.front().text(0);
  }
  void take_lead() {
    store::Transaction taken;
    taken.changes.emplace_back(store::Put{"leader", "x"});
    const auto done = run_task(world_, us_, store_.put_if(taken, us_.deadline_in(1h)));
    ASSERT_TRUE(done);
    leadership_.set_fence(store::Compare::unchanged_since("leader", done->revision));
  }

  sim::World world_{1};
  sim::SimRuntime& us_ = world_.host("us");
  sim::SimDisk disk_;
  sim::SimDatabase database_{us_, disk_};
  store::EmbeddedStore store_{us_, database_, "boot"};
  FakeLeadership leadership_;
  ActLog log_{us_, &database_, &store_, leadership_};
  Acts acts_{us_, log_, leadership_};
  FakeAct act_{us_};
};

TEST_F(ActsTest, AnActIsWrittenDownLookedAtDoneAndWrittenDown) {
  EXPECT_EQ(carry_out(), Acts::Outcome::kEnded);
  EXPECT_EQ(act_.calls, (Calls{"intent", "recheck", "carry_out", "result"}));
  EXPECT_EQ(kinds(), (Calls{"intent", "result"}));
  EXPECT_EQ(state(), "result");
  EXPECT_EQ(act_.given.at, us_.now() - 1100ms + 1min) << "one deadline for all of it";
}

TEST_F(ActsTest, AnActThatFailedIsWrittenDownToo) {
  act_.did = fail(Errc::kTimeout, "no answer");
  EXPECT_EQ(carry_out(), Acts::Outcome::kEnded);
  EXPECT_EQ(kinds(), (Calls{"intent", "unknown"}));
}

TEST_F(ActsTest, WhatALookForbidsIsNotDone) {
  act_.objection = "ctl-3 answers";
  EXPECT_EQ(carry_out(), Acts::Outcome::kDropped);
  EXPECT_EQ(act_.calls, (Calls{"intent", "recheck", "dropped"}));
  EXPECT_EQ(act_.reason, "ctl-3 answers");
  EXPECT_EQ(state(), "dropped");
}

TEST_F(ActsTest, WithoutAnIntentNothingIsDone) {
  disk_.fail_with(Errc::kExhausted);
  EXPECT_EQ(carry_out(), Acts::Outcome::kNotBegun);
  EXPECT_EQ(act_.calls, (Calls{"intent", "not_begun"}));
  EXPECT_EQ(kinds(), Calls{});
}

TEST_F(ActsTest, OnAnIntentThatIsTooOldNothingIsDone) {
  disk_.set_latency(30s);
  act_.look_takes = 10s;
  EXPECT_EQ(carry_out(40s), Acts::Outcome::kDropped);
  EXPECT_EQ(act_.reason, "it is too late");
}

// A leader may lose its lease at any moment: then nothing begins.
TEST_F(ActsTest, WhoLosesTheLeadBeforeTheLastMomentDoesNothing) {
  act_.meanwhile = [this] { leadership_.lose(); };
  EXPECT_EQ(carry_out(), Acts::Outcome::kDropped);
  EXPECT_EQ(act_.reason, "another agent leads");
}

TEST_F(ActsTest, UnderALostFenceNothingIsDone) {
  take_lead();
  FakeAct first(us_);
  run_task(world_, us_, acts_.carry_out(&first, us_.deadline_in(1min)));
  EXPECT_EQ(state(), "result");
  const auto fence = leadership_.fence();
  take_lead();
  leadership_.set_fence(*fence);
  EXPECT_EQ(carry_out(), Acts::Outcome::kNotBegun);
  EXPECT_EQ(act_.calls, (Calls{"intent", "not_begun"}));
  EXPECT_EQ(state(), "result") << "another agent writes it now";
  EXPECT_EQ(kinds(), (Calls{"intent", "result"}));
}

TEST_F(ActsTest, AResultIsWrittenWhenTheDiskTakesIt) {
  act_.meanwhile = [this] { disk_.fail_with(Errc::kExhausted); };
  world_.schedule(us_.now() + 20s, [this] { disk_.fail_with(std::nullopt); });
  EXPECT_EQ(carry_out(), Acts::Outcome::kEnded);
  EXPECT_EQ(kinds(), (Calls{"intent", "result"}));
  EXPECT_EQ(state(), "result");
}

}  // namespace
}  // namespace wardmote::act
