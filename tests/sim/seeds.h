#pragma once

#include <gtest/gtest.h>

#include "sim/sim_network.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"

namespace wardmote::sim {

using SimBody = void (*)(World& sim);

/// Runs `body` in a new world for each of `seeds` seeds, or at most WARDMOTE_SIM_SEEDS of them, or
/// at least WARDMOTE_SIM_MORE, from WARDMOTE_SIM_FIRST on, or the one in WARDMOTE_SIM_SEED. Stops
/// at the first that fails and prints how to replay it. The first seed runs twice: its trace must
/// be the same.
void run_seeds(SimBody body, std::uint64_t seeds);

/// WARDMOTE_SIM_SEEDS is set, as for a build that is ten times slower: a story whose one world is
/// large plays a smaller one.
bool is_cut_short();

}  // namespace wardmote::sim

/// A story that must hold under any seed: `SIM_TEST(Probe, SurvivesAPartition) { SimRuntime& us =
/// sim.host("us"); … }`.
#define SIM_TEST(suite, name) SIM_TEST_SEEDS(suite, name, 200)
/// For stories so long that 200 seeds would take minutes.
#define SIM_TEST_SEEDS(suite, name, seeds)                            \
  static void sim_body_##suite##_##name(::wardmote::sim::World& sim); \
  TEST(suite, name) {                                                 \
    ::wardmote::sim::run_seeds(&sim_body_##suite##_##name, seeds);    \
  }                                                                   \
  static void sim_body_##suite##_##name([[maybe_unused]] ::wardmote::sim::World& sim)
