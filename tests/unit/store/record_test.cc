#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/incident_record.h"
#include "store/notify_record.h"
#include "store/records.h"

namespace wardmote::store {
namespace {

using judge::incident::Incident;
using judge::incident::Phase;
using judge::notify::Group;
using judge::notify::Member;
using judge::notify::NoticeKind;
using judge::notify::Silence;
using namespace std::chrono_literals;

constexpr ClockPair kClock{TimePoint(10h), WallTime(480'000h + 500us)};

Incident sample_incident() {
  Incident incident;
  incident.id = 17;
  incident.root = "cluster:\"nb\"\n";
  incident.code = judge::Code::kRaftNoQuorum;
  incident.severity = judge::Severity::kCritical;
  incident.summary = "no quorum";
  incident.names = {"a", "5b4b"};
  incident.flapping = true;
  incident.penalty = {2.875, kClock.now - 4min};
  incident.reopened = 2;
  incident.acknowledged = {"ann", "on it", kClock.now - 1min};
  incident.opened = kClock.now - 2h;
  incident.since = kClock.now - 1h;
  incident.changed = kClock.now - 1min;
  incident.things = {"check:a", "check:b"};
  incident.symptoms = 3;
  incident.told_size = 18;
  incident.worst_size = 20;
  incident.left = {"check:gone"};
  incident.revision = 5;
  return incident;
}

Group sample_group() {
  Group group;
  group.id = "oncall{root=x}";
  group.receiver = "oncall";
  group.labels = {{"root", "x"}};
  group.group_by = {"root"};
  group.notices = 4;
  group.last_sent = kClock.now - 5min;
  group.due = kClock.now + 3min;
  group.given_up = 3;
  group.dormant_until = kClock.now + 7h;
  group.members[17] = Member{sample_incident(), {{"root", "x"}}, 5, 4, true, {{"root", "w"}}};
  group.members[17].called = {judge::Code::kRaftNoQuorum, {"a"}, "no quorum"};
  Group::Pending pending;
  pending.notice.group = group.id;
  pending.notice.receiver = group.receiver;
  pending.notice.labels = group.labels;
  pending.notice.number = 4;
  pending.notice.items.push_back(
      {NoticeKind::kChanged, sample_incident(), {{"root", "x"}}, {{"root", "w"}}});
  pending.attempts = 3;
  pending.since = kClock.now - 1min;
  pending.next_try = kClock.now + 20s;
  pending.last_refusal = "HTTP 500";
  group.pending = pending;
  return group;
}

TEST(IncidentRecord, ComesBackAsItWas) {
  const Incident open = sample_incident();
  EXPECT_EQ(decode_incident(encode(open, kClock), kClock), open);
  Incident resolved = open;
  resolved.phase = Phase::kResolved;
  resolved.resolved = kClock.now - 10s;
  resolved.merged_into = 3;
  resolved.acknowledged.reset();
  resolved.storm = true;
  resolved.unwatched = true;
  resolved.flapping = false;
  resolved.since = resolved.opened;
  EXPECT_EQ(decode_incident(encode(resolved, kClock), kClock), resolved);
  Incident merged = open;
  merged.phase = Phase::kMerged;
  merged.merged_into = 3;
  EXPECT_EQ(decode_incident(encode(merged, kClock), kClock), merged);
}

TEST(IncidentRecord, TimesAreRightAfterTheMachineWasRestarted) {
  const std::string record = encode(sample_incident(), kClock);
  const ClockPair later{TimePoint(1min), kClock.wall_now + 5min};
  EXPECT_EQ(later.now - decode_incident(record, later)->opened, 2h + 5min);
  // A wall clock that was set back makes nothing future.
  const ClockPair back{TimePoint(1min), kClock.wall_now - 24h};
  EXPECT_EQ(decode_incident(record, back)->opened, back.now);
}

/// What is told of it may not change with each restart.
TEST(IncidentRecord, TheClocksAreNeverReadAtQuiteTheSameMoment) {
  const std::string first = encode(sample_incident(), kClock);
  std::string record = first;
  for (const Duration apart : {0us, 40us, -40us, 300us, -300us}) {
    const ClockPair restarted{TimePoint(1min), kClock.wall_now + 5min + apart};
    const Incident read = decode_incident(record, restarted).value();
    record = encode(read, {restarted.now + 3s, kClock.wall_now + 5min + 3s});
    EXPECT_EQ(record, first) << apart / 1us;
  }
}

TEST(IncidentRecord, WhatIsNoneIsSaid) {
  for (const char* text : {"", "{}", "[]", "nonsense", R"({"id":1})", R"({"id":"1","root":"x"})"}) {
    EXPECT_FALSE(decode_incident(text, kClock)) << text;
  }
  std::string contradicts_itself = encode(sample_incident(), kClock);
  contradicts_itself.replace(contradicts_itself.find("\"open\":true"), 11, "\"open\":null");
  EXPECT_FALSE(decode_incident(contradicts_itself, kClock));
  Incident numberless = sample_incident();
  numberless.id = 0;
  EXPECT_FALSE(decode_incident(encode(numberless, kClock), kClock));
}

/// The record without one of its fields.
std::string without(const std::string& record, std::string_view field) {
  boost::json::object object = boost::json::parse(record).as_object();
  EXPECT_EQ(object.erase(field), 1U) << field;
  return boost::json::serialize(object);
}

TEST(IncidentRecord, WithoutWhatMakesAnIncidentItIsNone) {
  const std::string whole = encode(sample_incident(), kClock);
  for (const char* const field : {"id", "root", "open", "code", "severity", "opened", "changed"})
    EXPECT_FALSE(decode_incident(without(whole, field), kClock)) << field;
  Incident resolved = sample_incident();
  resolved.phase = Phase::kResolved;
  resolved.resolved = kClock.now - 10s;
  EXPECT_FALSE(decode_incident(without(encode(resolved, kClock), "resolved"), kClock));
  for (const char* const field :
       {"summary", "names", "things", "flapping", "storm", "symptoms", "told_size", "worst_size",
        "reopened", "left", "since", "acknowledged_by", "acknowledged_comment", "revision"})
    EXPECT_TRUE(decode_incident(without(whole, field), kClock)) << field << ": an earlier version";
}

TEST(IncidentRecord, OfAnEarlierVersionItClaimsNothingThatWasNotSaid) {
  std::string record = encode(sample_incident(), kClock);
  for (const char* const field : {"merged_into", "reopened", "storm", "flapping", "symptoms",
                                  "told_size", "worst_size", "left"})
    record = without(record, field);
  const auto read = decode_incident(record, kClock);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->merged_into, 0);
  EXPECT_EQ(read->reopened, 0);
  EXPECT_EQ(read->symptoms + read->told_size + read->worst_size, 0U);
  EXPECT_FALSE(read->storm || read->unwatched || read->flapping);
  EXPECT_TRUE(read->left.empty());
}

TEST(IncidentRecord, OneThatIsNeitherOpenNorOverNorAPartOfAnotherIsNone) {
  Incident merged = sample_incident();
  merged.phase = Phase::kMerged;
  merged.merged_into = 3;
  const std::string record = encode(merged, kClock);
  EXPECT_TRUE(decode_incident(record, kClock));
  EXPECT_FALSE(decode_incident(without(record, "merged_into"), kClock));
  merged.merged_into = 0;
  EXPECT_FALSE(decode_incident(encode(merged, kClock), kClock));
}

TEST(GroupRecord, ComesBackAsItWas) {
  Group group = sample_group();
  const auto back = decode_group(encode(group, kClock), kClock);
  ASSERT_TRUE(back) << back.error().describe();
  EXPECT_EQ(*back, group);
  group.overflow = true;
  group.labels = {{"overflow", "true"}};
  group.pending->notice.labels = group.labels;
  group.pending->notice.repeats = true;
  group.pending->notice.left_out = 7;
  EXPECT_EQ(decode_group(encode(group, kClock), kClock), group);
  EXPECT_EQ(group_key(group.id), "notify/group/oncall{root=x}");
}

TEST(GroupRecord, WithoutWhatMakesAGroupItIsNone) {
  const std::string whole = encode(sample_group(), kClock);
  for (const char* const field : {"id", "receiver"})
    EXPECT_FALSE(decode_group(without(whole, field), kClock)) << field;
  for (const char* const field : {"labels", "group_by", "given_up", "notices", "last_sent", "due",
                                  "dormant_until", "pending"})
    EXPECT_TRUE(decode_group(without(whole, field), kClock)) << field;
}

TEST(GroupRecord, WhatAMemberIsKnownAsIsNotTakenFromANoticeOfIt) {
  Group group = sample_group();
  std::vector<judge::notify::NoticeItem>& items = group.pending->notice.items;
  items[0].known_as = {{"root", "before"}};
  items.push_back(items[0]);
  items[1].incident.id = 18;  // it has left the group since
  EXPECT_EQ(decode_group(encode(group, kClock), kClock), group);
}

TEST(GroupRecord, WithAnIncidentThatCannotBeReadItIsNone) {
  std::string record = encode(sample_group(), kClock);
  const std::string incident = R"("incident":")";
  const std::size_t at = record.find(incident);
  ASSERT_NE(at, std::string::npos);
  record.insert(at + incident.size(), "no ");
  EXPECT_FALSE(decode_group(record, kClock));
}

TEST(GroupRecord, WhatAnEarlierVersionDidNotCountIsNothing) {
  const std::string whole = encode(sample_group(), kClock);
  EXPECT_EQ(decode_group(without(whole, "given_up"), kClock).value().given_up, 0);
  EXPECT_EQ(decode_group(without(whole, "notices"), kClock).value().notices, 0U);
  EXPECT_FALSE(decode_group(without(whole, "last_sent"), kClock).value().last_sent);
  EXPECT_FALSE(decode_group(without(whole, "due"), kClock).value().due);
}

/// A clock that was ahead when the notice was written, or was set back since.
TEST(GroupRecord, NothingWaitsLongerThanItHadToWhateverTheWallClockDoes) {
  const std::string record = encode(sample_group(), kClock);
  struct Later {
    Duration wall;
    Duration due;
    Duration next_try;
  };
  // From when it was written, by the wall clock of the next life: until it is due.
  for (const Later& later : {Later{0s, 180s, 20s}, Later{10s, 170s, 10s}, Later{20s, 160s, 0s},
                             Later{-1s, 0s, 0s}, Later{-3h, 0s, 0s}, Later{-240'000h, 0s, 0s}}) {
    const ClockPair clock{TimePoint(1min), kClock.wall_now + later.wall};
    const auto back = decode_group(record, clock);
    ASSERT_TRUE(back);
    EXPECT_EQ(*back->due - clock.now, later.due) << later.wall / 1s;
    EXPECT_EQ(back->pending->next_try - clock.now, later.next_try) << later.wall / 1s;
  }
  // One that was far behind, or a machine that was off for long, gives nobody up.
  const ClockPair forth{TimePoint(1min), kClock.wall_now + 240'000h};
  const auto back = decode_group(record, forth);
  ASSERT_TRUE(back);
  EXPECT_LE(*back->due, forth.now);
  EXPECT_LE(back->pending->next_try, forth.now);
  EXPECT_EQ(forth.now - back->pending->since, 1min) << "what was tried before";
}

TEST(GroupRecord, OfAnEarlierVersionItIsKnownByTheLabelsThatItHasNow) {
  const std::string known = R"(,"known_as":{"root":"w"})";
  const auto of_earlier = [&known](const Group& group) {
    std::string record = encode(group, kClock);
    for (auto at = record.find(known); at != std::string::npos; at = record.find(known))
      record.erase(at, known.size());
    return decode_group(record, kClock).value();
  };
  Group group = sample_group();
  const Group back = of_earlier(group);
  EXPECT_EQ(back.members.at(17).known_as.at("root"), "x");
  EXPECT_EQ(back.pending->notice.items.at(0).known_as.at("root"), "x");
  // Also where no notice is under way, which would tell it.
  group.pending.reset();
  EXPECT_EQ(of_earlier(group).members.at(17).known_as.at("root"), "x");
}

TEST(GroupRecord, WhatIsNoneIsSaid) {
  for (const char* text : {"", "{}", R"({"id":"x"})", R"({"id":"x","receiver":"y","members":[{}]})",
                           R"({"id":"x","receiver":"y","pending":{"items":[]}})"}) {
    EXPECT_FALSE(decode_group(text, kClock)) << text;
  }
}

TEST(SilenceRecord, ComesBackAsItWasAndNeverMatchesEverything) {
  Silence silence{3,  {{"code", false, "RAFT_*"}}, WallTime(480'000h), WallTime(480'002h), "ann",
                  "x"};
  EXPECT_EQ(decode_silence(encode(silence)), silence);
  EXPECT_EQ(silence_key(3), "notify/silence/3");
  for (const char* const field : {"id", "from", "until", "match"})
    EXPECT_FALSE(decode_silence(without(encode(silence), field))) << field;
  for (const char* const field : {"by", "comment"})
    EXPECT_TRUE(decode_silence(without(encode(silence), field))) << field;
  silence.match.clear();
  EXPECT_FALSE(decode_silence(encode(silence)));
  EXPECT_FALSE(decode_silence("{}"));
}

TEST(Records, ChangesAreAllOrNothingAndPrefixesAreFound) {
  sim::World world(1);
  sim::SimRuntime& us = world.host("us");
  sim::SimDisk disk;
  sim::SimDatabase database(us, disk);
  Records records(us, database);
  ASSERT_TRUE(run_task(world, us, records.open()));
  ASSERT_TRUE(run_task(world, us, records.commit({{"a/1", "x"}, {"a/2", "y"}, {"b/%", "z"}})));
  ASSERT_TRUE(run_task(world, us, records.commit({{"a/1", "new"}, {"a/2", std::nullopt}})));
  const auto found = run_task(world, us, records.load("a/"));
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (std::map<std::string, std::string>{{"a/1", "new"}}));
  EXPECT_EQ(run_task(world, us, records.load("b/%"))->size(), 1U);
  EXPECT_EQ(run_task(world, us, records.load("%"))->size(), 0U);
}

}  // namespace
}  // namespace wardmote::store
