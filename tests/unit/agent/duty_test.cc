#include "agent/duty.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "agent/change_feed.h"
#include "agent/symptoms.h"
#include "judge/finding.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"

namespace wardmote::agent {
namespace {

using judge::Change;
using judge::Code;
using judge::Severity;
using sim::SimDatabase;
using sim::SimDisk;
using sim::SimRuntime;
using sim::World;
using namespace std::chrono_literals;

constexpr observe::ProbeKind kFakeKind{"fake", "a fake", {}, nullptr};

config::Config sample_config() {
  config::Config config;
  config::Cluster cluster;
  cluster.name = "nb";
  cluster.members = {{"a", {}, {}}, {"b", {}, {}}};
  config.clusters.push_back(cluster);
  for (const char* name : {"bird", "peer"}) {
    config::Check check;
    check.name = name;
    check.kind = &kFakeKind;
    check.schedule.every = 1s;
    config.checks.push_back(std::move(check));
  }
  config.checks[1].depends_on = {"bird"};
  return config;
}

/// One life of an agent's duty.
struct Life {
  Life(World& in, SimRuntime& host, SimDisk* on, config::Config with = sample_config())
      : world(in), us(host), config(std::move(with)) {
    if (on != nullptr) database.emplace(host, *on);
    duty = std::make_unique<Duty>(us, database ? &*database : nullptr, config, "us", feed,
                                  NotifierOptions());
    feed.listen([this](const Change& change) {
      const std::int64_t incident = duty->hear(change);
      told.push_back(change.kind + " " + change.subject);
      incidents.push_back(incident);
    });
    const Result<void> opened = run_task(world, us, duty->open());
    EXPECT_TRUE(opened) << opened.error().describe();
  }
  ~Life() { world.run(us, duty->stop()); }

  void check(const std::string& name, const std::string& from, const std::string& to,
             const std::string& reason = "refused") {
    feed.tell(
        LogLevel::kInfo, "check_changed",
        {{"check", name}, {"from", from}, {"to", to}, {"reason", reason}, {"detail", "refused"}});
  }
  void mesh_finding(const char* kind, Code code, std::string subject) {
    judge::Finding finding;
    finding.code = code;
    finding.severity = Severity::kCritical;
    finding.subjects = {std::move(subject)};
    finding.summary = "so it is";
    feed.tell(LogLevel::kInfo, kind, {{"mesh", "bgp"}}, {}, &finding);
  }
  void finding(const char* kind, Code code, Severity severity, std::vector<std::string> subjects) {
    judge::Finding finding;
    finding.code = code;
    finding.severity = severity;
    finding.subjects = std::move(subjects);
    finding.summary = "so it is";
    feed.tell(LogLevel::kInfo, kind, {{"cluster", "nb"}}, {}, &finding);
  }
  [[nodiscard]] long count(const std::string& what) const { return std::ranges::count(told, what); }

