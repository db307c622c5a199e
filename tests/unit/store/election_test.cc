#include "store/election.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/log.h"
#include "runtime/task.h"
#include "sim/seeds.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "support/logged.h"

namespace wardmote::store {
namespace {

using runtime::Task;
using sim::SimDatabase;
using sim::SimDisk;
using sim::SimRuntime;
using sim::World;
using namespace std::chrono_literals;

constexpr Duration kTtl = 6s;

/// An agent of which only what elects is there, in a process of its own on the common disk.
class Agent {
 public:
  Agent(World& world, SimDisk& disk, const std::string& name)
      : us(world.process(name, "host")), world_(world), disk_(disk), name_(name) {
    start();
  }
  ~Agent() {
    us.resume();
    stop();
  }
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  void start() {
    database_ = std::make_unique<SimDatabase>(us, disk_);
    store_ = std::make_unique<EmbeddedStore>(us, *database_, "boot");
    const Result<void> opened = run_task(world_, us, store_->open());
    EXPECT_TRUE(opened);
    election =
        std::make_unique<Election>(us, *store_, ElectionOptions{.candidate = name_, .ttl = kTtl});
    election->listen([this](bool leads) { told.push_back(leads); });
    election->start();
  }
  void stop() {
    if (election) world_.run(us, election->stop());
    election.reset();
  }
  [[nodiscard]] bool leads() const { return election && election->leads(); }
  Store& store() { return *store_; }
  template <class T>
  T run(Task<T> task) {
    return run_task(world_, us, std::move(task));
  }
  [[nodiscard]] bool fence_holds() {
    Transaction write;
    write.conditions.push_back(*election->fence());
    return run(store_->put_if(std::move(write), us.deadline_in(1min))).value().held;
  }

  SimRuntime& us;
  std::unique_ptr<Election> election;
  std::vector<bool> told;

 private:
  World& world_;
  SimDisk& disk_;
  const std::string name_;
  std::unique_ptr<SimDatabase> database_;
  std::unique_ptr<EmbeddedStore> store_;
};

class ElectionTest : public ::testing::Test {
 protected:
  [[nodiscard]] int leaders() const {
    return static_cast<int>(a.leads()) + static_cast<int>(b.leads()) + static_cast<int>(c.leads());
  }
  /// Runs, and looks all the while that there are never two.
  void run_for(Duration time) {
    for (const TimePoint end = world.now() + time; world.now() < end; world.run_for(20ms))
      ASSERT_LE(leaders(), 1);
  }
  /// As a person does who knows nothing of leases.
  void write_over(const std::string& key) {
    Transaction change;
    change.changes.emplace_back(Put{key, "mine"});
    ASSERT_TRUE(c.run(c.store().put_if(std::move(change), c.us.deadline_in(1min))));
  }
  bool run_until_led(const Agent& by, Duration limit) {
    return world.run_until([&] { return by.leads(); }, limit);
  }

