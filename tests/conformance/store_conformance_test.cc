// What every store does, in the same words for each: the file on this machine, and the etcd cluster
// at WARDMOTE_ETCD when that is set (tests/integration/test_etcd.py starts real ones).
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/store_rig.h"
#include "runtime/task_group.h"
#include "store/store.h"

namespace wardmote::conformance {
namespace {

using namespace std::chrono_literals;
using runtime::Task;
using store::Committed;
using store::Compare;
using store::Erase;
using store::KeyEvent;
using store::KeyRange;
using store::KeyValue;
using store::Put;
using store::Revision;
using store::Snapshot;
using store::Transaction;
using store::Watch;
using store::WatchBatch;

struct Kind {
  std::string name;
  MakeRig make;
};

std::vector<Kind> kinds() {
  std::vector<Kind> kinds = {{"Embedded", make_embedded_rig}};
  if (const char* const endpoints = std::getenv("WARDMOTE_ETCD")) {
    kinds.push_back({"Etcd", [at = std::string(endpoints)] { return make_etcd_rig(at); }});
  }
  return kinds;
}

class StoreConformance : public ::testing::TestWithParam<Kind> {
 protected:
  Result<Committed> put_if(Transaction transaction) {
    return rig->run(rig->store().put_if(std::move(transaction), rig->soon()));
  }
  Revision put(std::string key, std::string value, store::LeaseId lease = 0) {
    const auto done = put_if({{}, {Put{std::move(key), std::move(value), lease}}});
    EXPECT_TRUE(done && done->held) << done.error().describe();
    return done ? done->revision : 0;
  }
  Snapshot list(KeyRange keys = KeyRange::prefix("")) {
    auto found = rig->run(rig->store().list(std::move(keys), rig->soon()));
    EXPECT_TRUE(found) << found.error().describe();
    return found.value_or(Snapshot{});
  }
  std::optional<KeyValue> get(std::string key) {
    auto found = rig->run(rig->store().get(std::move(key), rig->soon()));
    EXPECT_TRUE(found) << found.error().describe();
    return found ? found->key : std::nullopt;
  }
  Result<WatchBatch> next(Watch& watch, Duration patience = 10s) {
    return rig->run(watch.next(rig->runtime().deadline_in(patience)));
  }
  /// So many events, in however many batches.
  std::vector<KeyEvent> next_events(Watch& watch, std::size_t count) {
    std::vector<KeyEvent> events;
    while (events.size() < count) {
      auto batch = next(watch);
      if (!batch) {
        ADD_FAILURE() << batch.error().describe() << " after " << events.size();
        break;
      }
      EXPECT_GE(batch->upto, batch->events.back().key.mod_revision);
      std::ranges::move(batch->events, std::back_inserter(events));
    }
    return events;
  }
  store::Lease grant(Duration ttl) {
    return rig->run(rig->store().grant(ttl, rig->soon())).value();
  }

