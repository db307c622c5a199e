#pragma once
// Two agents share a store, and the lead goes from one to the other.

#include <gtest/gtest.h>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "act/plan/plan_runner.h"
#include "act/plan/step_executor.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/plan/plan.h"
#include "judge/thing.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "sim/seeds.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "store/seen_revision.h"
#include "store/store.h"
#include "unit/act/fake_leadership.h"
#include "unit/act/fake_site.h"

namespace wardmote::act {

using judge::plan::PlanState;
using sim::SimDatabase;
using sim::SimDisk;
using sim::SimRuntime;
using sim::World;
using namespace std::chrono_literals;

/// The steps that change something, of which no two agents may be inside one at a time.
inline bool changes_something(const std::string& step) {
  return step != "copy_database";
}

/// What all agents see and share.
struct Shared {
  FakeSite site;
  SimDisk disk;
  int inside = 0;
  int acts = 0;
};

/// Does what it is told, or breaks before or after the work.
class FakeExecutor final : public StepExecutor {
 public:
  FakeExecutor(SimRuntime& host, Shared& shared, const FakeLeadership& leadership)
      : host_(host), shared_(shared), leadership_(leadership) {}

  Duration patience(const StepRequest&) const override { return 1h; }
  runtime::Task<Result<std::string>> act(StepRequest request, runtime::Deadline) override {
    EXPECT_TRUE(leadership_.leads()) << request.step << " begun under a lost lease";
    ++shared_.acts;
    const bool alone = changes_something(request.step);
    if (alone) EXPECT_EQ(++shared_.inside, 1) << "two agents inside " << request.step;
    co_await host_.sleep_until(host_.now() + Duration(host_.random() % 2'000'000'000));
    const auto chance = shared_.site.calm ? 9 : host_.random() % 10;
    if (chance != 0) do_it(request.step);
    co_await host_.sleep_until(host_.now() + Duration(host_.random() % 300'000'000));
    if (alone) --shared_.inside;
    if (chance <= 1) co_return fail(Errc::kRejected, "ended with 255");
    co_return std::string("it was done");
  }

 private:
  void do_it(const std::string& step) {
    FakeSite& site = shared_.site;
    site.copies += step == "copy_database" ? 1 : 0;
    if (step == "kick") {
      EXPECT_GT(site.copies, 0) << "kicked without a copy";
      site.kicks += site.listed ? 1 : 0;
      site.listed = false;
    }
    if (step == "rejoin") {
      EXPECT_FALSE(site.joined) << "joined twice";
      ++site.rejoins;
      site.joined = true;
    }
  }

  SimRuntime& host_;
  Shared& shared_;
  const FakeLeadership& leadership_;
};

/// An agent with a journal of its own.
class SharingAgent {
 public:
  SharingAgent(World& world, const std::string& name, Shared& shared, bool follows = false)
      : world_(world),
        host_(world.host(name)),
        shared_(shared),
        executor_(host_, shared, leadership_),
        runner_(host_, {&journal_, &store_, leadership_, follows}, sample_config().setup(),
                executor_,
                {.look = [](const judge::ThingId&) {},
                 .tell = [](const judge::ThingId&, const judge::Event&) {},
                 .storm = [] { return false; },
                 .incident = [](const judge::ThingId&) { return 0; },
                 .mark = [this](bool doubt) { marked = doubt; }}) {
    const Result<void> opened = run_task(world_, host_, runner_.open());
    EXPECT_TRUE(opened) << opened.error().describe();
  }
  SharingAgent(const SharingAgent&) = delete;
  SharingAgent& operator=(const SharingAgent&) = delete;
  ~SharingAgent() { world_.run(host_, runner_.stop()); }

  void win() { leadership_.win(take_fence()); }
  void lose() { leadership_.lose(); }
  /// From now on no fence holds that was taken before. Whoever leads does not know yet.
  store::Compare take_fence() {
    store::Transaction taken;
    taken.changes.emplace_back(store::Put{"leader", "x"});
    const auto done = run_task(world_, host_, store_.put_if(taken, host_.deadline_in(1h)));
    EXPECT_TRUE(done) << done.error().describe();
    return store::Compare::unchanged_since("leader", done ? done->revision : 0);
  }
  void look(TimePoint since) {
    runner_.heard(shared_.site.remedy(host_.now()), shared_.site.findings(since));
  }
  /// What a person does who is asked, wherever he asks.
  void rule() {
    std::vector<std::int64_t> waiting;
    for (const auto& [id, plan] : runner_.planner().plans()) {
      if (plan.state == PlanState::kProposed || plan.state == PlanState::kUnclear)
        waiting.push_back(id);
    }
    for (const std::int64_t id : waiting) {
      const bool unclear = runner_.planner().plans().at(id).state == PlanState::kUnclear;
      if (unclear && shared_.site.joined) {
        (void)runner_.reject(id, "ann", "it has joined");
      } else {
        (void)runner_.approve(id, "ann", "");
      }
    }
  }
  /// It hears that an older copy is in the place of the store, as from an answer that is behind.
  void notice_copy() {
    const store::SeenRevision::Mark seen = store_.seen().mark();
    store_.seen().answered(seen, seen.revision - 1, false);
    runner_.doubt_orders("an older copy");
  }
  void pause() { EXPECT_TRUE(runner_.pause("", std::nullopt, "ann")); }
  [[nodiscard]] bool over() const {
    if (runner_.planner().plans().empty() || !leadership_.leads()) return false;
    const PlanState last = runner_.planner().plans().rbegin()->second.state;
    return shared_.site.joined && (last == PlanState::kDone || last == PlanState::kRejected);
  }
  SimRuntime& host() { return host_; }
  [[nodiscard]] const PlanRunner& runner() const noexcept { return runner_; }
  PlanRunner& runner() noexcept { return runner_; }
  SimDisk& disk() noexcept { return disk_; }

  bool marked = false;  ///< for its next life: orders may be lost

 private:
  World& world_;
  SimRuntime& host_;
  Shared& shared_;
  SimDisk disk_;
  SimDatabase journal_{host_, disk_};
  SimDatabase database_{host_, shared_.disk};
  store::EmbeddedStore store_{host_, database_, "boot"};
  FakeLeadership leadership_{false};
  FakeExecutor executor_;
  PlanRunner runner_;
};

/// Two agents of which the first leads, and the plan waits for approval.
class PlanLeadership : public ::testing::Test {
 protected:
  PlanLeadership() {
    a_.win();
    watch(2s);
  }
  void watch(Duration time) {
    for (Duration passed{}; passed < time; passed += 500ms) {
      a_.look(since_);
      b_.look(since_);
      world_.run_for(500ms);
    }
  }
  static const judge::plan::Plan& plan(const SharingAgent& agent) {
    return agent.runner().planner().plans().at(1);
  }

  World world_{1};
  Shared shared_;
  TimePoint since_ = world_.now() - 1h;
  SharingAgent a_{world_, "a", shared_};
  SharingAgent b_{world_, "b", shared_};
};

}  // namespace wardmote::act
