// Where each record is: other releases of the agent, and the rights that etcd gives to each node,
// go by these names.
#include <gtest/gtest.h>

#include "store/addresses_record.h"
#include "store/agent_record.h"
#include "store/check_record.h"
#include "store/guest_record.h"
#include "store/incident_record.h"
#include "store/notify_record.h"
#include "store/plan_record.h"
#include "store/report_record.h"

namespace wardmote::store {
namespace {

TEST(RecordKeys, OfANodeAreBelowItsName) {
  EXPECT_EQ(addresses_prefix("n1"), "addresses/n1/");
  EXPECT_EQ(addresses_key("n1", "bird"), "addresses/n1/bird");
  EXPECT_EQ(registration_key("n1"), "agents/n1/registration");
  EXPECT_EQ(presence_key("n1"), "agents/n1/presence");
  EXPECT_EQ(symptoms_key("n1"), "agents/n1/symptoms");
  EXPECT_EQ(note_key("n1", "servers"), "agents/n1/servers");
  EXPECT_EQ(check_prefix("n1"), "check/n1/");
  EXPECT_EQ(check_key("n1", "bird"), "check/n1/bird");
  EXPECT_EQ(seen_good_prefix("n1"), "good/n1/");
  EXPECT_EQ(guest_prefix("n1"), "guest/n1/");
  EXPECT_EQ(guest_key("n1", "u"), "guest/n1/u");
  EXPECT_EQ(report_prefix("n1"), "report/n1/");
  EXPECT_EQ(report_key("n1", "felix"), "report/n1/felix");
}

TEST(RecordKeys, OfTheWholeHaveANumberOrAName) {
  EXPECT_EQ(incident_key(7), "incident/7");
  EXPECT_EQ(plan_key(7), "plan/7");
  EXPECT_EQ(pause_key("all"), "pause/all");
  EXPECT_EQ(newest_row_key("j"), "acts/row/j");
  EXPECT_EQ(group_key("oncall"), "notify/group/oncall");
  EXPECT_EQ(silence_key(7), "notify/silence/7");
}

}  // namespace
}  // namespace wardmote::store
