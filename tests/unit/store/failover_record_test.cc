#include "store/failover_record.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>

#include "base/epoch_ms.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"
#include "judge/failover/member.h"
#include "store/clock_pair.h"
#include "store/shared_end.h"

namespace wardmote::store {
namespace {

using namespace std::chrono_literals;
using judge::failover::Copy;
using judge::failover::Member;
using judge::failover::PairRecord;
using judge::failover::Position;
using judge::failover::SyncState;
using judge::failover::Trail;

const Trail kTrail = {{1, 2}, {0xfedcba9876543210, 0x0123456789abcdef}};
const Position kPosition = {.epoch = 7,
                            .author = "b",
                            .empty = true,
                            .sync = SyncState::kSynced,
                            .counter = 1234,
                            .size = 99};

Member a_member() {
  return {.name = "a",
          .nb = Copy::kActive,
          .sb = Copy::kFollowing,
          .position = kPosition,
          .trail = kTrail,
          .sb_trail = {{5, 6}},
          .observes = true,
          .nofailover = true,
          .priority = -3,
          .unfit = "its disk is full",
          .distrusted = true,
          .nb_source = "tcp:10.0.0.1:6641",
          .sb_source = "tcp:10.0.0.1:6642"};
}

PairRecord a_pair() {
  return {.epoch = 7,
          .claimed = 9,
          .active = "b",
          .token = 77,
          .published = kPosition,
          .trail = kTrail,
          .sb_trail = {{7, 8}},
          .released = true,
          .heir = "a"};
}

/// The record of a member with this field instead of what it had.
std::string with(std::string record, const std::string& field, const std::string& value) {
  const std::size_t begin = record.find("\"" + field + "\":") + field.size() + 3;
  const bool list = record[begin] == '[';
  const std::size_t end = list ? record.find(']', begin) + 1 : record.find_first_of(",}", begin);
  return record.replace(begin, end - begin, value);
}

TEST(FailoverRecord, AMemberComesBackAsItWas) {
  EXPECT_EQ(decode_member("a", encode(a_member())), a_member());
  for (const Copy copy : {Copy::kDown, Copy::kHung, Copy::kUnknown, Copy::kActive, Copy::kFollowing,
                          Copy::kSearching, Copy::kStray, Copy::kIsolated}) {
    Member member = a_member();
    member.nb = member.sb = copy;
    EXPECT_EQ(decode_member("a", encode(member)), member);
  }
}

/// Each flag by itself: one must not be read as another.
TEST(FailoverRecord, EachFlagOfAMemberIsItsOwn) {
  for (bool Member::* const flag : {&Member::observes, &Member::nofailover, &Member::distrusted}) {
    Member member{.name = "a", .position = {.empty = false}};
    member.*flag = true;
    EXPECT_EQ(decode_member("a", encode(member)), member);
  }
}

TEST(FailoverRecord, APairComesBackAsItWas) {
  EXPECT_EQ(decode_pair(encode(a_pair())), a_pair());
  EXPECT_EQ(decode_pair(encode(PairRecord{})), PairRecord{});
}

TEST(FailoverRecord, WhatTheOperatorWantsComesBackAsItWas) {
  const auto order = decode_failover_order(encode(FailoverOrder{
      .to = "b", .forced = true, .by = "root", .until_ms = 1'700'000'000'000, .answer = "no"}));
  ASSERT_TRUE(order);
  EXPECT_EQ(order->to, "b");
  EXPECT_TRUE(order->forced);
  EXPECT_EQ(order->by, "root");
  EXPECT_EQ(order->until_ms, 1'700'000'000'000);
  EXPECT_EQ(order->answer, "no");
  const ClockPair clock{TimePoint(1h), WallTime(1h), "boot"};
  const auto pause = decode_failover_pause(encode(FailoverPause{.by = "root"}, clock), clock);
  ASSERT_TRUE(pause);
  EXPECT_EQ(pause->by, "root");
  EXPECT_FALSE(pause->until);
  const WallTime at(std::chrono::milliseconds(1'700'000'000'123));
  const auto event = decode_failover_event(
      encode(FailoverEvent{.epoch = 3, .node = "a", .reason = "r", .at = at}));
  ASSERT_TRUE(event);
  EXPECT_EQ(event->epoch, 3U);
  EXPECT_EQ(event->node, "a");
  EXPECT_EQ(event->reason, "r");
  EXPECT_EQ(event->at, at);
}

TEST(FailoverRecord, APauseEndsByTheClockThatNeverJumps) {
  const ClockPair clock{TimePoint(1h), WallTime(1h), "boot"};
  const std::string text = encode(FailoverPause{.by = "root", .until = TimePoint(2h)}, clock);
  // Another agent of this host, whose clock on the wall is days ahead.
  const ClockPair ahead{TimePoint(90min), WallTime(100h), "boot"};
  EXPECT_EQ(decode_failover_pause(text, ahead)->until, TimePoint(2h));
  // Another host: all of its time, from when it first reads it.
  FailoverPauseReader reader;
  const auto there = [](Duration now) {
    return ClockPair{TimePoint(now), WallTime(100h), "another boot"};
  };
  EXPECT_EQ(reader.read("pause", text, there(5min))->until, TimePoint(65min));
  EXPECT_EQ(reader.read("pause", text, there(30min))->until, TimePoint(65min));
  // An earlier version has written it: until somebody resumes.
  EXPECT_FALSE(decode_failover_pause(R"({"by": "root", "until": 0})", ahead)->until);
}

TEST(FailoverRecord, WhatIsNoRecordIsSaid) {
  for (const char* const text : {"", "x", "[]", "1", "{"}) {
    EXPECT_EQ(decode_member("a", text).error().code, Errc::kProtocol) << text;
    EXPECT_EQ(decode_pair(text).error().code, Errc::kProtocol) << text;
    EXPECT_EQ(decode_failover_order(text).error().code, Errc::kProtocol) << text;
    EXPECT_EQ(decode_failover_pause(text, ClockPair{}).error().code, Errc::kProtocol) << text;
    EXPECT_EQ(decode_failover_event(text).error().code, Errc::kProtocol) << text;
  }
  // Without these two a promotion could get a number that was given before.
  EXPECT_FALSE(decode_pair(R"({"epoch": 1})"));
  EXPECT_FALSE(decode_pair(R"({"claimed": 1})"));
  EXPECT_TRUE(decode_pair(R"({"epoch": 1, "claimed": 1})"));
}

/// Of a record that somebody else wrote, or an earlier release, nothing is taken for better than it
/// is.
TEST(FailoverRecord, WhatIsMissingOrWrongIsNotBelieved) {
  const auto member = decode_member("a", "{}");
  ASSERT_TRUE(member);
  EXPECT_EQ(member->nb, Copy::kUnknown);
  EXPECT_EQ(member->sb, Copy::kUnknown);
  EXPECT_TRUE(member->position.empty);
  EXPECT_TRUE(member->trail.empty());
  EXPECT_EQ(member->position.sync, SyncState::kUnknown);
  const std::string record = encode(a_member());
  EXPECT_EQ(decode_member("a", with(record, "nb", "\"great\""))->nb, Copy::kUnknown);
  EXPECT_EQ(decode_member("a", with(record, "epoch", "-1"))->position.epoch, 0U);
  EXPECT_EQ(decode_member("a", with(record, "epoch", "\"7\""))->position.epoch, 0U);
  EXPECT_EQ(decode_member("a", with(record, "priority", "1001"))->priority, 1000);
  EXPECT_EQ(decode_member("a", with(record, "priority", "-1001"))->priority, -1000);
  const std::string longer(513, 'x');
  EXPECT_LE(decode_member("a", with(record, "unfit", "\"" + longer + "\""))->unfit.size(), 515U);
  EXPECT_EQ(decode_member("a", with(record, "unfit", "\"\\u001b[0m\""))->unfit.find('\x1b'),
            std::string::npos);
}

TEST(FailoverRecord, ATrailWithAGapIsNone) {
  const std::string record = encode(a_member());
  const std::string good(32, 'a');
  const auto trail = [&](const std::string& list) {
    return decode_member("a", with(record, "trail", list))->trail;
  };
  EXPECT_EQ(trail("[\"" + good + "\"]").size(), 1U);
  EXPECT_EQ(trail("[\"" + good + "\",\"" + good + "\"]").front().high, 0xaaaaaaaaaaaaaaaaU);
  for (const std::string& bad :
       {"\"" + good + "a\"", "\"" + good.substr(1) + "\"", "\"g" + good.substr(1) + "\"",
        "\"" + good.substr(1) + "g\"", std::string("7"), std::string("null")})
    EXPECT_TRUE(trail("[\"" + good + "\"," + bad + "]").empty()) << bad;
  EXPECT_TRUE(trail("7").empty());
  const auto many = [&](int count) {
    std::string list = "[";
    for (int i = 0; i < count; ++i) list += (i == 0 ? "\"" : ",\"") + good + "\"";
    return trail(list + "]").size();
  };
  EXPECT_EQ(many(1024), 1024U);
  EXPECT_EQ(many(1025), 0U) << "no agent of ours writes so many";
}

TEST(FailoverRecord, AScheduleHasATime) {
  const WallTime at = *moment_of_epoch_ms(1'764'000'000'123);
  const auto read = decode_failover_schedule(encode(FailoverSchedule{"b", "ann", at}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->to, "b");
  EXPECT_EQ(read->by, "ann");
  EXPECT_EQ(read->at, at);
  EXPECT_FALSE(decode_failover_schedule(R"({"to":"b","by":"ann"})"));
  EXPECT_FALSE(decode_failover_schedule("b"));
}

TEST(FailoverRecord, SettingsThatAreAbsentAreAsConfigured) {
  const auto both =
      decode_failover_settings(encode(FailoverSettings{.priority = -3, .nofailover = false}));
  EXPECT_EQ(both->priority, -3);
  EXPECT_EQ(both->nofailover, false);
  const auto none = decode_failover_settings(encode(FailoverSettings{.by = "ann"}));
  EXPECT_TRUE(none->empty());
  EXPECT_EQ(none->by, "ann");
  EXPECT_EQ(decode_failover_settings(R"({"priority":5000})")->priority, 1000);
  EXPECT_EQ(decode_failover_settings(R"({"nofailover":"no"})")->nofailover, true)
      << "what cannot be read must not let the node be promoted";
  EXPECT_FALSE(decode_failover_settings("[]"));
}

TEST(FailoverRecord, AnEditChangesWhatItNamesAndNothingElse) {
  const FailoverSettings before{.priority = 5, .nofailover = true, .by = "ann"};
  const FailoverSettings raised = edited(before, {.priority = 9, .by = "bob"});
  EXPECT_EQ(raised.priority, 9);
  EXPECT_EQ(raised.nofailover, true);
  EXPECT_EQ(raised.by, "bob");
  const FailoverSettings freed = edited(before, {.nofailover = std::optional<bool>()});
  EXPECT_EQ(freed.priority, 5);
  EXPECT_FALSE(freed.nofailover);
  EXPECT_FALSE(freed.empty());
  EXPECT_TRUE(edited(freed, {.priority = std::optional<int>()}).empty());
}

TEST(FailoverRecord, WhatTheNodesShareLiesBelowTheNameOfThePair) {
  const FailoverKeys keys("ovn");
  EXPECT_EQ(keys.prefix, "failover/ovn/");
  EXPECT_EQ(keys.election(), "failover/ovn/leader");
  EXPECT_EQ(keys.members(), "failover/ovn/member/");
  EXPECT_EQ(keys.member("a"), "failover/ovn/member/a");
  EXPECT_EQ(keys.pair(), "failover/ovn/pair");
  EXPECT_EQ(keys.pause(), "failover/ovn/pause");
  EXPECT_EQ(keys.order(), "failover/ovn/order");
  EXPECT_EQ(keys.schedule(), "failover/ovn/schedule");
  EXPECT_EQ(keys.settings("a"), "failover/ovn/settings/a");
  EXPECT_EQ(keys.history(7), "failover/ovn/history/00000000000000000007") << "they sort by number";
  EXPECT_EQ(keys.history(7).size(), keys.history(~0ULL).size());
}

}  // namespace
}  // namespace wardmote::store
