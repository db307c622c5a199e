#pragma once
// Agents that share a store. Who leads is what a test says.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "incidents/change_feed.h"
#include "incidents/incident_manager.h"
#include "incidents/notifier.h"
#include "judge/change.h"
#include "judge/incident/incident.h"
#include "judge/thing.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/clock_pair.h"
#include "store/embedded_store.h"
#include "store/incident_record.h"
#include "unit/act/fake_leadership.h"
#include "unit/agent/fragile_store.h"
#include "unit/agent/incident_manager_fixture.h"

namespace wardmote::agent {

struct SharerOptions {
  incidents::NotifierOptions receivers{};
  config::Config config = sample_config();
  SimDisk* own = nullptr;  ///< its own disk, if that is to outlive it
  bool leads = false;      ///< before anybody told it
};

/// One that shares `shared` with others.
struct Sharer {
  Sharer(World& in, const std::string& node, SimDisk& shared, SharerOptions with = {})
      : world(in),
        us(in.host(node)),
        own_database(us, with.own != nullptr ? *with.own : disk),
        database(us, shared),
        leadership(with.leads),
        config(std::move(with.config)) {
    EXPECT_TRUE(run_task(world, us, own.open()));
    EXPECT_TRUE(run_task(world, us, below.open()));
    manager = std::make_unique<incidents::IncidentManager>(us, &store, leadership, config, node,
                                                           feed, std::move(with.receivers),
                                                           depends_of(domains()), &own);
    feed.listen([this](const Change& change, const serve::ChangeText& text) {
      manager->hear(change);
      told.push_back(text.kind + " " + change.of.name);
    });
    manager->publish([this](const auto& symptoms) {
      published = symptoms;
      ++publications;
    });
    EXPECT_EQ(publications, 1) << "also that nothing is wrong";
    EXPECT_TRUE(run_task(world, us, manager->open()));
  }
  ~Sharer() { world.run(us, manager->stop()); }

  void lead(std::optional<store::Compare> fence = std::nullopt) {
    leadership.win(std::move(fence));
    world.run_for(1s);
  }
  void check(const std::string& name, State from, State to) {
    feed.tell({ThingKind::kCheck, name},
              judge::CheckChanged{from, to, {judge::ReasonCode::kRefused, "refused"}, true, true});
  }
  void finding(FindingStep step, Code code, Severity severity, std::vector<std::string> subjects) {
    judge::Finding finding;
    finding.code = code;
    finding.severity = severity;
    finding.subjects = std::move(subjects);
    finding.summary = "so it is";
    finding.since = us.now();
    const judge::ThingId cluster{ThingKind::kCluster, "nb"};
    const auto [owner, component] = place_of(cluster, finding);
    feed.tell(cluster, judge::FindingChanged{step, std::move(finding), us.now(), owner, component});
  }
  /// A finding about "a" stands, in these words.
  void say_again(Code code, const std::string& summary) {
    judge::Finding finding;
    finding.code = code;
    finding.severity = Severity::kCritical;
    finding.subjects = {"a"};
    finding.summary = summary;
    finding.since = us.now();
    const judge::ThingId cluster{ThingKind::kCluster, "nb"};
    const auto [owner, component] = place_of(cluster, finding);
    feed.restate(cluster, {FindingStep::kChanged, finding, us.now(), owner, component});
  }
  [[nodiscard]] bool told_of_incidents() const {
    return std::ranges::any_of(
        told, [](const std::string& change) { return change.starts_with("incident_"); });
  }
  [[nodiscard]] std::size_t open() const { return manager->open_incidents().open; }
  [[nodiscard]] std::vector<std::string> open_roots() const {
    std::vector<std::string> roots;
    for (const auto& [id, incident] : manager->book().incidents()) {
      if (incident.phase == judge::incident::Phase::kOpen) roots.push_back(incident.root);
    }
    return roots;
  }
  /// The owners of what is wrong here.
  [[nodiscard]] std::vector<std::string> owners() const {
    std::vector<std::string> all;
    for (const judge::incident::Symptom& symptom : published) all.push_back(symptom.owner);
    return all;
  }
  [[nodiscard]] long count(const std::string& what) const { return std::ranges::count(told, what); }

  World& world;
  SimRuntime& us;
  SimDisk disk;
  SimDatabase own_database;
  store::EmbeddedStore own{us, own_database, "boot"};
  SimDatabase database;
  store::EmbeddedStore below{us, database, "boot", {.look_every = 500ms}};
  FragileStore store{us, below};
  act::FakeLeadership leadership;
  config::Config config;
  incidents::ChangeFeed feed{[this] { return us.wall_now(); }};
  std::unique_ptr<incidents::IncidentManager> manager;
  std::vector<std::string> told;
  std::vector<judge::incident::Symptom> published;
  int publications = 0;
};

/// What another agent says.
inline judge::incident::Symptom symptom_of(const std::string& owner, Code code = Code::kCheckFailed,
                                           Severity severity = Severity::kCritical) {
  judge::incident::Symptom symptom;
  symptom.owner = symptom.component = owner;
  symptom.code = code;
  symptom.severity = severity;
  symptom.names = {owner};
  symptom.summary = owner + " fails";
  return symptom;
}

class SharersTest : public IncidentManagerTest {
 protected:
  /// An earlier leader has written this.
  void store_incident(std::int64_t id, const std::string& root, Code code = Code::kCheckFailed) {
    judge::incident::Incident incident;
    incident.id = id;
    incident.root = root;
    incident.code = code;
    incident.severity = Severity::kCritical;
    incident.names = {root};
    incident.summary = root + " fails";
    incident.symptoms = 1;
    incident.opened = incident.since = incident.changed = us.now();
    incident.revision = 1;
    put(store::incident_key(id), store::encode(incident, {us.now(), us.wall_now()}));
  }
  /// Somebody writes it into the store, behind the back of those who lead.
  void put(const std::string& key, const std::string& value) {
    SimDatabase database(us, disk);
    store::EmbeddedStore any(us, database, "boot");
    ASSERT_TRUE(run_task(world, us, any.open()));
    store::Transaction one;
    one.changes.emplace_back(store::Put{key, value});
    ASSERT_TRUE(run_task(world, us, any.put_if(std::move(one), us.deadline_in(1min))));
  }
  void erase(const std::string& prefix) {
    SimDatabase database(us, disk);
    store::EmbeddedStore any(us, database, "boot");
    ASSERT_TRUE(run_task(world, us, any.open()));
    store::Transaction one;
    one.changes.emplace_back(store::Erase{store::KeyRange::prefix(prefix)});
    ASSERT_TRUE(run_task(world, us, any.put_if(std::move(one), us.deadline_in(1min))));
  }
  [[nodiscard]] std::string stored(const std::string& key) {
    const auto rows = disk.rows("SELECT value FROM store_kv WHERE key = '" + key + "'");
    return rows.empty() ? "" : *rows[0].text(0);
  }
};

}  // namespace wardmote::agent