  World& world;
  SimRuntime& us;
  const config::Config config;
  ChangeFeed feed{[this] { return us.wall_now(); }};
  std::optional<SimDatabase> database;
  std::unique_ptr<Duty> duty;
  std::vector<std::string> told;
  std::vector<std::int64_t> incidents;
};

class DutyTest : public testing::Test {
 protected:
  World world{1};
  SimRuntime& us = world.host("us");
  SimDisk disk;
};

TEST_F(DutyTest, AConfirmedFailureOpensAnIncidentAndItsEndResolvesIt) {
  Life life(world, us, nullptr);
  life.check("bird", "healthy", "error");
  EXPECT_EQ(life.count("incident_opened 1"), 0) << "once is not believed";
  life.check("bird", "error", "reported");
  EXPECT_EQ(life.count("incident_opened 1"), 1);
  EXPECT_EQ(life.duty->book().incidents().at(1).summary, "bird fails: refused");
  life.check("bird", "reported", "healthy");
  EXPECT_EQ(life.count("incident_resolved 1"), 1);
}

TEST_F(DutyTest, WhatWasNeverSeenGoodIsAnIncidentToo) {
  Life life(world, us, nullptr);
  life.feed.tell(LogLevel::kWarning, "check_overdue",
                 {{"check", "bird"}, {"reason", "refused"}, {"detail", ""}});
  EXPECT_EQ(life.count("incident_opened 1"), 1);
  life.check("bird", "discovery", "healthy");
  EXPECT_EQ(life.count("incident_resolved 1"), 1);
}

TEST_F(DutyTest, ACheckOfWhichNothingIsKnownIsMonitorBlind) {
  Life life(world, us, nullptr);
  life.feed.tell(LogLevel::kError, "check_blind",
                 {{"check", "bird"}, {"reason", "protocol"}, {"detail", "half a reply"}});
  EXPECT_EQ(life.count("incident_opened 1"), 1);
  EXPECT_EQ(life.duty->book().incidents().at(1).code, Code::kMonitorBlind);
  EXPECT_EQ(life.duty->book().incidents().at(1).summary, "nothing is known of bird: half a reply");
  life.feed.tell(LogLevel::kInfo, "check_seen_again",
                 {{"check", "bird"}, {"reason", "none"}, {"detail", ""}});
  EXPECT_EQ(life.count("incident_resolved 1"), 1);
}

TEST_F(DutyTest, EveryChangeOfAnIncidentBearsItsNumber) {
  Life life(world, us, nullptr);
  life.check("bird", "error", "reported");
  life.check("bird", "reported", "healthy");
  EXPECT_EQ(life.incidents, (std::vector<std::int64_t>{1, 1, 1, 1}));
}

TEST_F(DutyTest, WhatACheckDependsOnExplainsIt) {
  Life life(world, us, nullptr);
  life.check("peer", "error", "reported");
  life.check("bird", "error", "reported");
  EXPECT_EQ(life.duty->book().incidents().size(), 1U);
  EXPECT_EQ(life.duty->book().incidents().at(1).root, "check:bird");
}

TEST_F(DutyTest, AMembersFailureAndItsClustersAreOne) {
  Life life(world, us, nullptr);
  life.finding("finding_raised", Code::kRaftMemberDown, Severity::kWarning, {"a", "5b4b"});
  EXPECT_EQ(life.duty->book().incidents().at(1).root, "member:nb/a");
  life.finding("finding_raised", Code::kRaftNoQuorum, Severity::kCritical, {});
  EXPECT_EQ(life.duty->book().incidents().size(), 1U);
  EXPECT_EQ(life.duty->book().incidents().at(1).root, "cluster:nb");
  EXPECT_EQ(life.duty->book().incidents().at(1).severity, Severity::kCritical);
}

/// A mesh of three besides; its members are checks of their own.
config::Config config_with_mesh() {
  config::Config config = sample_config();
  config::Mesh mesh;
  mesh.name = "bgp";
  for (const char* name : {"r1", "r2", "r3"}) {
    config::Check check;
    check.name = name;
    check.kind = &kFakeKind;
    check.schedule.every = 1s;
    config.checks.push_back(std::move(check));
    mesh.members.push_back({name, {}});
  }
  config.meshes.push_back(std::move(mesh));
  return config;
}

TEST_F(DutyTest, ADaemonThatIsDownExplainsWhatFailsElsewhereBecauseOfIt) {
  Life life(world, us, nullptr, config_with_mesh());
  // Whoever is first: the others lose their sessions, the mesh sees a daemon down, its check fails.
  life.check("r2", "error", "reported", "state");
  life.mesh_finding("finding_raised", Code::kBgpDaemonDown, "r1");
  life.check("r1", "error", "reported", "hung");
  life.check("r3", "error", "reported", "state");
  life.check("bgp", "error", "reported", "state");
  std::vector<std::string> open;
  for (const auto& [id, incident] : life.duty->book().incidents()) {
    if (incident.phase == judge::incident::Phase::kOpen) open.push_back(incident.root);
  }
  EXPECT_EQ(open, std::vector<std::string>{"check:r1"});
  life.mesh_finding("finding_cleared", Code::kBgpDaemonDown, "r1");
  for (const char* name : {"r1", "r2", "r3", "bgp"}) life.check(name, "reported", "healthy");
  for (const auto& [id, incident] : life.duty->book().incidents())
    EXPECT_EQ(incident.phase, judge::incident::Phase::kResolved) << incident.root;
}

TEST_F(DutyTest, WhatIsWrongWithOneSessionIsTheCauseOfWhatItsEndsComplainOf) {
  Life life(world, us, nullptr, config_with_mesh());
  life.check("r1", "error", "reported", "state");
  life.mesh_finding("finding_raised", Code::kBgpWrongAs, "r1/r2");
  life.mesh_finding("finding_raised", Code::kBgpRefused, "r2/r3");
  std::vector<std::string> open;
  for (const auto& [id, incident] : life.duty->book().incidents()) {
    if (incident.phase == judge::incident::Phase::kOpen) open.push_back(incident.root);
  }
  EXPECT_EQ(open, (std::vector<std::string>{"session:bgp/r1/r2", "session:bgp/r2/r3"}));
}

TEST_F(DutyTest, WhatIsOnlyWorthKnowingWakesNobody) {
  Life life(world, us, nullptr);
  life.finding("finding_raised", Code::kRaftVoteAnomaly, Severity::kInfo, {});
  life.feed.tell(LogLevel::kInfo, "member_changed", {{"cluster", "nb"}, {"member", "a"}});
  life.check("nb", "error", "reported");
  EXPECT_TRUE(life.duty->book().incidents().empty())
      << "a note, a change without a finding, and a cluster's check, whose findings tell more";
}

TEST_F(DutyTest, AnIncidentOutlivesTheAgentAndIsNotToldAgain) {
  {
    Life life(world, us, &disk);
    life.check("bird", "error", "reported");
    ASSERT_TRUE(life.duty->acknowledge(1, "ann", "on it"));
    world.run_for(1s);
  }
  world.run_for(1h);
  Life next(world, us, &disk);
  ASSERT_EQ(next.duty->book().incidents().size(), 1U);
  EXPECT_EQ(next.duty->book().incidents().at(1).acknowledged->by, "ann");
  EXPECT_EQ(us.now() - next.duty->book().incidents().at(1).opened, 1h + 1s);
  world.run_for(30s);
  next.check("bird", "error", "reported");
  EXPECT_EQ(next.told, std::vector<std::string>{"check_changed bird"});
  next.check("bird", "reported", "healthy");
  EXPECT_EQ(next.count("incident_resolved 1"), 1);
}

TEST_F(DutyTest, WhatIsNotSeenAgainAfterARestartEnds) {
  {
    Life life(world, us, &disk);
    life.check("bird", "error", "reported");
    world.run_for(1s);
  }
  Life next(world, us, &disk);
  world.run_for(1min);
  EXPECT_EQ(next.told.size(), 0U);
  world.run_for(3min);
  EXPECT_EQ(next.count("incident_resolved 1"), 1);
  world.run_for(1s);
  EXPECT_TRUE(disk.rows("SELECT value FROM record")[0].text(0)->contains("\"open\":false"));
}

TEST_F(DutyTest, WhatIsSeenWellAfterARestartEndsAtOnce) {
  {
    Life life(world, us, &disk);
    life.check("bird", "error", "reported");
    world.run_for(1s);
  }
  Life next(world, us, &disk);
  next.check("bird", "discovery", "healthy");
  EXPECT_EQ(next.count("incident_resolved 1"), 1);
}

TEST_F(DutyTest, AFullDiskStopsNoIncident) {
  Life life(world, us, &disk);
  disk.fail_with(Errc::kExhausted);
  life.check("bird", "error", "reported");
  world.run_for(10s);
  EXPECT_EQ(life.count("incident_opened 1"), 1);
  disk.fail_with(std::nullopt);
  world.run_for(2min);
  EXPECT_EQ(disk.rows("SELECT * FROM record").size(), 1U);
}

TEST_F(DutyTest, TheAnswerToAnOrderWaitsUntilItIsWrittenDown) {
  Life life(world, us, &disk);
  life.check("bird", "error", "reported");
  world.run_for(1s);
  disk.set_latency(300ms);
  ASSERT_TRUE(life.duty->acknowledge(1, "ann", "on it"));
  const auto hold = life.duty->written();
  ASSERT_NE(hold, nullptr);
  const TimePoint before = us.now();
  EXPECT_FALSE(run_task(world, us, hold->wait())) << "the answer stays as it is";
  EXPECT_EQ(us.now() - before, 300ms);
  EXPECT_TRUE(disk.rows("SELECT value FROM record")[0].text(0)->contains("on it"));
  EXPECT_FALSE(run_task(world, us, life.duty->written()->wait())) << "nothing is left to write";
}

TEST_F(DutyTest, AnOrderThatCouldNotBeWrittenDownSaysSo) {
  Life life(world, us, &disk);
  life.check("bird", "error", "reported");
  world.run_for(1s);
  disk.fail_with(Errc::kExhausted);
  ASSERT_TRUE(life.duty->acknowledge(1, "ann", "on it"));
  const auto instead = run_task(world, us, life.duty->written()->wait());
  ASSERT_TRUE(instead);
  EXPECT_EQ(instead->status, 503);
  EXPECT_TRUE(instead->body.contains("not written down")) << instead->body;
  world.run_for(10min);  // the pauses between two attempts are long by now
  const TimePoint before = us.now();
  EXPECT_TRUE(run_task(world, us, life.duty->written()->wait()));
  EXPECT_LE(us.now() - before, 1s);
  disk.fail_with(std::nullopt);
}

TEST_F(DutyTest, WithoutADatabaseNoAnswerWaits) {
  Life life(world, us, nullptr);
  EXPECT_EQ(life.duty->written(), nullptr);
}

TEST_F(DutyTest, ARecordThatIsNotUnderstoodIsPassedOver) {
  {
    const Life life(world, us, &disk);
  }
  disk.rows("INSERT INTO record VALUES ('incident/7', '{\"id\":7}')");
  disk.rows("INSERT INTO record VALUES ('incident/8', 'nonsense')");
  const Life next(world, us, &disk);
  EXPECT_TRUE(next.duty->book().incidents().empty());
}

}  // namespace
}  // namespace wardmote::agent
