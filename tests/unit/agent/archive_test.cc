#include "agent/archive.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "incidents/change_feed.h"
#include "judge/finding.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"

namespace wardmote::agent {
namespace {

using namespace std::chrono_literals;

TEST(Archive, KeepsEveryNameThatAFindingsSubjectHas) {
  judge::Finding finding;
  finding.code = judge::Code::kRaftMemberDown;
  finding.severity = judge::Severity::kWarning;
  finding.subjects = {"ctl-2", "5b4b"};
  const judge::Change change{.at = {},
                             .of = {judge::ThingKind::kCluster, "nb"},
                             .event = judge::FindingChanged{{}, finding, {}}};
  const serve::ChangeText text{.kind = "finding_raised", .data = R"({"summary":"down"})"};
  const store::Event event = event_of(change, text);
  EXPECT_EQ(event.kind, "finding_raised");
  EXPECT_EQ(event.scope, "cluster");
  EXPECT_EQ(event.subject, "nb");
  EXPECT_EQ(event.names, "ctl-2 5b4b");
  EXPECT_EQ(event.code, "RAFT_MEMBER_DOWN");
  EXPECT_EQ(event.severity, "warning");
  EXPECT_EQ(event.data, text.data);
}

TEST(Archive, AMembersChangeIsFoundUnderItsName) {
  const judge::Change change{.at = {},
                             .of = {judge::ThingKind::kCluster, "nb"},
                             .event = judge::MemberChanged{.member = "ctl-2"}};
  EXPECT_EQ(event_of(change, {}).names, "ctl-2");
}

TEST(Archive, ANoticeIsFoundUnderEachOfItsIncidents) {
  judge::DeliveryChanged delivery;
  delivery.incidents = {17, 170};
  const judge::Change change{
      .at = {}, .of = {judge::ThingKind::kReceiver, "ops"}, .event = delivery};
  EXPECT_EQ(event_of(change, {}).names, "#17 #170");
}

TEST(Archive, WhatTheFeedTellsIsOnTheDiskSoon) {
  sim::World world(1);
  sim::SimRuntime& us = world.host("us");
  sim::SimDisk disk;
  sim::SimDatabase database(us, disk);
  incidents::ChangeFeed feed([&] { return us.wall_now(); });
  Archive archive(us, &database);
  feed.listen([&](const judge::Change& change, const serve::ChangeText& text) {
    archive.keep(change, text, 7);
  });
  ASSERT_TRUE(run_task(world, us, archive.open()));
  feed.tell({judge::ThingKind::kGate, "ready"}, judge::GateChanged{.open = true});
  world.run_for(1s);
  EXPECT_EQ(disk.rows("SELECT 1 FROM event WHERE kind = 'gate_opened' AND incident = 7").size(),
            1U);
  world.run(us, archive.stop());
}

}  // namespace
}  // namespace wardmote::agent
