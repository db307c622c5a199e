#include "store/beat.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "store/store.h"
#include "unit/act/fake_leadership.h"

namespace wardmote::store {
namespace {

using namespace std::chrono_literals;

class BeatTest : public ::testing::Test {
 protected:
  BeatTest() {
    EXPECT_TRUE(run_task(world, us, store.open()));
    put("leader", "x");
    leadership.set_fence(Compare::present("leader"));
    store.seen().when_set_back([this](const std::string&) { ++set_back; });
    beat.start();
  }
  ~BeatTest() override { world.run(us, beat.stop()); }

  void put(const std::string& key, const std::string& value) {
    Transaction one;
    one.changes.emplace_back(Put{key, value});
    EXPECT_TRUE(run_task(world, us, store.put_if(one, us.deadline_in(1min))));
  }
  std::string stored() {
    const auto found = run_task(world, us, store.get("last/beat", us.deadline_in(1min)));
    return found && found->key ? found->key->value : "";
  }

  sim::World world{1};
  sim::SimRuntime& us = world.host("us");
  sim::SimDisk disk;
  sim::SimDatabase database{us, disk};
  EmbeddedStore store{us, database, "boot"};
  act::FakeLeadership leadership;
  int set_back = 0;
  Beat beat{us, store, &leadership, 6s};
};

TEST_F(BeatTest, WhoLeadsRaisesItAndWhoeverElseReadsIt) {
  world.run_for(20s);
  EXPECT_EQ(stored(), "4");
  leadership.lose();
  put("last/beat", "9");
  world.run_for(20s);
  EXPECT_EQ(stored(), "9");
  EXPECT_EQ(store.seen().mark().beat, 9U);
  leadership.win(Compare::present("leader"));
  world.run_for(100ms);
  EXPECT_EQ(stored(), "10") << "at once";
  world.run_for(7s);
  EXPECT_EQ(stored(), "11");
  EXPECT_EQ(set_back, 0);
}

TEST_F(BeatTest, ALowerOneIsAnOlderCopyAndTheNextIsHigherThanAllBefore) {
  world.run_for(20s);
  put("last/beat", "2");
  world.run_for(7s);
  EXPECT_EQ(set_back, 1);
  EXPECT_EQ(stored(), "14") << "also than what others may have read";
  world.run_for(1min);
  EXPECT_EQ(set_back, 1);
}

TEST_F(BeatTest, WhoMayNotWriteItGivesUp) {
  disk.fail_with(Errc::kTimeout);
  world.run_for(20s);
  EXPECT_FALSE(leadership.gave_up()) << "the store may be slow";
  disk.fail_with(Errc::kDenied);
  world.run_for(7s);
  EXPECT_TRUE(leadership.gave_up());
}

TEST_F(BeatTest, NobodyWritesItAfterTheLeadIsLost) {
  world.run_for(20s);
  Transaction gone;
  gone.changes.emplace_back(Erase{KeyRange::one("leader")});
  EXPECT_TRUE(run_task(world, us, store.put_if(gone, us.deadline_in(1min))));
  world.run_for(1min);
  EXPECT_EQ(stored(), "4") << "this agent does not know it yet, and the store does";
}

/// What somebody else has put there is told once, and is no end of counting.
TEST_F(BeatTest, WhatNobodyCountedIsNoBeat) {
  world.run_for(20s);
  for (const char* const other : {"18446744073709551615", "x", ""}) {
    const int before = set_back;
    put("last/beat", other);
    world.run_for(1min);
    EXPECT_EQ(set_back, before + 1) << other;
  }
  EXPECT_GT(std::stoi(stored()), 4);
}

}  // namespace
}  // namespace wardmote::store
