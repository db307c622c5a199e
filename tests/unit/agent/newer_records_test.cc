// An older copy of the store is in its place, and nobody led on: who leads next knows more.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/result.h"
#include "incidents/incident_manager.h"
#include "judge/finding.h"
#include "judge/notify/muting.h"
#include "unit/agent/fragile_store.h"
#include "unit/agent/sharer.h"

namespace wardmote::agent {
namespace {

using namespace std::chrono_literals;
using Roots = std::vector<std::string>;

class NewerRecords : public SharersTest {
 protected:
  NewerRecords() {
    first.lead();
    say({symptom_of("check:web@x")});
    judge::notify::Silence silence;
    silence.match = {*judge::notify::parse_matcher("root=check:other")};
    silence.until = us.wall_now() + 24h;
    EXPECT_TRUE(first.manager->notifier().add_silence(silence));
    world.run_for(5s);
    EXPECT_EQ(next.open_roots(), Roots{"check:web@x"});
  }
  /// The agent on x, to all.
  void say(const std::vector<judge::incident::Symptom>& wrong) {
    for (Sharer* one : {&first, &next, &third}) one->manager->hear_peer("x", wrong);
    world.run_for(1s);
  }
  /// The copy knows nothing.
  void restore(std::uint64_t history) {
    first.leadership.lose();
    for (Sharer* one : {&first, &next, &third}) one->manager->set_back(history);
    erase("incident/");
    erase("notify/");
    world.run_for(2s);
    EXPECT_EQ(next.open_roots(), Roots{}) << "until somebody leads";
  }

  /// What was open ends, and who leads next does not know better.
  void expect_of_no_use() {
    say({});
    first.leadership.lose();
    next.lead();
    EXPECT_EQ(next.open(), 0U);
  }

  Sharer first{world, "first", disk};
  Sharer next{world, "next", disk};
  Sharer third{world, "third", disk};
};

TEST_F(NewerRecords, WhoLeadsNextWritesThemOverTheCopy) {
  const std::string silence = stored("notify/silence/1");
  ASSERT_FALSE(silence.empty());
  restore(1);
  EXPECT_TRUE(third.manager->cut_off().value_or("").contains("older copy"));
  next.lead();
  EXPECT_EQ(next.manager->cut_off(), std::nullopt);
  EXPECT_EQ(third.manager->cut_off(), std::nullopt);
  EXPECT_EQ(next.open_roots(), Roots{"check:web@x"});
  EXPECT_EQ(next.manager->book().incidents().begin()->first, 1) << "it is the one that it was";
  EXPECT_EQ(next.count("incident_opened 1"), 0);
  EXPECT_EQ(stored("notify/silence/1"), silence);
  EXPECT_EQ(stored("notify/history"), "1");
  say({});
  EXPECT_EQ(next.open(), 0U);
}

/// It is of before an older copy that was put in earlier. A higher number may be of what somebody
/// was told of while this agent was cut off.
TEST_F(NewerRecords, WhatTheCopyHasUnderALowNumberThatNobodyKnowsIsNoIncident) {
  say({symptom_of("check:web@x"), symptom_of("check:db@x")});
  first.leadership.lose();
  erase("incident/1");
  world.run_for(2s);
  restore(1);
  store_incident(1, "check:gone@x");
  store_incident(7, "check:later@y");
  world.run_for(2s);
  next.lead();
  EXPECT_EQ(stored("incident/1"), "");
  EXPECT_EQ(next.open_roots(), (Roots{"check:db@x", "check:later@y", "check:web@x"}));
}

TEST_F(NewerRecords, WhatSomebodyHasDoneSinceIsNotUndone) {
  restore(1);
  next.lead();
  say({});
  say({symptom_of("check:db@x")});
  next.leadership.lose();
  third.lead();
  EXPECT_EQ(third.open_roots(), Roots{"check:db@x"});
  third.leadership.lose();
  first.lead();
  EXPECT_EQ(first.open_roots(), Roots{"check:db@x"});
}

TEST_F(NewerRecords, WhoBeganLaterLeadsByTheCopyAndThatCounts) {
  restore(2);
  Sharer late(world, "late", disk);
  late.manager->live_in(2);
  late.lead();
  EXPECT_EQ(late.open(), 0U);
  late.leadership.lose();
  say({});
  next.lead();
  EXPECT_EQ(next.open(), 0U);
}

TEST_F(NewerRecords, ASecondCopyIsNoNewerThanWhatWasBeforeTheFirst) {
  restore(1);
  restore(2);
  next.lead();
  EXPECT_EQ(next.open_roots(), Roots{"check:web@x"});
  EXPECT_EQ(stored("notify/history"), "2");
}

TEST_F(NewerRecords, WhatCouldNotBeWrittenIsTriedAgain) {
  restore(1);
  next.store.unwritable = Errc::kClosed;
  next.lead();
  world.run_for(2s);
  EXPECT_EQ(next.open(), 0U);
  EXPECT_EQ(stored("incident/1"), "");
  next.store.unwritable.reset();
  world.run_for(2s);
  EXPECT_EQ(next.open_roots(), Roots{"check:web@x"});
}

TEST_F(NewerRecords, WhoLeadsOnWithoutHavingNoticedLeavesTheOthersNothingToPutBack) {
  next.manager->set_back(1);
  world.run_for(2s);
  EXPECT_EQ(stored("notify/history"), "");
  first.manager->live_in(1);
  world.run_for(2s);
  EXPECT_EQ(stored("notify/history"), "1");
  expect_of_no_use();
}

TEST_F(NewerRecords, WhatWasNotOfUseForMinutesIsOfNone) {
  next.manager->set_back(1);
  world.run_for(11min);
  expect_of_no_use();
}

TEST_F(NewerRecords, WhoLeadsOnLeavesTheOthersNothingToPutBack) {
  for (Sharer* one : {&first, &next, &third}) one->manager->set_back(1);
  world.run_for(2s);
  EXPECT_EQ(stored("notify/history"), "1");
  expect_of_no_use();
}

}  // namespace
}  // namespace wardmote::agent
