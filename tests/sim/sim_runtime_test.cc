#include "sim/sim_runtime.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "sim/seeds.h"

namespace wardmote::sim {
namespace {

using namespace std::chrono_literals;
using runtime::ProcessExit;
using runtime::ProcessSpec;
using runtime::Runtime;
using runtime::Task;

/// Notes the time at every `interval`.
Task<void> tick(Runtime* host, Duration interval, std::vector<TimePoint>* ticks) {
  for (;;) {
    const TimePoint next = host->now() + interval;
    co_await host->sleep_until(next);
    ticks->push_back(host->now());
  }
}

SIM_TEST(SimRuntime, TimeJumpsFromEventToEvent) {
  SimRuntime& us = sim.host("us");
  const TimePoint begun = sim.now();
  std::vector<TimePoint> ticks;
  us.spawn("tick", tick(&us, 10s, &ticks));
  sim.run_for(1h);
  EXPECT_EQ(ticks.size(), 360U);
  EXPECT_EQ(ticks.back(), begun + 1h);
  EXPECT_EQ(sim.now(), begun + 1h);
}

SIM_TEST(SimRuntime, APausedHostSeesTimeHavePassed) {
  SimRuntime& us = sim.host("us");
  std::vector<TimePoint> ticks;
  const TimePoint begun = sim.now();
  us.spawn("tick", tick(&us, 1s, &ticks));
  sim.at(1500ms, [&] { us.pause_for(10s); });
  sim.run_for(13s);
  EXPECT_EQ(ticks, (std::vector<TimePoint>{begun + 1s, begun + 11500ms, begun + 12500ms}));
}

SIM_TEST(SimRuntime, AStarvedHostRunsForAnInstantNowAndThen) {
  SimRuntime& us = sim.host("us");
  std::vector<TimePoint> ticks;
  us.spawn("tick", tick(&us, 100ms, &ticks));
  sim.run_for(1s);
  EXPECT_EQ(ticks.size(), 10U);
  us.starve_for(10s, 1s);
  sim.run_for(10s);
  EXPECT_LE(ticks.size(), 21U);
  EXPECT_GE(ticks.size(), 19U);
  sim.run_for(1s);
  EXPECT_GE(ticks.size(), 28U);
}

SIM_TEST(SimRuntime, OnlyTheWallClockJumps) {
  SimRuntime& us = sim.host("us");
  const TimePoint boot = us.now();
  const WallTime wall = us.wall_now();
  us.jump_wall_clock(-1h);
  EXPECT_EQ(us.now(), boot);
  EXPECT_EQ(us.wall_now() - wall, -1h);
}

SIM_TEST(SimRuntime, ChanceIsOfTheHostAlone) {
  SimRuntime& us = sim.host("us");
  const std::uint64_t first = us.random();
  World same(sim.seed());
  SimRuntime& twin = same.host("us");
  same.random().next();  // somebody else draws
  EXPECT_EQ(twin.random(), first);
  EXPECT_NE(us.random(), first);
}

SIM_TEST(SimRuntime, FakeProgramsTakeTheirTime) {
  SimRuntime& us = sim.host("us");
  us.install("ovn-appctl", [](const ProcessSpec& spec) {
    return SimRuntime::Performance{2s,
                                   ProcessExit{.status = 0, .standard_output = spec.argv.back()}};
  });
  const ProcessSpec spec{.argv = {"ovn-appctl", "cluster/status"}};
  const TimePoint begun = sim.now();
  const auto exit = run_task(sim, us, us.processes().run(spec, us.deadline_in(5s)));
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->standard_output, "cluster/status");
  EXPECT_EQ(sim.now() - begun, 2s);
  EXPECT_EQ(run_task(sim, us, us.processes().run(spec, us.deadline_in(1s))).error().code,
            Errc::kTimeout);
  const ProcessSpec other{.argv = {"kubectl"}};
  EXPECT_EQ(run_task(sim, us, us.processes().run(other, us.deadline_in(1s))).error().code,
            Errc::kMissing);
}

SIM_TEST(SimRuntime, ACrashEndsTheTasksOfThatHostOnly) {
  std::vector<TimePoint> ours;
  std::vector<TimePoint> theirs;
  sim.host("us").spawn("tick", tick(&sim.host("us"), 1s, &ours));
  sim.host("them").spawn("tick", tick(&sim.host("them"), 1s, &theirs));
  sim.at(2500ms, [&] { sim.host("them").crash(); });
  sim.run_for(5s);
  EXPECT_EQ(ours.size(), 5U);
  EXPECT_EQ(theirs.size(), 2U);
}

TEST(SimWorld, TheSameSeedGivesTheSameTraceAndAnotherSeedAnother) {
  const auto story = [](std::uint64_t seed) {
    World sim(seed);
    std::vector<TimePoint> ticks;
    SimRuntime& us = sim.host("us");
    constexpr auto wander = [](Runtime* host) -> Task<void> {
      for (;;) {
        const TimePoint next = host->now() + Duration(host->random() % 1'000'000'000);
        co_await host->sleep_until(next);
      }
    };
    us.spawn("wander", wander(&us));
    sim.run_for(60s);
    return sim.trace_hash();
  };
  EXPECT_EQ(story(7), story(7));
  EXPECT_NE(story(7), story(8));
}

TEST(SimWorldDeath, ADeadlockIsNamed) {
  EXPECT_DEATH(
      {
        World sim(1);
        SimRuntime& us = sim.host("us");
        auto listener = us.listen(runtime::Endpoint::unix_socket("/run/x"));
        constexpr auto wait = [](runtime::Listener* on) -> Task<void> { co_await on->accept(); };
        sim.run(us, wait(listener->get()));
      },
      "deadlock");
}

}  // namespace
}  // namespace wardmote::sim