  testing::Logged logged;
  World world{1};
  SimDisk disk;
  Agent a{world, disk, "a"};
  Agent b{world, disk, "b"};
  Agent c{world, disk, "c"};
};

TEST_F(ElectionTest, TheFirstInTheQueueLeadsAndTheOthersKnowIt) {
  ASSERT_TRUE(world.run_until([&] { return leaders() == 1; }, 5s));
  run_for(30s);
  ASSERT_TRUE(a.leads());
  for (const Agent* one : {&a, &b, &c}) {
    const auto queue = one->election->candidates();
    ASSERT_EQ(queue.size(), 3U);
    EXPECT_EQ(queue.front().name, "a");
    EXPECT_EQ(queue.front().key, a.election->own_key());
    EXPECT_FALSE(one->election->complaint());
  }
  EXPECT_EQ(a.told, std::vector<bool>{true}) << "renewals are no news";
  EXPECT_EQ(logged.count("leads key=" + a.election->own_key()), 1);
  EXPECT_TRUE(a.fence_holds());
  EXPECT_FALSE(b.fence_holds()) << "before it has led it writes nothing";
}

TEST_F(ElectionTest, WhoStopsHandsOverAtOnce) {
  ASSERT_TRUE(run_until_led(a, 5s));
  run_for(2s);
  const TimePoint begun = world.now();
  a.stop();
  ASSERT_TRUE(run_until_led(b, 5s)) << "FIFO";
  EXPECT_LT(world.now() - begun, 200ms);
}

TEST_F(ElectionTest, WhoIsKilledIsSucceededWithinTheLease) {
  ASSERT_TRUE(run_until_led(a, 5s));
  run_for(7s);
  const TimePoint begun = world.now();
  a.us.pause();  // for ever: others cannot tell it from a kill
  ASSERT_TRUE(run_until_led(b, 20s));
  EXPECT_GE(world.now() - begun, kTtl / 3);
  EXPECT_LE(world.now() - begun, kTtl + 500ms);
  run_for(20s);
}

TEST_F(ElectionTest, WhoIsPausedHasStoppedBeforeTheNextBegins) {
  ASSERT_TRUE(run_until_led(a, 5s));
  run_for(3s);
  a.us.pause();
  // It stops without running: by the clock alone.
  run_for(kTtl * 2 / 3 + 20ms);
  EXPECT_FALSE(a.leads());
  ASSERT_TRUE(run_until_led(b, 20s));
  run_for(10s);
  a.us.resume();
  run_for(10s);
  EXPECT_TRUE(b.leads());
  EXPECT_FALSE(a.fence_holds());
  EXPECT_EQ(a.told, (std::vector<bool>{true, false}));
  EXPECT_EQ(a.election->candidates().size(), 3U) << "it stands at the end of the queue";
}

TEST_F(ElectionTest, AShortPauseIsNoLossButTold) {
  ASSERT_TRUE(run_until_led(a, 5s));
  run_for(kTtl);
  a.us.pause_for(kTtl * 5 / 6 - 2s);
  run_for(3s);
  EXPECT_TRUE(a.leads());
  EXPECT_FALSE(b.leads());
}

TEST_F(ElectionTest, WhoseKeyIsTakenAwayStopsAndQueuesAgain) {
  ASSERT_TRUE(run_until_led(a, 5s));
  run_for(3s);
  Transaction steal;
  steal.changes.emplace_back(Erase{KeyRange::one(a.election->own_key())});
  ASSERT_TRUE(c.run(c.store().put_if(std::move(steal), c.us.deadline_in(1min))));
  ASSERT_TRUE(world.run_until([&] { return !a.leads(); }, 500ms));
  EXPECT_EQ(logged.count("leads_no_more key="), 1);
  EXPECT_EQ(logged.levels("election_left"), std::vector{LogLevel::kWarning});
  ASSERT_TRUE(run_until_led(b, 1s));
  run_for(10s);
  EXPECT_EQ(b.election->candidates().back().name, "a");
}

TEST_F(ElectionTest, ACandidateWhoseLeaseWasRevokedDoesNotLeadWhenItsTurnComes) {
  ASSERT_TRUE(run_until_led(a, 5s));
  run_for(1s);
  const auto own = b.run(b.store().get(b.election->own_key(), b.us.deadline_in(1min)));
  ASSERT_TRUE(c.run(c.store().revoke(own->key->lease, c.us.deadline_in(1min))));
  a.stop();
  ASSERT_TRUE(run_until_led(c, 5s));
  run_for(10s);
  EXPECT_TRUE(c.leads());
  EXPECT_EQ(c.election->candidates().back().name, "b") << "it queues again";
}

TEST_F(ElectionTest, AForeignCandidateIsWaitedForAndShown) {
  ASSERT_TRUE(run_until_led(a, 5s));
  const auto lease = c.run(c.store().grant(1h, c.us.deadline_in(1min)));
  Transaction stand;
  stand.changes.emplace_back(Put{"leader/694d7", "somebody", lease->id});
  b.stop();
  c.stop();
  ASSERT_TRUE(c.run(c.store().put_if(std::move(stand), c.us.deadline_in(1min))));
  c.start();
  run_for(1s);
  a.stop();
  run_for(10s);
  EXPECT_FALSE(c.leads());
  EXPECT_EQ(c.election->candidates().front().name, "somebody");
  EXPECT_EQ(c.election->another_leads(), "another agent leads: somebody");
  ASSERT_TRUE(c.run(c.store().revoke(lease->id, c.us.deadline_in(1min))));
  EXPECT_TRUE(run_until_led(c, 1s));
  EXPECT_EQ(c.election->another_leads(), "another agent leads") << "it is first itself";
}

// Its key would outlive its lease, and nobody lead for ever.
TEST_F(ElectionTest, WhoseKeyIsWrittenOverStopsAndQueuesAgain) {
  ASSERT_TRUE(run_until_led(a, 5s));
  run_for(1s);
  write_over(a.election->own_key());
  ASSERT_TRUE(world.run_until([&] { return !a.leads(); }, 500ms));
  ASSERT_TRUE(run_until_led(b, 1s));
  run_for(10s);
  EXPECT_EQ(b.election->candidates().back().name, "a");
  EXPECT_EQ(b.election->candidates().size(), 3U) << "the old key is gone";
}

TEST_F(ElectionTest, AKeyWithoutALeaseLeadsNobodyAndIsRemovedWhenItsOwnerMustHaveStopped) {
  ASSERT_TRUE(run_until_led(a, 5s));
  run_for(1s);
  a.us.pause_for(2min);
  write_over(a.election->own_key());
  run_for(1s);
  EXPECT_FALSE(b.election->is_led());
  EXPECT_FALSE(b.election->candidates().front().leased);
  EXPECT_TRUE(b.election->candidates().back().leased);
  EXPECT_EQ(b.election->another_leads(), "no agent is known to lead");
  run_for(28s);
  EXPECT_FALSE(b.leads()) << "as long as another may";
  run_for(10s);
  EXPECT_TRUE(b.leads());
  EXPECT_EQ(b.election->candidates().size(), 2U);
  EXPECT_GE(logged.count("candidate_removed key=leader/"), 1);
}

TEST_F(ElectionTest, WhoGivesUpStandsBehindTheOthers) {
  ASSERT_TRUE(run_until_led(a, 5s));
  b.election->give_up({Errc::kDenied, "permission denied"});
  run_for(5s);
  EXPECT_TRUE(a.leads()) << "b did not lead";
  a.election->give_up({Errc::kDenied, "permission denied"});
  run_for(5s);
  EXPECT_TRUE(b.leads());
  EXPECT_EQ(b.election->candidates().back().name, "a");
}

TEST_F(ElectionTest, AQueueThatWasNotConfirmedForLongIsNotKnown) {
  EXPECT_FALSE(c.election->is_led());
  EXPECT_EQ(c.election->another_leads(), "no agent is known to lead");
  ASSERT_TRUE(run_until_led(a, 5s));
  run_for(1s);
  EXPECT_TRUE(c.election->is_led());
  c.us.pause();
  run_for(20s);
  EXPECT_FALSE(c.election->is_led());
  EXPECT_EQ(c.election->another_leads(), "no agent is known to lead");
}

TEST_F(ElectionTest, AStoreThatIsAwayForMinutesStopsAllAndThenOneLeads) {
  ASSERT_TRUE(run_until_led(a, 5s));
  disk.fail_with(Errc::kClosed);
  run_for(kTtl);
  EXPECT_EQ(leaders(), 0);
  EXPECT_TRUE(a.election->complaint());
  run_for(2min);
  EXPECT_EQ(leaders(), 0);
  for (const Agent* one : {&a, &b, &c}) EXPECT_TRUE(one->election->complaint());
  disk.fail_with({});
  for (const Agent* one : {&a, &b, &c}) {
    const auto stands = [one] { return !one->election->own_key().empty(); };
    ASSERT_TRUE(world.run_until(stands, kTtl + 3s));
    run_for(100ms);
    EXPECT_FALSE(one->election->complaint()) << "before the first renewal is due";
  }
  ASSERT_TRUE(world.run_until([&] { return leaders() == 1; }, kTtl + 3s));
  run_for(20s);
  EXPECT_EQ(leaders(), 1);
}

TEST_F(ElectionTest, AStoreThatRefusesARenewalForAMomentEndsNoLease) {
  ASSERT_TRUE(run_until_led(a, 5s));
  const std::string key = a.election->own_key();
  for (int i = 0; i < 10; ++i) {
    disk.fail_with(Errc::kClosed);
    run_for(600ms);
    disk.fail_with({});
    run_for(1100ms);
  }
  disk.fail_with(Errc::kClosed);
  run_for(2500ms);
  EXPECT_TRUE(a.election->complaint()) << "a renewal was due";
  disk.fail_with({});
  run_for(1500ms);
  EXPECT_FALSE(a.election->complaint());
  EXPECT_TRUE(a.leads());
  EXPECT_EQ(a.election->own_key(), key);
  EXPECT_EQ(a.told, std::vector<bool>{true});
}

TEST_F(ElectionTest, WhatIsKnownOfTheQueueIsConfirmedByEachRenewalAndByAllNews) {
  ASSERT_TRUE(run_until_led(a, 5s));
  ASSERT_TRUE(a.election->confirmed()) << "by the list, before anything else is heard";
  run_for(1min);
  EXPECT_LE(world.now() - *a.election->confirmed(), kTtl / 3 + 100ms);
  for (int i = 0; i < 3; ++i) {
    b.stop();
    ASSERT_TRUE(world.run_until([&] { return a.election->candidates().size() == 2; }, 5s));
    EXPECT_LE(a.us.now() - *a.election->confirmed(), 20ms);
    b.start();
    run_for(700ms);
  }
}

/// Whoever leads dies after a second; those behind him have a lease each, and lead as they came.
TEST(ElectionStorm, TenCandidatesLeadInTheOrderInWhichTheyCame) {
  World world(1);
  SimDisk disk;
  std::vector<std::size_t> led;
  std::vector<std::unique_ptr<Agent>> agents;
  constexpr std::size_t kMany = 10;
  for (std::size_t i = 0; i < kMany; ++i) {
    agents.push_back(std::make_unique<Agent>(world, disk, fmt::format("agent {}", i)));
    const auto stands = [&] { return !agents.back()->election->own_key().empty(); };
    ASSERT_TRUE(world.run_until(stands, 5s));
    world.run_for(500ms);
  }
  for (std::size_t i = 0; i < kMany; ++i) {
    agents[i]->election->listen([&led, i](bool leads) {
      if (leads) led.push_back(i);
    });
  }
  ASSERT_TRUE(agents[0]->leads());
  std::size_t killed = 0;
  for (TimePoint next = world.now(); killed < kMany - 1; world.run_for(10ms)) {
    const auto leads = [](const auto& agent) { return agent->leads(); };
    ASSERT_LE(std::ranges::count_if(agents, leads), 1);
    if (world.now() < next || !agents[killed]->leads()) continue;
    const TimePoint died = world.now();
    agents[killed]->us.pause();
    ASSERT_TRUE(world.run_until([&] { return agents[killed + 1]->leads(); }, kTtl + 500ms));
    EXPECT_GE(world.now() - died, kTtl / 3);
    ++killed;
    next = world.now() + 1s;
  }
  world.run_for(20s);
  EXPECT_EQ(led, (std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_TRUE(agents.back()->leads());
}

SIM_TEST_SEEDS(SimElection, NeverTwoLeadAndAlwaysSomebodyDoesAgain, 40) {
  SimDisk disk;
  std::vector<std::unique_ptr<Agent>> agents;
  for (int i = 0; i < 4; ++i) {
    agents.push_back(std::make_unique<Agent>(sim, disk, fmt::format("agent {}", i)));
  }
  const auto leaders = [&] {
    return std::ranges::count_if(agents, [](const auto& agent) { return agent->leads(); });
  };
  SimRuntime& person = sim.process("person", "host");
  SimDatabase database(person, disk);
  EmbeddedStore by_hand(person, database, "boot");
  ASSERT_TRUE(run_task(sim, person, by_hand.open()));
  const auto write_over = [&](const std::string& key) {
    Transaction change;
    change.changes.emplace_back(Put{key, "mine"});
    ASSERT_TRUE(run_task(sim, person, by_hand.put_if(std::move(change), person.deadline_in(1min))));
  };
  for (int round = 0; round < 30; ++round) {
    Agent& one = *agents[sim.random().below(agents.size())];
    switch (sim.random().below(6)) {
      case 0: one.us.pause_for(std::chrono::milliseconds(sim.random().below(15'000))); break;
      case 1: one.us.jump_wall_clock(std::chrono::hours(1)); break;
      case 2: one.us.starve_for(5s, std::chrono::milliseconds(sim.random().below(3000))); break;
      case 3:
        one.us.resume();
        one.stop();
        one.start();
        break;
      case 4:
        if (!one.election->own_key().empty()) write_over(one.election->own_key());
        break;
      default:
        disk.fail_with(Errc::kClosed);
        sim.run_for(std::chrono::milliseconds(sim.random().below(10'000)));
        disk.fail_with({});
    }
    const Duration pause = std::chrono::milliseconds(sim.random().below(8'000));
    for (const TimePoint end = sim.now() + pause; sim.now() < end; sim.run_for(10ms))
      ASSERT_LE(leaders(), 1) << "round " << round;
  }
  for (const auto& agent : agents) agent->us.resume();
  EXPECT_TRUE(sim.run_until([&] { return leaders() == 1; }, 60s));
}

}  // namespace
}  // namespace wardmote::store
