// Several agents on one store, which die, hang and lose the store at any time: people are told of
// everything once, whoever leads.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "act/notify/channel.h"
#include "agent/coordination/coordination.h"
#include "agent/domains.h"
#include "incidents/change_feed.h"
#include "incidents/incident_manager.h"
#include "sim/seeds.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"

namespace wardmote::agent {
namespace {

using act::notify::DeliveryResult;
using judge::notify::Notice;
using judge::notify::NoticeItem;
using judge::notify::NoticeKind;
using runtime::Deadline;
using runtime::Task;
using sim::SimDatabase;
using sim::SimDisk;
using sim::SimRuntime;
using sim::World;
using namespace std::chrono_literals;

constexpr observe::ProbeKind kFakeKind{"fake", "a fake", {}, nullptr};
constexpr const char* kChecks[] = {"bird", "web"};
constexpr int kAgents = 3;

/// One that flaps stays open for a while.
constexpr Duration kAllIsOver = 2h;

/// Somebody who is told by whoever leads.
struct Person {
  void hear(const Notice& notice) {
    if (!keys.insert(notice.key()).second) {
      ++repetitions;
      return;
    }
    for (const NoticeItem& item : notice.items) {
      const std::int64_t id = item.incident.id;
      switch (item.kind) {
        case NoticeKind::kOpened:
          EXPECT_FALSE(open[id]) << id << " began twice";
          open[id] = true;
          break;
        case NoticeKind::kResolved:
          EXPECT_TRUE(open[id]) << id << " ended and had not begun";
          open[id] = false;
          break;
        case NoticeKind::kBrief: EXPECT_FALSE(open[id]) << id; break;
        default: EXPECT_TRUE(open[id]) << id << " is not known"; break;
      }
    }
  }

  std::set<std::string> keys;
  int repetitions = 0;  ///< the same notice once more
  std::map<std::int64_t, bool> open;
};

class Line final : public act::notify::Channel {
 public:
  Line(SimRuntime& host, Person& person) : host_(host), person_(person) {}

  Task<DeliveryResult> send(Notice notice, Deadline) override {
    const Duration way(host_.random() % 300'000'000);
    co_await host_.sleep_until(host_.now() + way);
    person_.hear(notice);
    co_await host_.sleep_until(host_.now() + way);
    co_return DeliveryResult();
  }

 private:
  SimRuntime& host_;
  Person& person_;
};

config::Config sample_config(const std::string& node) {
  config::Config config;
  config.node.name = node;
  for (const char* const name : kChecks) {
    config::Check check;
    check.name = name;
    check.kind = &kFakeKind;
    check.schedule.every = 1s;
    config.checks.push_back(std::move(check));
  }
  return config;
}

incidents::NotifierOptions receivers(SimRuntime& host, Person& person) {
  incidents::NotifierOptions options;
  judge::notify::Route route;
  route.receiver = "person";
  route.group_by = {"root"};
  route.group_wait = 2s;
  route.group_interval = 10s;
  options.policy.routes.push_back(route);
  options.receivers["person"] = {std::make_unique<Line>(host, person), 15s, false};
  return options;
}

/// One life of an agent: what it shares, and what it keeps.
class Life {
 public:
  Life(World& world, SimRuntime& host, const std::string& node, SimDisk& own, SimDisk& shared,
       Person& person)
      : us(host),
        world_(world),
        config_(sample_config(node)),
        own_database_(host, own),
        own_(host, own_database_, "boot"),
        database_(host, shared),
        store_(host, database_, "boot", {.look_every = 500ms}),
        agents_(host, store_, 6s, {.node = node, .boot = "boot"}),
        incidents_(host, &store_, agents_.leadership(), config_, node, feed_,
                   receivers(host, person), depends_of(domains()), &own_) {
    EXPECT_TRUE(run_task(world, us, own_.open()));
    feed_.listen(
        [this](const judge::Change& change, const serve::ChangeText&) { incidents_.hear(change); });
    EXPECT_TRUE(run_task(world, us, incidents_.open()));
    agents_.start(incidents_);
  }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;
  ~Life() {
    us.resume();
    world_.run(us, incidents_.stop());
    world_.run(us, agents_.resign());
  }

  void check(const std::string& name, bool fails) {
    using enum judge::State;
    feed_.tell({judge::ThingKind::kCheck, name},
               judge::CheckChanged{fails ? kError : kReported,
                                   fails ? kReported : kHealthy,
                                   {judge::ReasonCode::kRefused, "refused"}});
  }
  [[nodiscard]] std::set<std::string> known() const {
    std::set<std::string> names;
    for (const incidents::KnownFailure& failure : incidents_.known_failures())
      names.insert(failure.name);
    return names;
  }
  [[nodiscard]] bool leads() const { return agents_.election().leads; }
  [[nodiscard]] std::set<std::string> open_roots() const {
    std::set<std::string> roots;
    for (const auto& [id, incident] : incidents_.book().incidents()) {
      if (incident.phase == judge::incident::Phase::kOpen) roots.insert(incident.root);
    }
    return roots;
  }

