// Two agents share a store. The lead goes from one to the other at any moment: between any two
// steps of a plan, and in the middle of one.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

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
#include "store/store.h"
#include "unit/act/fake_leadership.h"
#include "unit/act/fake_site.h"

namespace wardmote::act {
namespace {

using judge::plan::PlanState;
using sim::SimDatabase;
using sim::SimDisk;
using sim::SimRuntime;
using sim::World;
using namespace std::chrono_literals;

/// The steps that change something, of which no two agents may be inside one at a time.
bool changes(const std::string& step) {
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
    const bool alone = changes(request.step);
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
class Agent {
 public:
  Agent(World& world, const std::string& name, Shared& shared, bool follows = false)
      : world_(world),
        host_(world.host(name)),
        shared_(shared),
        executor_(host_, shared, leadership_),
        runner_(host_, {&journal_, &store_, leadership_, follows}, sample_config().setup(),
                executor_,
                {.look = [](const judge::ThingId&) {},
                 .tell = [](const judge::ThingId&, const judge::Event&) {},
                 .storm = [] { return false; },
                 .incident = [](const judge::ThingId&) { return 0; }}) {
    const Result<void> opened = run_task(world_, host_, runner_.open());
    EXPECT_TRUE(opened) << opened.error().describe();
  }
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  ~Agent() { world_.run(host_, runner_.stop()); }

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

class Schedule {
 public:
  explicit Schedule(World& world) : sim_(world) {
    shared_.disk.set_latency(Duration(sim_.random().below(20'000'000)));
    agents_.front()->win();
  }

  void play() {
    for (int i = 0; i < 1000 && !over(); ++i) {
      if (i < 300) happen();
      if (i == 300) shared_.site.calm = true;
      sim_.run_for(Duration(sim_.random().below(500'000'000)));
      for (const auto& agent : agents_) agent->look(since_);
      if (sim_.random().chance(0.3)) agents_[sim_.random().below(2)]->rule();
    }
  }

  void verify() {
    EXPECT_TRUE(over());
    EXPECT_TRUE(shared_.site.joined);
    EXPECT_FALSE(shared_.site.listed);
    EXPECT_EQ(shared_.site.kicks, 1);
    EXPECT_EQ(shared_.site.rejoins, 1);
  }

 private:
  [[nodiscard]] bool over() const { return agents_[0]->over() || agents_[1]->over(); }

  void happen() {
    switch (sim_.random().below(12)) {
      case 0: {
        // The lease ends, nobody leads for a while, and the other or the same one wins it.
        agents_[leader_]->lose();
        sim_.run_for(Duration(sim_.random().below(3'000'000'000)));
        leader_ = sim_.random().below(2);
        agents_[leader_]->win();
        break;
      }
      case 1: {
        // The fence is gone before the leader notices.
        (void)agents_[leader_]->take_fence();
        sim_.run_for(Duration(sim_.random().below(2'000'000'000)));
        agents_[leader_]->lose();
        leader_ = 1 - leader_;
        agents_[leader_]->win();
        break;
      }
      default: break;
    }
  }

  World& sim_;
  Shared shared_;
  std::vector<std::unique_ptr<Agent>> agents_ = make_agents();
  std::size_t leader_ = 0;
  TimePoint since_ = sim_.now() - 1h;

  std::vector<std::unique_ptr<Agent>> make_agents() {
    std::vector<std::unique_ptr<Agent>> agents;
    for (const char* const name : {"ctl-8", "ctl-9"})
      agents.push_back(std::make_unique<Agent>(sim_, name, shared_));
    return agents;
  }
};

SIM_TEST_SEEDS(SimPlans, OneOfTwoAgentsActsAtATimeWheneverTheLeadIsLost, 100) {
  Schedule schedule(sim);
  schedule.play();
  schedule.verify();
}

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
  static const judge::plan::Plan& plan(const Agent& agent) {
    return agent.runner().planner().plans().at(1);
  }

  World world_{1};
  Shared shared_;
  TimePoint since_ = world_.now() - 1h;
  Agent a_{world_, "a", shared_};
  Agent b_{world_, "b", shared_};
};

TEST_F(PlanLeadership, WhoDoesNotLeadPlansNothingAndTakesNoOrders) {
  EXPECT_EQ(plan(a_).state, PlanState::kProposed);
  EXPECT_TRUE(b_.runner().planner().plans().empty());
  EXPECT_EQ(b_.runner().frozen(), "another agent leads");
  EXPECT_TRUE(b_.disk().rows("SELECT 1 FROM journal").empty());
}

TEST_F(PlanLeadership, AnotherAgentGoesOnWithTheSamePlanByLooking) {
  shared_.site.calm = true;
  a_.rule();
  for (int i = 0; i < 40 && shared_.site.kicks == 0; ++i) watch(500ms);
  ASSERT_EQ(shared_.site.kicks, 1);
  a_.lose();
  watch(5s);
  const int acts = shared_.acts;
  watch(30s);
  EXPECT_EQ(shared_.acts, acts) << "nobody leads";
  b_.win();
  watch(60s);
  EXPECT_EQ(plan(b_).state, PlanState::kDone) << plan(b_).reason;
  EXPECT_EQ(shared_.site.kicks, 1);
  EXPECT_EQ(shared_.site.rejoins, 1);
  EXPECT_NE(plan(a_).state, PlanState::kDone) << "it knows what it knew";
  b_.lose();
  a_.win();
  watch(2s);
  EXPECT_EQ(plan(a_).state, PlanState::kDone) << "it has read what the other did";
}

TEST_F(PlanLeadership, WhoFollowsShowsEveryPlanOfTheLeaderAsItGoesOn) {
  Agent c(world_, "c", shared_, true);
  EXPECT_EQ(plan(c).state, PlanState::kProposed);
  shared_.site.calm = true;
  a_.rule();
  watch(60s);
  ASSERT_EQ(plan(a_).state, PlanState::kDone) << plan(a_).reason;
  EXPECT_EQ(plan(c).state, PlanState::kDone) << "read more than once";
}

TEST_F(PlanLeadership, APauseHoldsWhoeverLeads) {
  a_.pause();
  a_.rule();
  watch(2s);
  a_.lose();
  b_.win();
  watch(20s);
  EXPECT_EQ(plan(b_).reason, "everything is paused by ann");
  EXPECT_EQ(shared_.acts, 0);
}

// Its own clock on the wall said that the hour was over.
TEST_F(PlanLeadership, APauseWithAnEndHoldsWhateverClockLeads) {
  ASSERT_TRUE(a_.runner().pause("", 1h, "ann"));
  a_.rule();
  watch(2s);
  a_.lose();
  b_.host().jump_wall_clock(2h);
  b_.win();
  watch(20s);
  EXPECT_EQ(plan(b_).reason, "everything is paused by ann");
  EXPECT_EQ(shared_.acts, 0);
  watch(1h);
  EXPECT_NE(plan(b_).reason, "everything is paused by ann");
}

TEST_F(PlanLeadership, ADoubtWhetherOrdersAreLostPausesEverythingWhoeverLeads) {
  a_.runner().doubt_orders("the store was emptied");
  a_.rule();
  watch(2s);
  constexpr const char* kWhy =
      "everything is paused by the agent: the store was emptied; what somebody paused or rejected "
      "may be lost";
  EXPECT_EQ(plan(a_).reason, kWhy);
  a_.lose();
  b_.win();
  watch(5s);
  EXPECT_EQ(plan(b_).reason, kWhy);
  EXPECT_EQ(shared_.acts, 0);
}

TEST_F(PlanLeadership, WhatAnAgentKnowsToBeLostItKnowsUntilSomebodyHasPausedEverything) {
  Agent c(world_, "c", shared_, true);
  const auto note = c.runner().make_note();
  c.runner().doubt_orders("the store was emptied");
  watch(5s);
  EXPECT_EQ(note->told(), "the store was emptied");
  const auto heard = a_.runner().make_note();
  heard->hear("c", note->told(), world_.now());
  watch(5s);
  EXPECT_TRUE(a_.runner().planner().pauses().contains(""));
  EXPECT_EQ(note->told(), "") << "who leads has seen to it";
  ASSERT_TRUE(a_.runner().resume("", "ann"));
  heard->hear("c", "the store was emptied", world_.now());
  EXPECT_TRUE(a_.runner().planner().pauses().empty()) << "that was said before";
  a_.lose();
  c.win();
  watch(5s);
  EXPECT_TRUE(c.runner().planner().pauses().empty());
}

// Who had heard of it told it on as his own, and paused everything once more when he led.
TEST_F(PlanLeadership, WhatAnotherAgentDoubtedAndSomebodyHasSeenToIsOver) {
  Agent c(world_, "c", shared_, true);
  const auto note = c.runner().make_note();
  a_.runner().doubt_orders("the store was emptied");
  watch(5s);
  note->hear("a", a_.runner().make_note()->told(), world_.now());
  EXPECT_EQ(note->told(), "") << "it is not its own";
  ASSERT_TRUE(a_.runner().resume("", "ann"));
  note->hear("a", a_.runner().make_note()->told(), world_.now());
  watch(5s);
  a_.lose();
  c.win();
  watch(5s);
  EXPECT_TRUE(c.runner().planner().pauses().empty());
}

TEST_F(PlanLeadership, WhatAnotherAgentDoubtedBeforeItWentAwayPausesEverything) {
  Agent c(world_, "c", shared_, true);
  const auto note = c.runner().make_note();
  note->hear("b", "the store was emptied", world_.now());
  note->lose("b", world_.now());
  a_.lose();
  c.win();
  watch(5s);
  ASSERT_TRUE(c.runner().planner().pauses().contains(""));
  EXPECT_EQ(c.runner().planner().pauses().at("").by,
            "the agent: b says: the store was emptied; what somebody paused or rejected may be "
            "lost");
}

TEST_F(PlanLeadership, WhoKnewOfALossBeforeHeLedPausesEverything) {
  b_.runner().doubt_orders("the store was emptied");
  watch(2s);
  EXPECT_TRUE(b_.runner().planner().pauses().empty()) << "another agent leads";
  a_.lose();
  b_.win();
  a_.rule();
  watch(5s);
  EXPECT_TRUE(plan(b_).reason.starts_with("everything is paused by the agent")) << plan(b_).reason;
  EXPECT_EQ(shared_.acts, 0);
}

// The store is away while somebody orders, and whoever led is the one who leads when it is back.
TEST_F(PlanLeadership, AnOrderThatNobodyWillFindAgainPausesEverything) {
  shared_.disk.fail_with(Errc::kTimeout);
  a_.pause();
  watch(2s);
  a_.lose();
  shared_.disk.fail_with(std::nullopt);
  a_.win();
  watch(5s);
  ASSERT_TRUE(a_.runner().planner().pauses().contains(""));
  EXPECT_EQ(a_.runner().planner().pauses().at("").by,
            "the agent: 'paused' by ann could not be written down in time; what somebody paused or "
            "rejected may be lost");
  a_.rule();
  watch(5s);
  EXPECT_EQ(shared_.acts, 0);
}

// Nothing changed in the store, so nothing told it, and it showed a pause that nobody kept.
TEST_F(PlanLeadership, WhoLeadsNoMoreShowsWhatIsInTheStoreAndNotWhatItCouldNotWrite) {
  Agent c(world_, "c", shared_, true);
  a_.lose();
  c.win();
  watch(5s);
  shared_.disk.fail_with(Errc::kTimeout);
  c.pause();
  watch(1s);
  ASSERT_TRUE(c.runner().planner().pauses().contains(""));
  c.lose();
  shared_.disk.fail_with(std::nullopt);
  watch(5s);
  EXPECT_TRUE(c.runner().planner().pauses().empty());
  EXPECT_EQ(plan(c).state, PlanState::kProposed);
}

// It was answered as if it held, and the next leader carried the plan out.
TEST_F(PlanLeadership, AnOrderThatWaitedUntilTheLeadWasLostIsSaidToBeLost) {
  shared_.disk.set_latency(2s);
  ASSERT_TRUE(a_.runner().pause("", {}, "ann"));
  ASSERT_TRUE(a_.runner().reject(1, "ann", "no"));
  const auto written = a_.runner().written();
  watch(1s);
  a_.lose();
  watch(10s);
  shared_.disk.set_latency({});
  watch(10s);
  EXPECT_EQ(written->fate(), control::Written::Fate::kLost);
}

// A follower reads the emptied store before it leads.
TEST_F(PlanLeadership, WhoSawOrdersThatAreNotInTheStoreAnyMorePausesEverything) {
  Agent c(world_, "c", shared_, true);
  a_.pause();
  watch(5s);
  ASSERT_TRUE(c.runner().planner().pauses().contains(""));
  a_.lose();
  shared_.disk.rows("UPDATE store_meta SET revision = revision + 1");
  for (const char* const table : {"store_kv", "store_lease", "store_event"})
    shared_.disk.rows("DELETE FROM " + std::string(table));
  shared_.disk.rows("UPDATE store_meta SET revision = 1, compacted = 0, last_lease = 0");
  watch(20s);
  c.win();
  watch(5s);
  ASSERT_TRUE(c.runner().planner().pauses().contains(""));
  EXPECT_TRUE(c.runner().planner().pauses().at("").by.starts_with("the agent: the store is empty"))
      << c.runner().planner().pauses().at("").by;
}

TEST_F(PlanLeadership, AStepThatEndsWhenAnotherLeadsIsStillWrittenDown) {
  shared_.site.calm = true;
  a_.rule();
  for (int i = 0; i < 400 && shared_.inside == 0; ++i) watch(100ms);
  ASSERT_EQ(shared_.inside, 1);
  a_.lose();
  b_.win();
  watch(20s);
  EXPECT_EQ(a_.disk().rows("SELECT 1 FROM journal WHERE step = 'kick' AND kind = 'result'").size(),
            1U);
}

TEST_F(PlanLeadership, AStepIsNotBegunWhenAnotherHasLedBetweenItsIntentAndItsAct) {
  shared_.site.calm = true;
  a_.rule();
  const auto intends = [&] {
    return !a_.disk().rows("SELECT 1 FROM journal WHERE kind = 'intent'").empty();
  };
  for (int i = 0; i < 100 && !intends(); ++i) {
    a_.look(since_);
    for (int tick = 0; tick < 100 && !intends(); ++tick) world_.run_for(1ms);
  }
  ASSERT_TRUE(intends());
  const int acts = shared_.acts;
  a_.lose();
  b_.win();
  b_.lose();
  a_.win();
  a_.look(since_);
  world_.run_for(5s);
  EXPECT_EQ(shared_.acts, acts);
  const auto dropped = a_.disk().rows("SELECT detail FROM journal WHERE kind = 'dropped'");
  ASSERT_EQ(dropped.size(), 1U);
  EXPECT_EQ(*dropped.front().text(0), "not done: another agent has led meanwhile");
}

}  // namespace
}  // namespace wardmote::act
