// A full disk of the agent's own: it watches, tells and serves on, says so, and writes when there
// is room.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "act/notify/channel.h"
#include "agent/agent.h"
#include "observe/kinds.h"
#include "sim/asked_agent.h"
#include "sim/seeds.h"
#include "sim/sim_database.h"
#include "store/embedded_store.h"

namespace wardmote::agent {
namespace {

using sim::SimDatabase;
using sim::SimDisk;
using sim::World;
using namespace std::chrono_literals;

// Nobody listens there.
constexpr std::string_view kConfig = R"(
api: {listen: 127.0.0.1:9470}
data: /data
checks: [{name: web, tcp: {address: 127.0.0.1:80}, every: 1s, timeout: 900ms, fall: 1, rise: 1}]
)";

/// Keeps what it is told.
class Ear final : public act::notify::Channel {
 public:
  explicit Ear(std::vector<std::string>& told) : told_(told) {}
  runtime::Task<act::notify::DeliveryResult> send(judge::notify::Notice notice,
                                                  runtime::Deadline) override {
    for (const auto& item : notice.items) {
      told_.push_back(std::string(to_string(item.kind)) + " " + item.incident.root);
    }
    co_return act::notify::DeliveryResult();
  }

 private:
  std::vector<std::string>& told_;
};

/// One life of the agent on a disk that outlives it.
class Deployment : public sim::AskedAgent {
 public:
  Deployment(World& world, SimDisk& disk) : AskedAgent(world), database_(us, disk) {
    const auto opened = run_task(sim, us, store_.open());
    EXPECT_TRUE(opened || opened.error().code == Errc::kExhausted);
    const auto recalled = run_task(sim, us, agent_->recall());
    EXPECT_TRUE(recalled) << recalled.error().describe();
    const auto started = agent_->start();
    EXPECT_TRUE(started) << started.error().describe();
  }
  ~Deployment() { sim.run(us, agent_->stop()); }

  bool degraded() {
    const std::string status = get("/api/v1/status").body;
    const bool said = status.contains(R"("degraded":true)");
    EXPECT_EQ(said, status.contains("what it sees is not written down: "));
    EXPECT_EQ(said, get("/metrics").body.contains("wardmote_degraded 1"));
    return said;
  }
  bool knows_incident() { return get("/api/v1/incidents").body.contains("check:web"); }
  /// Until what fails from the start is an incident, and told.
  void wait_for_incident() {
    EXPECT_LE(time_until([&] { return knows_incident(); }, 5min), 5min);
    sim.run_for(5s);
  }
  std::vector<std::string> told;

 private:
  incidents::NotifierOptions receivers() {
    incidents::NotifierOptions options;
    judge::notify::Route route;
    route.receiver = "ear";
    route.group_wait = 1s;
    options.policy.routes.push_back(route);
    options.receivers["ear"] = {std::make_unique<Ear>(told), 15s};
    return options;
  }

  SimDatabase database_;
  store::EmbeddedStore store_{us, database_, "boot"};
  const ServiceManager no_service_{"", std::nullopt};
  std::unique_ptr<Agent> agent_ = std::make_unique<Agent>(
      us, no_service_, *config::parse_config(kConfig, observe::probe_kinds()), "ctl",
      Memory{&database_, &store_}, receivers());
};

std::size_t count(SimDisk& disk, const std::string& sql) {
  const auto rows = disk.rows(sql);
  return static_cast<std::size_t>(rows.at(0).integer(0).value_or(0));
}

void expect_written(SimDisk& disk) {
  EXPECT_EQ(count(disk, "SELECT count(*) FROM store_kv WHERE key LIKE 'incident/%'"), 1U);
  EXPECT_EQ(count(disk, "SELECT count(*) FROM event WHERE kind = 'incident_opened'"), 1U);
  EXPECT_EQ(count(disk, "SELECT count(*) - max(id) FROM event"), 0U) << "none is lost";
  EXPECT_GT(count(disk, "SELECT count(*) FROM sample"), 0U);
  EXPECT_GT(count(disk, "SELECT count(*) FROM record"), 0U) << "the journal's";
}

SIM_TEST_SEEDS(SimFullDisk, AtTheStartItKeepsNobodyFromWatching, 5) {
  SimDisk disk;
  disk.fail_with(Errc::kExhausted);
  {
    Deployment lab(sim, disk);
    lab.wait_for_incident();
    EXPECT_EQ(lab.get("/livez").status, 200);
    EXPECT_EQ(lab.get("/readyz").status, 503);
    EXPECT_EQ(lab.told, std::vector<std::string>{"opened check:web"});
    EXPECT_TRUE(lab.degraded());
    disk.fail_with(std::nullopt);
    EXPECT_LE(lab.time_until([&] { return !lab.degraded(); }, 5min), 2min);
    sim.run_for(62s);  // samples are written each minute
    expect_written(disk);
  }
  Deployment next(sim, disk);
  EXPECT_FALSE(next.degraded());
  EXPECT_TRUE(next.knows_incident());
  sim.run_for(1min);
  EXPECT_TRUE(next.told.empty()) << "it is known already";
}

SIM_TEST_SEEDS(SimFullDisk, WhileItRunsItIsSaidAndOver, 5) {
  SimDisk disk;
  Deployment lab(sim, disk);
  lab.wait_for_incident();
  EXPECT_FALSE(lab.degraded());
  disk.fail_with(Errc::kExhausted);
  // Nothing happens, and samples are written each minute.
  EXPECT_LE(lab.time_until([&] { return lab.degraded(); }, 5min), 61s);
  disk.fail_with(std::nullopt);
  EXPECT_LE(lab.time_until([&] { return !lab.degraded(); }, 5min), 2min);
  expect_written(disk);
}

SIM_TEST_SEEDS(SimFullDisk, WhatAnEarlierLifeKnewIsKnownAndGoesOn, 5) {
  SimDisk disk;
  {
    Deployment lab(sim, disk);
    lab.wait_for_incident();
    EXPECT_EQ(lab.told.size(), 1U);
  }
  const std::size_t before = count(disk, "SELECT count(*) FROM event");
  disk.fail_with(Errc::kExhausted);
  Deployment next(sim, disk);
  EXPECT_LE(next.time_until([&] { return next.degraded(); }, 5min), 61s);
  EXPECT_TRUE(next.knows_incident());
  disk.fail_with(std::nullopt);
  EXPECT_LE(next.time_until([&] { return !next.degraded(); }, 5min), 2min);
  sim.run_for(2s);
  EXPECT_TRUE(next.told.empty()) << "it is the same incident";
  expect_written(disk);
  EXPECT_GT(count(disk, "SELECT count(*) FROM event"), before);
  EXPECT_EQ(count(disk, "SELECT count(*) FROM store_kv WHERE key LIKE 'incident/%'"), 1U);
}

}  // namespace
}  // namespace wardmote::agent
