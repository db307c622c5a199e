// What the book of incidents is told about the configuration, and about what leaves it.

#include "incidents/dependencies.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "agent/domains.h"
#include "config/config.h"
#include "config/etcd_cluster.h"
#include "config/reload_plan.h"
#include "judge/finding.h"
#include "judge/incident/book.h"
#include "judge/incident/news.h"
#include "serve/bgp/mesh_view.h"
#include "serve/etcd/etcd_view.h"
#include "unit/agent/incident_manager_fixture.h"

namespace wardmote::agent {
namespace {

using judge::incident::Dependencies;
using Names = std::vector<std::string>;

constexpr observe::ProbeKind kOtherKind{"other", "another fake", {}, nullptr};

Dependencies known(const config::Config& config, const std::string& node = "") {
  return incidents::dependencies(config, depends_of(domains()), node);
}

/// A mesh of the two checks, and an etcd cluster, beside the rest.
config::Config with_mesh_and_etcd() {
  config::Config config = sample_config();
  config.meshes.push_back({"bgp", {{"bird", {}}, {"peer", {}}}, {}});
  config.checks.push_back({"bgp", {}, &config::mesh_kind(), {}, {}, {}});
  config.checks.push_back({"et", {}, &config::etcd_cluster_kind(), {}, {}, {}});
  config.checks[2].depends_on = {"et"};
  return config;
}

TEST(IncidentDependencies, EtcdClustersAndMeshesAreThingsAsRaftClustersAre) {
  for (const std::string node : {"", "ctl-1"}) {
    const Dependencies all = known(with_mesh_and_etcd(), node);
    EXPECT_EQ(all.owner_of("et"), "etcd:et") << "of no agent alone";
    EXPECT_EQ(all.owner_of("bgp"), "mesh:bgp");
    EXPECT_EQ(all.owner_of("et"), serve::EtcdView("et").owner());
    EXPECT_EQ(all.owner_of("bgp"), serve::MeshView("bgp").owner());
    EXPECT_EQ(all.graph.kind("etcd:et"), "etcd");
    EXPECT_EQ(all.graph.kind("mesh:bgp"), "mesh");
    EXPECT_EQ(all.graph.above(all.owner_of("peer")).front(), "etcd:et");
  }
}

TEST(IncidentDependencies, WhoFoundAnIncidentIsKnownByItsRootAndCode) {
  const Dependencies all = known(with_mesh_and_etcd());
  EXPECT_TRUE(all.found_by("nb", "cluster:nb", Code::kRaftNoQuorum));
  EXPECT_TRUE(all.found_by("nb", "member:nb/a", Code::kRaftMemberDown));
  EXPECT_FALSE(all.found_by("nb", "member:sb/a", Code::kRaftMemberDown));
  EXPECT_TRUE(all.found_by("et", "etcd:et", Code::kRaftNoQuorum));
  EXPECT_FALSE(all.found_by("et", "cluster:et", Code::kRaftNoQuorum));
  EXPECT_TRUE(all.found_by("bgp", "session:bgp/bird/peer", Code::kBgpSessionDown));
  EXPECT_FALSE(all.found_by("bgp", "session:other/bird/peer", Code::kBgpSessionDown));
  EXPECT_TRUE(all.found_by("bgp", "check:bird", Code::kBgpDaemonDown));
  EXPECT_FALSE(all.found_by("bgp", "check:bird", Code::kCheckFailed)) << "the check itself";
  EXPECT_FALSE(all.found_by("bgp", "check:bird", Code::kMonitorBlind));
  EXPECT_FALSE(all.found_by("bgp", "check:web", Code::kBgpDaemonDown));
}

TEST(IncidentDependencies, AChecksNameInTheGraphSaysWhoseItIs) {
  EXPECT_EQ(incidents::check_in("etcd:et"), "et");
  EXPECT_EQ(incidents::check_in("check:bird"), "bird");
  EXPECT_EQ(incidents::check_in("check:bird@ctl-1"), "bird");
  EXPECT_EQ(incidents::node_in_graph("ctl-1"), "node:ctl-1");
}

TEST(IncidentDependencies, AloneAChecksDependOnEachOtherAndOnNoNode) {
  const Dependencies alone = known(sample_config());
  EXPECT_EQ(alone.owner_of("bird"), "check:bird");
  EXPECT_EQ(alone.owner_of("nb"), "cluster:nb") << "what stands for a thing is that thing";
  EXPECT_EQ(alone.graph.above("check:peer"), Names{"check:bird"});
  EXPECT_TRUE(alone.graph.above("check:bird").empty());
  EXPECT_EQ(alone.graph.kind("check:peer"), "fake");
  EXPECT_EQ(alone.graph.above("member:nb/a"), Names{"cluster:nb"});
  EXPECT_FALSE(alone.graph.contains("node:")) << "there is none";
  EXPECT_FALSE(alone.graph.contains("check:nb"));
}

TEST(IncidentDependencies, OfAgentsThatShareAStoreEachHasItsOwnChecksBelowItsNode) {
  config::Config config = sample_config();
  config.checks[1].schedule.optional = true;
  const Dependencies shared = known(config, "ctl-1");
  EXPECT_EQ(shared.owner_of("bird"), "check:bird@ctl-1");
  EXPECT_TRUE(shared.place_of("bird").optional);
  EXPECT_FALSE(shared.place_of("peer").optional);
  EXPECT_EQ(shared.owner_of("nb"), "cluster:nb") << "that one is everybody's";
  EXPECT_EQ(shared.graph.above("check:peer@ctl-1"), (Names{"check:bird@ctl-1", "node:ctl-1"}));
  EXPECT_EQ(shared.graph.kind("node:ctl-1"), "node");
}

/// What leaves with the change from one configuration to the other.
judge::incident::Departures left(const config::Config& before, const config::Config& next,
                                 const std::string& node = "") {
  return incidents::departures(before, next, config::plan_reload(before, next),
                               depends_of(domains()), node);
}

TEST(IncidentDependencies, WhatIsTakenOutIsGoneAndWhatIsAnotherIsReplaced) {
  const config::Config before = sample_config();
  EXPECT_TRUE(left(before, before).gone.empty());
  EXPECT_TRUE(left(before, before).replaced.empty());
  config::Config next = before;
  next.checks[1].schedule.every = 5s;  // retimed: it goes on
  EXPECT_TRUE(left(before, next).gone.empty());
  EXPECT_TRUE(left(before, next).replaced.empty());
  next.checks[2].kind = &kOtherKind;
  EXPECT_EQ(left(before, next).replaced, Names{"check:peer"});
  EXPECT_EQ(left(before, next, "ctl-1").replaced, Names{"check:peer@ctl-1"});
  next.checks.erase(next.checks.begin() + 1);
  EXPECT_EQ(left(before, next).gone, Names{"check:bird"});
  EXPECT_EQ(left(before, next).replaced, Names{"check:peer"}) << "found by its name";
}

TEST(IncidentDependencies, ACheckThatBecomesAClusterIsGone) {
  const config::Config before = sample_config();
  config::Config next = before;
  config::Cluster cluster = next.clusters[0];
  cluster.name = "bird";
  next.checks[1] = check_of(cluster);
  next.clusters.push_back(cluster);
  EXPECT_EQ(left(before, next).gone, Names{"check:bird"});
}

TEST(IncidentDependencies, WhatTheConfigurationDoesNotHaveIsGone) {
  const config::Config config = sample_config();
  const auto gone = [&](std::string_view root, std::string_view node = "") {
    return incidents::is_gone(root, config, known(config, std::string(node)), node);
  };
  EXPECT_FALSE(gone("check:bird"));
  EXPECT_TRUE(gone("check:web"));
  EXPECT_FALSE(gone("cluster:nb"));
  EXPECT_TRUE(gone("cluster:sb"));
  EXPECT_TRUE(gone("member:sb/a"));
  EXPECT_TRUE(gone("etcd:et"));
  EXPECT_TRUE(gone("mesh:bgp"));
  EXPECT_TRUE(gone("session:bgp/bird/peer"));
  EXPECT_FALSE(gone("guest:host/vm")) << "no configuration lists it";
  EXPECT_FALSE(gone("check:bird@ctl-1", "ctl-1"));
  EXPECT_TRUE(gone("check:web@ctl-1", "ctl-1"));
  EXPECT_FALSE(gone("check:web@ctl-2", "ctl-1")) << "nothing is known here of another's";
}

TEST(IncidentDependencies, AfterARestartTheSlowestCheckIsWaitedFor) {
  config::Config config = sample_config();
  const auto settles = [&] { return incidents::book_policy(config).settle; };
  for (config::Check& check : config.checks) {
    check.schedule.every = 1s;
    check.schedule.policy = {.fall = 3, .unknown_limit = 10s, .start_period = 0s};
  }
  EXPECT_EQ(settles(), judge::incident::BookPolicy().settle) << "never less than that";
  config.checks[1].schedule.every = 60s;
  EXPECT_EQ(settles(), 10s + 60s * 5) << "unknown for a while, and then three failures";
  config.checks[1].schedule.policy.start_period = 20min;
  EXPECT_EQ(settles(), 20min + 60s * 5);
  config.checks[2].schedule.policy.unknown_limit = 30min;
  EXPECT_EQ(settles(), 30min + 1s * 5);
}

}  // namespace
}  // namespace wardmote::agent
