// What leaves the configuration of agents that share a store: nobody has seen it good.

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

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
class IncidentLeft : public SharersTest {
 protected:
  IncidentLeft() { leader.lead(); }
  /// The cluster leaves the configuration of the one that leads.
  void drop_cluster() {
    leader.config.clusters.clear();
    std::erase_if(leader.config.checks, [](const auto& check) { return check.name == "nb"; });
    leader.manager->reload({.gone = {"cluster:nb"}, .replaced = {}});
  }
  [[nodiscard]] const judge::incident::Incident& incident(std::int64_t id) const {
    return leader.manager->book().incidents().at(id);
  }

  Sharer leader{world, "us", disk};
};

TEST_F(IncidentLeft, WhatAnAgentWatchesNoMoreIsNotSaidToBeGood) {
  const Symptom web = symptom_of("check:web@them");
  const Symptom db = symptom_of("check:db@them");
  leader.manager->hear_peer("them", {web, db}, {}, {{web.owner, db.owner}});
  leader.manager->hear_peer("them", {}, {}, {{db.owner}});
  EXPECT_TRUE(leader.manager->book().incidents().at(1).unwatched);
  EXPECT_FALSE(leader.manager->book().incidents().at(2).unwatched) << "it was seen good";
  EXPECT_EQ(leader.open(), 0U);
}

// It was told as over, also when nobody watched it any more.
TEST_F(IncidentLeft, ACommonThingIsLeftWhenTheLastThatWatchedItLeavesIt) {
  const Symptom mesh = symptom_of("mesh:tor");
  const auto ends_unwatched = [&](const auto& beginning, const auto& end) {
    world.run_for(1h);  // so that it does not flap
    beginning();
    leader.manager->hear_peer("them", {mesh}, {}, {{mesh.owner}});
    EXPECT_EQ(leader.open_roots(), Roots{"mesh:tor"});
    end();
    EXPECT_EQ(leader.open(), 0U);
    return leader.manager->book().incidents().rbegin()->second.unwatched;
  };
  const auto leaves = [&](const std::string& node) {
    leader.manager->hear_peer(node, {}, {}, {{}});
  };
  const auto watches = [&](const std::string& node) {
    leader.manager->hear_peer(node, {}, {}, {{mesh.owner}});
  };
  const auto them_leave = [&] { leaves("them"); };
  EXPECT_TRUE(ends_unwatched([] {}, them_leave));
  EXPECT_FALSE(ends_unwatched([] {}, [&] { watches("them"); })) << "it was seen good";
  EXPECT_FALSE(ends_unwatched([&] { watches("b"); }, them_leave)) << "b sees it good";
  EXPECT_TRUE(ends_unwatched([&] { leaves("b"); }, them_leave));
  EXPECT_FALSE(ends_unwatched([&] { leader.manager->doubt_peer("b"); }, them_leave));
  EXPECT_FALSE(ends_unwatched([&] { leader.manager->hear_peer("b", {}); }, them_leave))
      << "of an earlier release nobody knows";
  leader.manager->forget_peer("b");
  EXPECT_TRUE(ends_unwatched([&] { leader.manager->hear_peer("", {}); }, them_leave))
      << "who leads says of nodes, and watches nothing by that";
}

TEST_F(IncidentLeft, ACommonThingThatWasLeftWhileNobodyLedIsNotSaidToBeGood) {
  leader.leadership.lose();
  store_incident(11, "mesh:tor");
  store_incident(12, "session:tor/a/b");
  store_incident(13, "mesh:spine");
  store_incident(14, "cluster:nb", Code::kRaftNoQuorum);
  store_incident(15, "guest:vm");
  leader.manager->hear_peer("them", {}, {}, {{"mesh:spine"}});
  leader.manager->hear_peer("b", {}, {}, {{}});
  leader.manager->all_are_heard();
  leader.lead();
  world.run_for(5s);
  EXPECT_EQ(leader.open_roots(), (Roots{"mesh:spine", "cluster:nb", "guest:vm"}))
      << "watched there, watched here, and found by nobody's configuration";
  EXPECT_TRUE(leader.manager->book().incidents().at(11).unwatched);
  EXPECT_TRUE(leader.manager->book().incidents().at(12).unwatched);
}

TEST_F(IncidentLeft, WhoHasNotHeardTheOthersDoesNotKnowThatItWasLeft) {
  leader.leadership.lose();
  store_incident(11, "mesh:tor");
  leader.lead();
  world.run_for(5s);
  EXPECT_EQ(leader.open_roots(), Roots{"mesh:tor"});
}