  SimRuntime& us;

 private:
  World& world_;
  const config::Config config_;
  incidents::ChangeFeed feed_{[this] { return us.wall_now(); }};
  SimDatabase own_database_;
  store::EmbeddedStore own_;
  SimDatabase database_;
  store::EmbeddedStore store_;
  Coordination agents_;
  incidents::IncidentManager incidents_;
};

class Schedule {
 public:
  explicit Schedule(World& world) : sim_(world) {
    for (int i = 0; i < kAgents; ++i) {
      disks_.push_back(std::make_unique<SimDisk>());
      lives_.emplace_back();
      failing_.emplace_back();
      begin_life(i);
    }
  }

  void play() {
    for (int i = 0; i < 30; ++i) {
      happen(static_cast<int>(sim_.random().below(kAgents)));
      const Duration pause(sim_.random().below(15'000'000'000));
      for (const TimePoint end = sim_.now() + pause; sim_.now() < end; sim_.run_for(100ms))
        ASSERT_LE(leaders(), 1);
    }
  }

  void verify() {
    shared_.fail_with({});
    for (int i = 0; i < kAgents; ++i) {
      lives_[i]->us.resume();
      for (const std::string& name : std::set<std::string>(failing_[i])) set(i, name, false);
    }
    const auto over = [&] {
      const bool told = std::ranges::none_of(person_.open, [](auto& each) { return each.second; });
      const bool shown =
          std::ranges::all_of(lives_, [](const auto& life) { return life->open_roots().empty(); });
      return leaders() == 1 && told && shown;
    };
    EXPECT_TRUE(sim_.run_until(over, kAllIsOver)) << "something is open for ever";
    for (const auto& [id, open] : person_.open) EXPECT_FALSE(open) << id;
    EXPECT_LE(person_.repetitions, disturbances_) << "one for each disturbance at most";
  }

 private:
  [[nodiscard]] std::ptrdiff_t leaders() const {
    return std::ranges::count_if(lives_, [](const auto& life) { return life->leads(); });
  }
  void begin_life(int i) {
    const std::string node = "ctl-" + std::to_string(i);
    SimRuntime& us = sim_.process(node + " " + std::to_string(++births_), "host");
    lives_[i] = std::make_unique<Life>(sim_, us, node, *disks_[i], shared_, person_);
    const std::set<std::string> known = lives_[i]->known();
    for (const char* const name : kChecks) {
      if (known.contains(name) != failing_[i].contains(name))
        lives_[i]->check(name, failing_[i].contains(name));
    }
  }
  /// Unless it is killed meanwhile, it goes on then.
  void pause(int i, Duration time) {
    Life* const life = lives_[i].get();
    life->us.pause();
    sim_.schedule(sim_.now() + time, [this, i, life] {
      if (lives_[i].get() == life) life->us.resume();
    });
  }
  void set(int i, const std::string& name, bool fails) {
    fails ? (void)failing_[i].insert(name) : (void)failing_[i].erase(name);
    lives_[i]->check(name, fails);
  }

  void happen(int i) {
    const std::string name = kChecks[sim_.random().below(std::size(kChecks))];
    switch (sim_.random().below(9)) {
      case 0:
        ++disturbances_;
        // Killed: nobody hears of it again.
        lives_[i]->us.pause();
        dead_.push_back(std::move(lives_[i]));
        begin_life(i);
        break;
      case 1:
        ++disturbances_;
        pause(i, Duration(sim_.random().below(20'000'000'000)));
        break;
      case 2:
        ++disturbances_;
        shared_.fail_with(Errc::kClosed);
        sim_.run_for(Duration(sim_.random().below(30'000'000'000)));
        shared_.fail_with({});
        break;
      case 3:
        lives_[i]->us.resume();
        lives_[i].reset();
        begin_life(i);
        break;
      case 4: lives_[i]->us.jump_wall_clock(std::chrono::minutes(7)); break;
      default: set(i, name, !failing_[i].contains(name)); break;
    }
  }

  World& sim_;
  Person person_;
  SimDisk shared_;
  std::vector<std::unique_ptr<SimDisk>> disks_;
  std::vector<std::set<std::string>> failing_;
  int births_ = 0;
  int disturbances_ = 0;
  std::vector<std::unique_ptr<Life>> dead_;
  std::vector<std::unique_ptr<Life>> lives_;
};

SIM_TEST_SEEDS(SimAgents, PeopleAreToldOfEverythingOnceWhoeverLeads, 30) {
  Schedule schedule(sim);
  schedule.play();
  schedule.verify();
}

}  // namespace
}  // namespace wardmote::agent
