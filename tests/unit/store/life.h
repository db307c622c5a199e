#pragma once

#include <gtest/gtest.h>

#include "base/result.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"

namespace wardmote::store {

/// One life of an agent, of which only what keeps rows in its database is there. The disk outlives
/// it.
template <class Keeper, class Limits>
class LifeOf {
 public:
  LifeOf(sim::World& in, sim::SimRuntime& host, sim::SimDisk& on, Limits limits = {})
      : world(in), us(host), disk(on), keeper(host, &database, limits) {
    disk.restart();
    opened = run_task(world, us, keeper.open());
  }
  ~LifeOf() {
    if (disk.died()) disk.bury();
    world.run(us, keeper.stop());
  }
  LifeOf(const LifeOf&) = delete;
  LifeOf& operator=(const LifeOf&) = delete;

  sim::World& world;
  sim::SimRuntime& us;
  sim::SimDisk& disk;
  sim::SimDatabase database{us, disk};
  Keeper keeper;
  Result<void> opened;
};

/// A host with a disk.
class LivesTest : public ::testing::Test {
 protected:
  sim::World world{1};
  sim::SimRuntime& us = world.host("us");
  sim::SimDisk disk;
};

}  // namespace wardmote::store
