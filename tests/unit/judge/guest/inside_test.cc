#include "judge/guest/inside.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/condition/condition_tracker.h"
#include "judge/finding.h"
#include "judge/guest/assess.h"
#include "judge/guest/facts.h"
#include "judge/guest/machine.h"

namespace wardmote::judge::guest {
namespace {

using namespace std::chrono_literals;

TimePoint at(Duration since) {
  return TimePoint(1h) + since;
}

std::vector<Code> found(const InsideWatch& inside, const InsidePolicy& policy = {}) {
  std::vector<Code> codes;
  for (const Condition& one : inside.conditions(policy, "guest web", "uuid", at(24h)))
    codes.push_back(one.finding.code);
  return codes;
}

TEST(GuestInside, AsksForOneThingAMinuteInTurn) {
  InsideWatch inside;
  std::map<Inquiry, int> asked;
  std::optional<TimePoint> last;
  for (Duration passed{}; passed < 30min; passed += 5s) {
    const auto due = inside.due({}, at(passed));
    if (!due) continue;
    if (last) EXPECT_GE(at(passed) - *last, 1min);
    last = at(passed);
    inside.asked(*due, at(passed));
    ++asked[*due];
  }
  EXPECT_EQ(asked,
            (std::map<Inquiry, int>{
                {Inquiry::kFreeze, 10}, {Inquiry::kClock, 10}, {Inquiry::kFileSystems, 10}}));
}

TEST(GuestInside, AsksForNothingThatIsSwitchedOff) {
  InsideWatch inside;
  const InsidePolicy only{.freeze = false, .clock = true, .file_systems = false};
  for (Duration passed{}; passed < 10min; passed += 1min) {
    EXPECT_EQ(inside.due(only, at(passed)), Inquiry::kClock);
    inside.asked(Inquiry::kClock, at(passed));
  }
  EXPECT_EQ(inside.due({.freeze = false, .clock = false, .file_systems = false}, at(1h)),
            std::nullopt);
}

TEST(GuestInside, ABackupThatFreezesForAWhileIsNoFinding) {
  InsideWatch inside;
  inside.frozen(true, at(0s));
  inside.frozen(true, at(9min));
  EXPECT_TRUE(found(inside).empty());
  inside.frozen(false, at(10min));
  inside.frozen(true, at(11min));
  EXPECT_TRUE(found(inside).empty()) << "another backup";
}

TEST(GuestInside, AFreezeLeftBehindIsFoundUntilItIsThawed) {
  InsideWatch inside;
  inside.frozen(true, at(0s));
  EXPECT_EQ(inside.due({}, at(5min)), Inquiry::kFreeze) << "it answers nothing else";
  inside.asked(Inquiry::kFreeze, at(5min));
  EXPECT_EQ(inside.due({}, at(6min)), Inquiry::kFreeze);
  inside.frozen(true, at(10min));
  EXPECT_EQ(found(inside), std::vector{Code::kVmFsFrozen});
  EXPECT_TRUE(found(inside, {.freeze = false}).empty()) << "it can be switched off";
  EXPECT_EQ(inside.conditions({}, "guest web", "uuid", at(11min))[0].since, at(0s));
  inside.frozen(false, at(12min));
  EXPECT_TRUE(found(inside).empty());
}

TEST(GuestInside, OneFrozenAnswerAndThenSilenceIsNoFreezeLeftBehind) {
  InsideWatch inside;
  inside.frozen(true, at(0s));
  EXPECT_TRUE(found(inside).empty()) << "nobody knows what became of it";
}

TEST(GuestInside, AClockThatIsOffTwiceIsFound) {
  InsideWatch inside;
  inside.clock(-7s, 1ms, {}, at(0s));
  EXPECT_TRUE(found(inside).empty());
  inside.clock(-7s, 1ms, {}, at(3min));
  EXPECT_EQ(found(inside), std::vector{Code::kVmClockDrift});
  inside.clock(2s, 1ms, {}, at(6min));
  EXPECT_TRUE(found(inside).empty());
  inside.clock(7s, 1ms, {}, at(9min));
  EXPECT_TRUE(found(inside).empty()) << "it begins anew";
}

TEST(GuestInside, WhatTheAnswerTookIsNoDrift) {
  InsideWatch inside;
  for (int i = 0; i < 3; ++i) inside.clock(6s, 1500ms, {}, at(i * 3min));
  EXPECT_TRUE(found(inside).empty());
  for (int i = 3; i < 6; ++i) inside.clock(6s, 500ms, {}, at(i * 3min));
  EXPECT_EQ(found(inside), std::vector{Code::kVmClockDrift});
}

TEST(GuestInside, AFullFileSystemIsFoundAndAnImageIsNot) {
  InsideWatch inside;
  const std::vector<FileSystem> nearly = {{"/", "ext4", 949, 1000}, {"/cd", "iso9660", 10, 10}};
  const std::vector<FileSystem> full = {{"/", "ext4", 950, 1000}, {"/old", "ext4", 5, 0}};
  for (int i = 0; i < 3; ++i) inside.file_systems(nearly, {}, at(i * 3min));
  EXPECT_TRUE(found(inside).empty());
  inside.file_systems(full, {}, at(9min));
  EXPECT_TRUE(found(inside).empty());
  inside.file_systems(full, {}, at(12min));
  const Conditions all = inside.conditions({}, "guest web", "uuid", at(13min));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].finding.code, Code::kVmFsFull);
  EXPECT_EQ(all[0].finding.summary, "guest web has a full file system: /");
  ASSERT_EQ(all[0].finding.evidence.size(), 1U);
  EXPECT_EQ(all[0].finding.evidence[0].says, "/ (ext4) is 95 % full");
  inside.file_systems({}, {}, at(15min));
  EXPECT_TRUE(found(inside).empty());
}

