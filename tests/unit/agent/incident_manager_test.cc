#include "incidents/incident_manager.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "act/notify/channel.h"
#include "judge/finding.h"
#include "judge/guest/facts.h"
#include "unit/agent/incident_manager_fixture.h"

namespace wardmote::agent {
namespace {

TEST_F(IncidentManagerTest, AConfirmedFailureOpensAnIncidentAndItsEndResolvesIt) {
  Life life(world, us, nullptr);
  life.check("bird", kHealthy, kError);
  EXPECT_EQ(life.count("incident_opened 1"), 0) << "once is not believed";
  life.check("bird", kError, kReported);
  EXPECT_EQ(life.count("incident_opened 1"), 1);
  EXPECT_EQ(life.manager->book().incidents().at(1).summary, "bird fails: refused");
  life.check("bird", kReported, kHealthy);
  EXPECT_EQ(life.count("incident_resolved 1"), 1);
}

TEST_F(IncidentManagerTest, WhatWasNeverSeenGoodIsAnIncidentToo) {
  Life life(world, us, nullptr);
  life.check("bird", kDiscovery, kReported);
  EXPECT_EQ(life.count("incident_opened 1"), 1);
  life.check("bird", kReported, kHealthy);
  EXPECT_EQ(life.count("incident_resolved 1"), 1);
}

TEST_F(IncidentManagerTest, WhatIsOptionalMayNeverCome) {
  config::Config config = sample_config();
  config.checks[1].schedule.optional = true;
  Life life(world, us, nullptr, config);
  const auto reported = [&](bool counts) {
    life.check("bird", kError, kReported, judge::ReasonCode::kRefused, counts);
  };
  reported(false);
  EXPECT_TRUE(life.manager->book().incidents().empty());
  reported(true);
  ASSERT_EQ(life.manager->book().incidents().size(), 1U);
  EXPECT_EQ(life.manager->book().incidents().at(1).severity, Severity::kWarning);
}

// A reload made the failing check optional, and people read that it was well.
TEST_F(IncidentManagerTest, WhatDoesNotCountAnyMoreIsNotWell) {
  Life life(world, us, nullptr);
  life.check("bird", kError, kReported);
  life.config.checks[1].schedule.optional = true;
  life.manager->reload(judge::incident::Departures());
  life.check("bird", kReported, kReported, judge::ReasonCode::kRefused, false);
  ASSERT_EQ(life.count("incident_resolved 1"), 1);
  EXPECT_TRUE(life.manager->book().incidents().at(1).unwatched);
}

TEST_F(IncidentManagerTest, AnOptionalCheckOfWhichNothingWasEverKnownIsNotBlind) {
  config::Config config = sample_config();
  config.checks[1].schedule.optional = true;
  Life life(world, us, nullptr, config);
  const judge::Reason denied{judge::ReasonCode::kDenied, "permission denied"};
  life.feed.tell({ThingKind::kCheck, "bird"}, judge::CheckBlind{true, denied, kDiscovery, false});
  EXPECT_TRUE(life.manager->book().incidents().empty());
}

TEST_F(IncidentManagerTest, TheFindingsOfAnOptionalThingAreWarningsOnceItWasGood) {
  config::Config config = sample_config();
  config.checks[0].schedule.optional = true;
  Life life(world, us, nullptr, config);
  judge::Finding finding;
  finding.code = Code::kRaftNoQuorum;
  finding.severity = Severity::kCritical;
  const auto tell = [&](FindingStep step, bool counts) {
    life.feed.tell(
        {ThingKind::kCluster, "nb"},
        judge::FindingChanged{step, finding, us.now(), "cluster:nb", "cluster:nb", counts});
  };
  tell(kRaised, false);
  EXPECT_TRUE(life.manager->book().incidents().empty());
  tell(kChanged, true);
  ASSERT_EQ(life.manager->book().incidents().size(), 1U);
  EXPECT_EQ(life.manager->book().incidents().at(1).severity, Severity::kWarning);
  tell(kCleared, true);
  EXPECT_EQ(life.count("incident_resolved 1"), 1);
}

TEST_F(IncidentManagerTest, WhatAnEarlierLifeReportedIsConfirmedByALook) {
  {
    Life life(world, us, &disk);
    life.check("bird", kError, kReported);
    EXPECT_TRUE(life.manager->confirmed(life.manager->book().incidents().at(1)));
    world.run_for(1s);
  }
  Life life(world, us, &disk);
  const auto confirmed = [&] {
    return life.manager->confirmed(life.manager->book().incidents().at(1));
  };
  EXPECT_FALSE(confirmed());
  life.manager->looked("peer", true);
  EXPECT_FALSE(confirmed());
  life.manager->looked("bird", true);
  EXPECT_TRUE(confirmed());
}

TEST_F(IncidentManagerTest, ACheckOfWhichNothingIsKnownIsMonitorBlind) {
  Life life(world, us, nullptr);
  life.feed.tell({ThingKind::kCheck, "bird"},
                 judge::CheckBlind{true, {judge::ReasonCode::kDenied, "permission denied"}});
  EXPECT_EQ(life.count("incident_opened 1"), 1);
  EXPECT_EQ(life.manager->book().incidents().at(1).code, Code::kMonitorBlind);
  EXPECT_EQ(life.manager->book().incidents().at(1).summary,
            "nothing is known of bird: permission denied");
  life.feed.tell({ThingKind::kCheck, "bird"}, judge::CheckBlind{false, {}, kHealthy});
  EXPECT_EQ(life.count("incident_resolved 1"), 1);
}

// It was told as RESOLVED, and as failing some looks later.
TEST_F(IncidentManagerTest, WhoWasBlindAndIsSeenFailingIsNotResolved) {
  Life life(world, us, nullptr);
  const judge::Reason denied{judge::ReasonCode::kDenied, "permission denied"};
  life.feed.tell({ThingKind::kCheck, "bird"}, judge::CheckBlind{true, denied, kHealthy});
  life.check("bird", kHealthy, kError);
  life.feed.tell({ThingKind::kCheck, "bird"}, judge::CheckBlind{false, {}, kError});
  EXPECT_EQ(life.count("incident_resolved 1"), 0);
  life.check("bird", kError, kReported);
  ASSERT_EQ(life.manager->book().incidents().size(), 1U);
  EXPECT_EQ(life.manager->book().incidents().at(1).code, Code::kCheckFailed);
  EXPECT_EQ(life.manager->book().incidents().at(1).symptoms, 1U);
  life.check("bird", kReported, kHealthy);
  EXPECT_EQ(life.count("incident_resolved 1"), 1);
  EXPECT_EQ(life.manager->book().incidents().at(1).code, Code::kCheckFailed);
}

TEST_F(IncidentManagerTest, WhoWasBlindAndFailedOnceIsWellWhenItIsSeenWell) {
  Life life(world, us, nullptr);
  life.feed.tell({ThingKind::kCheck, "bird"}, judge::CheckBlind{true, {}, kHealthy});
  life.check("bird", kHealthy, kError);
  life.feed.tell({ThingKind::kCheck, "bird"}, judge::CheckBlind{false, {}, kError});
  life.check("bird", kError, kHealthy);
  EXPECT_EQ(life.count("incident_resolved 1"), 1);
}

TEST_F(IncidentManagerTest, TheFindingsOfAClusterSayMoreThanThatItIsBlind) {
  Life life(world, us, nullptr);
  life.feed.tell({ThingKind::kCheck, "nb"}, judge::CheckBlind{true, {}, kHealthy});
  EXPECT_TRUE(life.manager->book().incidents().empty());
}

TEST_F(IncidentManagerTest, EveryChangeOfAnIncidentBearsItsNumber) {
  Life life(world, us, nullptr);
  life.check("bird", kError, kReported);
  life.check("bird", kReported, kHealthy);
  EXPECT_EQ(life.incidents, (std::vector<std::int64_t>{1, 1, 1, 1}));
}

TEST_F(IncidentManagerTest, WhatACheckDependsOnExplainsIt) {
  Life life(world, us, nullptr);
  life.check("peer", kError, kReported);
  life.check("bird", kError, kReported);
  EXPECT_EQ(life.manager->book().incidents().size(), 1U);
  EXPECT_EQ(life.manager->book().incidents().at(1).root, "check:bird");
}

TEST_F(IncidentManagerTest, AMembersFailureAndItsClustersAreOne) {
  Life life(world, us, nullptr);
  life.finding(kRaised, Code::kRaftMemberDown, Severity::kWarning, {"a", "5b4b"});
  EXPECT_EQ(life.manager->book().incidents().at(1).root, "member:nb/a");
  life.finding(kRaised, Code::kRaftNoQuorum, Severity::kCritical, {});
  EXPECT_EQ(life.manager->book().incidents().size(), 1U);
  EXPECT_EQ(life.manager->book().incidents().at(1).root, "cluster:nb");
  EXPECT_EQ(life.manager->book().incidents().at(1).severity, Severity::kCritical);
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

TEST_F(IncidentManagerTest, ADaemonThatIsDownExplainsWhatFailsElsewhereBecauseOfIt) {
  Life life(world, us, nullptr, config_with_mesh());
  // Whoever is first: the others lose their sessions, the mesh sees a daemon down, its check fails.
  life.check("r2", kError, kReported, judge::ReasonCode::kState);
  life.mesh_finding(kRaised, Code::kBgpDaemonDown, "r1");
  life.check("r1", kError, kReported, judge::ReasonCode::kHung);
  life.check("r3", kError, kReported, judge::ReasonCode::kState);
  life.check("bgp", kError, kReported, judge::ReasonCode::kState);
  std::vector<std::string> open;
  for (const auto& [id, incident] : life.manager->book().incidents()) {
    if (incident.phase == judge::incident::Phase::kOpen) open.push_back(incident.root);
  }
  EXPECT_EQ(open, std::vector<std::string>{"check:r1"});
  life.mesh_finding(kCleared, Code::kBgpDaemonDown, "r1");
  for (const char* name : {"r1", "r2", "r3", "bgp"}) life.check(name, kReported, kHealthy);
  for (const auto& [id, incident] : life.manager->book().incidents())
    EXPECT_EQ(incident.phase, judge::incident::Phase::kResolved) << incident.root;
}

TEST_F(IncidentManagerTest, WhatIsWrongWithOneSessionIsTheCauseOfWhatItsEndsComplainOf) {
  Life life(world, us, nullptr, config_with_mesh());
  life.check("r1", kError, kReported, judge::ReasonCode::kState);
  life.mesh_finding(kRaised, Code::kBgpWrongAs, "r1/r2");
  life.mesh_finding(kRaised, Code::kBgpRefused, "r2/r3");
  std::vector<std::string> open;
  for (const auto& [id, incident] : life.manager->book().incidents()) {
    if (incident.phase == judge::incident::Phase::kOpen) open.push_back(incident.root);
  }
  EXPECT_EQ(open, (std::vector<std::string>{"session:bgp/r1/r2", "session:bgp/r2/r3"}));
}

TEST_F(IncidentManagerTest, WhatIsOnlyWorthKnowingWakesNobody) {
  Life life(world, us, nullptr);
  life.finding(kRaised, Code::kRaftVoteAnomaly, Severity::kInfo, {});
  life.feed.tell({ThingKind::kCluster, "nb"}, judge::MemberChanged{.member = "a"});
  life.check("nb", kError, kReported);
  EXPECT_TRUE(life.manager->book().incidents().empty())
      << "a note, a change without a finding, and a cluster's check, whose findings tell more";
}

// Else it would never end: nobody says of what is only worth knowing that it is over.
TEST_F(IncidentManagerTest, WhatFallsToWhatIsOnlyWorthKnowingIsOver) {
  Life life(world, us, nullptr);
  life.finding(kRaised, Code::kRaftMemberDown, Severity::kWarning, {"a"});
  life.finding(kChanged, Code::kRaftMemberDown, Severity::kInfo, {"a"});
  ASSERT_EQ(life.manager->book().incidents().size(), 1U);
  world.run_for(11min);
  EXPECT_EQ(life.manager->open_incidents(), serve::OpenIncidents());
  EXPECT_EQ(life.manager->book().incidents().at(1).severity, Severity::kWarning);
}

TEST_F(IncidentManagerTest, OpenIncidentsAreCountedWithTheGravestOfThem) {
  Life life(world, us, nullptr);
  using serve::OpenIncidents;
  EXPECT_EQ(life.manager->open_incidents(), OpenIncidents());
  life.check("bird", kError, kReported);
  life.check("bird", kReported, kHealthy);
  world.run_for(11min);
  EXPECT_EQ(life.manager->open_incidents(), OpenIncidents()) << "that one is over";
  const auto member = [&](FindingStep step, const char* name, Severity severity) {
    life.finding(step, Code::kRaftMemberDown, severity, {name});
    return life.manager->open_incidents();
  };
  EXPECT_EQ(member(kRaised, "a", Severity::kWarning), (OpenIncidents{1, Severity::kWarning}));
  EXPECT_EQ(member(kRaised, "b", Severity::kCritical), (OpenIncidents{2, Severity::kCritical}));
  EXPECT_EQ(member(kCleared, "a", Severity::kWarning), (OpenIncidents{1, Severity::kCritical}));
  world.run_for(11min);
  EXPECT_EQ(member(kRaised, "a", Severity::kWarning), (OpenIncidents{2, Severity::kCritical}));
  EXPECT_EQ(life.manager->open_incidents(), (OpenIncidents{2, Severity::kCritical}));
}

TEST_F(IncidentManagerTest, OnlyWhatIsOpenCanBeAcknowledged) {
  Life life(world, us, nullptr);
  EXPECT_EQ(life.manager->acknowledge(1, "ann", "").error().code, Errc::kMissing);
  life.check("bird", kError, kReported);
  EXPECT_TRUE(life.manager->acknowledge(1, "ann", ""));
  EXPECT_EQ(life.count("incident_acknowledged 1"), 1);
  life.check("bird", kReported, kHealthy);
  EXPECT_EQ(life.manager->acknowledge(1, "ann", "").error().code, Errc::kMissing);
}

TEST_F(IncidentManagerTest, AfterAReloadANewDependencyExplains) {
  Life life(world, us, &disk);
  config::Check web;
  web.name = "web";
  web.kind = &kFakeKind;
  web.depends_on = {"bird"};
  life.config.checks.push_back(web);
  life.manager->reload(judge::incident::Departures());
  life.check("bird", kError, kReported);
  life.check("web", kError, kReported);
  EXPECT_EQ(life.manager->book().incidents().size(), 1U);
}

TEST_F(IncidentManagerTest, AReloadEndsAndForgetsWhatIsTakenOut) {
  Life life(world, us, &disk);
  life.check("bird", kError, kReported);
  world.run_for(1s);
  life.config.checks.erase(life.config.checks.begin() + 1);
  life.manager->reload({.gone = {"check:bird"}, .replaced = {}});
  EXPECT_EQ(life.count("incident_resolved 1"), 1);
  EXPECT_TRUE(life.manager->book().incidents().at(1).unwatched);
  world.run_for(1s);
  EXPECT_TRUE(disk.rows("SELECT 1 FROM store_kv WHERE key LIKE 'check/%'").empty());
  life.check("bird", kError, kReported);
  world.run_for(1s);
  EXPECT_TRUE(disk.rows("SELECT 1 FROM store_kv WHERE key LIKE 'check/%'").empty())
      << "a last word of what is not watched any more";
}

TEST_F(IncidentManagerTest, WhatADomainFindsByItselfIsPartOfWhatDependsOnWhat) {
  Life life(world, us, nullptr);
  const auto fails = [&](const std::string& name) {
    judge::Finding finding;
    finding.code = Code::kAgentDown;
    finding.severity = Severity::kCritical;
    life.feed.tell({judge::guest::kGuestKind, name},
                   judge::FindingChanged{kRaised, finding, us.now(), name, name});
  };
  life.manager->discovered(judge::guest::kGuestKind, {{"guest:a", {"check:bird"}}, {"guest:b", {}}},
                           {});
  life.manager->reload(judge::incident::Departures());  // it finds them again only if they change
  life.check("bird", kError, kReported);
  fails("guest:a");
  EXPECT_EQ(life.manager->book().incidents().size(), 1U);
  fails("guest:b");
  EXPECT_EQ(life.manager->open_incidents().open, 2U);
  life.manager->discovered(judge::guest::kGuestKind, {{"guest:a", {"check:bird"}}}, {"guest:b"});
  EXPECT_EQ(life.manager->open_incidents().open, 1U);
  EXPECT_TRUE(life.manager->book().incidents().at(2).unwatched);
}

/// Somebody who forgets what he is told, as Alertmanager does when it is restarted.
struct Forgetful final : act::notify::Channel {
  explicit Forgetful(std::vector<judge::notify::Notice>& into) : heard(into) {}
  runtime::Task<act::notify::DeliveryResult> send(judge::notify::Notice notice,
                                                  runtime::Deadline /*deadline*/) override {
    heard.push_back(std::move(notice));
    co_return act::notify::DeliveryResult();
  }
  std::vector<judge::notify::Notice>& heard;
};

TEST_F(IncidentManagerTest, AReceiverThatForgetsIsToldEachMinuteWhatStandsAsItIsNow) {
  std::vector<judge::notify::Notice> heard;
  incidents::NotifierOptions receivers;
  judge::notify::Route route;
  route.receiver = "am";
  route.group_by = {"root"};
  receivers.policy.routes.push_back(route);
  receivers.receivers["am"] = {std::make_unique<Forgetful>(heard), 15s, true};
  Life life(world, us, &disk, sample_config(), std::move(receivers));
  life.check("bird", kError, kReported);
  life.check("peer", kError, kReported);
  world.run_for(45s);
  ASSERT_EQ(heard.size(), 1U);
  const long told = life.count("notice_delivered am");
  life.check("bird", kReported, kHealthy);
  world.run_for(10min);
  ASSERT_GE(heard.size(), 10U);
  EXPECT_LE(heard.size(), 12U);
  const judge::notify::Notice& last = heard.back();
  EXPECT_TRUE(last.reminds);
  EXPECT_EQ(last.items.at(0).known_as, heard.front().items.at(0).known_as);
  EXPECT_EQ(last.items.at(0).incident.summary, "peer fails: refused; earlier: bird fails: refused");
  EXPECT_EQ(life.count("notice_delivered am"), told) << "it is no notice";
  life.check("peer", kReported, kHealthy);
  world.run_for(10min);
  const std::size_t before = heard.size();
  world.run_for(10min);
  EXPECT_EQ(heard.size(), before) << "nothing stands";
}

}  // namespace
}  // namespace wardmote::agent
