// A domain that the product does not have: what CONTRIBUTING.md says that a domain consists of is
// all that it takes. Nothing in src/ knows counters, and the agent judges, lists, measures and
// reports them.

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/agent.h"
#include "agent/service_manager.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "runtime/endpoint.h"
#include "runtime/stream.h"
#include "runtime/task.h"
#include "sim/asked_agent.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "unit/agent/toy_domain/counters.h"

namespace wardmote::agent::toy {
namespace {

using sim::SimRuntime;
using sim::World;
using namespace std::chrono_literals;

constexpr std::string_view kConfig = R"(
api: {listen: 127.0.0.1:9470}
checks:
  - {name: web, tcp: {address: server:80}, every: 1s, timeout: 900ms}
  - {name: failures, counter: {of: web, most: 4}, every: 1s, timeout: 900ms}
)";

config::Config config_of(std::string_view text) {
  auto parsed = config::parse_config(text, kinds_with_counters());
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().front().what);
  return parsed ? *std::move(parsed) : config::Config();
}

runtime::Task<void> take_connections(SimRuntime* host) {
  const auto listener = host->listen(runtime::Endpoint::tcp("server", 80));
  EXPECT_TRUE(listener);
  for (;;) {
    const auto stream = co_await (*listener)->accept();
    if (!stream) co_return;
  }
}

struct OwnWorld {
  World world{1};
};

/// The agent with counters, and the web server whose check is counted.
class ToyDomain : public ::testing::Test, OwnWorld, public sim::AskedAgent {
 protected:
  ToyDomain() : AskedAgent(OwnWorld::world), server_(sim.host("server")) {
    serve();
    const Result<void> started = agent_.start();
    EXPECT_TRUE(started) << started.error().describe();
  }
  ~ToyDomain() override {
    sim.run(us, agent_.stop());
    server_.crash();
  }

  void serve() { server_.spawn("web", take_connections(&server_)); }
  std::string told(std::string path) { return get(std::move(path)).body; }
  bool tells(std::string path, std::string_view text) {
    return told(std::move(path)).contains(text);
  }
  bool fails() {
    return tells("/api/v1/findings", R"("counter":"failures","code":"CHECK_FAILED")");
  }

  SimRuntime& server_;
  const ServiceManager no_service_{"", std::nullopt};
  Agent agent_{us, no_service_, config_of(kConfig), "ctl", {}, {}, domains_with_counters()};
};

TEST_F(ToyDomain, IsListedAndMeasuredLikeTheOthers) {
  sim.run_for(5s);
  EXPECT_TRUE(
      tells("/api/v1/status",
            R"("totals":{"clusters":0,"meshes":0,"etcd":0,"failover":0,"guests":0,"counters":1)"));
  EXPECT_TRUE(tells("/api/v1/status", R"("counters":[{"counter":"failures","of":"web","count":0)"));
  EXPECT_TRUE(tells("/api/v1/counters", R"("total":1)"));
  EXPECT_TRUE(tells("/api/v1/counters/failures", R"("most":4,"findings":[])"));
  EXPECT_EQ(get("/api/v1/counters/other").status, 404);
  EXPECT_TRUE(tells("/api/v1/counters/other", "no counter is named 'other'"));
  const std::string metrics = told("/metrics");
  EXPECT_TRUE(
      metrics.contains("# TYPE wardmote_counter_count gauge\n"
                       "wardmote_counter_count{counter=\"failures\"} 0\n"))
      << metrics;
  EXPECT_TRUE(metrics.contains(R"(wardmote_check_status{check="failures",kind="counter"} 0)"));
  EXPECT_EQ(get("/readyz/failures").status, 200);
  EXPECT_FALSE(fails());
}

TEST_F(ToyDomain, ItsFindingIsToldOnceAndClearedWhenItIsOver) {
  sim.run_for(5s);
  server_.crash();
  EXPECT_LE(time_until([&] { return fails(); }, 30s), 7s);
  EXPECT_TRUE(tells("/api/v1/findings", "5 looks at web have failed in a row, 4 are allowed"));
  EXPECT_TRUE(tells("/api/v1/history", R"("kind":"finding_raised","scope":"counter")"));
  serve();
  EXPECT_LE(time_until([&] { return !fails(); }, 30s), 3s);
  const std::string history = told("/api/v1/history");
  EXPECT_TRUE(history.contains(R"("kind":"finding_cleared","scope":"counter")")) << history;
}

TEST_F(ToyDomain, WhatItDependsOnExplainsIt) {
  sim.run_for(5s);
  server_.crash();
  EXPECT_LE(time_until([&] { return fails(); }, 30s), 7s);
  sim.run_for(5s);
  const std::string incidents = told("/api/v1/incidents");
  EXPECT_FALSE(incidents.contains(R"("id":2)")) << incidents;
  EXPECT_TRUE(incidents.contains(R"("root":"check:web")")) << incidents;
  EXPECT_TRUE(incidents.contains(R"("component":"check:failures")")) << incidents;
}

TEST_F(ToyDomain, AReloadKeepsWhatStaysAndRefusesWhatItCannotPrepare) {
  sim.run_for(5s);
  server_.crash();
  EXPECT_LE(time_until([&] { return fails(); }, 30s), 7s);
  std::string text(kConfig);
  text += "  - {name: second, counter: {of: web, most: 100}, every: 1s, timeout: 900ms}\n";
  EXPECT_TRUE(agent_.reload(config_of(text)));
  EXPECT_TRUE(fails());
  EXPECT_TRUE(tells("/api/v1/counters", R"("total":2)"));
  text.replace(text.find("most: 100"), 9, "most: -10");
  EXPECT_FALSE(agent_.reload(config_of(text)));
  EXPECT_TRUE(agent_.reload(config_of(kConfig)));
  EXPECT_TRUE(tells("/api/v1/counters", R"("total":1)"));
}

}  // namespace
}  // namespace wardmote::agent::toy
