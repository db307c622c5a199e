#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "act/plan/plan_runner.h"
#include "act/plan/step_executor.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/plan/plan.h"
#include "judge/thing.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "serve/change_text.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "support/logged.h"
#include "unit/act/fake_leadership.h"
#include "unit/act/fake_site.h"

namespace wardmote::act {

using judge::plan::Plan;
using judge::plan::PlanState;
using judge::plan::StepState;
using namespace std::chrono_literals;
using Rows = std::vector<std::string>;

/// Does what it is told, unless a test says how it goes.
class FakeScriptedHands final : public StepExecutor {
 public:
  /// How one act goes.
  struct Script {
    bool does_it = true;
    Result<std::string> says = std::string("told");
    Duration takes = 100ms;
    bool does_it_last = false;  ///< at the end of that time
  };

  FakeScriptedHands(sim::SimRuntime& host, FakeSite& site) : host_(host), site_(site) {}

  Duration patience(const StepRequest&) const override { return 1h; }
  runtime::Task<Result<std::string>> act(StepRequest request, runtime::Deadline) override {
    deeds.push_back(request);
    Script script;
    if (!scripts.empty()) {
      script = std::move(scripts.front());
      scripts.pop_front();
    }
    if (script.does_it && !script.does_it_last) do_it(request.step);
    co_await host_.sleep_until(host_.now() + script.takes);
    if (script.does_it && script.does_it_last) do_it(request.step);
    co_return script.says;
  }

  std::deque<Script> scripts;
  std::vector<StepRequest> deeds;

 private:
  void do_it(const std::string& step) {
    site_.copies += step == "copy_database" ? 1 : 0;
    site_.kicks += step == "kick" ? 1 : 0;
    site_.rejoins += step == "rejoin" ? 1 : 0;
    if (step == "kick") site_.listed = false;
    if (step == "rejoin") site_.joined = true;
  }

  sim::SimRuntime& host_;
  FakeSite& site_;
};

inline const FakeScriptedHands::Script kFine;
inline const FakeScriptedHands::Script kDoneAndEndedWith255{
    true, fail(Errc::kRejected, "ended with 255")};
inline const FakeScriptedHands::Script kNotDoneAndEndedWith255{
    false, fail(Errc::kRejected, "ended with 255")};
inline const FakeScriptedHands::Script kTimedOut{false, fail(Errc::kTimeout, "no answer")};
inline const FakeScriptedHands::Script kNoProgram{false, fail(Errc::kMissing, "no such program")};

using Levels = std::vector<LogLevel>;

/// ctl-3 is down, and a runner looks at its cluster twice a second.
class PlanRunnerTest : public ::testing::Test {
 protected:
  PlanRunnerTest() { begin_life(); }
  ~PlanRunnerTest() override { end_life(); }

  void begin_life() {
    disk_.restart();
    database_ = std::make_unique<sim::SimDatabase>(us_, disk_);
    store_ = std::make_unique<store::EmbeddedStore>(us_, *database_, "boot");
    leadership_ = std::make_unique<FakeLeadership>();
    runner_ = std::make_unique<PlanRunner>(us_, memory(), config_.setup(), executor_, doors());
    const Result<void> opened = run_task(world_, us_, runner_->open());
    EXPECT_TRUE(opened) << opened.error().describe();
  }
  void end_life() {
    world_.run(us_, runner_->stop());
    runner_.reset();
  }
  PlanRunner::Memory memory() { return {database_.get(), store_.get(), *leadership_}; }
  PlanRunner::Doors doors() {
    return {.look = [this](const judge::ThingId&) { answer_at_once(); },
            .tell = [this](judge::ThingId of,
                           judge::Event event) { tell(std::move(of), std::move(event)); },
            .storm = [this] { return storm_; },
            .incident = [this](const judge::ThingId&) { return incident_; },
            .folder_lost = [this] { return folder_lost_; },
            .quiet = quiet_};
  }
  /// Logs it, as the agent does.
  void tell(judge::ThingId of, judge::Event event) {
    const judge::Change change{++changes_, us_.wall_now(), std::move(of), std::move(event)};
    const serve::ChangeText text = serve::text_of(change);
    log_fields(text.level, text.kind, text.fields);
  }
  void restart() {
    end_life();
    begin_life();
  }

  void look() { runner_->heard(site_.remedy(us_.now() - stale_), site_.findings(since_)); }
  void answer_at_once() {
    if (at_once_) look();
  }
  void watch(Duration time) {
    for (Duration passed{}; passed < time; passed += 500ms) {
      look();
      world_.run_for(500ms);
    }
  }
  /// False: that did not come within `limit`.
  bool watch_until(const std::function<bool()>& condition, Duration limit = 30s) {
    for (Duration passed{}; passed < limit; passed += 100ms) {
      if (condition()) return true;
      if (passed % 500ms == 0ms) look();
      world_.run_for(100ms);
    }
    return condition();
  }
  const Plan& plan(std::int64_t id = 1) { return runner_->planner().plans().at(id); }
  bool is(PlanState state) {
    return !runner_->planner().plans().empty() &&
           runner_->planner().plans().rbegin()->second.state == state;
  }
  /// Somebody approves what is proposed.
  void approve() {
    watch(1s);
    const Result<void> approved = runner_->approve(1, "ann", "go on");
    EXPECT_TRUE(approved) << approved.error().describe();
  }
  /// `kind step`, as the journal has them on the disk.
  Rows rows(const std::string& where = "1") {
    Rows found;
    for (const auto& row : disk_.rows("SELECT trim(kind || ' ' || step) FROM journal WHERE " +
                                      where + " ORDER BY seq"))
      found.push_back(*row.text(0));
    return found;
  }
  std::size_t count(const std::string& row) {
    const Rows all = rows();
    return static_cast<std::size_t>(std::ranges::count(all, row));
  }
  bool has(const std::string& row) { return count(row) > 0; }
  /// Changes the store behind everybody's back.
  void edit(const std::string& sql) {
    disk_.rows("UPDATE store_meta SET revision = revision + 1");
    disk_.rows(sql);
  }
  std::string text(const std::string& sql) {
    const auto found = disk_.rows(sql);
    return found.empty() ? "" : *found.front().text(0);
  }
  judge::plan::Policy& policy() { return config_.policies.front(); }

  sim::World world_{1};
  sim::SimRuntime& us_ = world_.host("us");
  sim::SimDisk disk_;
  FakeSite site_;
  FakeScriptedHands executor_{us_, site_};
  FakeConfig config_ = sample_config();
  std::uint64_t changes_ = 0;
  std::int64_t incident_ = 17;
  bool storm_ = false;
  bool at_once_ = false;  ///< who is asked to look has looked already
  bool folder_lost_ = false;
  Duration quiet_{};
  Duration stale_{};  ///< how long ago the looks began
  TimePoint since_ = us_.now() - 1h;
  std::unique_ptr<sim::SimDatabase> database_;
  std::unique_ptr<store::EmbeddedStore> store_;
  std::unique_ptr<FakeLeadership> leadership_;
  std::unique_ptr<PlanRunner> runner_;
};

}  // namespace wardmote::act
