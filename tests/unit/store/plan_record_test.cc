#include "store/plan_record.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/format.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/journal_entry.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "judge/thing.h"
#include "store/clock_pair.h"

namespace wardmote::store {
namespace {

using judge::plan::Impact;
using judge::plan::Plan;
using judge::plan::StepState;
using namespace std::chrono_literals;

const ClockPair kClock{TimePoint(10h), WallTime(500'000h + 500us)};

Plan sample() {
  Plan plan;
  plan.id = 42;
  plan.policy = "repair";
  plan.target = {judge::ThingKind::kCluster, "ovn-nb"};
  plan.remedy = "rebuild_member";
  plan.subject = "ctl-3";
  plan.summary = "rebuild ctl-3 of ovn-nb";
  plan.args = {{"member", "ctl-3"}, {"address", "tcp:10.0.0.3:6643"}};
  plan.code = judge::Code::kRaftMemberDown;
  plan.why = "ctl-3 is down\n";
  plan.incident = 7;
  plan.proposer = "policy repair";
  plan.approver = "ann";
  plan.token = 5;
  plan.steps = {
      {"copy_database", Impact::kHarmless, StepState::kDone, "copied", 2},
      {"kick", Impact::kIdempotent, StepState::kBegun, "", 1, std::nullopt, "the leader hears it"}};
  plan.state = judge::plan::PlanState::kRejected;
  plan.reason = "by ann";
  plan.lifted = true;
  plan.created = TimePoint(9h);
  plan.begun = TimePoint(9h + 1min);
  plan.changed = TimePoint(9h + 2min);
  return plan;
}

TEST(PlanRecord, GivesBackTheWholePlan) {
  const auto read = decode_plan(encode(sample(), kClock), kClock);
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(*read, sample());
}

TEST(PlanRecord, KnowsNothingOfWhatARecordOfBeforeDoesNotHold) {
  std::string text = encode(sample(), kClock);
  for (const std::string part : {R"(,"tries":2)", R"(,"tries":1)", R"(,"lifted":true)"}) {
    const auto at = text.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    text.erase(at, part.size());
  }
  Plan expected = sample();
  expected.lifted = false;
  for (auto& step : expected.steps) step.tries = 0;
  const auto read = decode_plan(text, kClock);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, expected);
}

TEST(PlanRecord, APlanThatLostAStepIsNoPlan) {
  std::string text = encode(sample(), kClock);
  text.replace(text.find("\"idempotent\""), 12, "\"who knows\"");
  EXPECT_FALSE(decode_plan(text, kClock));
  for (const char* const bad : {"", "[]", "{", "{}", R"({"id":1})", R"({"id":-1})"}) {
    EXPECT_FALSE(decode_plan(bad, kClock)) << bad;
    EXPECT_FALSE(decode_pause(bad, kClock)) << bad;
  }
}

TEST(PlanRecord, APlanThatLacksWhatMakesItOneIsNone) {
  const std::string whole = encode(sample(), kClock);
  for (const std::string key :
       {"id", "target", "remedy", "args", "state", "created", "begun", "changed"}) {
    std::string text = whole;
    const auto at = text.find('"' + key + "\":");
    ASSERT_NE(at, std::string::npos) << key;
    EXPECT_FALSE(decode_plan(text.replace(at + 1, 1, "_"), kClock)) << key;
  }
}

TEST(PlanRecord, APlanWithoutStepsIsNoPlan) {
  const std::string whole = encode(sample(), kClock);
  const auto begin = whole.find("\"steps\":[") + 8;
  const auto end = whole.find("],", begin) + 1;
  for (const std::string_view steps : {"[]", "null", "7", R"("kick")", R"({"step":"kick"})"}) {
    std::string text = whole;
    EXPECT_FALSE(decode_plan(text.replace(begin, end - begin, steps), kClock)) << text;
  }
  std::string text = whole;
  EXPECT_FALSE(decode_plan(text.replace(text.find("\"steps\""), 7, "\"stips\""), kClock));
}

// What the host said to an earlier life of the agent is not believed.
TEST(PlanRecord, DoesNotHoldWhenAnActSucceeded) {
  Plan told = sample();
  told.steps.front().succeeded = judge::plan::Success{TimePoint(9h), TimePoint(9h), TimePoint(9h)};
  const auto read = decode_plan(encode(told, kClock), kClock);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, sample());
}

// A plan whose target or arguments are not understood would be about something else.
TEST(PlanRecord, APlanOfNothingIsNoPlan) {
  const std::string whole = encode(sample(), kClock);
  for (const std::string part :
       {R"("kind":"cluster")", R"("member":"ctl-3")", R"("remedy":"rebuild_member")"}) {
    std::string text = whole;
    const auto at = text.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    const std::string key = part.substr(0, part.find(':'));
    text.replace(at, part.size(), key + ":7");
    EXPECT_FALSE(decode_plan(text, kClock)) << part;
  }
}

TEST(PlanRecord, APauseOfAnEarlierVersionHasOneIdentity) {
  const auto pause = decode_pause(R"({"scope":"ovn-nb","identity":"cluster:ab12"})", kClock);
  ASSERT_TRUE(pause);
  EXPECT_EQ(pause->identities, std::vector<std::string>{"cluster:ab12"});
}

TEST(PlanRecord, EachPlanHasAKeyOfItsOwn) {
  EXPECT_EQ(plan_key(42), "plan/42");
}

TEST(PlanRecord, GivesBackARowOfTheJournal) {
  judge::JournalEntry row{.at = WallTime(500'000h), .kind = "intent"};
  row.plan = 42;
  row.step = "kick";
  row.cluster = "ovn-nb";
  row.subject = "ctl-3";
  row.actor = "ann";
  row.incident = 7;
  row.token = 5;
  row.detail = "rebuild ctl-3";
  const auto read = decode_row(encode(row));
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(encode(*read), encode(row));
  EXPECT_EQ(read->at, row.at);
  EXPECT_EQ(read->plan, 42);
  EXPECT_EQ(read->incident, 7);
  EXPECT_EQ(read->token, 5);
  for (const char* const text : {"", "[]", "{}", R"({"at":1})", R"({"kind":"intent"})"})
    EXPECT_FALSE(decode_row(text)) << text;
}

TEST(PlanRecord, ARowOfTheJournalThatNamesNoPlanOrIncidentBelongsToNone) {
  std::string text = encode(judge::JournalEntry{.at = WallTime(500'000h), .kind = "paused"});
  for (const std::string_view key : {"plan", "incident"}) {
    if (const auto at = text.find(fmt::format("\"{}\"", key)); at != std::string::npos)
      text.replace(at + 1, 1, "_");
  }
  const auto read = decode_row(text);
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(read->plan, 0);
  EXPECT_EQ(read->incident, 0);
}

TEST(PlanRecord, GivesBackAPause) {
  for (const bool ends : {true, false}) {
    judge::plan::Pause pause{"ovn-nb", "ann", std::nullopt};
    if (ends) pause.until = TimePoint(12h);
    if (ends) pause.identities = {"1a97", "asked at unix:/run/ovn/nb.ctl"};
    const auto read = decode_pause(encode(pause, kClock), kClock);
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, pause);
  }
  EXPECT_FALSE(decode_pause("{}", kClock));
}

ClockPair on(std::string_view boot, Duration later, Duration wrong = {}) {
  return {kClock.now + later, kClock.wall_now + later + wrong, boot};
}

TEST(PlanRecord, APauseEndsByTheClockThatNeverJumps) {
  const judge::plan::Pause pause{"ovn-nb", "ann", kClock.now + 1h};
  const std::string record = encode(pause, on("a", 0h));
  for (const Duration wrong : {Duration(0h), Duration(2h), Duration(-2h)})
    EXPECT_EQ(decode_pause(record, on("a", 20min, wrong))->until, pause.until);
  // Of another machine, or after a reboot, the clocks tell nothing of each other.
  EXPECT_EQ(decode_pause(record, on("b", 20min, 2h))->until, kClock.now + 20min + 1h);
  EXPECT_EQ(decode_pause(record, on("", 20min, 2h))->until, kClock.now + 20min + 1h);
}

TEST(PlanRecord, AnAgentThatReadsAPauseAgainKnowsWhenItReadItFirst) {
  const judge::plan::Pause pause{"ovn-nb", "ann", kClock.now + 1h};
  std::string record = encode(pause, on("a", 0h));
  PauseReader reader;
  EXPECT_EQ(reader.read("pause/ovn-nb", record, on("b", 1s))->until, kClock.now + 1s + 1h);
  EXPECT_EQ(reader.read("pause/ovn-nb", record, on("b", 50min))->until, kClock.now + 1s + 1h);
  record = encode({"ovn-nb", "ann", kClock.now + 3h}, on("a", 55min));
  EXPECT_EQ(reader.read("pause/ovn-nb", record, on("b", 55min))->until, kClock.now + 3h);
  EXPECT_FALSE(reader.read("pause/ovn-nb", "{}", on("b", 56min)));
}

TEST(PlanRecord, APauseOfAnEarlierVersionEndsByTheWallClock) {
  const std::string record = R"({"scope":"ovn-nb","by":"ann","until":1800003600000})";
  EXPECT_EQ(decode_pause(record, on("a", 20min))->until, kClock.now + 1h);
}

}  // namespace
}  // namespace wardmote::store
