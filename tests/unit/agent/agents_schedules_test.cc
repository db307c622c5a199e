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
/// A failure is an incident by then, whoever led when it began.
constexpr Duration kAllIsKnown = 90s;
/// What has failed for so long is not said to be good, however late the notice is.
constexpr Duration kLongAgo = 60s;

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
          EXPECT_FALSE(fails_for_long(item.incident.root)) << item.incident.root;
          open[id] = false;
          break;
        case NoticeKind::kUnwatched:
          open[id] = false;
          ++unwatched;
          break;
        case NoticeKind::kBrief: EXPECT_FALSE(open[id]) << id; break;
        default: EXPECT_TRUE(open[id]) << id << " is not known"; break;
      }
    }
  }

  /// The truth; set by whoever knows it.
  std::function<bool(const std::string& root)> fails_for_long = [](const std::string&) {
    return false;
  };
  std::set<std::string> keys;
  int unwatched = 0;
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
    disk_ = &shared;
    EXPECT_TRUE(run_task(world, us, own_.open()));
    feed_.listen(
        [this](const judge::Change& change, const serve::ChangeText&) { incidents_.hear(change); });
    EXPECT_TRUE(run_task(world, us, incidents_.open()));
    agents_.start(incidents_, {&servers_},
                  [this](std::string why) { doubts.push_back(std::move(why)); });
  }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;
  ~Life() {
    us.resume();
    world_.run(us, incidents_.stop());
    world_.run(us, agents_.resign());
  }

  std::vector<std::string> doubts;  ///< of what the store had before

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
  [[nodiscard]] judge::raft::Sightings& sightings() { return sightings_; }
  [[nodiscard]] const Coordination& agents() const { return agents_; }
  /// Somebody takes records away.
  void erase(std::string prefix) {
    store::Transaction one;
    one.changes.emplace_back(store::Erase{store::KeyRange::prefix(prefix)});
    (void)run_task(world_, us, store_.put_if(std::move(one), us.deadline_in(1s)));
  }
  /// The store is another one, and empty.
  void empty_the_store() {
    disk_->rows("UPDATE store_meta SET revision = revision + 1");
    for (const char* const table : {"store_kv", "store_lease", "store_event"})
      disk_->rows("DELETE FROM " + std::string(table));
    disk_->rows("UPDATE store_meta SET revision = 1, compacted = 0, last_lease = 0");
  }
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
  SimDisk* disk_ = nullptr;  ///< that all share
  const config::Config config_;
  incidents::ChangeFeed feed_{[this] { return us.wall_now(); }};
  SimDatabase own_database_;
  store::EmbeddedStore own_;
  SimDatabase database_;
  store::EmbeddedStore store_;
  judge::raft::Sightings sightings_;
  SharedServers servers_{sightings_};
  Coordination agents_;
  incidents::IncidentManager incidents_;
};

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
        return life->leads() && std::ranges::all_of(failing_since_, [&](const auto& each) {
                 const std::string node = "node:" + each.first.substr(each.first.find('@') + 1);
                 return open.contains(each.first) || open.contains(node);
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
    const std::string root = "check:" + name + "@ctl-" + std::to_string(i);
    fails ? (void)failing_since_.try_emplace(root, sim_.now()) : (void)failing_since_.erase(root);
    lives_[i]->check(name, fails);
  }

  void happen(int i) {
    const std::string name = kChecks[sim_.random().below(std::size(kChecks))];
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
  Person person_;
  SimDisk shared_;
  std::vector<std::unique_ptr<SimDisk>> disks_;
  std::vector<std::set<std::string>> failing_;
  std::map<std::string, TimePoint> failing_since_;  ///< by the root of the incident
  int births_ = 0;
  int disturbances_ = 0;
  std::vector<std::unique_ptr<Life>> dead_;
  std::vector<std::unique_ptr<Life>> lives_;
};

/// Two agents, of which the first leads.
class TwoAgents : public ::testing::Test {
 protected:
  TwoAgents() {
    begin(0);
    world.run_for(2s);
    begin(1);
    world.run_for(2s);
    EXPECT_TRUE(lives[0]->leads());
  }
  void begin(int i) {
    const std::string node = "ctl-" + std::to_string(i);
    SimRuntime& us = world.process(node + " " + std::to_string(++births), "host");
    lives[i] = std::make_unique<Life>(world, us, node, disks[i], shared, person);
  }
  void kill(int i) {
    lives[i]->us.pause();
    dead.push_back(std::move(lives[i]));
  }
  [[nodiscard]] bool present(int seen_by, const std::string& node) const {
    return std::ranges::any_of(lives[seen_by]->agents().agents(),
                               [&](const auto& row) { return row.name == node && row.present; });
  }

  World world{1};
  Person person;
  SimDisk shared;
  SimDisk disks[3];
  int births = 0;
  std::vector<std::unique_ptr<Life>> dead;
  std::unique_ptr<Life> lives[3];
};

TEST_F(TwoAgents, WhatBecomesGoodWhileNobodyLeadsEndsSoonAfter) {
  for (const int watched_by : {1, 2}) {
    // The one that leads next watches it itself, or hears of it.
    if (watched_by == 2) begin(2);
    world.run_for(2s);
    lives[watched_by]->check("bird", true);
    world.run_for(20s);
    const int leader = watched_by - 1;
    ASSERT_TRUE(lives[leader]->leads());
    EXPECT_EQ(lives[leader]->open_roots().size(), 1U);
    kill(leader);
    lives[watched_by]->check("bird", false);
    EXPECT_TRUE(world.run_until([&] { return lives[watched_by]->leads(); }, 10s));
    EXPECT_TRUE(world.run_until([&] { return lives[watched_by]->open_roots().empty(); }, 5s));
  }
}

TEST_F(TwoAgents, AnAgentWhoseRecordsAreTakenAwayWritesThemAgain) {
  lives[1]->check("bird", true);
  world.run_for(20s);
  for (const char* const prefix : {"agents/ctl-1/", "agents/ctl-1/presence", "agents/"}) {
    lives[0]->erase(prefix);
    world.run_for(60s);
    EXPECT_TRUE(present(0, "ctl-1")) << prefix;
    EXPECT_EQ(lives[0]->open_roots(), std::set<std::string>{"check:bird@ctl-1"}) << prefix;
  }
  EXPECT_EQ(person.keys.size(), 1U) << "nobody is told of it";
}

TEST_F(TwoAgents, WhoseRecordsAreTakenAwayForGoodIsNotSaidToBeWell) {
  lives[1]->check("bird", true);
  world.run_for(20s);
  kill(1);
  world.run_for(60s);
  EXPECT_EQ(lives[0]->open_roots(), std::set<std::string>{"node:ctl-1"}) << "with what was below";
  lives[0]->erase("agents/ctl-1/");
  world.run_for(60s);
  EXPECT_TRUE(lives[0]->open_roots().empty());
  EXPECT_EQ(person.unwatched, 1);
}

TEST_F(TwoAgents, EachKnowsWhichServersTheOtherSeesAlive) {
  using judge::raft::Opinion;
  Opinion answer;
  answer.status.emplace();
  answer.status->server_id = *judge::raft::parse_member_id("14302e3d-dac6-4762-a00e-834c7c7479df");
  const auto told = [&] { return lives[0]->sightings().besides("nb", {}, {}); };
  lives[1]->sightings().hear("nb/ctl-1", answer);
  world.run_for(2s);
  ASSERT_EQ(told().size(), 1U);
  EXPECT_EQ(told().front().server, answer.status->server_id);
  EXPECT_EQ(told().front().by, "the agent on ctl-1");
  EXPECT_TRUE(lives[1]->sightings().besides("nb", {}, {}).empty()) << "nobody hears of himself";
  lives[1]->sightings().hear("nb/ctl-1", Opinion{});
  world.run_for(2s);
  ASSERT_EQ(told().size(), 1U) << "it may hang";
  EXPECT_FALSE(told().front().still);
  lives[1]->sightings().hear("nb/ctl-1", answer);
  world.run_for(2s);
  EXPECT_EQ(told().size(), 1U);
  kill(1);
  world.run_for(30s);
  ASSERT_EQ(told().size(), 1U);
  EXPECT_FALSE(told().front().still) << "nothing is heard of that agent: nobody sees it now";
  begin(1);
  world.run_for(2s);
  EXPECT_TRUE(told().empty()) << "what its earlier life saw is written over";
}

TEST_F(TwoAgents, AStoreThatBeganAnewIsHeard) {
  for (int i = 0; i < 20; ++i) {
    lives[1]->check("web", i % 2 == 0);
    world.run_for(1s);
  }
  EXPECT_TRUE(lives[0]->doubts.empty() && lives[1]->doubts.empty());
  lives[0]->empty_the_store();
  world.run_for(30s);
  for (const auto& life : lives) {
    if (!life) continue;
    ASSERT_EQ(life->doubts.size(), 1U);
    EXPECT_TRUE(life->doubts[0].contains("it was emptied, or an older copy"));
  }
  EXPECT_TRUE(present(0, "ctl-1") && present(1, "ctl-0"));
  const int leader = lives[0]->leads() ? 0 : 1;
  lives[1 - leader]->check("bird", true);
  world.run_for(30s);
  EXPECT_TRUE(lives[leader]->leads());
  EXPECT_TRUE(lives[leader]->open_roots().contains("check:bird@ctl-" + std::to_string(1 - leader)));
}

TEST_F(TwoAgents, TwoOfOneNameSaySo) {
  disks[2].restart();
  SimRuntime& us = world.process("twin", "host");
  Life twin(world, us, "ctl-1", disks[2], shared, person);
  world.run_for(60s);
  for (const Life* const one : std::initializer_list<const Life*>{lives[1].get(), &twin}) {
    const auto said = one->agents().isolation();
    ASSERT_TRUE(said);
    EXPECT_TRUE(said->contains("another agent calls itself 'ctl-1' too")) << *said;
  }
  EXPECT_FALSE(lives[0]->agents().isolation());
}

SIM_TEST_SEEDS(SimAgents, PeopleAreToldOfEverythingOnceWhoeverLeads, 30) {
  Schedule schedule(sim);
  schedule.play();
  schedule.verify();
}

}  // namespace
}  // namespace wardmote::agent
