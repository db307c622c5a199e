// What reporters said outlives the agent: a program that says once that it is ready does not say so
// again.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "agent/reports/reporter_registry.h"
#include "incidents/record_writer.h"
#include "judge/report/reporters.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "store/leadership.h"
#include "store/report_record.h"

namespace wardmote::agent {
namespace {

using namespace std::chrono_literals;

class ReporterMemory : public ::testing::Test {
 protected:
  /// One life of an agent's registry.
  struct Life {
    Life(sim::World& in, sim::SimRuntime& host, sim::SimDisk& disk)
        : world(in), us(host), database(host, disk), store(host, database, "boot") {
      EXPECT_TRUE(run_task(world, us, store.open()));
      records.emplace(us, &store, alone);
      registry.emplace(us, [](std::string_view) {}, &*records, "us");
      EXPECT_TRUE(run_task(world, us, registry->recall()));
    }
    ~Life() {
      world.run(us, registry->stop());
      world.run(us, records->stop());
    }
    judge::ReporterStanding felix() { return *registry->standing("felix"); }

    sim::World& world;
    sim::SimRuntime& us;
    sim::SimDatabase database;
    store::EmbeddedStore store;
    store::SoleLeadership alone{us, nullptr};
    std::optional<incidents::RecordWriter> records;
    std::optional<ReporterRegistry> registry;
  };

  const std::vector<config::Reporter> felix_{{"felix", {.timeout = 30s}, {}}};
  sim::World world_{1};
  sim::SimRuntime& us_ = world_.host("us");
  sim::SimDisk disk_;
};

TEST_F(ReporterMemory, WhatWasSaidOnceHoldsInTheNextLife) {
  {
    Life life(world_, us_, disk_);
    life.registry->reload(felix_, {});
    EXPECT_TRUE(life.registry->accept("felix", "READY=1"));
  }
  Life next(world_, us_, disk_);
  next.registry->reload(felix_, {});
  EXPECT_TRUE(next.felix().ready());
  EXPECT_TRUE(next.registry->accept("felix", "WATCHDOG=1"));
  EXPECT_TRUE(next.felix().ready()) << "it was told as not ready";
}

TEST_F(ReporterMemory, WhoSaidThatItIsNotLiveIsNotHealedByAReportOfSomethingElse) {
  {
    Life life(world_, us_, disk_);
    life.registry->reload(felix_, {});
    EXPECT_TRUE(
        life.registry->accept("felix", R"({"live": false, "ready": true, "detail": "deadlock"})"));
  }
  Life next(world_, us_, disk_);
  next.registry->reload(felix_, {});
  EXPECT_FALSE(next.felix().live());
  EXPECT_EQ(next.felix().report.detail, "deadlock");
  EXPECT_TRUE(next.registry->accept("felix", R"({"ready": true})"));
  EXPECT_FALSE(next.felix().live());
  EXPECT_TRUE(next.registry->accept("felix", R"({"live": true})"));
  EXPECT_TRUE(next.felix().live());
}

TEST_F(ReporterMemory, WhoIsSilentSinceTheRestartIsOverdueAfterItsTimeout) {
  {
    Life life(world_, us_, disk_);
    life.registry->reload(felix_, {});
    EXPECT_TRUE(life.registry->accept("felix", "READY=1"));
  }
  world_.run_for(1h);
  Life next(world_, us_, disk_);
  next.registry->reload(felix_, {});
  EXPECT_TRUE(next.felix().ready()) << "nobody could hear it meanwhile";
  for (int i = 0; i < 31; ++i) {
    world_.run_for(1s);
    (void)next.felix();
  }
  EXPECT_TRUE(next.felix().timed_out);
}

// It showed the details of the report before, with which the state had changed.
TEST_F(ReporterMemory, AnOrderlyEndKeepsTheDetailsOfTheLastReport) {
  {
    Life life(world_, us_, disk_);
    life.registry->reload(felix_, {});
    EXPECT_TRUE(life.registry->accept("felix", R"({"ready": true, "detail": "10 of 100"})"));
    EXPECT_TRUE(life.registry->accept("felix", R"({"ready": true, "detail": "100 of 100"})"));
  }
  Life next(world_, us_, disk_);
  next.registry->reload(felix_, {});
  EXPECT_EQ(next.felix().report.detail, "100 of 100");
}

// It was answered as if it were written, and after a kill the old "ready" was back.
TEST_F(ReporterMemory, AReportThatCannotBeWrittenDownIsAnsweredSo) {
  Life life(world_, us_, disk_);
  life.registry->reload(felix_, {});
  const auto answer = [&](const char* report) {
    EXPECT_TRUE(life.registry->accept("felix", report));
    const auto hold = life.registry->written("felix");
    if (hold == nullptr) return 0;
    const auto instead = run_task(world_, us_, hold->wait());
    return instead ? instead->status : 200;
  };
  EXPECT_EQ(answer("READY=1"), 200);
  EXPECT_EQ(answer("READY=1"), 0) << "it is written down already";
  disk_.fail_with(Errc::kExhausted);
  EXPECT_EQ(answer(R"({"ready": false})"), 503);
  EXPECT_EQ(answer(R"({"ready": false})"), 503) << "it is said again, and not written down yet";
  EXPECT_FALSE(life.felix().ready()) << "it counts all the same";
  disk_.fail_with(std::nullopt);
  EXPECT_EQ(answer(R"({"ready": false})"), 200);
  EXPECT_EQ(answer(R"({"ready": false})"), 0);
}

TEST_F(ReporterMemory, WhoWasTakenOutIsForgotten) {
  {
    Life life(world_, us_, disk_);
    life.registry->reload(felix_, {});
    EXPECT_TRUE(life.registry->accept("felix", "READY=1"));
  }
  {
    Life(world_, us_, disk_).registry->reload({}, {});
  }
  Life next(world_, us_, disk_);
  next.registry->reload(felix_, {});
  EXPECT_FALSE(next.felix().ready());
}

TEST(ReportRecord, ComesBackAsItWas) {
  judge::Report report{.live = false, .ready = true, .detail = "x", .timeout = 5s};
  EXPECT_EQ(store::decode_report(store::encode(report)), report);
  report.timeout.reset();
  EXPECT_EQ(store::decode_report(store::encode(report)), report);
  for (const char* const text : {"", "[]", "{}", R"({"live":true})"})
    EXPECT_FALSE(store::decode_report(text)) << text;
}

}  // namespace
}  // namespace wardmote::agent
