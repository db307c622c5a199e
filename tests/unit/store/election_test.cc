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
  ASSERT_TRUE(c.run(c.store().revoke(lease->id, c.us.deadline_in(1min))));
  EXPECT_TRUE(run_until_led(c, 1s));
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

/// A fake: a store of which single renewals get no answer. It keeps to deadlines, as etcd's client
/// does.
class ForgetfulStore final : public Store {
 public:
  ForgetfulStore(SimRuntime& host, Store& below) : host_(host), below_(below) {}

  int unanswered = 0;  ///< so many of the next renewals
  bool grants = true;
  bool reads = true;
  bool resumes = false;  ///< it was away, and nobody noticed
  int lists = 0;
  int lists_fail = 0;             ///< so many of the next
  int lost_answers = 0;           ///< so many of the next transactions are made, and nobody is told
  std::optional<Errc> news_fail;  ///< the next time that somebody asks for them
  std::vector<LeaseId> revoked;

  Task<Result<Found>> get(std::string key, runtime::Deadline deadline) override {
    if (!reads) co_return fail(Errc::kClosed, "no answer to a read");
    auto found = co_await below_.get(std::move(key), deadline);
    co_return found;
  }
  Task<Result<Snapshot>> list(KeyRange keys, runtime::Deadline deadline) override {
    ++lists;
    if (lists_fail > 0) {
      --lists_fail;
      co_return fail(Errc::kClosed, "no answer to a list");
    }
    auto found = co_await below_.list(std::move(keys), deadline);
    co_return found;
  }
  Task<Result<Committed>> put_if(Transaction transaction, runtime::Deadline deadline) override {
    auto done = co_await below_.put_if(std::move(transaction), deadline);
    if (lost_answers > 0) {
      --lost_answers;
      co_return fail(Errc::kClosed, "no answer to a write");
    }
    co_return done;
  }
  std::unique_ptr<Watch> watch(KeyRange keys, Revision from) override {
    return std::make_unique<ForgetfulWatch>(*this, below_.watch(std::move(keys), from));
  }
  Task<Result<Lease>> grant(Duration ttl, runtime::Deadline deadline) override {
    if (!grants) co_return fail(Errc::kClosed, "no lease");
    auto lease = co_await below_.grant(ttl, deadline);
    co_return lease;
  }
  Task<Result<Lease>> keep_alive(LeaseId lease, runtime::Deadline deadline) override {
    if (unanswered > 0) {
      --unanswered;
      co_await host_.sleep_until(deadline.at);
    }
    if (deadline.passed(host_.now())) co_return fail(Errc::kTimeout, "no answer");
    auto kept = co_await below_.keep_alive(lease, deadline);
    co_return kept;
  }
  Task<Result<void>> revoke(LeaseId lease, runtime::Deadline deadline) override {
    revoked.push_back(lease);
    const Result<void> done = co_await below_.revoke(lease, deadline);
    co_return done;
  }

 private:
  class ForgetfulWatch final : public Watch {
   public:
    ForgetfulWatch(ForgetfulStore& store, std::unique_ptr<Watch> below)
        : store_(store), below_(std::move(below)) {}
    [[nodiscard]] bool resumed() const noexcept override { return resumed_; }
    Task<Result<WatchBatch>> next(runtime::Deadline deadline) override {
      resumed_ |= std::exchange(store_.resumes, false);
      if (const auto failed = std::exchange(store_.news_fail, std::nullopt))
        co_return fail(*failed, "no news");
      auto batch = co_await below_->next(deadline);
      co_return batch;
    }

   private:
    ForgetfulStore& store_;
    std::unique_ptr<Watch> below_;
    bool resumed_ = false;
  };

  SimRuntime& host_;
  Store& below_;
};

/// One candidate, alone, at such a store.
class LoneElectionTest : public ::testing::Test {
 protected:
  LoneElectionTest() { EXPECT_TRUE(run_task(world, us, below.open())); }

  World world{1};
  SimDisk disk;
  SimRuntime& us = world.host("us");
  SimDatabase database{us, disk};
  EmbeddedStore below{us, database, "boot"};
  ForgetfulStore store{us, below};
};

TEST_F(LoneElectionTest, WhoGotNoLeaseGivesNoneBack) {
  store.grants = false;
  Election election(us, store, {.candidate = "us", .ttl = kTtl});
  election.start();
  world.run_for(20s);
  EXPECT_FALSE(election.leads());
  EXPECT_TRUE(store.revoked.empty());
  store.grants = true;
  world.run_for(20s);
  EXPECT_TRUE(election.leads());
  world.run(us, election.stop());
  EXPECT_EQ(store.revoked.size(), 1U);
}

