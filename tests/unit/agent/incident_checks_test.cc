// What incidents keep of checks: which were ever good, and why those fail that do.

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "incidents/incident_manager.h"
#include "judge/incident/graph.h"
#include "unit/agent/incident_manager_fixture.h"

namespace wardmote::agent {
namespace {

class IncidentChecks : public IncidentManagerTest {};

// It said for ever what had been wrong first.
TEST_F(IncidentChecks, ACheckThatFailsForAnotherReasonByNowIsToldOfWithThat) {
  Life life(world, us, &disk);
  const auto fails = [&](judge::ReasonCode code, std::string text) {
    life.manager->restate("bird", {kReported, kReported, {code, std::move(text)}});
    return life.manager->book().incidents().at(1).summary;
  };
  life.check("bird", kError, kReported);
  const std::string first = "bird fails: refused";
  EXPECT_EQ(fails(judge::ReasonCode::kHung, "no answer"), first) << "a moment later";
  world.run_for(30s);
  const auto told = life.told;
  EXPECT_EQ(fails(judge::ReasonCode::kHung, "no answer"), "bird fails: no answer");
  world.run_for(299s);
  EXPECT_EQ(fails(judge::ReasonCode::kHung, "none at all"), "bird fails: no answer");
  world.run_for(1s);
  EXPECT_EQ(fails(judge::ReasonCode::kHung, "none at all"), "bird fails: none at all");
  EXPECT_EQ(life.told, told) << "no message for that alone";
  world.run_for(1s);
  life.check("bird", kReported, kHealthy);
  world.run_for(1h);
  EXPECT_TRUE(fails(judge::ReasonCode::kRefused, "refused").contains("none at all"))
      << "it is over";
}

TEST_F(IncidentChecks, AnOptionalCheckThatWasGoodOnceIsKnownInTheNextLife) {
  config::Config config = sample_config();
  config.checks[1].schedule.optional = true;
  const std::string name = config.checks[1].name;
  const std::string other = config.checks[2].name;
  using Known = std::map<std::string, bool, std::less<>>;
  const auto blind = [&](Life& life, bool is) {
    life.feed.tell({ThingKind::kCheck, name},
                   judge::CheckBlind{is, {judge::ReasonCode::kNoResolver, "no name"}, kHealthy});
  };
  {
    Life life(world, us, &disk, config);
    blind(life, true);
    life.check(other, kDiscovery, kHealthy);
    EXPECT_EQ(life.manager->seen_good().checks(), Known{}) << "never good, or not optional";
    blind(life, false);
    life.check(name, kDiscovery, kHealthy);
    world.run_for(1s);
  }
  {
    Life life(world, us, &disk, config);
    EXPECT_EQ(life.manager->seen_good().checks(), (Known{{name, false}}));
    blind(life, true);
    world.run_for(1s);
  }
  {
    Life life(world, us, &disk, config);
    EXPECT_EQ(life.manager->seen_good().checks(), (Known{{name, true}}));
    life.manager->reload({.gone = {}, .replaced = {judge::incident::check_node(name)}});
    EXPECT_EQ(life.manager->seen_good().checks(), Known{}) << "another thing has its name";
    life.check(name, kDiscovery, kHealthy);
    world.run_for(1s);
  }
  Life life(world, us, &disk);
  EXPECT_EQ(life.manager->seen_good().checks(), Known{}) << "it is not optional any more";
  world.run_for(1s);
  EXPECT_TRUE(disk.rows("SELECT key FROM store_kv WHERE key LIKE 'good/%'").empty());
}

class MadeOptionalWhileAway : public IncidentManagerTest {
 protected:
  static config::Config optional(std::size_t check) {
    config::Config config = sample_config();
    config.checks[check].schedule.optional = true;
    return config;
  }
};

// It stayed critical for as long as it failed; a reload made a warning of it.
TEST_F(MadeOptionalWhileAway, ACheckThatWasGoodIsAWarningFromTheStart) {
  {
    Life life(world, us, &disk);
    life.check("bird", kError, kReported);
    world.run_for(1s);
  }
  Life next(world, us, &disk, optional(1));
  EXPECT_EQ(next.manager->open_incidents(), (serve::OpenIncidents{1, Severity::kWarning}));
  EXPECT_EQ(next.count("incident_changed 1"), 1);
  next.check("bird", kReported, kHealthy);
  EXPECT_EQ(next.count("incident_resolved 1"), 1);
}

TEST_F(MadeOptionalWhileAway, OneThatWasNeverGoodHasNoIncidentAnyMore) {
  {
    Life life(world, us, &disk);
    life.feed.tell({ThingKind::kCheck, "bird"},
                   judge::CheckChanged{kDiscovery, kReported, {}, true, false});
    world.run_for(1s);
    EXPECT_EQ(life.manager->open_incidents().open, 1U);
  }
  Life next(world, us, &disk, optional(1));
  EXPECT_EQ(next.manager->open_incidents(), serve::OpenIncidents());
  EXPECT_EQ(next.count("incident_resolved 1"), 1);
  ASSERT_EQ(next.manager->known_failures().size(), 1U) << "it is shown, and does not count";
}

TEST_F(MadeOptionalWhileAway, WhatAClusterShowsIsAWarningOnceItIsSeenAgain) {
  {
    Life life(world, us, &disk);
    life.finding(kRaised, Code::kRaftMemberDown, Severity::kCritical, {"a"});
    world.run_for(1s);
  }
  Life next(world, us, &disk, optional(0));
  next.finding(kRaised, Code::kRaftMemberDown, Severity::kCritical, {"a"});
  EXPECT_EQ(next.manager->open_incidents(), (serve::OpenIncidents{1, Severity::kWarning}));
}

// A finding that is less grave than before may only be what is seen first.
TEST_F(MadeOptionalWhileAway, WhatIsNotOptionalStaysAsGraveAsItWas) {
  {
    Life life(world, us, &disk);
    life.finding(kRaised, Code::kRaftMemberDown, Severity::kCritical, {"a"});
    world.run_for(1s);
  }
  Life next(world, us, &disk);
  next.finding(kRaised, Code::kRaftMemberDown, Severity::kWarning, {"a"});
  EXPECT_EQ(next.manager->open_incidents(), (serve::OpenIncidents{1, Severity::kCritical}));
}

}  // namespace
}  // namespace wardmote::agent
