// What an agent said in an earlier life, until this one has judged it.

#include <algorithm>
#include <chrono>
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
using Owners = std::vector<std::string>;

class SaidBefore : public SharersTest {
 protected:
  void said(std::vector<Symptom> symptoms) { before = std::move(symptoms); }
  /// Of whom it says still that something is wrong.
  Owners says() {
    Owners owners;
    for (const Symptom& symptom : agent.manager->symptoms(before)) owners.push_back(symptom.owner);
    return owners;
  }
  void discover(const Owners& guests) {
    std::vector<incidents::DiscoveredThing> things;
    for (const std::string& guest : guests) {
      things.push_back({guest, {}});
      things.push_back({guest + "/inside", {}, true});
    }
    agent.manager->discovered(judge::guest::kGuestKind, std::move(things), {});
  }

  Sharer agent{world, "us", disk};
  std::vector<Symptom> before;
};

TEST_F(SaidBefore, ACheckIsJudgedWhenItIsHealthyOrReported) {
  said({symptom_of("check:bird@us"), symptom_of("check:peer@us"), symptom_of("check:gone@us")});
  EXPECT_EQ(says(), (Owners{"check:bird@us", "check:peer@us"}));
  EXPECT_TRUE(agent.manager->symptoms(before)[0].recalled);
  agent.check("bird", kDiscovery, kHealthy);
  EXPECT_EQ(says(), Owners{"check:peer@us"});
  world.run_for(1h);
  EXPECT_EQ(says(), Owners{"check:peer@us"}) << "nothing is known of it";
}

TEST_F(SaidBefore, AClusterIsHealthyBeforeAllThatMayBeFoundHadItsTime) {
  said({symptom_of("cluster:nb", Code::kRaftDeadMember),
        symptom_of("cluster:nb", Code::kRaftLinkAsymmetric)});
  agent.check("nb", kDiscovery, kHealthy);
  EXPECT_EQ(says().size(), 2U);
  agent.finding(kRaised, Code::kRaftDeadMember, Severity::kWarning, {"cluster:nb"});
  EXPECT_EQ(says().size(), 2U);
  EXPECT_FALSE(agent.manager->symptoms(before)[0].recalled) << "it is seen in this life";
  agent.finding(kCleared, Code::kRaftDeadMember, Severity::kWarning, {"cluster:nb"});
  EXPECT_EQ(says().size(), 1U) << "and its end is";
  world.run_for(3min);
  EXPECT_EQ(says(), Owners{}) << "what is still there would have been found";
}

TEST_F(SaidBefore, AClusterOfWhichNothingIsKnownIsNotWell) {
  said({symptom_of("cluster:nb", Code::kRaftDeadMember)});
  world.run_for(1h);
  EXPECT_EQ(says(), Owners{"cluster:nb"});
}

TEST_F(SaidBefore, AClusterThatTheConfigurationLacksIsNotSpokenFor) {
  said({symptom_of("cluster:nb", Code::kRaftDeadMember), symptom_of("mesh:tor")});
  EXPECT_EQ(says(), Owners{"cluster:nb"});
}

TEST_F(SaidBefore, AGuestIsJudgedWhenItIsFoundGood) {
  said({symptom_of("guest:vm"), symptom_of("guest:vm/inside"), symptom_of("guest:silent"),
        symptom_of("guest:silent/inside"), symptom_of("guest:gone")});
  EXPECT_EQ(says().size(), 5U) << "it was not listed yet";
  discover({"guest:vm", "guest:silent"});
  agent.manager->judged_good("guest:vm");
  EXPECT_EQ(says(),
            (Owners{"guest:vm/inside", "guest:silent", "guest:silent/inside", "guest:gone"}));
  world.run_for(3min);
  EXPECT_EQ(says(), Owners{"guest:silent"}) << "nobody has heard it in this life";
}

}  // namespace
}  // namespace wardmote::agent