TEST_F(IncidentLeft, OthersKnowWhatAnAgentMayFindWrong) {
  leader.manager->discovered(judge::guest::kGuestKind, {{"guest:b", {}}}, {});
  EXPECT_EQ(*leader.manager->watched(),
            (std::set<std::string>{"check:bird@us", "check:peer@us", "cluster:nb", "guest:b"}));
}

TEST_F(IncidentLeft, NorIsACheckUnderTheNextLeader) {
  leader.leadership.lose();
  store_incident(11, "check:web@them");
  store_incident(12, "check:db@them");
  store_incident(13, "check:ftp@old");
  leader.manager->hear_peer("them", {}, {}, {{"check:db@them"}});
  leader.manager->hear_peer("old", {});
  leader.lead();
  world.run_for(5s);
  EXPECT_EQ(leader.open(), 0U);
  EXPECT_TRUE(leader.manager->book().incidents().at(11).unwatched);
  EXPECT_FALSE(leader.manager->book().incidents().at(12).unwatched);
  EXPECT_FALSE(leader.manager->book().incidents().at(13).unwatched) << "an earlier release";
}

TEST_F(IncidentLeft, AClusterThatOnlyAnotherWatchesIsNotGone) {
  leader.leadership.lose();
  store_incident(11, "cluster:theirs", Code::kRaftQuorumMargin);
  leader.lead();
  EXPECT_EQ(leader.open_roots(), Roots{"cluster:theirs"});
}

TEST_F(IncidentLeft, WhatTheLeaderWatchesNoMoreNobodySawGood) {
  leader.manager->hear_peer("them", {}, {}, {{}});
  leader.finding(kRaised, Code::kRaftNoQuorum, Severity::kCritical, {"cluster:nb"});
  drop_cluster();
  EXPECT_EQ(leader.open(), 0U);
  EXPECT_TRUE(incident(1).unwatched);
}

// It ended as not watched, and was not told again, though another agent went on to see it fail.
TEST_F(IncidentLeft, WhatTheLeaderWatchesNoMoreIsAsAnotherSays) {
  const Symptom failing = symptom_of("cluster:nb", Code::kRaftNoQuorum);
  const Symptom leaving = symptom_of("cluster:nb", Code::kRaftLinkAsymmetric);
  leader.manager->hear_peer("them", {failing, leaving}, {}, {{"cluster:nb"}});
  EXPECT_EQ(leader.open(), 0U) << "its own word counts";
  leader.finding(kRaised, Code::kRaftNoQuorum, Severity::kCritical, {"cluster:nb"});
  EXPECT_EQ(leader.open(), 1U);
  drop_cluster();
  EXPECT_EQ(leader.open(), 1U);
  EXPECT_EQ(leader.manager->book().symptoms_of(1, 9).size(), 2U);
  EXPECT_TRUE(leader.published.empty());
  leader.manager->hear_peer("them", {}, {}, {{"cluster:nb"}});
  EXPECT_EQ(leader.open(), 0U);
  EXPECT_FALSE(incident(1).unwatched) << "it was seen good";
}

TEST_F(IncidentLeft, WhatTheLeaderWatchesNoMoreIsGoodIfAnotherDoesNotSeeItFail) {
  leader.manager->hear_peer("them", {}, {}, {{"cluster:nb"}});
  leader.finding(kRaised, Code::kRaftNoQuorum, Severity::kCritical, {"cluster:nb"});
  drop_cluster();
  EXPECT_EQ(leader.open(), 1U) << "it may not have looked yet";
  world.run_for(1h);
  EXPECT_EQ(leader.open(), 0U);
  EXPECT_FALSE(incident(1).unwatched);
}

// It was shown as resolved there, until something else changed.
TEST_F(IncidentLeft, WhoFollowsAndWatchesItNoMoreShowsItAsItsLeaderDoes) {
  leader.leadership.lose();
  store_incident(11, "cluster:nb", Code::kRaftNoQuorum);
  world.run_for(2s);
  ASSERT_EQ(leader.open(), 1U);
  drop_cluster();
  EXPECT_EQ(leader.open(), 1U);
}

TEST_F(IncidentLeft, AnAgentWhoseWordIsDoubtedWatchesNothing) {
  leader.manager->hear_peer("them", {}, {}, {{"cluster:nb"}});
  leader.manager->doubt_peer("them");
  leader.finding(kRaised, Code::kRaftNoQuorum, Severity::kCritical, {"cluster:nb"});
  drop_cluster();
  EXPECT_EQ(leader.open(), 0U);
  EXPECT_TRUE(incident(1).unwatched);
}

}  // namespace
}  // namespace wardmote::agent