  std::unique_ptr<StoreRig> rig = GetParam().make();
};

TEST_P(StoreConformance, AKeyHasTheRevisionsOfItsLife) {
  EXPECT_FALSE(get("a"));
  const Revision first = put("a", "x");
  const Revision second = put("a", "y");
  EXPECT_GT(second, first);
  EXPECT_EQ(get("a"), (KeyValue{"a", "y", first, second, 2, 0}));
  const auto gone = put_if({{}, {Erase{KeyRange::one("a")}}});
  EXPECT_TRUE(gone->held);
  EXPECT_FALSE(get("a"));
  const Revision again = put("a", "z");
  EXPECT_EQ(get("a"), (KeyValue{"a", "z", again, again, 1, 0}));
  EXPECT_EQ(list().revision, again);
}

TEST_P(StoreConformance, ListsARangeInOrder) {
  for (const char* const key : {"b", "a/2", "a", "a/1", "a0"}) put(key, key);
  std::vector<std::string> names;
  for (const KeyValue& key : list(KeyRange::prefix("a/")).keys) names.push_back(key.key);
  EXPECT_EQ(names, (std::vector<std::string>{"a/1", "a/2"}));
  EXPECT_EQ(list().keys.size(), 5U);
  EXPECT_EQ(list({"a0", ""}).keys.size(), 2U) << "all from a0 on";
  EXPECT_EQ(list(KeyRange::one("a")).keys.size(), 1U);
}

TEST_P(StoreConformance, AListIsWholeHoweverLongItIs) {
  for (int page = 0; page < 25; ++page) {
    Transaction many;
    for (int i = 0; i < 100; ++i)
      many.changes.emplace_back(Put{fmt::format("k/{:04}", page * 100 + i), std::string(300, 'v')});
    ASSERT_TRUE(put_if(many)->held);
  }
  const Snapshot all = list(KeyRange::prefix("k/"));
  ASSERT_EQ(all.keys.size(), 2500U);
  EXPECT_TRUE(std::ranges::is_sorted(all.keys, {}, &KeyValue::key));
}

TEST_P(StoreConformance, ATransactionIsWholeOrNothing) {
  const Revision made = put("a", "x");
  const Transaction wrong{{Compare::absent("a")}, {Put{"b", "1"}, Erase{KeyRange::one("a")}}};
  EXPECT_FALSE(put_if(wrong)->held);
  EXPECT_TRUE(get("a") && !get("b"));
  const Transaction right{{Compare::created_at("a", made), Compare::absent("b")},
                          {Put{"b", "1"}, Erase{KeyRange::one("a")}}};
  const auto done = put_if(right);
  EXPECT_TRUE(done->held);
  EXPECT_TRUE(!get("a") && get("b")->mod_revision == done->revision);
  const auto idle = put_if({{}, {Erase{KeyRange::prefix("none")}}});
  EXPECT_TRUE(idle->held);
  EXPECT_EQ(idle->revision, done->revision) << "nothing has changed";
  EXPECT_FALSE(put_if({{Compare::present("a")}, {Put{"c", "1"}}})->held);
  EXPECT_TRUE(put_if({{Compare::present("b")}, {Put{"c", "1"}}})->held);
}

TEST_P(StoreConformance, AConditionHoldsForEveryKeyOfItsRange) {
  using enum Compare::Target;
  using enum Compare::Relation;
  put("n/1", "x");
  const Revision last = put("n/2", "x");
  const auto holds = [&](Compare::Target target, Compare::Relation relation, auto operand) {
    return put_if({{{KeyRange::prefix("n/"), target, relation, operand}}, {}})->held;
  };
  EXPECT_TRUE(holds(kModRevision, kLess, last + 1));
  EXPECT_FALSE(holds(kModRevision, kLess, last));
  EXPECT_TRUE(holds(kVersion, kEqual, Revision{1}));
  EXPECT_TRUE(holds(kValue, kEqual, std::string("x")));
  put("n/2", "y");
  EXPECT_FALSE(holds(kValue, kEqual, std::string("x")));
  EXPECT_FALSE(holds(kVersion, kEqual, Revision{1}));
  EXPECT_TRUE(holds(kVersion, kGreater, Revision{0}));
  EXPECT_TRUE(holds(kLease, kEqual, Revision{0}));
  // Of no key at all numbers are 0, and no condition on a value holds.
  const KeyRange none = KeyRange::prefix("none/");
  EXPECT_TRUE(put_if({{{none, kModRevision, kLess, Revision{1}}}, {}})->held);
  EXPECT_FALSE(put_if({{{none, kVersion, kGreater, Revision{0}}}, {}})->held);
  EXPECT_FALSE(put_if({{{none, kValue, kNotEqual, std::string("x")}}, {}})->held);
}

TEST_P(StoreConformance, WhatMakesNoSenseIsInvalid) {
  const Transaction bad[] = {
      {{}, {Put{"", "x"}}},
      {{}, {Put{"a", "x"}, Put{"a", "y"}}},
      {{}, {Put{"a", "x"}, Erase{KeyRange::prefix("")}}},
      {{{KeyRange::one("a"), Compare::Target::kVersion, Compare::Relation::kEqual, "x"}}, {}}};
  for (const Transaction& one : bad) EXPECT_EQ(put_if(one).error().code, Errc::kInvalid);
  EXPECT_EQ(rig->run(rig->store().grant(0s, rig->soon())).error().code, Errc::kInvalid);
  EXPECT_EQ(put_if({{}, {Put{"a", "x", 77}}}).error().code, Errc::kRejected);
  EXPECT_TRUE(list().keys.empty());
}

TEST_P(StoreConformance, AKeyMayHoldAnyByte) {
  const std::string odd("a\0'\"\xff%_", 7);
  put(odd, std::string("\0\xfe", 2));
  put("a", "");
  EXPECT_EQ(get(odd)->value, std::string("\0\xfe", 2));
  EXPECT_EQ(get("a")->value, "");
  EXPECT_EQ(list(KeyRange::prefix(std::string("a\0", 2))).keys.size(), 1U);
}

TEST_P(StoreConformance, AWatchTellsWhatHasHappenedAndWhatHappens) {
  const Revision before = list().revision;
  put("w/a", "1");
  put("other", "x");
  const auto watch = rig->store().watch(KeyRange::prefix("w/"), before + 1);
  EXPECT_EQ(next_events(*watch, 1).front().key.value, "1");
  EXPECT_EQ(next(*watch, 300ms).error().code, Errc::kTimeout);
  const Revision second = put("w/a", "2");
  const auto gone = put_if({{}, {Erase{KeyRange::prefix("w/")}, Put{"other", "y"}}});
  const std::vector<KeyEvent> events = next_events(*watch, 2);
  EXPECT_EQ(events[0].key.mod_revision, second);
  EXPECT_EQ(events[0].key.version, 2);
  EXPECT_EQ(events[1], (KeyEvent{true, {.key = "w/a", .mod_revision = gone->revision}}));
}

TEST_P(StoreConformance, AnEventComesSoonToOneThatWaits) {
  const auto watch = rig->store().watch(KeyRange::one("k"), list().revision + 1);
  ASSERT_EQ(next(*watch, 200ms).error().code, Errc::kTimeout);
  struct Seen {
    TimePoint put;
    TimePoint heard;
  } seen;
  constexpr auto kWrite = [](StoreRig* rig, Seen* seen) -> Task<void> {
    co_await rig->runtime().sleep_until(rig->runtime().now() + 300ms);
    Transaction one;
    one.changes.emplace_back(Put{"k", "v"});
    seen->put = rig->runtime().now();
    const auto done = co_await rig->store().put_if(std::move(one), rig->soon());
    EXPECT_TRUE(done);
  };
  constexpr auto kWait = [](StoreRig* rig, Watch* watch, Seen* seen) -> Task<void> {
    const auto batch = co_await watch->next(rig->soon());
    EXPECT_TRUE(batch);
    seen->heard = rig->runtime().now();
  };
  std::vector<Task<void>> both;
  both.push_back(kWrite(rig.get(), &seen));
  both.push_back(kWait(rig.get(), watch.get(), &seen));
  rig->runtime().run(runtime::run_all(rig->runtime().executor(), std::move(both)));
  EXPECT_LT(seen.heard - seen.put, 1s);
}

TEST_P(StoreConformance, AWatchThatIsThreeThousandRevisionsBehindMissesNothing) {
  const Revision before = list().revision;
  constexpr auto kPutMany = [](StoreRig* rig) -> Task<Result<void>> {
    for (int i = 0; i < 3000; ++i) {
      Transaction one;
      one.changes.emplace_back(Put{"c/" + std::to_string(i % 7), std::to_string(i)});
      const auto done = co_await rig->store().put_if(std::move(one), rig->soon());
      if (!done) co_return std::unexpected(done.error());
    }
    co_return Result<void>();
  };
  ASSERT_TRUE(rig->run(kPutMany(rig.get())));
  const auto watch = rig->store().watch(KeyRange::prefix("c/"), before + 1);
  Revision upto = before;
  int seen = 0;
  while (seen < 3000) {
    const auto batch = next(*watch);
    ASSERT_TRUE(batch) << batch.error().describe() << " after " << seen;
    for (const KeyEvent& event : batch->events) {
      EXPECT_EQ(event.key.value, std::to_string(seen++));
      EXPECT_GT(event.key.mod_revision, upto);
    }
    // The server's own revision is ahead: nothing may be taken for seen that was not.
    EXPECT_EQ(batch->upto, batch->events.back().key.mod_revision);
    upto = batch->upto;
  }
}

TEST_P(StoreConformance, MoreThanAMessageOfTheServerHoldsComesWhole) {
  const Revision before = list().revision;
  // 12 keys of 500 kB, written 1 MB at a time; etcd sends 4 MiB at most in one message.
  for (int i = 0; i < 12; i += 2) {
    Transaction two;
    for (int j = i; j < i + 2; ++j)
      two.changes.emplace_back(
          Put{"m/" + std::to_string(j), std::string(500'000, static_cast<char>('a' + j))});
    ASSERT_TRUE(put_if(two)->held);
  }
  const auto watch = rig->store().watch(KeyRange::prefix("m/"), before + 1);
  std::set<std::string> seen;
  for (const KeyEvent& event : next_events(*watch, 12)) {
    EXPECT_EQ(event.key.value.size(), 500'000U);
    seen.insert(event.key.key);
  }
  EXPECT_EQ(seen.size(), 12U);
  EXPECT_EQ(next(*watch, 100ms).error().code, Errc::kTimeout);
}

TEST_P(StoreConformance, AWatchOfWhatIsForgottenSaysSoAndAListGoesOn) {
  const Revision before = list().revision;
  for (int i = 0; i < 5; ++i) put("f", std::to_string(i));
  rig->forget();
  const auto watch = rig->store().watch(KeyRange::one("f"), before + 1);
  EXPECT_EQ(next(*watch).error().code, Errc::kMissing);
  const Snapshot now = list(KeyRange::one("f"));
  EXPECT_EQ(now.keys.front().value, "4");
  const auto later = rig->store().watch(KeyRange::one("f"), now.revision + 1);
  put("f", "5");
  EXPECT_EQ(next_events(*later, 1).front().key.value, "5");
}

// As after a restore of the store from an older copy.
TEST_P(StoreConformance, AWatchOfWhatIsStillToComeSaysSo) {
  const Revision now = list().revision;
  const auto watch = rig->store().watch(KeyRange::one("f"), now + 2);
  EXPECT_EQ(next(*watch).error().code, Errc::kMissing);
}

TEST_P(StoreConformance, ALeaseTakesItsKeysAlongWhenItEnds) {
  const store::Lease lease = grant(2s);
  EXPECT_GE(lease.ttl, 2s);
  put("l/a", "x", lease.id);
  const Revision last = put("l/b", "y", lease.id);
  put("l/c", "z");
  EXPECT_EQ(get("l/a")->lease, lease.id);
  const auto watch = rig->store().watch(KeyRange::prefix("l/"), last + 2);
  const TimePoint begun = rig->runtime().now();
  const std::vector<KeyEvent> events = next_events(*watch, 2);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_TRUE(events[0].removed && events[1].removed);
  EXPECT_EQ(events[0].key.mod_revision, events[1].key.mod_revision) << "one revision";
  EXPECT_LT(rig->runtime().now() - begun, lease.ttl + 2s);
  EXPECT_EQ(list(KeyRange::prefix("l/")).keys.size(), 1U);
  EXPECT_EQ(rig->run(rig->store().keep_alive(lease.id, rig->soon())).error().code, Errc::kMissing);
  EXPECT_EQ(rig->run(rig->store().revoke(lease.id, rig->soon())).error().code, Errc::kMissing);
}

TEST_P(StoreConformance, ALeaseThatIsKeptLives) {
  const store::Lease lease = grant(2s);
  put("k", "x", lease.id);
  const TimePoint end = rig->runtime().now() + lease.ttl + 2s;
  constexpr auto kSleep = [](StoreRig* rig, Duration time) -> Task<Result<void>> {
    co_await rig->runtime().sleep_until(rig->runtime().now() + time);
    co_return Result<void>();
  };
  while (rig->runtime().now() < end) {
    const auto kept = rig->run(rig->store().keep_alive(lease.id, rig->soon()));
    ASSERT_TRUE(kept) << kept.error().describe();
    EXPECT_EQ(kept->ttl, lease.ttl);
    ASSERT_TRUE(rig->run(kSleep(rig.get(), 500ms)));
  }
  EXPECT_TRUE(get("k"));
  EXPECT_TRUE(rig->run(rig->store().revoke(lease.id, rig->soon())));
  EXPECT_FALSE(get("k"));
}

TEST_P(StoreConformance, WhatALateLeaderWritesChangesNothing) {
  const store::Lease lease = grant(30s);
  const auto first = put_if({{Compare::absent("leader")}, {Put{"leader", "us", lease.id}}});
  ASSERT_TRUE(first->held);
  EXPECT_FALSE(put_if({{Compare::absent("leader")}, {Put{"leader", "they"}}})->held);
  ASSERT_TRUE(rig->run(rig->store().revoke(lease.id, rig->soon())));
  const auto second = put_if({{Compare::absent("leader")}, {Put{"leader", "they"}}});
  ASSERT_TRUE(second->held);
  EXPECT_GT(second->revision, first->revision);
  EXPECT_FALSE(
      put_if({{Compare::created_at("leader", first->revision)}, {Put{"x", "late"}}})->held);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreConformance, testing::ValuesIn(kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace wardmote::conformance
