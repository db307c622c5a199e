// A leader whose clock runs at another rate than the store's. It stops at two thirds of its lease,
// so it is safe while its clock is slower by a factor of less than 1.5; beyond that only the fence
// protects what it writes.

#include <gtest/gtest.h>

#include <chrono>

#include "base/time.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/election.h"
#include "store/embedded_store.h"
#include "store/store.h"
#include "unit/store/skewed_clock.h"

namespace wardmote::store {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTtl = 6s;

/// One that leads, by a clock of this rate, and one behind it whose clock is the store's.
class Pair {
 public:
  explicit Pair(double rate) : clock(us, rate) {
    EXPECT_TRUE(run_task(world, us, store.open()));
    EXPECT_TRUE(run_task(world, other, others.open()));
    first.start();
    EXPECT_TRUE(world.run_until([&] { return first.leads(); }, 10s));
    second.start();
    world.run_for(1s);
  }
  ~Pair() {
    world.run(us, first.stop());
    world.run(other, second.stop());
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  /// How long both lead at once in this time.
  Duration both_lead_in(Duration time) {
    Duration both{};
    for (Duration passed{}; passed < time; passed += 5ms) {
      world.run_for(5ms);
      if (first.leads() && second.leads()) both += 5ms;
    }
    return both;
  }

  sim::World world{1};
  sim::SimRuntime& us = world.process("us", "host");
  sim::SimRuntime& other = world.process("other", "host");
  sim::SimDisk disk;
  sim::SimDatabase database{us, disk};
  sim::SimDatabase others_database{other, disk};
  EmbeddedStore store{us, database, "boot"};
  EmbeddedStore others{other, others_database, "boot"};
  SkewedRuntime clock;
  SkewedStore asked{store, clock};
  Election first{clock, asked, {.candidate = "first", .ttl = kTtl}};
  Election second{other, others, {.candidate = "second", .ttl = kTtl}};
};

class ElectionClockRate : public ::testing::TestWithParam<double> {};

TEST_P(ElectionClockRate, ALeaderThatIsCutOffHasStoppedBeforeTheNextBegins) {
  Pair pair(GetParam());
  EXPECT_EQ(pair.both_lead_in(1min), 0s);
  EXPECT_TRUE(pair.first.leads()) << "a clock of another rate costs no lead";
  pair.asked.cut();
  EXPECT_EQ(pair.both_lead_in(30s), 0s);
  EXPECT_TRUE(pair.second.leads());
}

INSTANTIATE_TEST_SUITE_P(UpToTheDocumentedRatio, ElectionClockRate,
                         ::testing::Values(1, 0.9, 0.75, 0.68, 1.5, 2));

TEST(ElectionBeyondTheRatio, OnlyTheFenceProtectsWhatItWrites) {
  Pair pair(0.5);
  pair.asked.cut();
  EXPECT_TRUE(pair.world.run_until([&] { return pair.second.leads(); }, 10s));
  EXPECT_TRUE(pair.first.leads()) << "its clock says that the lease goes on";
  Transaction late;
  late.conditions.push_back(*pair.first.fence());
  const auto put =
      run_task(pair.world, pair.us, pair.store.put_if(late, pair.us.deadline_in(1min)));
  ASSERT_TRUE(put);
  EXPECT_FALSE(put->held);
}

}  // namespace
}  // namespace wardmote::store
