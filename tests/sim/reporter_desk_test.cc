#include "agent/reporter_desk.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "sim/seeds.h"

namespace wardmote::sim {
namespace {

using agent::ReporterDesk;
using judge::Outcome;
using namespace std::chrono_literals;

/// A desk with one reporter, and the probe of what it says of its readiness.
class Desk {
 public:
  explicit Desk(World& world) : sim(world) {
    const std::vector<agent::config::Reporter> reporters = {{"r", {.timeout = 10s}, {}}};
    desk.reload(reporters, {});
    agent::config::Check check;
    check.name = "r.ready";
    check.params["reporter"] = std::string("r");
    check.params["quality"] = std::string("ready");
    probe = desk.probe(check);
  }
  ~Desk() { sim.run(host, desk.stop()); }

  void report() { check(desk.accept("r", "READY=1").has_value(), "no report"); }
  Outcome look() {
    sim.run_for(1s);
    return run_task(sim, host, probe->look(host.deadline_in(1s))).outcome;
  }

  World& sim;
  SimRuntime& host = sim.host("node");
  ReporterDesk desk{host, [](std::string_view) {}};
  std::unique_ptr<observe::Probe> probe;
};

SIM_TEST_SEEDS(ReporterDesk, SilenceCountsAfterTheTimeout, 1) {
  Desk desk(sim);
  EXPECT_EQ(desk.look(), Outcome::kFail) << "nothing was reported yet";
  desk.report();
  for (int second = 1; second <= 10; ++second) EXPECT_EQ(desk.look(), Outcome::kOk) << second;
  EXPECT_EQ(desk.look(), Outcome::kFail);
  desk.report();
  EXPECT_EQ(desk.look(), Outcome::kOk);
}

SIM_TEST_SEEDS(ReporterDesk, ASuspendIsNobodysSilence, 1) {
  Desk desk(sim);
  desk.report();
  EXPECT_EQ(desk.look(), Outcome::kOk);
  sim.run_for(8h);
  for (int second = 1; second <= 10; ++second)
    EXPECT_EQ(desk.look(), Outcome::kUnknown) << "nobody could report: " << second;
  EXPECT_EQ(desk.look(), Outcome::kFail) << "he could, since";
  sim.run_for(8h);
  EXPECT_EQ(desk.look(), Outcome::kUnknown);
  desk.report();
  EXPECT_EQ(desk.look(), Outcome::kOk);
}

SIM_TEST_SEEDS(ReporterDesk, TheWallClockIsNobodysBusiness, 1) {
  Desk desk(sim);
  desk.report();
  desk.host.jump_wall_clock(24h);
  EXPECT_EQ(desk.look(), Outcome::kOk);
  desk.host.jump_wall_clock(-48h);
  EXPECT_EQ(desk.look(), Outcome::kOk);
}

}  // namespace
}  // namespace wardmote::sim
