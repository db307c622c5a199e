// Agents share a store. One leads and makes the incidents, the other shows them.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/result.h"
#include "incidents/change_feed.h"
#include "incidents/incident_manager.h"
#include "judge/change.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/notify/muting.h"
#include "judge/thing.h"
#include "sim/sim_database.h"
#include "store/embedded_store.h"
#include "store/incident_record.h"
#include "store/leadership.h"
#include "support/logged.h"
#include "unit/agent/fake_inbox.h"
#include "unit/agent/fragile_store.h"
#include "unit/agent/sharer.h"

namespace wardmote::agent {
namespace {

class IncidentLeadership : public SharersTest {};

TEST_F(IncidentLeadership, WhoLeadsMakesNoIncidentBeforeItHasReadTheOthers) {
  Sharer agent(world, "us", disk, {.leads = true});
  agent.check("bird", kError, kReported);
  world.run_for(1min);
  EXPECT_EQ(agent.open(), 0U) << "nobody said that it begins to lead";
  agent.leadership.win();
  EXPECT_EQ(agent.manager->acknowledge(1, "ann", "").error().code, Errc::kRejected)
      << "it has not read yet";
  world.run_for(1s);
  EXPECT_EQ(agent.open(), 1U);
}

// The lead was lost and won again while the store was slow: what was read for the first was taken
// over what had been made of the second, and told once more.
TEST_F(IncidentLeadership, WhatWasReadForAnEarlierLeadIsNotTakenOverInTheNext) {
  Sharer agent(world, "us", disk);
  agent.store.reading = 10s;
  agent.leadership.win();
  world.run_for(1s);
  agent.leadership.lose();
  agent.store.reading = {};
  agent.leadership.win();
  world.run_for(1s);
  agent.check("bird", kError, kReported);
  world.run_for(20s);
  ASSERT_EQ(agent.open(), 1U);
  EXPECT_EQ(agent.manager->book().symptoms_of(1, 5).size(), 1U) << "it is known what it is of";
}

TEST_F(IncidentLeadership, ARecordThatSomebodyRemovesOrDamagesIsWrittenAgain) {
  Sharer leader(world, "us", disk);
  Sharer next(world, "them", disk);
  leader.lead();
  leader.check("bird", kError, kReported);
  world.run_for(5s);
  ASSERT_EQ(next.open(), 1U);
  for (const char* const instead : {"", "{"}) {
    store::Transaction one;
    if (*instead == 0) {
      one.changes.emplace_back(store::Erase{store::KeyRange::one("incident/1")});
    } else {
      one.changes.emplace_back(store::Put{"incident/1", instead});
    }
    ASSERT_TRUE(run_task(world, next.us, next.below.put_if(one, next.us.deadline_in(1s))));
    world.run_for(5s);
    EXPECT_EQ(next.open(), 1U) << instead;
  }
  leader.check("bird", kReported, kHealthy);
  world.run_for(5s);
  EXPECT_EQ(next.open(), 0U);
}

// Only who leads tells of nodes, and that one sees it now.
TEST_F(IncidentLeadership, WhoFollowsBelievesWhoLeadsThatANodeIsDown) {
  Sharer leader(world, "us", disk);
  Sharer next(world, "them", disk);
  leader.lead();
  leader.manager->hear_peer("", {symptom_of("node:gone", Code::kNodeDown)});
  world.run_for(5s);
  ASSERT_EQ(next.open_roots(), std::vector<std::string>{"node:gone"});
  EXPECT_TRUE(next.manager->confirmed(next.manager->book().incidents().at(1)));
}

/// It stays open until it has been calm, and does not say that anything fails.
TEST_F(IncidentLeadership, AStormThatEndedWhileNobodyLedIsKnownToBeOver) {
  config::Config config = sample_config();
  const config::Check like = config.checks.front();
  config.checks.clear();
  for (int i = 0; i < 8; ++i) {
    config.checks.push_back(like);
    config.checks.back().name = "c" + std::to_string(i);
  }
  const auto all = [&](Sharer& of, State from, State to) {
    for (const config::Check& check : config.checks) of.check(check.name, from, to);
  };
  Sharer leader(world, "us", disk);
  Sharer next(world, "them", disk, {.config = config});
  leader.lead();
  all(next, kError, kReported);
  leader.manager->hear_peer("them", next.published);
  world.run_for(5s);
  ASSERT_EQ(leader.open_roots(), std::vector<std::string>{"storm:cluster"});
  leader.leadership.lose();
  world.run_for(1s);
  all(next, kReported, kHealthy);
  next.manager->all_are_heard();
  next.lead();
  const auto summary = [&] { return next.manager->book().incidents().rbegin()->second.summary; };
  EXPECT_TRUE(summary().starts_with("8 of ")) << summary();
  world.run_for(5s);
  EXPECT_TRUE(summary().starts_with("nothing of it fails now")) << summary();
  world.run_for(6min);
  EXPECT_EQ(next.open(), 0U);
}

TEST_F(IncidentLeadership, WhoFollowsShowsWhatTheOtherWritesAndTellsNothing) {
  Sharer leader(world, "us", disk);
  Sharer follower(world, "them", disk);
  leader.lead();
  leader.check("bird", kError, kReported);
  world.run_for(5s);
  ASSERT_EQ(follower.open(), 1U);
  EXPECT_FALSE(follower.told_of_incidents());
  EXPECT_FALSE(follower.manager->held("nb"));
  follower.check("peer", kError, kReported);
  EXPECT_EQ(follower.owners(), std::vector<std::string>{"check:peer@them"});
  EXPECT_FALSE(follower.told_of_incidents()) << "it says so, and the leader makes an incident";
  leader.check("bird", kReported, kHealthy);
  world.run_for(5s);
  EXPECT_EQ(follower.open(), 0U);
}

TEST_F(IncidentLeadership, WhoDoesNotHearTheStoreSaysThatItsIncidentsMayBeOld) {
  Sharer leader(world, "us", disk);
  Sharer follower(world, "them", disk);
  leader.lead();
  world.run_for(1min);
  EXPECT_EQ(leader.manager->cut_off(), std::nullopt);
  EXPECT_EQ(follower.manager->cut_off(), std::nullopt) << "nothing happens, and it is heard";
  leader.store.unwatchable = follower.store.unwatchable = Errc::kClosed;
  const auto readable = follower.store.unreadable;
  follower.store.unreadable = [](const std::string&) { return std::optional(Errc::kClosed); };
  world.run_for(13s);
  EXPECT_EQ(follower.manager->cut_off(), std::nullopt);
  world.run_for(20s);
  EXPECT_EQ(leader.manager->cut_off(), std::nullopt) << "what it shows is its own";
  ASSERT_TRUE(follower.manager->cut_off());
  EXPECT_TRUE(follower.manager->cut_off()->starts_with("the store was not heard for "));
  follower.store.unwatchable.reset();
  follower.store.unreadable = readable;
  world.run_for(12s);
  EXPECT_EQ(follower.manager->cut_off(), std::nullopt);
}

TEST_F(IncidentLeadership, WhoLosesTheLeadWhileItReadsTellsNothing) {
  Sharer agent(world, "us", disk);
  agent.check("bird", kError, kReported);
  agent.store.reading = 5s;
  agent.lead();
  agent.leadership.lose();
  world.run_for(1min);
  EXPECT_FALSE(agent.told_of_incidents());
  // The same while it waits for another attempt.
  agent.store.reading = {};
  agent.store.unreadable = [](const std::string&) { return std::optional(Errc::kClosed); };
  agent.lead();
  agent.leadership.lose();
  agent.store.unreadable = [](const std::string&) { return std::optional<Errc>(); };
  world.run_for(1min);
  EXPECT_FALSE(agent.told_of_incidents());
}

TEST_F(IncidentLeadership, WhoCannotReadWhatOthersWroteTriesAgainEverySecondAndSaysSo) {
  const testing::Logged logged;
  Sharer agent(world, "us", disk);
  agent.check("bird", kError, kReported);
  agent.store.unreadable = [](const std::string& begin) {
    return begin.starts_with("notify/") ? std::optional(Errc::kClosed) : std::nullopt;
  };
  agent.leadership.win();
  world.run_for(10s + 500ms);
  EXPECT_EQ(logged.count("records_not_read"), 11);
  EXPECT_EQ(logged.levels("records_not_read").front(), LogLevel::kError);
  EXPECT_FALSE(agent.told_of_incidents());
  agent.store.unreadable = [](const std::string&) { return std::optional<Errc>(); };
  world.run_for(1s);
  EXPECT_EQ(agent.count("incident_opened 1"), 1);
}

// Its order was answered with "not written down yet".
TEST_F(IncidentLeadership, WhatItCouldNotWriteWhenItLedIsForgottenWithTheLead) {
  Sharer agent(world, "us", disk);
  agent.lead();
  agent.store.unwritable = Errc::kClosed;
  judge::notify::Silence silence;
  silence.match = {{"root", true, "check:*"}};
  silence.until = us.wall_now() + 1h;
  ASSERT_TRUE(agent.manager->notifier().add_silence(silence));
  world.run_for(5s);
  agent.leadership.lose();
  EXPECT_TRUE(agent.manager->notifier().muting().silences().empty()) << "nor shown meanwhile";
  agent.store.unwritable.reset();
  agent.lead();
  world.run_for(2min);
  EXPECT_EQ(stored("notify/silence/1"), "");
  EXPECT_TRUE(agent.manager->notifier().muting().silences().empty()) << "nor is it in force";
}

TEST_F(IncidentLeadership, ASilenceThatTheLeaderHasForgottenIsNotShownByThoseWhoFollow) {
  Sharer leader(world, "us", disk);
  Sharer follower(world, "them", disk);
  leader.lead();
  judge::notify::Silence silence;
  silence.match = {{"root", true, "check:*"}};
  silence.until = us.wall_now() + 1h;
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(leader.manager->notifier().add_silence(silence));
  world.run_for(5s);
  ASSERT_EQ(follower.manager->notifier().muting().silences().size(), 2U);
  erase("notify/silence/1");
  world.run_for(5s);
  ASSERT_EQ(follower.manager->notifier().muting().silences().size(), 1U);
  EXPECT_EQ(follower.manager->notifier().muting().silences()[0].id, 2);
}

TEST_F(IncidentLeadership, ANumberThatWasGivenIsNotGivenAgainAlsoWhenTheStoreWasEmptied) {
  Sharer leader(world, "us", disk);
  Sharer follower(world, "them", disk);
  leader.lead();
  leader.check("bird", kError, kReported);
  world.run_for(5s);
  ASSERT_EQ(follower.open(), 1U);
  for (Sharer* const agent : {&leader, &follower}) {
    leader.leadership.lose();
    erase("");
    world.run_for(5s);
    EXPECT_EQ(follower.open(), 0U);
    agent->check("peer", kError, kReported);
    agent->lead();
    EXPECT_GT(agent->manager->book().last_number(), 1);
    EXPECT_FALSE(agent->manager->book().incidents().contains(1));
    agent->leadership.lose();
  }
}

TEST_F(IncidentLeadership, TheMarkOfTheNumbersIsWrittenAnewByEachLead) {
  Sharer agent(world, "us", disk);
  agent.lead();
  agent.check("bird", kError, kReported);
  world.run_for(1s);
  EXPECT_NE(stored("last/incident"), "");
  agent.leadership.lose();
  erase("last/");
  agent.lead();
  world.run_for(1s);
  ASSERT_NE(stored("last/incident"), "");
  EXPECT_GE(std::stoll(stored("last/incident")), 2);
}

// Until the store has answered, another may lead and tell the same.
TEST_F(IncidentLeadership, NobodyIsToldBeforeTheStoreHasAnsweredUnlessItIsFull) {
  Inbox ann;
  Sharer agent(world, "us", disk, {.receivers = told_to(us, {{"ann", &ann}})});
  agent.lead();
  agent.store.unwritable = Errc::kClosed;
  agent.check("bird", kError, kReported);
  world.run_for(10min);
  EXPECT_EQ(ann.told(), std::vector<std::string>{});
  agent.store.unwritable = Errc::kExhausted;
  world.run_for(2min);
  EXPECT_EQ(ann.told(), std::vector<std::string>{"opened 1"});
}

TEST_F(IncidentLeadership, WhoDoesNotLeadRemindsNobody) {
  Inbox ann;
  Sharer agent(world, "us", disk, {.receivers = told_to(us, {{"ann", &ann}}, true)});
  agent.lead();
  agent.check("bird", kError, kReported);
  world.run_for(3min);
  ASSERT_GE(ann.heard.size(), 2U);
  agent.leadership.lose();
  ann.heard.clear();
  world.run_for(10min);
  EXPECT_TRUE(ann.heard.empty());
  agent.lead();
  world.run_for(3min);
  EXPECT_GE(ann.heard.size(), 2U);
}

TEST_F(IncidentLeadership, WhoLosesTheLeadShowsWhatIsStored) {
  Sharer agent(world, "us", disk);
  agent.lead();
  agent.check("bird", kError, kReported);
  world.run_for(3s);
  agent.store.unwritable = Errc::kClosed;
  ASSERT_TRUE(agent.manager->acknowledge(1, "ann", ""));
  agent.leadership.lose();
  EXPECT_FALSE(agent.manager->book().incidents().at(1).acknowledged);
}

TEST_F(IncidentLeadership, WhatTheNextLeaderToldIsNotToldAgainByTheOneBefore) {
  Inbox ann;
  Sharer agent(world, "us", disk, {.receivers = told_to(us, {{"ann", &ann}})});
  agent.lead();
  agent.check("bird", kError, kReported);
  world.run_for(1min);
  ASSERT_EQ(ann.told(), std::vector<std::string>{"opened 1"});
  agent.leadership.lose();
  agent.check("bird", kReported, kHealthy);
  erase("incident/");  // it ended, that was told, and it is long ago
  erase("notify/");
  world.run_for(1min);
  agent.lead();
  world.run_for(5h);
  EXPECT_EQ(ann.told(), std::vector<std::string>{"opened 1"});
}

TEST_F(IncidentLeadership, WhoBeginsToLeadTellsItsReceiversWhatIsOpen) {
  Inbox ann;
  store_incident(1, "check:bird@them");
  Sharer agent(world, "us", disk, {.receivers = told_to(us, {{"ann", &ann}})});
  agent.lead();
  world.run_for(30s);
  EXPECT_EQ(ann.told(), std::vector<std::string>{"opened 1"});
}

TEST_F(IncidentLeadership, ASilenceOfTheLeaderIsKnownToThoseWhoFollow) {
  Inbox ann;
  Sharer leader(world, "us", disk);
  Sharer follower(world, "them", disk, {.receivers = told_to(us, {{"ann", &ann}})});
  leader.lead();
  judge::notify::Silence silence;
  silence.match = {{"root", true, "check:*"}};
  silence.until = us.wall_now() + 1h;
  ASSERT_TRUE(leader.manager->notifier().add_silence(silence));
  world.run_for(5s);
  EXPECT_EQ(follower.manager->notifier().muting().silences().size(), 1U);
  leader.leadership.lose();
  follower.lead();
  follower.check("bird", kError, kReported);
  world.run_for(10min);
  EXPECT_EQ(ann.told(), std::vector<std::string>{});
}

// What others wrote before it led comes late to the one that leads.
TEST_F(IncidentLeadership, WhoLeadsBelievesItsOwnSilencesAndNotTheirEarlierRecords) {
  Sharer leader(world, "us", disk);
  leader.lead();
  judge::notify::Silence silence;
  silence.match = {{"root", true, "check:*"}};
  silence.until = us.wall_now() + 1h;
  ASSERT_TRUE(leader.manager->notifier().add_silence(silence));
  world.run_for(50ms);
  ASSERT_TRUE(leader.manager->notifier().expire_silence(1));
  leader.store.unwritable = Errc::kClosed;
  world.run_for(5s);
  EXPECT_LE(leader.manager->notifier().muting().silences()[0].until, us.wall_now());
}

TEST_F(IncidentLeadership, WhatThisAgentKnewToFailStandsAfterARestartAndIsPublished) {
  SimDisk own;
  {
    Sharer agent(world, "us", disk, {.own = &own});
    agent.check("bird", kError, kReported);
  }
  Sharer agent(world, "us", disk, {.own = &own});
  ASSERT_EQ(agent.manager->known_failures().size(), 1U);
  EXPECT_EQ(agent.manager->known_failures()[0].name, "bird");
  EXPECT_EQ(agent.owners(), std::vector<std::string>{"check:bird@us"});
  EXPECT_TRUE(agent.manager->book().incidents().empty()) << "who leads makes them";
  agent.lead();
  EXPECT_EQ(agent.open_roots(), std::vector<std::string>{"check:bird@us"});
}

TEST_F(IncidentLeadership, OfItsOwnCheckThatIsGoneTheIncidentEndsWhenItLeads) {
  store_incident(1, "check:web@us");
  store_incident(2, "check:web@them");
  Sharer agent(world, "us", disk);
  agent.lead();
  EXPECT_EQ(agent.open_roots(), std::vector<std::string>{"check:web@them"});
  EXPECT_TRUE(agent.manager->book().incidents().at(1).unwatched);
}

TEST_F(IncidentLeadership, AReloadEndsWhatIsGoneWhereItLeadsAndTellsNothingWhereItFollows) {
  Sharer leader(world, "us", disk);
  Sharer follower(world, "them", disk);
  leader.lead();
  for (Sharer* const agent : {&leader, &follower}) {
    agent->check("bird", kError, kReported);
    agent->check("peer", kError, kReported);
  }
  leader.manager->hear_peer("them", follower.published);
  world.run_for(5s);
  const std::size_t open = leader.open();
  ASSERT_EQ(follower.open(), open);
  ASSERT_EQ(follower.owners(), (std::vector<std::string>{"check:bird@them", "check:peer@them"}));
  follower.manager->reload({.gone = {"check:bird@them"}, .replaced = {}});
  EXPECT_EQ(follower.owners(), std::vector<std::string>{"check:peer@them"});
  EXPECT_FALSE(follower.told_of_incidents());
  leader.told.clear();
  leader.manager->reload({.gone = {"check:bird@us", "check:peer@us"}, .replaced = {}});
  EXPECT_TRUE(leader.owners().empty());
  EXPECT_TRUE(leader.told_of_incidents());
}

TEST_F(IncidentLeadership, WhatAnotherHasEndedMeanwhileIsNotHeldAnyMore) {
  Sharer agent(world, "us", disk);
  agent.lead();
  agent.finding(kRaised, Code::kRaftMemberDown, Severity::kCritical, {"a"});
  world.run_for(1s);
  ASSERT_EQ(agent.open(), 1U);
  agent.leadership.lose();
  agent.finding(kCleared, Code::kRaftMemberDown, Severity::kCritical, {"a"});
  agent.lead();
  ASSERT_TRUE(agent.manager->held("nb")) << "written by somebody, and not seen again";
  agent.leadership.lose();
  disk.rows("UPDATE store_meta SET revision = revision + 1");
  disk.rows("DELETE FROM store_kv WHERE key LIKE 'incident/%'");
  agent.lead();
  agent.manager->seen_well("nb", kShownAtOnce);
  EXPECT_FALSE(agent.manager->held("nb"));
}

/// It closed the gates of a healthy node when the lead passed to it.
TEST_F(IncidentLeadership, WhatAnotherHasLeftBehindDoesNotBindWhoSeesTheThingWell) {
  store_incident(7, "cluster:nb", Code::kRaftMemberDown);
  Sharer agent(world, "us", disk);
  agent.lead();
  ASSERT_TRUE(agent.manager->held("nb"));
  EXPECT_TRUE(agent.manager->held("nb")->binds) << "it has not looked yet";
  agent.leadership.lose();
  agent.check("nb", State::kDiscovery, State::kHealthy);
  agent.lead();
  ASSERT_TRUE(agent.manager->held("nb"));
  EXPECT_FALSE(agent.manager->held("nb")->binds);
  agent.leadership.lose();
  agent.check("nb", State::kHealthy, State::kReported);
  agent.lead();
  ASSERT_TRUE(agent.manager->held("nb"));
  EXPECT_TRUE(agent.manager->held("nb")->binds);
}

TEST_F(IncidentLeadership, LivesThatCanReadNothingGiveNumbersThatNoOtherGives) {
  std::vector<std::int64_t> given;
  SimDatabase database(us, disk);
  store::EmbeddedStore below(us, database, "boot");
  ASSERT_TRUE(run_task(world, us, below.open()));
  for (int i = 0; i < 2; ++i) {
    FragileStore store(us, below);
    store.unreadable = [](const std::string& begin) {
      return begin.starts_with("incident/") ? std::optional(Errc::kExhausted) : std::nullopt;
    };
    store.unwritable = Errc::kExhausted;
    store::SoleLeadership alone(us, nullptr);
    const config::Config config = sample_config();
    incidents::ChangeFeed feed([this] { return us.wall_now(); });
    incidents::IncidentManager manager(us, &store, alone, config, "us", feed,
                                       incidents::NotifierOptions(), depends_of(domains()));
    ASSERT_TRUE(run_task(world, us, manager.open()));
    manager.hear({.at = us.wall_now(),
                  .of = {ThingKind::kCheck, "bird"},
                  .event = judge::CheckChanged{
                      kError, kReported, {judge::ReasonCode::kRefused, "refused"}, true, true}});
    given.push_back(manager.book().last_number());
    world.run_for(10s);
    world.run(us, manager.stop());
  }
  EXPECT_GT(given[0], 1000);
  EXPECT_GT(given[1], given[0]);
}

}  // namespace
}  // namespace wardmote::agent
