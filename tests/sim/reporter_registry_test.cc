#include "agent/reports/reporter_registry.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "sim/seeds.h"

namespace wardmote::sim {
namespace {

using agent::ReporterRegistry;
using judge::Outcome;
using namespace std::chrono_literals;

/// A registry with one reporter, and the probe of what it says of its readiness.
class Registry {
 public:
  explicit Registry(World& world) : sim(world) {
    const std::vector<config::Reporter> reporters = {{"r", {.timeout = 10s}, {}}};
    registry.reload(reporters, {});
    config::Check check;
    check.name = "r.ready";
    check.params["reporter"] = std::string("r");
    check.params["quality"] = std::string("ready");
    probe = registry.probe(check);
  }
  ~Registry() { sim.run(host, registry.stop()); }

  void report() { check(registry.accept("r", "READY=1").has_value(), "no report"); }
  Outcome look() {
    sim.run_for(1s);
    return run_task(sim, host, probe->look(host.deadline_in(1s))).outcome;
  }

  World& sim;
  SimRuntime& host = sim.host("node");
  ReporterRegistry registry{host, [](std::string_view) {}};
  std::unique_ptr<observe::Probe> probe;
};

SIM_TEST_SEEDS(ReporterRegistry, SilenceCountsAfterTheTimeout, 1) {
  Registry registry(sim);
  EXPECT_EQ(registry.look(), Outcome::kUnknown) << "nothing was reported yet";
  for (int second = 2; second <= 10; ++second)
    EXPECT_EQ(registry.look(), Outcome::kUnknown) << second;
  EXPECT_EQ(registry.look(), Outcome::kFail) << "and now it is overdue";
  registry.report();
  for (int second = 1; second <= 10; ++second) EXPECT_EQ(registry.look(), Outcome::kOk) << second;
  EXPECT_EQ(registry.look(), Outcome::kFail);
  registry.report();
  EXPECT_EQ(registry.look(), Outcome::kOk);
}

SIM_TEST_SEEDS(ReporterRegistry, ASuspendIsNobodysSilence, 1) {
  Registry registry(sim);
  registry.report();
  EXPECT_EQ(registry.look(), Outcome::kOk);
  sim.run_for(8h);
  // It begins with the first look after the suspend.
  for (int second = 0; second <= 10; ++second)
    EXPECT_EQ(registry.look(), Outcome::kOk) << "its timeout began anew: " << second;
  EXPECT_EQ(registry.look(), Outcome::kFail) << "he could, since";
  sim.run_for(8h);
  EXPECT_EQ(registry.look(), Outcome::kOk);
  registry.report();
  EXPECT_EQ(registry.look(), Outcome::kOk);
}

SIM_TEST_SEEDS(ReporterRegistry, AfterAPauseTheListShowsNobodyAsOverdueEither, 1) {
  Registry registry(sim);
  registry.report();
  EXPECT_EQ(registry.look(), Outcome::kOk);
  sim.run_for(66s);
  EXPECT_FALSE(registry.registry.standings().at(0).timed_out) << "asked before the first look";
  EXPECT_EQ(registry.registry.standings().at(0).age, 67s) << "its age is what it is";
}

SIM_TEST_SEEDS(ReporterRegistry, WhatItSaidBeforeAPauseStillHolds, 1) {
  Registry registry(sim);
  check(registry.registry.accept("r", R"({"ready":false})").has_value(), "no report");
  sim.run_for(66s);
  EXPECT_EQ(registry.look(), Outcome::kFail) << "a pause makes nobody ready";
}

SIM_TEST_SEEDS(ReporterRegistry, TheWallClockIsNobodysBusiness, 1) {
  Registry registry(sim);
  registry.report();
  registry.host.jump_wall_clock(24h);
  EXPECT_EQ(registry.look(), Outcome::kOk);
  registry.host.jump_wall_clock(-48h);
  EXPECT_EQ(registry.look(), Outcome::kOk);
}

}  // namespace
}  // namespace wardmote::sim
