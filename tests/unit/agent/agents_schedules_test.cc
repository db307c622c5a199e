// Several agents on one store, which die, hang and lose the store at any time: people are told of
// everything once, whoever leads.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
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
#include "agent/ovn/shared_servers.h"
#include "incidents/change_feed.h"
#include "incidents/incident_manager.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/raft/sighting.h"
#include "sim/seeds.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/agent_record.h"
#include "store/embedded_store.h"
#include "unit/agent/two_lives.h"

namespace wardmote::agent {
namespace {

constexpr int kAgents = 3;

/// One that flaps stays open for a while.
constexpr Duration kAllIsOver = 2h;
/// A failure is an incident by then, whoever led when it began.
constexpr Duration kAllIsKnown = 90s;
/// What has failed for so long is not said to be good, however late the notice is.
constexpr Duration kLongAgo = 60s;
/// After a start.
constexpr Duration kFirstLook = 3s;

class Schedule {
 public:
  explicit Schedule(World& world) : sim_(world) {
    person_.fails_for_long = [this](const std::string& root) {
      const auto found = failing_since_.find(root);
      return found != failing_since_.end() && sim_.now() - found->second > kLongAgo;
    };
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
    for (const auto& life : lives_) life->us.resume();
    const auto known = [&] {
      return std::ranges::any_of(lives_, [&](const auto& life) {
        const std::set<std::string> open = life->open_roots();
        // Five of these few at once are one, which stands for all.
        const bool storm = std::ranges::any_of(
            open, [](const std::string& root) { return root.starts_with("storm:"); });
        return life->leads() && std::ranges::all_of(failing_since_, [&](const auto& each) {
                 const std::string node = "node:" + each.first.substr(each.first.find('@') + 1);
                 return open.contains(each.first) || open.contains(node) || storm;
               });
      });
    };
    EXPECT_TRUE(sim_.run_until(known, kAllIsKnown)) << "a failure is no incident";
    for (int i = 0; i < kAgents; ++i) {
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
    lives_[i] = std::make_unique<SharingLife>(sim_, us, node, *disks_[i], shared_, person_);
    const std::set<std::string> known = lives_[i]->known();
    for (const char* const name : kSharedChecks) {
      const bool fails = failing_[i].contains(name);
      if (known.contains(name) != fails) lives_[i]->check(name, fails);
      if (!known.contains(name) && !fails) lives_[i]->find_good(name);
    }
    sim_.schedule(sim_.now() + kFirstLook, [this, i, life = lives_[i].get()] {
      if (lives_[i].get() != life) return;
      for (const std::string& name : failing_[i]) life->fail_again(name);
    });
  }
  /// Unless it is killed meanwhile, it goes on then.
  void pause(int i, Duration time) {
    SharingLife* const life = lives_[i].get();
    life->us.pause();
    sim_.schedule(sim_.now() + time, [this, i, life] {
      if (lives_[i].get() == life) life->us.resume();
    });
  }
  void set(int i, const std::string& name, bool fails) {
    fails ? (void)failing_[i].insert(name) : (void)failing_[i].erase(name);
    const std::string root = "check:" + name + "@ctl-" + std::to_string(i);
    fails ? (void)failing_since_.try_emplace(root, sim_.now()) : (void)failing_since_.erase(root);
    lives_[i]->check(name, fails);
  }

  void happen(int i) {
    const std::string name = kSharedChecks[sim_.random().below(std::size(kSharedChecks))];
    switch (sim_.random().below(10)) {
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
      case 5: {
        // What an agent says is taken away, although it lives.
        const char* const parts[] = {"", "presence", "symptoms", "agent"};
        lives_[i]->erase(std::string(store::kAgentPrefix) + "ctl-" + std::to_string(i) + "/" +
                         parts[sim_.random().below(std::size(parts))]);
        break;
      }
      default: set(i, name, !failing_[i].contains(name)); break;
    }
  }

  World& sim_;
  ToldPerson person_;
  SimDisk shared_;
  std::vector<std::unique_ptr<SimDisk>> disks_;
  std::vector<std::set<std::string>> failing_;
  std::map<std::string, TimePoint> failing_since_;  ///< by the root of the incident
  int births_ = 0;
  int disturbances_ = 0;
  std::vector<std::unique_ptr<SharingLife>> dead_;
  std::vector<std::unique_ptr<SharingLife>> lives_;
};
SIM_TEST_SEEDS(SimAgents, PeopleAreToldOfEverythingOnceWhoeverLeads, 30) {
  Schedule schedule(sim);
  schedule.play();
  schedule.verify();
}

}  // namespace
}  // namespace wardmote::agent
