#pragma once
// One life after the other of an agent's incident manager, on one disk.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "agent/domains.h"
#include "incidents/change_feed.h"
#include "incidents/dependencies.h"
#include "incidents/incident_manager.h"
#include "judge/finding.h"
#include "judge/verdict.h"
#include "serve/bgp/mesh_view.h"
#include "serve/raft/cluster_view.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "store/leadership.h"

namespace wardmote::agent {

using judge::Change;
using judge::Code;
using judge::Severity;
using judge::State;
using judge::ThingKind;
using FindingStep = judge::FindingChanged::Step;
using enum judge::State;
using enum judge::FindingChanged::Step;
using sim::SimDatabase;
using sim::SimDisk;
using sim::SimRuntime;
using sim::World;
using namespace std::chrono_literals;

inline constexpr observe::ProbeKind kFakeKind{"fake", "a fake", {}, nullptr};

inline config::Config sample_config() {
  config::Config config;
  config::Cluster cluster;
  cluster.name = "nb";
  cluster.members = {{"a", {}, {}}, {"b", {}, {}}};
  config.checks.push_back(check_of(cluster));
  config.clusters.push_back(cluster);
  for (const char* name : {"bird", "peer"}) {
    config::Check check;
    check.name = name;
    check.kind = &kFakeKind;
    check.schedule.every = 1s;
    config.checks.push_back(std::move(check));
  }
  config.checks[2].depends_on = {"bird"};
  return config;
}

inline constexpr Code kShownAtOnce[] = {Code::kRaftMemberDown};

/// Where the things of the configuration say that it belongs: owner and component.
inline std::pair<std::string, std::string> place_of(const judge::ThingId& of,
                                                    const judge::Finding& finding) {
  if (of.kind == judge::bgp::kMeshKind) {
    const serve::MeshView mesh(of.name);
    return {mesh.owner(), mesh.component_of(finding)};
  }
  serve::ClusterView cluster(of.name);
  for (const config::Member& member : sample_config().clusters[0].members)
    cluster.opinions.emplace_back().member = member.name;
  return {cluster.owner(), cluster.component_of(finding)};
}

/// One life of an agent's manager.
struct Life {
  Life(World& in, SimRuntime& host, SimDisk* on, config::Config with = sample_config(),
       incidents::NotifierOptions receivers = incidents::NotifierOptions())
      : world(in), us(host), config(std::move(with)) {
    if (on != nullptr) {
      database.emplace(host, *on);
      store.emplace(host, *database, "boot");
      EXPECT_TRUE(run_task(world, us, store->open()));
    }
    manager = std::make_unique<incidents::IncidentManager>(us, store ? &*store : nullptr, alone,
                                                           config, "us", feed, std::move(receivers),
                                                           depends_of(domains()));
    feed.listen([this](const Change& change, const serve::ChangeText& text) {
      const std::int64_t incident = manager->hear(change);
      told.push_back(text.kind + " " + change.of.name);
      incidents.push_back(incident);
    });
    const Result<void> opened = run_task(world, us, manager->open());
    EXPECT_TRUE(opened) << opened.error().describe();
  }
  ~Life() { world.run(us, manager->stop()); }

  void check(const std::string& name, State from, State to,
             judge::ReasonCode reason = judge::ReasonCode::kRefused, bool counts = true) {
    feed.tell({ThingKind::kCheck, name},
              judge::CheckChanged{from, to, {reason, "refused"}, counts, counts});
  }
  void mesh_finding(FindingStep step, Code code, std::string subject) {
    tell({judge::bgp::kMeshKind, "bgp"}, step, code, Severity::kCritical, {std::move(subject)});
  }
  void finding(FindingStep step, Code code, Severity severity, std::vector<std::string> subjects) {
    tell({ThingKind::kCluster, "nb"}, step, code, severity, std::move(subjects));
  }
  void tell(judge::ThingId of, FindingStep step, Code code, Severity severity,
            std::vector<std::string> subjects) {
    judge::Finding finding;
    finding.code = code;
    finding.severity = severity;
    finding.subjects = std::move(subjects);
    finding.summary = "so it is";
    const auto [owner, component] = place_of(of, finding);
    feed.tell(std::move(of),
              judge::FindingChanged{step, std::move(finding), us.now(), owner, component});
  }
  [[nodiscard]] long count(const std::string& what) const { return std::ranges::count(told, what); }

  World& world;
  SimRuntime& us;
  config::Config config;  ///< in use; a test that changes it calls manager->reload()
  incidents::ChangeFeed feed{[this] { return us.wall_now(); }};
  std::optional<SimDatabase> database;
  std::optional<store::EmbeddedStore> store;
  store::SoleLeadership alone{us, nullptr};
  std::unique_ptr<incidents::IncidentManager> manager;
  std::vector<std::string> told;
  std::vector<std::int64_t> incidents;
};

class IncidentManagerTest : public ::testing::Test {
 protected:
  World world{1};
  SimRuntime& us = world.host("us");
  SimDisk disk;
};

}  // namespace wardmote::agent
