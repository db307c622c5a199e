#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "act/plan/plan_runner.h"
#include "act/plan/step_executor.h"
#include "judge/change.h"
#include "judge/plan/plan.h"
#include "judge/thing.h"
#include "runtime/deadline.h"
#include "sim/seeds.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "store/journal.h"
#include "store/leadership.h"
#include "unit/act/fake_site.h"

namespace wardmote::act {
namespace {

using judge::plan::Plan;
using judge::plan::PlanState;
using runtime::Task;
using sim::SimDatabase;
using sim::SimDisk;
using sim::SimRuntime;
using sim::World;
using namespace std::chrono_literals;

/// Does what it is told at some moment, also when whoever told it is dead by then or not any more
/// there to hear of it.
class FakeExecutor final : public StepExecutor {
 public:
  FakeExecutor(World& world, SimRuntime& host, SimDisk& disk, FakeSite& site)
      : world_(world), host_(host), disk_(disk), site_(site) {}

  Duration patience(const StepRequest&) const override { return 1h; }
  Task<Result<std::string>> act(StepRequest request, runtime::Deadline) override {
    const Duration way(host_.random() % 300'000'000);
    // A program that was started goes on when whoever started it dies, or dies with it.
    const bool outlives = host_.random() % 2 == 0;
    // A way that breaks before or after the work is done.
    const auto chance = site_.calm ? 9 : host_.random() % 10;
    const bool done = chance != 0;
    const bool told = chance > 1;
    const std::string step = request.step;
    if (outlives && done) {
      world_.schedule(world_.now() + way, [&world = world_, &disk = disk_, &site = site_, step] {
        do_it(world.now(), disk, site, step);
      });
    }
    co_await host_.sleep_until(host_.now() + way);
    if (!outlives && done) do_it(world_.now(), disk_, site_, step);
    // A copy looks first, and may take its time then.
    const bool slow = step == "copy_database" && host_.random() % 4 == 0;
    const Duration more = slow ? Duration(host_.random() % 30'000'000'000) : way;
    co_await host_.sleep_until(host_.now() + more);
    if (!told) co_return fail(Errc::kRejected, "ended with 255");
    co_return std::string("it was done");
  }

 private:
  static void do_it(TimePoint now, SimDisk& disk, FakeSite& site, const std::string& step) {
    EXPECT_FALSE(
        disk.rows("SELECT 1 FROM journal WHERE kind = 'intent' AND step = '" + step + "'").empty())
        << step << " without an intent";
    EXPECT_TRUE(!site.other_ill || now - site.ill_since < 400ms)
        << step << " while another member was ill";
    EXPECT_TRUE(site.acts || now - site.forbidden_since < 400ms)
        << step << " against the operator's will";
    EXPECT_TRUE(!site.back || now - site.back_since < 400ms) << step << " of a member that lives";
    if (step == "copy_database") {
      ++site.copies;
      site.copied_at = now;
    }
    if (step == "kick") {
      EXPECT_GT(site.copies, 0) << "kicked without a copy";
      EXPECT_LE(now - site.copied_at, 16s) << "kicked on an old word of the host";
      site.kicks += site.listed ? 1 : 0;
      site.listed = false;
      site.back = false;
    }
    if (step == "rejoin") {
      EXPECT_FALSE(site.listed) << "joined while it was listed";
      EXPECT_FALSE(site.joined) << "joined twice";
      ++site.rejoins;
      site.joined = true;
    }
  }

  World& world_;
  SimRuntime& host_;
  SimDisk& disk_;
  FakeSite& site_;
};

/// One life of an agent's runner on a disk that outlives it.
class Life {
 public:
  Life(World& world, SimRuntime& host, SimDisk& disk, FakeSite& site)
      : world_(world),
        us_(host),
        disk_(disk),
        site_(site),
        config_(config_of(site)),
        executor_(world, host, disk, site),
        runner_(host, {&database_, &store_, alone_}, config_.setup(), executor_,
                {.look = [](const judge::ThingId&) {},
                 .tell = [](const judge::ThingId&, const judge::Event&) {},
                 .storm = [] { return false; },
                 .incident = [](const judge::ThingId&) { return 0; }}) {
    disk_.restart();
    EXPECT_TRUE(run_task(world_, us_, alone_.take()));
    const Result<void> opened = run_task(world_, us_, runner_.open());
    EXPECT_TRUE(opened) << opened.error().describe();
  }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;
  ~Life() {
    if (disk_.died()) disk_.bury();
    world_.run(us_, runner_.stop());
  }

