// By what an incident is routed and silenced, and to which incident a change belongs.

#include <string>

#include <gtest/gtest.h>

#include "incidents/incident_manager.h"
#include "judge/change.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/notify/matcher.h"
#include "judge/thing.h"
#include "unit/agent/incident_manager_fixture.h"

namespace wardmote::agent {
namespace {

using judge::notify::Labels;

constexpr const char* kUuid = "12345678-1234-1234-1234-123456789abc";

Labels labels_of(const std::string& root) {
  judge::incident::Incident incident;
  incident.root = root;
  incident.code = Code::kRaftNoQuorum;
  incident.severity = Severity::kCritical;
  incident.names = {"vm-1", kUuid};
  return incidents::incident_labels(incident, {{"zone", "a"}}, "us");
}

TEST(IncidentLabels, AnIncidentOfAClusterHasItsName) {
  EXPECT_EQ(labels_of("cluster:nb"), (Labels{{"zone", "a"},
                                             {"node", "us"},
                                             {"code", "RAFT_NO_QUORUM"},
                                             {"severity", "critical"},
                                             {"root", "cluster:nb"},
                                             {"scope", "cluster"},
                                             {"subject", "nb"},
                                             {"cluster", "nb"}}));
}

TEST(IncidentLabels, AnIncidentOfAMemberHasTheNameOfItsCluster) {
  const Labels labels = labels_of("member:nb/a");
  EXPECT_EQ(labels.at("scope"), "member");
  EXPECT_EQ(labels.at("subject"), "nb/a");
  EXPECT_EQ(labels.at("cluster"), "nb");
}

TEST(IncidentLabels, AnEtcdClusterIsACluster) {
  const Labels labels = labels_of("etcd:et");
  EXPECT_EQ(labels.at("scope"), "etcd");
  EXPECT_EQ(labels.at("subject"), "et");
  EXPECT_EQ(labels.at("cluster"), "et");
}

TEST(IncidentLabels, AnIncidentOfAGuestHasItsUuidAndNoOtherHasOne) {
  EXPECT_EQ(labels_of("guest:host/vm-1").at("uuid"), kUuid);
  EXPECT_FALSE(labels_of("guest:host/vm-1").contains("cluster"));
  EXPECT_FALSE(labels_of("check:bird").contains("uuid"));
}

TEST_F(IncidentManagerTest, ADeliveryBelongsToTheOneIncidentThatItTells) {
  Life life(world, us, &disk);
  life.feed.tell({ThingKind::kReceiver, "person"}, judge::DeliveryChanged{.incidents = {7}});
  EXPECT_EQ(life.incidents.back(), 7);
  life.feed.tell({ThingKind::kReceiver, "person"}, judge::DeliveryChanged{.incidents = {7, 8}});
  EXPECT_EQ(life.incidents.back(), 0);
}

TEST_F(IncidentManagerTest, AStepOfAPlanBelongsToTheIncidentThatItRepairs) {
  Life life(world, us, &disk);
  life.feed.tell({ThingKind::kPlan, "1"},
                 judge::PlanChanged{.word = "proposed", .cluster = "nb", .incident = 7});
  EXPECT_EQ(life.incidents.back(), 7);
}

TEST_F(IncidentManagerTest, OfManyThatAreOverTheOldestLeavesTheDisk) {
  Life life(world, us, &disk);
  for (int i = 0; i < 501; ++i) {
    life.check("bird", kError, kReported);
    life.check("bird", kReported, kHealthy);
    world.run_for(11min);
  }
  EXPECT_EQ(life.manager->book().incidents().size(), 500U);
  EXPECT_TRUE(disk.rows("SELECT 1 FROM store_kv WHERE key = 'incident/1'").empty());
  EXPECT_FALSE(disk.rows("SELECT 1 FROM store_kv WHERE key = 'incident/2'").empty());
}

}  // namespace
}  // namespace wardmote::agent
