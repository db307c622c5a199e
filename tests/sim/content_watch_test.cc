// What a database contains, from a monitor of all its tables.
#include "act/failover/content_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "runtime/endpoint.h"
#include "runtime/task_group.h"
#include "sim/seeds.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "support/fake_server.h"

namespace wardmote::act::failover {
namespace {

using runtime::Endpoint;
using sim::SimRuntime;
using sim::World;
using testing::FakeManners;
using testing::FakeServer;
using namespace std::chrono_literals;

constexpr std::string_view kSocket = "/run/ovn/ovnnb_db.sock";
constexpr std::string_view kSchema =
    R"({"id":{ID},"result":{"tables":{"Address_Set":{"columns":{}}}},"error":null})";
constexpr std::string_view kEmpty = R"({"id":{ID},"result":{},"error":null})";
constexpr std::string_view kRow =
    R"({"method":"update","id":null,"params":["x",{"Address_Set":{)"
    R"("6ab21a4e-7c0c-4f3b-9d8b-000000000001":{"new":{"name":"a"}}}}]})";
constexpr std::string_view kEcho = R"({"id":{ID},"result":[],"error":null})";

/// A watch beside a server that answers the schema, the monitor and then the echoes in turn.
struct Watched {
  Watched(World& world, const std::string& to_echo) : sim(world) {
    FakeManners manners;
    manners.in_turn = {std::string(kSchema), std::string(kEmpty), to_echo};
    const FakeServer::Spawn spawn = [this](std::string name, runtime::Task<void> task) {
      tasks.spawn(std::move(name), std::move(task));
    };
    server = std::make_unique<FakeServer>(us, spawn, Endpoint::unix_socket(std::string(kSocket)),
                                          std::move(manners));
    watch.start();
    EXPECT_TRUE(sim.run_until([this] { return watch.follows(); }, 5s));
  }
  ~Watched() {
    sim.run(us, watch.stop());
    sim.run(us, tasks.stop());
  }
  Result<void> catch_up() { return run_task(sim, us, watch.catch_up(us.deadline_in(200ms))); }

  World& sim;
  SimRuntime& us = sim.host("us");
  runtime::TaskGroup tasks{us.executor()};
  std::unique_ptr<FakeServer> server;
  ContentWatch watch{us, std::string(kSocket), "OVN_Northbound", [] {}};
};

SIM_TEST(ContentWatch, CatchesUpWithWhatWasCommittedBefore) {
  Watched one(sim, std::string(kRow) + std::string(kEcho));
  EXPECT_EQ(one.watch.rows(), 0U);
  const auto before = one.watch.ring().newest(1);
  EXPECT_TRUE(one.catch_up());
  EXPECT_EQ(one.watch.rows(), 1U);
  EXPECT_NE(one.watch.ring().newest(1), before);
  EXPECT_TRUE(one.catch_up());
}

SIM_TEST(ContentWatch, SaysThatItDidNotCatchUpWithASilentServer) {
  Watched one(sim, " ");
  const Result<void> done = one.catch_up();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::kTimeout);
}

SIM_TEST(ContentWatch, SaysThatItDidNotCatchUpWhenTheServerGoesAway) {
  Watched one(sim, " ");
  sim.at(100ms, [&] { one.server->hang_up(); });
  const Result<void> done = one.catch_up();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::kClosed);
}

}  // namespace
}  // namespace wardmote::act::failover