  /// The operator's will is in the configuration.
  void reload() {
    config_ = config_of(site_);
    runner_.reload(config_.setup());
  }
  void look(TimePoint since) { runner_.heard(site_.remedy(us_.now()), site_.findings(since)); }
  /// What a person does who is asked.
  void rule() {
    const std::vector<std::int64_t> ids = waiting();
    for (const std::int64_t id : ids) {
      const auto& plan = runner_.planner().plans().at(id);
      // He looks first: a member that has joined must not be told to once more.
      if (plan.state == PlanState::kUnclear && site_.joined) {
        (void)runner_.reject(id, "ann", "it has joined");
      } else {
        (void)runner_.approve(id, "ann", "");
      }
    }
  }
  [[nodiscard]] bool over() const {
    if (runner_.planner().plans().empty()) return false;
    const PlanState last = runner_.planner().plans().rbegin()->second.state;
    return site_.joined && (last == PlanState::kDone || last == PlanState::kRejected);
  }

 private:
  static FakeConfig config_of(const FakeSite& site) {
    FakeConfig config = sample_config();
    config.policies.front().act = site.acts;
    return config;
  }
  [[nodiscard]] std::vector<std::int64_t> waiting() const {
    std::vector<std::int64_t> ids;
    for (const auto& [id, plan] : runner_.planner().plans()) {
      if (plan.state == PlanState::kProposed || plan.state == PlanState::kUnclear)
        ids.push_back(id);
    }
    return ids;
  }

  World& world_;
  SimRuntime& us_;
  SimDisk& disk_;
  FakeSite& site_;
  FakeConfig config_;
  SimDatabase database_{us_, disk_};
  store::EmbeddedStore store_{us_, database_, "boot"};
  store::SoleLeadership alone_{us_, &store_};
  FakeExecutor executor_;
  PlanRunner runner_;
};

/// A member is rebuilt while the agent dies at any write and at any time, and others fall ill.
class Schedule {
 public:
  explicit Schedule(World& world) : sim_(world) {
    disk_.set_latency(Duration(sim_.random().below(20'000'000)));
    begin_life();
  }

  void play() {
    for (int i = 0; i < 800 && !life_->over(); ++i) {
      if (i < 200) happen();
      if (i == 200) calm_down();
      if (sim_.run_until([&] { return disk_.died(); }, 500ms)) die();
      life_->look(since_);
      if (sim_.random().chance(0.3)) life_->rule();
    }
  }

  void verify() {
    EXPECT_TRUE(life_->over());
    EXPECT_TRUE(site_.joined);
    EXPECT_FALSE(site_.listed);
    EXPECT_EQ(site_.kicks, 1);
    EXPECT_EQ(site_.rejoins, 1);
    life_.reset();
    disk_.restart();
    SimDatabase database(us_, disk_);
    const auto verdict = run_task(sim_, us_, store::verify_journal(&us_, &database));
    ASSERT_TRUE(verdict) << verdict.error().describe();
    EXPECT_FALSE(verdict->fault) << *verdict->fault;
  }

 private:
  void calm_down() {
    site_.other_ill = site_.back = false;
    site_.acts = site_.calm = true;
    life_->reload();
  }
  void begin_life() { life_ = std::make_unique<Life>(sim_, us_, disk_, site_); }
  void die() {
    life_.reset();
    sim_.run_for(Duration(sim_.random().below(20'000'000'000)));
    begin_life();
  }
  void happen() {
    switch (sim_.random().below(20)) {
      case 0:
      case 1: disk_.die_before(1 + sim_.random().below(8)); break;
      case 2: die(); break;
      case 3:
        if (!site_.other_ill) site_.ill_since = sim_.now();
        site_.other_ill = !site_.other_ill;
        break;
      case 4:
        if (!site_.listed) break;
        if (!site_.back) site_.back_since = sim_.now();
        site_.back = !site_.back;
        break;
      case 5:
        if (site_.acts) site_.forbidden_since = sim_.now();
        site_.acts = !site_.acts;
        life_->reload();
        break;
      default: break;
    }
  }

  World& sim_;
  SimRuntime& us_ = sim_.host("us");
  SimDisk disk_;
  FakeSite site_;
  std::unique_ptr<Life> life_;
  TimePoint since_ = us_.now() - 1h;
};

SIM_TEST_SEEDS(SimPlans, AMemberIsKickedAndRejoinedOnceWhenTheAgentDiesAtAnyWrite, 300) {
  Schedule schedule(sim);
  schedule.play();
  schedule.verify();
}

}  // namespace
}  // namespace wardmote::act
