// What agents that share a store say to each other: who leads makes incidents of it.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/format.h"
#include "incidents/incident_manager.h"
#include "judge/finding.h"
#include "judge/guest/facts.h"
#include "judge/incident/incident.h"
#include "unit/agent/sharer.h"

namespace wardmote::agent {
namespace {

using judge::incident::Symptom;
using Roots = std::vector<std::string>;

/// One that leads.
class IncidentPeers : public SharersTest {
 protected:
  IncidentPeers() { leader.lead(); }
  /// Number 11, of an earlier leader.
  void store_storm() {
    judge::incident::Incident storm;
    storm.id = 11;
    storm.root = "check:web@them";
    storm.code = Code::kCheckFailed;
    storm.severity = Severity::kCritical;
    storm.storm = true;
    storm.summary = "8 of 9 fail";
    storm.revision = 1;
    storm.opened = storm.since = storm.changed = us.now();
    put(store::incident_key(11), store::encode(storm, {us.now(), us.wall_now()}));
  }

  Sharer leader{world, "us", disk};
};

TEST_F(IncidentPeers, WhatAnotherAgentSaysIsAnIncidentUntilItSaysItNoMore) {
  leader.manager->hear_peer("them", {symptom_of("check:web@them")});
  EXPECT_EQ(leader.open_roots(), Roots{"check:web@them"});
  EXPECT_EQ(leader.open(), 1U);
  EXPECT_EQ(leader.count("incident_opened 1"), 1);
  leader.manager->hear_peer("them", {symptom_of("check:web@them"), symptom_of("check:db@them")});
  EXPECT_EQ(leader.open_roots(), (Roots{"check:web@them", "check:db@them"}));
  EXPECT_TRUE(leader.owners().empty()) << "it is not what is wrong here";
  leader.manager->hear_peer("them", {symptom_of("check:db@them")});
  EXPECT_EQ(leader.open_roots(), Roots{"check:db@them"});
  EXPECT_FALSE(leader.manager->book().incidents().at(1).unwatched) << "it was seen good";
  leader.manager->hear_peer("them", {});
  EXPECT_EQ(leader.open(), 0U);
}

// It made two incidents, and told both.
TEST_F(IncidentPeers, WhatDependsOnWhatFailsThereIsAPartOfThatIncident) {
  Symptom web = symptom_of("check:web@them");
  const Symptom db = symptom_of("check:db@them");
  web.above = {"check:db@them"};
  leader.manager->hear_peer("them", {web});
  EXPECT_EQ(leader.open_roots(), Roots{"check:web@them"}) << "what it depends on is well";
  leader.manager->hear_peer("them", {web, db});
  EXPECT_EQ(leader.open_roots(), Roots{"check:db@them"});
  leader.manager->hear_peer("", {symptom_of("node:them", Code::kNodeDown)});
  EXPECT_EQ(leader.open_roots(), Roots{"node:them"});
}

TEST_F(IncidentPeers, AMemberOfAClusterThatOnlyOthersWatchIsBelowIt) {
  Symptom member = symptom_of("mesh:tor");
  member.component = "session:tor/a";
  member.above = {"mesh:tor"};
  leader.manager->hear_peer("them", {member, symptom_of("mesh:tor", Code::kMonitorBlind)});
  EXPECT_EQ(leader.open_roots(), Roots{"mesh:tor"});
}

// It would hide what fails here below something that it says fails, too.
TEST_F(IncidentPeers, NobodyElseSaysWhatOursDependsOn) {
  Symptom lie = symptom_of("mesh:tor");
  lie.component = "cluster:nb";
  lie.above = {"mesh:tor"};
  leader.manager->hear_peer("them", {symptom_of("mesh:tor", Code::kMonitorBlind), lie});
  leader.finding(kRaised, Code::kRaftNoQuorum, Severity::kCritical, {"cluster:nb"});
  const Roots roots = leader.open_roots();
  EXPECT_TRUE(std::ranges::find(roots, "cluster:nb") != roots.end());
}

TEST_F(IncidentPeers, OthersAreToldWhatItDependsOn) {
  Sharer agent(world, "agent", disk);
  agent.check("peer", kError, kReported);
  ASSERT_EQ(agent.published.size(), 1U);
  EXPECT_EQ(agent.published[0].above, Roots{"check:bird@agent"});
}

TEST_F(IncidentPeers, WhatTwoSayEndsWhenTheLastOfThemSaysItNoMore) {
  const Symptom both = symptom_of("guest:vm");
  leader.manager->hear_peer("a", {both});
  leader.manager->hear_peer("b", {symptom_of("check:x@b"), both});
  leader.manager->hear_peer("a", {});
  EXPECT_EQ(leader.open_roots(), (Roots{"guest:vm", "check:x@b"}));
  leader.manager->hear_peer("b", {symptom_of("check:x@b")});
  EXPECT_EQ(leader.open_roots(), Roots{"check:x@b"});
}

TEST_F(IncidentPeers, OfWhatItWatchesItselfOnlyItsOwnWordCounts) {
  leader.manager->hear_peer("them", {symptom_of("cluster:nb", Code::kRaftNoQuorum)});
  EXPECT_EQ(leader.open(), 0U);
  leader.finding(kRaised, Code::kRaftMemberDown, Severity::kCritical, {"a"});
  EXPECT_EQ(leader.open(), 1U);
  Symptom down = symptom_of("cluster:nb", Code::kRaftMemberDown);
  down.names = {"a"};
  leader.manager->hear_peer("them", {down});
  leader.manager->hear_peer("them", {});
  EXPECT_EQ(leader.open(), 1U) << "whatever another sees";
}

TEST_F(IncidentPeers, WhatIsOnlyWorthKnowingWakesNobody) {
  leader.manager->hear_peer("them",
                            {symptom_of("check:web@them", Code::kCheckFailed, Severity::kInfo)});
  EXPECT_EQ(leader.open(), 0U);
}

TEST_F(IncidentPeers, TheLossOfANodeExplainsWhatFailsThere) {
  // Not all of what an agent says is its own.
  leader.manager->hear_peer(
      "them", {symptom_of("guest:vm"), symptom_of("check:web@them"), symptom_of("check:db@them")});
  EXPECT_EQ(leader.open(), 3U);
  leader.manager->hear_peer("", {symptom_of("node:them", Code::kNodeDown)});
  EXPECT_EQ(leader.open_roots(), (Roots{"guest:vm", "node:them"}));
  leader.manager->hear_peer("", {});
  leader.manager->hear_peer("them", {});
  EXPECT_EQ(leader.open(), 0U);
}

TEST_F(IncidentPeers, AReloadForgetsNeitherTheNodesOfOthersNorWhatIsBelowThem) {
  leader.manager->hear_peer("them", {symptom_of("check:web@them"), symptom_of("check:db@them")});
  leader.manager->reload(judge::incident::Departures());
  EXPECT_EQ(leader.open(), 2U);
  leader.manager->hear_peer("", {symptom_of("node:them", Code::kNodeDown)});
  EXPECT_EQ(leader.open_roots(), Roots{"node:them"});
}

TEST_F(IncidentPeers, OfWhomNothingMoreIsExpectedNobodySawTheChecksGood) {
  leader.manager->hear_peer("them", {symptom_of("check:web@them"), symptom_of("guest:vm"),
                                     symptom_of("cluster:nb", Code::kRaftNoQuorum)});
  leader.manager->hear_peer("b", {symptom_of("guest:vm"), symptom_of("check:web@b")});
  leader.finding(kRaised, Code::kRaftMemberDown, Severity::kCritical, {"a"});
  ASSERT_EQ(leader.open(), 4U);
  leader.manager->forget_peer("them");
  EXPECT_EQ(leader.open_roots(), (Roots{"guest:vm", "check:web@b", "member:nb/a"}));
  EXPECT_TRUE(leader.manager->book().incidents().at(1).unwatched);
  leader.manager->forget_peer("them");
  leader.manager->forget_peer("nobody");
  EXPECT_EQ(leader.open(), 3U);
}

TEST_F(IncidentPeers, ALostNodeOfWhichNothingMoreIsExpectedEnds) {
  leader.manager->hear_peer("", {symptom_of("node:them", Code::kNodeDown)});
  leader.manager->forget_peer("them");
  leader.manager->hear_peer("", {});
  EXPECT_EQ(leader.open(), 0U);
  EXPECT_TRUE(leader.manager->book().incidents().at(1).unwatched);
}

TEST_F(IncidentPeers, WhoFollowsRemembersWhatOthersSayForTheTimeWhenItLeads) {
  Sharer next(world, "next", disk);
  next.manager->hear_peer(
      "them", {symptom_of("cluster:nb", Code::kRaftNoQuorum), symptom_of("check:web@them"),
               symptom_of("check:note@them", Code::kCheckFailed, Severity::kInfo)});
  next.manager->hear_peer("gone", {symptom_of("check:web@gone")});
  next.manager->forget_peer("gone");
  EXPECT_EQ(next.open(), 0U);
  EXPECT_FALSE(next.told_of_incidents());
  leader.leadership.lose();
  next.lead();
  EXPECT_EQ(next.open_roots(), Roots{"check:web@them"});
}

// Who watches it has said so while nobody led, and will not say it again.
TEST_F(IncidentPeers, WhatBecameGoodWhileNobodyLedEndsSecondsAfterAndWhatIsNotKnownWaits) {
  leader.leadership.lose();
  store_incident(11, "check:bird@us");    // seen good here
  store_incident(12, "check:peer@us");    // not seen yet
  store_incident(13, "check:web@them");   // heard of, and not this
  store_incident(14, "check:db@them");    // still said to fail
  store_incident(15, "check:web@other");  // nobody has heard of that agent yet
  store_incident(16, "check:bird");       // of an agent that shared no store
  store_incident(17, "guest:vm@them");    // a guest may have any name
  world.run_for(2s);
  leader.check("bird", kDiscovery, kHealthy);
  leader.manager->hear_peer("them", {symptom_of("check:db@them")});
  leader.lead();
  world.run_for(1900ms);
  EXPECT_EQ(leader.open(), 7U) << "others may not have been heard yet";
  world.run_for(200ms);
  EXPECT_EQ(leader.open_roots(), (Roots{"check:peer@us", "check:db@them", "check:web@other",
                                        "check:bird", "guest:vm@them"}));
  EXPECT_FALSE(leader.manager->book().incidents().at(11).unwatched);
}

// The store was set back, and an older copy of its word is all that is there.
TEST_F(IncidentPeers, WhatADoubtedAgentSawFailWaitsForItsNextWord) {
  leader.leadership.lose();
  store_incident(11, "check:web@them");
  store_incident(12, "check:db@them");
  store_incident(13, "check:web@other");
  world.run_for(2s);
  leader.manager->doubt_peer("them");
  leader.lead();
  world.run_for(5s);
  EXPECT_EQ(leader.open(), 3U);
  leader.manager->hear_peer("them", {symptom_of("check:db@them")});
  EXPECT_EQ(leader.open_roots(), (Roots{"check:db@them", "check:web@other"}));
}

// Who leads now was cut off when its last words came, and the store was set back.
TEST_F(IncidentPeers, NothingIsOpenedNorEndedByADoubtedWordThatWasHeardBefore) {
  leader.leadership.lose();
  store_incident(11, "check:web@them");
  world.run_for(2s);
  leader.manager->hear_peer("them", {symptom_of("check:db@them")});
  leader.manager->doubt_peer("them");
  leader.lead();
  world.run_for(5s);
  EXPECT_EQ(leader.open_roots(), Roots{"check:web@them"});
  leader.manager->hear_peer("them", {});
  EXPECT_EQ(leader.open(), 0U);
}

// That is no change, and each look may bring other numbers.
TEST_F(IncidentPeers, WhichNumbersAFindingSaysNowIsSaidWithinTenSeconds) {
  leader.finding(kRaised, Code::kRaftNoQuorum, Severity::kCritical, {"a"});
  const auto summary = [&] { return leader.manager->book().incidents().at(1).summary; };
  ASSERT_EQ(summary(), "so it is");
  world.run_for(9s);
  leader.say_again(Code::kRaftNoQuorum, "1 of 5");
  EXPECT_EQ(summary(), "so it is");
  world.run_for(2s);
  leader.say_again(Code::kRaftNoQuorum, "1 of 5");
  EXPECT_EQ(summary(), "1 of 5");
  EXPECT_EQ(leader.published.front().summary, "1 of 5") << "to others, too";
  EXPECT_EQ(leader.count("incident_changed 1"), 0);
  world.run_for(1s);
  EXPECT_TRUE(stored(store::incident_key(1)).contains("1 of 5"));
  // What is not told of is not made one.
  leader.finding(kCleared, Code::kRaftNoQuorum, Severity::kCritical, {"a"});
  world.run_for(20s);
  leader.say_again(Code::kRaftNoQuorum, "0 of 5");
  EXPECT_EQ(leader.open(), 0U);
}

// What an agent watches and is well, the others do not see one by one.
TEST_F(IncidentPeers, AStormIsOfAPartOfAllThatAreWatchedAnywhere) {
  for (const std::size_t checks : {40U, 10U}) {
    Sharer one(world, "one", disk);
    leader.leadership.lose();
    one.lead();
    std::vector<Symptom> failing;
    for (int i = 0; i < 6; ++i) {
      failing.push_back(symptom_of(fmt::format("check:{}@them", i)));
      failing.back().kind = "file";
    }
    one.manager->hear_peer("them", failing, {{"file", checks}});
    world.run_for(2s);
    const Roots roots = one.open_roots();
    EXPECT_EQ(roots.size(), checks == 10 ? 1U : 6U);
    EXPECT_EQ(std::ranges::count(roots, "storm:file"), checks == 10 ? 1 : 0);
    const std::string summary = one.manager->book().incidents().rbegin()->second.summary;
    EXPECT_EQ(summary.starts_with("6 of 10 "), checks == 10) << summary;
    one.manager->hear_peer("them", {}, {});
    world.run_for(20min);
    one.leadership.lose();
  }
}

/// Whoever leads next has all that each agent says.
TEST_F(IncidentPeers, WhatRecoversWhileNobodyLeadsIsNoPartOfTheStormAnyMore) {
  const auto says = [](int from) {
    std::vector<Symptom> failing;
    for (int i = from; i < 8; ++i) {
      failing.push_back(symptom_of(fmt::format("check:{}@them", i)));
      failing.back().kind = "file";
    }
    return failing;
  };
  Sharer next(world, "next", disk);
  world.run_for(1s);
  leader.manager->hear_peer("them", {says(0).front()}, {{"file", 10}});
  world.run_for(3s);
  leader.manager->hear_peer("them", says(0), {{"file", 10}});
  world.run_for(3s);
  const auto summary = [&](Sharer& agent) {
    return agent.manager->book().incidents().rbegin()->second.summary;
  };
  ASSERT_TRUE(summary(leader).starts_with("8 of 10 ")) << summary(leader);
  using judge::incident::Phase;
  ASSERT_EQ(leader.manager->book().incidents().at(1).phase, Phase::kMerged);
  leader.leadership.lose();
  next.manager->hear_peer("them", says(2), {{"file", 10}});
  next.manager->all_are_heard();
  world.run_for(1s);
  next.lead();
  world.run_for(5s);
  EXPECT_TRUE(summary(next).starts_with("6 of 10 ")) << summary(next);
  EXPECT_EQ(next.manager->book().incidents().at(1).phase, Phase::kResolved);
}

TEST_F(IncidentPeers, AStormMayBeOfWhatADoubtedAgentSaw) {
  leader.leadership.lose();
  store_storm();
  world.run_for(2s);
  leader.manager->doubt_peer("them");
  leader.lead();
  world.run_for(5s);
  const auto summary = [&] { return leader.manager->book().incidents().at(11).summary; };
  EXPECT_EQ(summary(), "8 of 9 fail");
  leader.manager->hear_peer("them", {});
  EXPECT_TRUE(summary().starts_with("nothing of it fails now")) << summary();
}

TEST_F(IncidentPeers, WhoFollowsConfirmsAStormOfWhichNothingFailsAnyMore) {
  leader.leadership.lose();
  store_storm();
  Sharer agent(world, "agent", disk);
  world.run_for(2s);
  const auto confirmed = [&] {
    return agent.manager->confirmed(agent.manager->book().incidents().at(11));
  };
  EXPECT_FALSE(confirmed()) << "it has heard nobody";
  agent.manager->all_are_heard();
  EXPECT_TRUE(confirmed());
  agent.manager->doubt_peer("them");
  EXPECT_FALSE(confirmed());
}

TEST_F(IncidentPeers, WhatWasGoodAndFailsAgainIsNotTakenForGood) {
  leader.leadership.lose();
  // It was critical. The check is optional now, and its failure a warning.
  store_incident(11, "check:bird@agent");
  config::Config config = sample_config();
  config.checks[1].schedule.optional = true;
  Sharer agent(world, "agent", disk, {.config = config});
  agent.check("bird", kDiscovery, kHealthy);
  agent.check("bird", kError, kReported);
  agent.lead();
  world.run_for(5s);
  EXPECT_EQ(agent.manager->book().incidents().at(11).phase, judge::incident::Phase::kOpen);
  EXPECT_EQ(agent.manager->book().incidents().at(11).severity, Severity::kWarning);
}

TEST_F(IncidentPeers, OfAnAgentThatIsForgottenAlsoTheIncidentsOfEarlierLeadersEnd) {
  leader.leadership.lose();
  store_incident(11, "check:web@them");
  store_incident(12, "check:web@other");
  world.run_for(2s);
  leader.lead();
  leader.manager->forget_peer("them");
  EXPECT_EQ(leader.open_roots(), Roots{"check:web@other"});
  EXPECT_TRUE(leader.manager->book().incidents().at(11).unwatched);
}

TEST_F(IncidentPeers, WhatIsWrongHereIsPublishedAsItChanges) {
  Sharer agent(world, "agent", disk);
  agent.check("bird", kError, kReported);
  ASSERT_EQ(agent.owners(), Roots{"check:bird@agent"});
  const TimePoint since = agent.published[0].since;
  EXPECT_EQ(since, us.now());
  int publications = agent.publications;
  world.run_for(10s);
  agent.finding(kRaised, Code::kRaftMemberDown, Severity::kWarning, {"a"});
  agent.finding(kRaised, Code::kRaftMemberHung, Severity::kWarning, {"a"});
  EXPECT_EQ(agent.publications, publications + 2);
  const TimePoint began = agent.published[1].since;
  world.run_for(10s);
  agent.finding(kChanged, Code::kRaftMemberDown, Severity::kCritical, {"a"});
  EXPECT_EQ(agent.published[1].severity, Severity::kCritical);
  EXPECT_EQ(agent.published[1].since, began) << "it lasts, and has changed";
  agent.finding(kCleared, Code::kRaftMemberDown, Severity::kCritical, {"a"});
  EXPECT_EQ(agent.owners(), (Roots{"check:bird@agent", "cluster:nb"}));
  publications = agent.publications;
  agent.finding(kCleared, Code::kRaftMemberDown, Severity::kCritical, {"a"});
  EXPECT_EQ(agent.publications, publications) << "nothing has changed";
  agent.check("bird", kReported, kHealthy);
  EXPECT_EQ(agent.owners(), Roots{"cluster:nb"});
}

TEST_F(IncidentPeers, WhoWasBlindAndSeesIsNotSaidToBeBlindAnyMore) {
  Sharer agent(world, "agent", disk);
  agent.feed.tell({ThingKind::kCheck, "bird"},
                  judge::CheckBlind{true, {judge::ReasonCode::kDenied, "denied"}});
  ASSERT_EQ(agent.published.size(), 1U);
  EXPECT_EQ(agent.published[0].code, Code::kMonitorBlind);
  agent.check("bird", kDiscovery, kReported);
  ASSERT_EQ(agent.published.size(), 1U);
  EXPECT_EQ(agent.published[0].code, Code::kCheckFailed);
}

TEST_F(IncidentPeers, AGuestThatIsNoMoreIsNotSaidToFail) {
  Sharer agent(world, "agent", disk);
  for (const char* const name : {"guest:a", "guest:b"}) {
    judge::Finding finding;
    finding.code = Code::kAgentDown;
    finding.severity = Severity::kCritical;
    agent.feed.tell({judge::guest::kGuestKind, name},
                    judge::FindingChanged{kRaised, finding, us.now(), name, name});
  }
  ASSERT_EQ(agent.owners(), (Roots{"guest:a", "guest:b"}));
  agent.manager->discovered(judge::guest::kGuestKind, {{"guest:b", {}}}, {"guest:a"});
  EXPECT_EQ(agent.owners(), Roots{"guest:b"});
  EXPECT_FALSE(agent.told_of_incidents());
}

// It said of what it saw itself that it was not confirmed.
TEST_F(IncidentPeers, WhoFollowsConfirmsWhatAnybodySees) {
  leader.leadership.lose();
  store_incident(11, "check:bird@agent");
  store_incident(12, "check:web@them");
  store_incident(13, "check:db@other");
  Sharer agent(world, "agent", disk);
  world.run_for(2s);
  const auto confirmed = [&](std::int64_t id) {
    return agent.manager->confirmed(agent.manager->book().incidents().at(id));
  };
  EXPECT_FALSE(confirmed(11) || confirmed(12) || confirmed(13));
  agent.check("bird", kError, kReported);
  agent.manager->hear_peer("them", {symptom_of("check:web@them")});
  EXPECT_TRUE(confirmed(11));
  EXPECT_TRUE(confirmed(12));
  EXPECT_FALSE(confirmed(13));
}

TEST_F(IncidentPeers, ANodeThatIsHeardIsNotAwaitedAsLost) {
  const auto heard = [this](const Roots& nodes) {
    leader.manager->end_lost_nodes(
        [&](const std::string& node) { return std::ranges::find(nodes, node) != nodes.end(); });
  };
  leader.leadership.lose();
  store_incident(11, "node:them", Code::kNodeDown);
  store_incident(12, "node:other", Code::kNodeDown);
  leader.lead();
  heard({"us"});
  EXPECT_EQ(leader.open(), 2U);
  heard({"them", "us"});
  EXPECT_EQ(leader.open_roots(), Roots{"node:other"});
  leader.manager->hear_peer("", {symptom_of("node:other", Code::kNodeDown)});
  heard({"other"});
  EXPECT_EQ(leader.open_roots(), Roots{"node:other"}) << "who leads now says it himself";
  world.run_for(1s);  // so that it is written
  leader.leadership.lose();
  heard({"other"});
  EXPECT_EQ(leader.open(), 1U) << "another one tells";
}

TEST_F(IncidentPeers, WhoFollowsShowsWhatFailsInAnIncident) {
  leader.leadership.lose();
  store_incident(11, "node:them", Code::kNodeDown);
  store_incident(12, "check:db@other");
  store_incident(13, "storm:tcp");
  store_incident(14, "cluster:nb");
  store_incident(15, "node:far", Code::kNodeDown);
  store_incident(16, "node:back");
  Sharer agent(world, "agent", disk);
  world.run_for(2s);
  const auto shows = [&](std::int64_t id) {
    std::vector<std::string> parts;
    for (const Symptom& one : agent.manager->standing(agent.manager->book().incidents().at(id), 2))
      parts.push_back(one.component);
    return parts;
  };
  EXPECT_EQ(shows(12), Roots{});
  Symptom cache = symptom_of("check:cache@wide");
  cache.kind = "tcp";
  agent.manager->hear_peer("them",
                           {symptom_of("check:web@them", Code::kCheckFailed, Severity::kWarning),
                            symptom_of("check:mail@them"), symptom_of("check:dns@them")});
  agent.manager->hear_peer("other", {symptom_of("check:db@other"), symptom_of("guest:alone")});
  agent.manager->hear_peer("wide", {symptom_of("check:db@other"), cache});
  agent.finding(kRaised, Code::kRaftMemberDown, Severity::kCritical, {"a"});
  agent.finding(kRaised, Code::kRaftVoteAnomaly, Severity::kInfo, {});
  EXPECT_EQ(shows(11), (Roots{"check:dns@them", "check:mail@them"})) << "the gravest, so many";
  EXPECT_EQ(shows(15), Roots{"node:far"}) << "whoever leads says it";
  EXPECT_EQ(shows(16), Roots{}) << "its agent is heard again";
  EXPECT_EQ(shows(12), Roots{"check:db@other"}) << "also if two say it";
  EXPECT_EQ(shows(13), Roots{"check:cache@wide"});
  EXPECT_EQ(shows(14), Roots{"member:nb/a"});
  agent.manager->hear_peer("wide", {});
  EXPECT_EQ(shows(13), Roots{});
  agent.manager->forget_peer("other");
  EXPECT_EQ(shows(12), Roots{});
  agent.finding(kCleared, Code::kRaftMemberDown, Severity::kCritical, {"a"});
  EXPECT_EQ(shows(14), Roots{});
}

}  // namespace
}  // namespace wardmote::agent
