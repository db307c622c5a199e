// What outlives an agent: its incidents, and the answer that waits until they are written down.

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/log.h"
#include "incidents/change_feed.h"
#include "incidents/incident_manager.h"
#include "incidents/notifier.h"
#include "judge/finding.h"
#include "sim/sim_database.h"
#include "store/embedded_store.h"
#include "store/leadership.h"
#include "support/logged.h"
#include "unit/agent/fake_inbox.h"
#include "unit/agent/fragile_store.h"
#include "unit/agent/incident_manager_fixture.h"

namespace wardmote::agent {
namespace {

class IncidentMemory : public IncidentManagerTest {};

TEST_F(IncidentMemory, AnIncidentOutlivesTheAgentAndIsNotToldAgain) {
  {
    Life life(world, us, &disk);
    life.check("bird", kError, kReported);
    ASSERT_TRUE(life.manager->acknowledge(1, "ann", "on it"));
    world.run_for(1s);
  }
  world.run_for(1h);
  Life next(world, us, &disk);
  ASSERT_EQ(next.manager->book().incidents().size(), 1U);
  EXPECT_EQ(next.manager->book().incidents().at(1).acknowledged->by, "ann");
  const Duration open = us.now() - next.manager->book().incidents().at(1).opened;
  EXPECT_EQ(std::chrono::ceil<std::chrono::milliseconds>(open), 1h + 1s);
  world.run_for(30s);
  next.check("bird", kError, kReported);
  EXPECT_EQ(next.told, std::vector<std::string>{"check_changed bird"});
  next.check("bird", kReported, kHealthy);
  EXPECT_EQ(next.count("incident_resolved 1"), 1);
}

TEST_F(IncidentMemory, WhatIsNotSeenAgainAfterARestartEnds) {
  {
    Life life(world, us, &disk);
    life.finding(kRaised, Code::kRaftNoQuorum, Severity::kCritical, {});
    world.run_for(1s);
  }
  Life next(world, us, &disk);
  world.run_for(1min);
  EXPECT_EQ(next.told.size(), 0U);
  world.run_for(3min);
  EXPECT_EQ(next.count("incident_resolved 1"), 1);
  world.run_for(1s);
  EXPECT_TRUE(disk.rows("SELECT value FROM store_kv")[0].text(0)->contains("\"open\":false"));
}

TEST_F(IncidentMemory, ACheckThatWasReportedStandsAfterARestartUntilItIsSeenWell) {
  {
    Life life(world, us, &disk);
    life.check("bird", kError, kReported);
    life.check("peer", kError, kReported);
    world.run_for(1s);
  }
  const TimePoint failed = us.now() - 1s;
  Life next(world, us, &disk);
  EXPECT_TRUE(next.told.empty()) << "a restart says nothing";
  const judge::incident::Book& book = next.manager->book();
  EXPECT_EQ(book.incidents().at(1).symptoms, 2U);
  EXPECT_EQ(book.incidents().at(1).summary, "bird fails: refused");
  ASSERT_EQ(next.manager->known_failures().size(), 2U);
  const incidents::KnownFailure& known = next.manager->known_failures()[0];
  EXPECT_EQ(known.name, "bird");
  EXPECT_EQ(std::chrono::floor<std::chrono::milliseconds>(known.since), failed);
  EXPECT_EQ(known.reason, (judge::Reason{judge::ReasonCode::kRefused, "refused"}));
  EXPECT_TRUE(known.seen_good);
  EXPECT_EQ(next.manager->open_incidents(), (serve::OpenIncidents{1, Severity::kCritical}));
  world.run_for(1h);
  EXPECT_TRUE(next.told.empty()) << "as long as nobody saw it well";
  next.check("bird", kReported, kHealthy);
  next.check("peer", kReported, kHealthy);
  EXPECT_EQ(next.count("incident_resolved 1"), 1);
  EXPECT_EQ(next.manager->open_incidents(), serve::OpenIncidents());
  world.run_for(1s);
  EXPECT_EQ(disk.rows("SELECT key FROM store_kv").size(), 3U)
      << "the incident, the mark of the numbers, and that of the last write";
}

TEST_F(IncidentMemory, ACheckThatIsGoodAgainIsNotRemembered) {
  Life life(world, us, &disk);
  const auto remembered = [&] {
    world.run_for(1s);
    return disk.rows("SELECT 1 FROM store_kv WHERE key = 'check/us/bird'").size();
  };
  life.check("bird", kHealthy, kError);
  EXPECT_EQ(remembered(), 0U) << "once is not believed";
  life.check("bird", kError, kReported);
  EXPECT_EQ(remembered(), 1U);
  life.check("bird", kReported, kHealthy);
  EXPECT_EQ(remembered(), 0U);
}

TEST_F(IncidentMemory, ThatAThingFailedOnceBeforeDoesNotEndItsPresentIncidentAtARestart) {
  {
    Life life(world, us, &disk);
    life.check("bird", kError, kReported);
    life.check("bird", kReported, kHealthy);
    world.run_for(11min);
    life.check("bird", kError, kReported);
    world.run_for(1s);
  }
  Life next(world, us, &disk);
  EXPECT_EQ(next.manager->open_incidents().open, 1U);
  EXPECT_TRUE(next.told.empty());
}

TEST_F(IncidentMemory, OfAClusterThatIsGoneAtTheNextStartTheIncidentEndsAtOnce) {
  {
    Life life(world, us, &disk);
    life.finding(kRaised, Code::kRaftMemberDown, Severity::kCritical, {"a"});
    world.run_for(1s);
  }
  config::Config without = sample_config();
  without.clusters.clear();
  without.checks.erase(without.checks.begin());
  Life next(world, us, &disk, without);
  EXPECT_EQ(next.count("incident_resolved 1"), 1);
  EXPECT_TRUE(next.manager->book().incidents().at(1).unwatched);
}

// Its severity and code are the same, so nobody is told of it by itself.
TEST_F(IncidentMemory, ANewNameIsInTheNextNoticeAndOutlivesTheAgent) {
  Inbox ann;
  const auto named = [&](Life& life, const char* summary) {
    judge::Finding finding;
    finding.code = Code::kRaftNoQuorum;
    finding.severity = Severity::kCritical;
    finding.summary = summary;
    life.feed.tell({ThingKind::kCluster, "nb"},
                   judge::FindingChanged{kRaised, finding, us.now(), "cluster:nb", "cluster:nb"});
  };
  auto life =
      std::make_unique<Life>(world, us, &disk, sample_config(), told_to(us, {{"ann", &ann}}));
  named(*life, "one of three");
  named(*life, "none of three");
  world.run_for(15s);
  ASSERT_EQ(ann.heard.size(), 1U);
  EXPECT_EQ(ann.heard[0].items[0].incident.summary, "none of three");
  named(*life, "two of three");
  world.run_for(1s);
  life.reset();
  life = std::make_unique<Life>(world, us, &disk, sample_config(), told_to(us, {{"ann", &ann}}));
  EXPECT_EQ(life->manager->book().incidents().at(1).summary, "two of three");
  world.run_for(5h);
  ASSERT_GE(ann.heard.size(), 2U);
  EXPECT_EQ(ann.heard[1].items[0].incident.summary, "two of three");
}

TEST_F(IncidentMemory, AReportedCheckThatIsGoneAtTheNextStartIsForgotten) {
  {
    Life life(world, us, &disk);
    life.check("bird", kError, kReported);
    world.run_for(1s);
  }
  config::Config without = sample_config();
  without.checks.erase(without.checks.begin() + 1);
  without.checks[1].depends_on.clear();
  Life next(world, us, &disk, without);
  EXPECT_TRUE(next.manager->known_failures().empty());
  EXPECT_EQ(next.count("incident_resolved 1"), 1) << "at once";
  EXPECT_TRUE(next.manager->book().incidents().at(1).unwatched) << "nobody saw it good";
  world.run_for(10min);
  EXPECT_EQ(next.told.size(), 1U);
  EXPECT_EQ(disk.rows("SELECT key FROM store_kv").size(), 3U);
}

TEST_F(IncidentMemory, AfterARestartTheIncidentIsCalledByItsCauseAlsoWhenAChildIsSeenFirst) {
  {
    Life life(world, us, &disk);
    life.mesh_finding(kRaised, Code::kBgpDaemonDown, "bird");
    world.run_for(1s);
  }
  Life next(world, us, &disk);
  next.check("peer", kError, kReported);
  const judge::incident::Incident& incident = next.manager->book().incidents().at(1);
  EXPECT_EQ(incident.code, Code::kBgpDaemonDown);
  EXPECT_EQ(incident.summary, "so it is");
  EXPECT_TRUE(std::ranges::none_of(next.told, [](const std::string& change) {
    return change.starts_with("incident_");
  })) << "nothing new is said";
}

TEST_F(IncidentMemory, AFullDiskStopsNoIncident) {
  Life life(world, us, &disk);
  disk.fail_with(Errc::kExhausted);
  life.check("bird", kError, kReported);
  world.run_for(10s);
  EXPECT_EQ(life.count("incident_opened 1"), 1);
  disk.fail_with(std::nullopt);
  world.run_for(2min);
  EXPECT_EQ(disk.rows("SELECT * FROM store_kv").size(), 4U)
      << "the incident, the check, and the marks of the numbers and of the last write";
}

// A receiver was told of #1, which was never written down.
TEST_F(IncidentMemory, ANumberThatWasToldWhileTheDiskWasFullIsNotGivenAgain) {
  {
    Life life(world, us, &disk);
    world.run_for(1s);
    disk.fail_with(Errc::kExhausted);
    life.check("bird", kError, kReported);
    world.run_for(10s);
    ASSERT_EQ(life.count("incident_opened 1"), 1);
  }
  disk.fail_with(std::nullopt);
  Life next(world, us, &disk);
  next.check("bird", kError, kReported);
  EXPECT_EQ(next.count("incident_opened 1"), 0);
  EXPECT_EQ(next.manager->book().last_number(), 33);
}

TEST_F(IncidentMemory, LivesThatBeginOnAFullDiskGiveDifferentNumbers) {
  {
    Life life(world, us, &disk);
    world.run_for(1s);
  }
  disk.fail_with(Errc::kExhausted);
  std::set<std::int64_t> given;
  for (int i = 0; i < 3; ++i) {
    Life life(world, us, &disk);
    world.run_for(1s);
    life.check("bird", kError, kReported);
    EXPECT_TRUE(given.insert(life.manager->book().last_number()).second);
    world.run_for(1s);
  }
  disk.fail_with(std::nullopt);
  Life next(world, us, &disk);
  world.run_for(1s);
  next.check("bird", kError, kReported);
  EXPECT_TRUE(given.insert(next.manager->book().last_number()).second);
}

TEST_F(IncidentMemory, AnOrderlyEndLeavesNoGapInTheNumbers) {
  {
    Life life(world, us, &disk);
    life.check("bird", kError, kReported);
    world.run_for(1s);
  }
  Life next(world, us, &disk);
  next.finding(kRaised, Code::kRaftNoQuorum, Severity::kCritical, {});
  EXPECT_EQ(next.manager->book().last_number(), 2);
}

TEST_F(IncidentMemory, TheAnswerToAnOrderWaitsUntilItIsWrittenDown) {
  Life life(world, us, &disk);
  life.check("bird", kError, kReported);
  world.run_for(1s);
  disk.set_latency(300ms);
  ASSERT_TRUE(life.manager->acknowledge(1, "ann", "on it"));
  const auto hold = life.manager->written();
  ASSERT_NE(hold, nullptr);
  const TimePoint before = us.now();
  EXPECT_FALSE(run_task(world, us, hold->wait())) << "the answer stays as it is";
  EXPECT_EQ(us.now() - before, 300ms);
  EXPECT_TRUE(disk.rows("SELECT value FROM store_kv WHERE key = 'incident/1'")[0].text(0)->contains(
      "on it"));
  EXPECT_FALSE(run_task(world, us, life.manager->written()->wait())) << "nothing is left to write";
}

TEST_F(IncidentMemory, AnOrderThatCouldNotBeWrittenDownSaysSo) {
  Life life(world, us, &disk);
  life.check("bird", kError, kReported);
  world.run_for(1s);
  disk.fail_with(Errc::kExhausted);
  ASSERT_TRUE(life.manager->acknowledge(1, "ann", "on it"));
  const auto instead = run_task(world, us, life.manager->written()->wait());
  ASSERT_TRUE(instead);
  EXPECT_EQ(instead->status, 503);
  EXPECT_TRUE(instead->body.contains("not written down")) << instead->body;
  world.run_for(10min);  // the pauses between two attempts are long by now
  const TimePoint before = us.now();
  EXPECT_TRUE(run_task(world, us, life.manager->written()->wait()));
  EXPECT_LE(us.now() - before, 1s);
  disk.fail_with(std::nullopt);
}

TEST_F(IncidentMemory, WithoutADatabaseNoAnswerWaits) {
  Life life(world, us, nullptr);
  EXPECT_EQ(life.manager->written(), nullptr);
}

TEST_F(IncidentMemory, ARecordThatIsNotUnderstoodIsPassedOver) {
  {
    Life life(world, us, &disk);
    life.check("bird", kError, kReported);
  }
  disk.rows("INSERT INTO store_kv VALUES ('incident/0', '{\"id\":7}', 1, 1, 1, 0)");
  disk.rows("INSERT INTO store_kv VALUES ('incident/8', 'nonsense', 1, 1, 1, 0)");
  disk.rows("INSERT INTO store_kv VALUES ('check/us/a', 'nonsense', 1, 1, 1, 0)");
  const testing::Logged logged;
  const Life next(world, us, &disk);
  EXPECT_EQ(next.manager->book().incidents().size(), 1U) << "what comes after it is read";
  EXPECT_EQ(next.manager->known_failures().size(), 1U);
  EXPECT_EQ(logged.count("record_not_understood key=incident/"), 2);
  EXPECT_EQ(logged.count("record_not_understood key=check/us/a"), 1);
  EXPECT_EQ(logged.levels("record_not_understood").front(), LogLevel::kError);
}

TEST_F(IncidentMemory, AClusterKeepsTheSeverityOfItsIncidentOverARestartUntilThatIsSeenAgain) {
  {
    Life life(world, us, &disk);
    life.finding(kRaised, Code::kRaftMemberDown, Severity::kWarning, {"a"});
    life.finding(kRaised, Code::kRaftNoQuorum, Severity::kCritical, {});
    EXPECT_FALSE(life.manager->held("nb")) << "it is seen";
    world.run_for(1s);
  }
  Life next(world, us, &disk);
  const auto held = next.manager->held("nb");
  ASSERT_TRUE(held);
  EXPECT_EQ(held->verdict, judge::Verdict::kCritical);
  EXPECT_EQ(held->reason.text, "RAFT_NO_QUORUM: so it is");
  EXPECT_FALSE(next.manager->held("another"));
  next.finding(kRaised, Code::kRaftMemberDown, Severity::kWarning, {"a"});
  EXPECT_TRUE(next.manager->held("nb")) << "the window of the other has not passed";
  next.finding(kRaised, Code::kRaftNoQuorum, Severity::kCritical, {});
  EXPECT_FALSE(next.manager->held("nb"));
  EXPECT_EQ(next.count("incident_changed 1"), 0) << "and nothing is said";
}

TEST_F(IncidentMemory, AClusterIsHeldByTheGravestOfItsIncidents) {
  for (const bool second_is_worse : {false, true}) {
    SimDisk on;
    const auto severity = [&](bool worse) {
      return worse ? Severity::kCritical : Severity::kWarning;
    };
    {
      Life life(world, us, &on);
      life.finding(kRaised, Code::kRaftMemberDown, severity(!second_is_worse), {"a"});
      life.finding(kRaised, Code::kRaftMemberHung, severity(second_is_worse), {"b"});
      ASSERT_EQ(life.manager->open_incidents().open, 2U);
      world.run_for(1s);
    }
    Life next(world, us, &on);
    const auto held = next.manager->held("nb");
    ASSERT_TRUE(held);
    EXPECT_EQ(held->verdict, judge::Verdict::kCritical);
    EXPECT_EQ(held->reason.code, judge::ReasonCode::kState);
    EXPECT_TRUE(
        held->reason.text.starts_with(second_is_worse ? "RAFT_MEMBER_HUNG" : "RAFT_MEMBER_DOWN"))
        << held->reason.text;
  }
}

TEST_F(IncidentMemory, OfEquallyGraveOnesTheFirstHoldsTheCluster) {
  {
    Life life(world, us, &disk);
    life.finding(kRaised, Code::kRaftMemberHung, Severity::kCritical, {"a"});
    life.finding(kRaised, Code::kRaftMemberDown, Severity::kCritical, {"b"});
    world.run_for(1s);
  }
  Life next(world, us, &disk);
  EXPECT_EQ(next.manager->held("nb")->reason.text, "RAFT_MEMBER_HUNG: so it is");
}

TEST_F(IncidentMemory, TheMarkOfTheNumbersStaysAhead) {
  Life life(world, us, &disk);
  for (int i = 1; i <= 60; ++i) {
    life.finding(kRaised, Code::kRaftMemberDown, Severity::kCritical, {"a"});
    life.finding(kCleared, Code::kRaftMemberDown, Severity::kCritical, {"a"});
    world.run_for(11min);
    const auto mark = disk.rows("SELECT value FROM store_kv WHERE key = 'last/incident'");
    ASSERT_EQ(life.manager->book().last_number(), i);
    ASSERT_GE(std::stoll(*mark.at(0).text(0)), i + 16);
  }
}

TEST_F(IncidentMemory, ALifeThatCannotReadWhatEarlierOnesWroteDoesNotBegin) {
  SimDatabase database(us, disk);
  store::EmbeddedStore below(us, database, "boot");
  ASSERT_TRUE(run_task(world, us, below.open()));
  for (const std::string what :
       {"incident/", "last/", "notify/silence/", "notify/group/", "check/"}) {
    FragileStore store(us, below);
    store.unreadable = [&](const std::string& begin) {
      return begin.starts_with(what) ? std::optional(Errc::kClosed) : std::nullopt;
    };
    store::SoleLeadership alone(us, nullptr);
    const config::Config config = sample_config();
    incidents::ChangeFeed feed([this] { return us.wall_now(); });
    incidents::IncidentManager manager(us, &store, alone, config, "us", feed,
                                       incidents::NotifierOptions(), depends_of(domains()));
    const Result<void> opened = run_task(world, us, manager.open());
    ASSERT_FALSE(opened) << what;
    EXPECT_EQ(opened.error().code, Errc::kClosed) << what;
    world.run(us, manager.stop());
  }
}

// A mark that is written later than it is asked about says nothing.
TEST_F(IncidentMemory, ALifeOnADiskThatReadsSlowlyAndIsFullGivesNumbersThatNoOtherGives) {
  SimDatabase database(us, disk);
  store::EmbeddedStore below(us, database, "boot");
  ASSERT_TRUE(run_task(world, us, below.open()));
  FragileStore store(us, below);
  store.reading = 100ms;
  store.unwritable = Errc::kExhausted;
  store::SoleLeadership alone(us, nullptr);
  const config::Config config = sample_config();
  incidents::ChangeFeed feed([this] { return us.wall_now(); });
  incidents::IncidentManager manager(us, &store, alone, config, "us", feed,
                                     incidents::NotifierOptions(), depends_of(domains()));
  ASSERT_TRUE(run_task(world, us, manager.open()));
  EXPECT_GT(manager.book().last_number(), 1000);
  world.run(us, manager.stop());
}

TEST_F(IncidentMemory, WhatIsHeldOfAClusterEndsWhenItsMembersAreSeenWell) {
  {
    Life life(world, us, &disk);
    life.finding(kRaised, Code::kRaftMemberDown, Severity::kCritical, {"a"});
    world.run_for(1s);
  }
  Life next(world, us, &disk);
  ASSERT_TRUE(next.manager->held("nb"));
  next.manager->seen_well("nb", kShownAtOnce);
  EXPECT_FALSE(next.manager->held("nb"));
  EXPECT_EQ(next.count("incident_resolved 1"), 1);
}

TEST_F(IncidentMemory, AThingWhoseCheckWasReportedIsHeldAlsoWithoutAnIncidentOfItsOwn) {
  const auto reported = [&](judge::ReasonCode reason) {
    Life life(world, us, &disk);
    life.check("nb", kError, kReported, reason);
    world.run_for(1s);
  };
  reported(judge::ReasonCode::kState);
  {
    Life next(world, us, &disk);
    const auto held = next.manager->held("nb");
    ASSERT_TRUE(held);
    EXPECT_EQ(held->verdict, judge::Verdict::kCritical);
    EXPECT_EQ(held->reason.text, "refused");
    EXPECT_FALSE(next.manager->held("bird"));
    next.finding(kRaised, Code::kRaftMemberDown, Severity::kWarning, {"a"});
    EXPECT_TRUE(next.manager->held("nb")) << "it was worse";
    next.finding(kRaised, Code::kRaftNoQuorum, Severity::kCritical, {});
    EXPECT_FALSE(next.manager->held("nb")) << "it is seen as bad as it was";
  }
  {
    Life next(world, us, &disk);
    next.manager->seen_well("nb", kShownAtOnce);
    EXPECT_TRUE(next.manager->held("nb")) << "of the other incident only time can say that";
    world.run_for(3min);
    EXPECT_FALSE(next.manager->held("nb"));
  }
  reported(judge::ReasonCode::kProtocol);
  const Life next(world, us, &disk);
  EXPECT_FALSE(next.manager->held("nb")) << "nothing was known of it then either";
}

TEST_F(IncidentMemory, AThingThatLeavesIsForgottenWithItsCheck) {
  {
    Life life(world, us, &disk);
    life.check("nb", kError, kReported, judge::ReasonCode::kState);
    world.run_for(1s);
  }
  Life next(world, us, &disk);
  ASSERT_TRUE(next.manager->held("nb"));
  next.manager->reload({.gone = {"cluster:nb"}, .replaced = {}});
  EXPECT_FALSE(next.manager->held("nb"));
  world.run_for(1s);
  EXPECT_TRUE(disk.rows("SELECT 1 FROM store_kv WHERE key LIKE 'check/%'").empty());
}

TEST_F(IncidentMemory, WhatNoSingleLookShowsIsHeldUntilTheBookForgetsIt) {
  {
    Life life(world, us, &disk);
    life.finding(kRaised, Code::kRaftLeaderFlap, Severity::kWarning, {});
    world.run_for(1s);
  }
  Life next(world, us, &disk);
  next.manager->seen_well("nb", kShownAtOnce);
  EXPECT_TRUE(next.manager->held("nb"));
  world.run_for(3min);
  EXPECT_FALSE(next.manager->held("nb"));
}

}  // namespace
}  // namespace wardmote::agent
