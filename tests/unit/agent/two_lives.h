#pragma once
// Agents that share a store, each with a database of its own, and somebody who is told.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/agent_record.h"
#include "store/embedded_store.h"
#include "unit/agent/fragile_store.h"

namespace wardmote::agent {

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

inline constexpr observe::ProbeKind kSharedKind{"fake", "a fake", {}, nullptr};
inline constexpr const char* kSharedChecks[] = {"bird", "web"};

/// Somebody who is told by whoever leads.
struct ToldPerson {
  void hear(const Notice& notice) {
    if (!keys.insert(notice.key()).second) {
      ++repetitions;
      return;
    }
    for (const NoticeItem& item : notice.items) {
      const std::int64_t id = item.incident.id;
      labels[id].push_back(item.labels);
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
  std::map<std::int64_t, std::vector<judge::notify::Labels>> labels;  ///< of each notice
};

class LineToPerson final : public act::notify::Channel {
 public:
  LineToPerson(SimRuntime& host, ToldPerson& person) : host_(host), person_(person) {}

  Task<DeliveryResult> send(Notice notice, Deadline) override {
    const Duration way(host_.random() % 300'000'000);
    co_await host_.sleep_until(host_.now() + way);
    person_.hear(notice);
    co_await host_.sleep_until(host_.now() + way);
    co_return DeliveryResult();
  }

 private:
  SimRuntime& host_;
  ToldPerson& person_;
};

inline config::Config sharing_config(const std::string& node) {
  config::Config config;
  config.node.name = node;
  config.node.labels["rack"] = "of " + node;
  for (const char* const name : kSharedChecks) {
    config::Check check;
    check.name = name;
    check.kind = &kSharedKind;
    check.schedule.every = 1s;
    config.checks.push_back(std::move(check));
  }
  return config;
}

inline incidents::NotifierOptions line_to(SimRuntime& host, ToldPerson& person) {
  incidents::NotifierOptions options;
  judge::notify::Route route;
  route.receiver = "person";
  route.group_by = {"root"};
  route.group_wait = 2s;
  route.group_interval = 10s;
  options.policy.routes.push_back(route);
  options.receivers["person"] = {std::make_unique<LineToPerson>(host, person), 15s, false};
  return options;
}

/// One life of an agent: what it shares, and what it keeps.
class SharingLife {
 public:
  SharingLife(World& world, SimRuntime& host, const std::string& node, SimDisk& own,
              SimDisk& shared, ToldPerson& person)
      : us(host),
        world_(world),
        config_(sharing_config(node)),
        own_database_(host, own),
        own_(host, own_database_, "boot"),
        database_(host, shared),
        store_(host, database_, "boot", {.look_every = 500ms}),
        agents_(host, fragile, 6s, {.node = node, .labels = config_.node.labels, .boot = "boot"}),
        incidents_(host, &store_, agents_.leadership(), config_, node, feed_, line_to(host, person),
                   depends_of(domains()), &own_) {
    disk_ = &shared;
    EXPECT_TRUE(run_task(world, us, own_.open()));
    feed_.listen(
        [this](const judge::Change& change, const serve::ChangeText&) { incidents_.hear(change); });
    EXPECT_TRUE(run_task(world, us, incidents_.open()));
    agents_.start(incidents_, {&servers_},
                  [this](std::string why) { doubts.push_back(std::move(why)); });
  }
  SharingLife(const SharingLife&) = delete;
  SharingLife& operator=(const SharingLife&) = delete;
  ~SharingLife() {
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
  /// The look fails, as one did in an earlier life.
  void fail_again(const std::string& name) { incidents_.looked(name, true); }
  /// The first thing that this life sees of it.
  void find_good(const std::string& name) {
    feed_.tell(
        {judge::ThingKind::kCheck, name},
        judge::CheckChanged{
            judge::State::kDiscovery, judge::State::kHealthy, {judge::ReasonCode::kNone, ""}});
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
  void copy_the_store() {
    for (const std::string table : {"store_kv", "store_meta"})
      disk_->rows("CREATE TABLE copy_of_" + table + " AS SELECT * FROM " + table);
  }
  /// As of a snapshot of etcd, which renews the leases: the history begins there.
  void restore_the_copy() {
    disk_->rows("UPDATE store_meta SET revision = revision + 1");
    for (const std::string table : {"store_kv", "store_meta"}) {
      disk_->rows("DELETE FROM " + table);
      disk_->rows("DELETE FROM store_event");
      disk_->rows("INSERT INTO " + table + " SELECT * FROM copy_of_" + table);
    }
    disk_->rows("DELETE FROM store_event");
    disk_->rows("UPDATE store_meta SET compacted = revision");
  }
  void drop_the_copy() {
    for (const std::string table : {"store_kv", "store_meta"})
      disk_->rows("DROP TABLE copy_of_" + table);
  }
  [[nodiscard]] std::optional<std::string> cut_off() const { return incidents_.cut_off(); }
  [[nodiscard]] std::set<std::string> open_roots() const {
    std::set<std::string> roots;
    for (const auto& [id, incident] : incidents_.book().incidents()) {
      if (incident.phase == judge::incident::Phase::kOpen) roots.insert(incident.root);
    }
    return roots;
  }

  SimRuntime& us;
  FragileStore fragile{us, store_};  ///< what is said of this agent, and heard of others

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
    lives[i] = std::make_unique<SharingLife>(world, us, node, disks[i], shared, person);
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
  ToldPerson person;
  SimDisk shared;
  SimDisk disks[3];
  int births = 0;
  std::vector<std::unique_ptr<SharingLife>> dead;
  std::unique_ptr<SharingLife> lives[3];
};

}  // namespace wardmote::agent