TEST(GuestInside, WhatAGuestCallsItsFoldersIsNeverPrintedRaw) {
  InsideWatch inside;
  for (int i = 0; i < 2; ++i)
    inside.file_systems({{"/\x1b[2J\nx", "e\nxt", 1, 1}}, {}, at(i * 3min));
  const Conditions all = inside.conditions({}, "guest web", "uuid", at(13min));
  ASSERT_EQ(all.size(), 1U);
  for (const char c : all[0].finding.summary + all[0].finding.evidence[0].says)
    EXPECT_GE(static_cast<unsigned char>(c), 0x20);
}

TEST(GuestInside, ManyFileSystemsAreNotAllNamed) {
  InsideWatch inside;
  const std::vector<FileSystem> many(1000, {"/srv", "ext4", 1, 1});
  for (int i = 0; i < 2; ++i) inside.file_systems(many, {}, at(i * 3min));
  EXPECT_EQ(inside.conditions({}, "g", "u", at(1h))[0].finding.evidence.size(), 8U);
}

TEST(GuestInside, ABootForgetsAll) {
  InsideWatch inside;
  for (int i = 0; i < 2; ++i) {
    inside.frozen(true, at(i * 11min));
    inside.clock(1h, 0s, {}, at(i * 11min));
    inside.file_systems({{"/", "ext4", 1, 1}}, {}, at(i * 11min));
  }
  EXPECT_EQ(found(inside).size(), 3U);
  inside.forget();
  EXPECT_TRUE(found(inside).empty());
}

TEST(GuestInside, ARestartOfTheAgentChangesNothingThatIsSaid) {
  InsideWatch inside;
  for (int i = 0; i < 2; ++i) {
    inside.frozen(true, at(i * 11min));
    inside.clock(1h, 0s, {}, at(i * 11min));
    inside.file_systems({{"/", "ext4", 1, 1}}, {}, at(i * 11min));
  }
  InsideWatch next;
  next.recall(inside.record({}), at(20min));
  EXPECT_EQ(found(next), found(inside));
  EXPECT_EQ(next.record({}), inside.record({}));
  EXPECT_EQ(next.conditions({}, "g", "u", at(1h))[0].since, at(0s));
}

TEST(GuestInside, StandsBesideWhatIsSaidOfTheGuestItself) {
  Machine machine(Policy{}, at(0s));
  machine.found(Run::kRunning, Pause::kOrdered, at(0s));
  machine.pinged(Ping::kAnswered, at(1s));
  InsideWatch inside;
  for (int i = 0; i < 2; ++i) inside.clock(1h, 0s, {}, at(i * 3min));
  ConditionTracker memory;
  const Names names{"web", "00000000-0000-4000-8000-000000000001", ""};
  EXPECT_EQ(assess(machine, inside, names, memory, at(4min)).verdict, Verdict::kHealthy);
  for (int i = 0; i < 3; ++i) machine.pinged(Ping::kSilent, at(5min + i * 10s));
  const Assessment made = assess(machine, inside, names, memory, at(6min));
  ASSERT_EQ(made.findings.size(), 2U);
  EXPECT_EQ(made.findings[0].code, Code::kGuestNoAnswer);
  EXPECT_EQ(made.findings[1].code, Code::kVmClockDrift);
  for (const Finding& one : made.findings)
    EXPECT_EQ(one.subjects, (std::vector<std::string>{names.name, names.uuid}));
  EXPECT_TRUE(is_of_inside(Code::kVmClockDrift) && !is_of_inside(Code::kVmKeepsFailing));
}

}  // namespace
}  // namespace wardmote::judge::guest