// The store was away, and may have another history.
TEST_F(LoneElectionTest, AfterTheStoreWasAwayItLooksAnewAndKeepsItsLead) {
  Election election(us, store, {.candidate = "us", .ttl = kTtl});
  election.start();
  ASSERT_TRUE(world.run_until([&] { return election.leads(); }, 1s));
  const int lists = store.lists;
  store.resumes = true;
  world.run_for(kTtl);
  EXPECT_EQ(store.lists, lists + 1);
  store.resumes = true;
  store.lists_fail = 1;
  ASSERT_TRUE(world.run_until([&] { return election.complaint().has_value(); }, kTtl));
  world.run_for(kTtl);
  EXPECT_EQ(store.lists, lists + 3) << "until it has seen all";
  EXPECT_FALSE(election.complaint());
  EXPECT_TRUE(election.leads());
  EXPECT_TRUE(store.revoked.empty());
  world.run(us, election.stop());
}

TEST_F(LoneElectionTest, AKeyThatIsThereAlthoughNoAnswerCameIsItsOwn) {
  store.lost_answers = 1;
  Election election(us, store, {.candidate = "us", .ttl = kTtl});
  election.start();
  ASSERT_TRUE(world.run_until([&] { return election.leads(); }, 1s));
  EXPECT_TRUE(store.revoked.empty()) << "it did not queue again";
  world.run(us, election.stop());
}

TEST_F(LoneElectionTest, WhoCannotReadItsKeyDoesNotLeadAndSaysWhy) {
  store.reads = false;
  Election election(us, store, {.candidate = "us", .ttl = kTtl});
  election.start();
  for (int i = 0; i < 20; ++i) {
    world.run_for(1s);
    EXPECT_FALSE(election.leads());
    EXPECT_TRUE(election.complaint().value_or("").contains("no answer to a read")) << i;
  }
  store.reads = true;
  ASSERT_TRUE(world.run_until([&] { return election.leads(); }, 2s));
  EXPECT_FALSE(election.complaint());
  world.run(us, election.stop());
}

TEST_F(LoneElectionTest, ARenewalWithoutAnAnswerIsGivenUpInTimeForAnother) {
  Election election(us, store, {.candidate = "us", .ttl = kTtl});
  std::vector<bool> told;
  election.listen([&](bool leads) { told.push_back(leads); });
  election.start();
  world.run_for(5s);
  const std::string key = election.own_key();
  world.run_for(1min);
  EXPECT_EQ(told, std::vector<bool>{true});
  for (int i = 0; i < 10; ++i) {
    store.unanswered = 1;
    world.run_for(10s);
  }
  // It stops at two thirds of the lease, and goes on as soon as an answer comes: the lease held.
  EXPECT_TRUE(election.leads());
  EXPECT_EQ(election.own_key(), key);
  store.unanswered = 5;
  world.run_for(30s);
  EXPECT_TRUE(election.leads());
  EXPECT_NE(election.own_key(), key) << "so many in a row are the end of a lease";
  world.run(us, election.stop());
}

TEST_F(LoneElectionTest, WhoGetsNoNewsForAMomentDoesNotWaitForTheNextRenewal) {
  Election election(us, store, {.candidate = "us", .ttl = 10min});
  election.start();
  world.run_for(5s);
  std::size_t known = 1;
  for (const Errc error : {Errc::kClosed, Errc::kMissing}) {
    store.news_fail = error;
    // The first one is still waited for as before.
    for (int i = 0; i < 2; ++i) {
      Transaction stand;
      stand.changes.emplace_back(Put{"leader/ffff" + std::to_string(known), "somebody"});
      ASSERT_TRUE(run_task(world, us, below.put_if(std::move(stand), us.deadline_in(1min))));
      world.run_for(2s);
      EXPECT_EQ(election.candidates().size(), ++known);
    }
  }
  world.run(us, election.stop());
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
  for (int round = 0; round < 30; ++round) {
    Agent& one = *agents[sim.random().below(agents.size())];
    switch (sim.random().below(5)) {
      case 0: one.us.pause_for(std::chrono::milliseconds(sim.random().below(15'000))); break;
      case 1: one.us.jump_wall_clock(std::chrono::hours(1)); break;
      case 2: one.us.starve_for(5s, std::chrono::milliseconds(sim.random().below(3000))); break;
      case 3:
        one.us.resume();
        one.stop();
        one.start();
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
  EXPECT_TRUE(sim.run_until([&] { return leaders() == 1; }, 30s));
}

}  // namespace
}  // namespace wardmote::store
