#include "agent/archive.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "agent/change_feed.h"
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
  judge::Change change;
  change.kind = "finding_raised";
  change.scope = "cluster";
  change.subject = "nb";
  change.data = R"({"summary":"down"})";
  change.finding = finding;
  const store::Event event = event_of(change);
  EXPECT_EQ(event.names, "ctl-2 5b4b");
  EXPECT_EQ(event.code, "RAFT_MEMBER_DOWN");
  EXPECT_EQ(event.severity, "warning");
  EXPECT_EQ(event.data, change.data);
}

TEST(Archive, AMembersChangeIsFoundUnderItsName) {
  judge::Change change;
  change.kind = "member_changed";
  change.subject = "nb";
  change.data = R"({"member":"ctl-2","from":"ok","to":"fail"})";
  EXPECT_EQ(event_of(change).names, "ctl-2");
  change.data = "[]";
  EXPECT_EQ(event_of(change).names, "");
}

TEST(Archive, WhatTheFeedTellsIsOnTheDiskSoon) {
  sim::World world(1);
  sim::SimRuntime& us = world.host("us");
  sim::SimDisk disk;
  sim::SimDatabase database(us, disk);
  ChangeFeed feed([&] { return us.wall_now(); });
  Archive archive(us, &database);
  feed.listen([&](const judge::Change& change) { archive.keep(change, 7); });
  ASSERT_TRUE(run_task(world, us, archive.open()));
  feed.tell(LogLevel::kInfo, "gate_opened", {{"gate", "ready"}});
  world.run_for(1s);
  EXPECT_EQ(disk.rows("SELECT 1 FROM event WHERE kind = 'gate_opened' AND incident = 7").size(),
            1U);
  world.run(us, archive.stop());
}

}  // namespace
}  // namespace wardmote::agent
