// What is shown of receivers and of what they were told, test notices, silences, and what a reload
// and a restart change about them.

#include "incidents/notifier.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "judge/notify/matcher.h"
#include "judge/notify/muting.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"
#include "serve/notify_control.h"
#include "support/logged.h"
#include "unit/agent/fake_inbox.h"
#include "unit/agent/incident_manager_fixture.h"

namespace wardmote::agent {
namespace {

using judge::notify::NoticeKind;
using judge::notify::Refusal;
using judge::notify::Silence;
using Told = std::vector<std::string>;

class NotifierTest : public IncidentManagerTest {
 protected:
  std::unique_ptr<Life> begin(bool forgets = false) {
    return std::make_unique<Life>(world, us, &disk, sample_config(),
                                  told_to(us, {{"ann", &ann}}, forgets));
  }
  static const serve::ReceiverState& state(Life& life, const std::string& of = "ann") {
    return life.manager->notifier().receivers().at(of);
  }
  [[nodiscard]] std::string group_row() {
    const auto rows = disk.rows("SELECT value FROM store_kv WHERE key LIKE 'notify/group/%'");
    return rows.empty() ? "" : *rows[0].text(0);
  }
  [[nodiscard]] std::size_t silence_rows() {
    return disk.rows("SELECT 1 FROM store_kv WHERE key LIKE 'notify/silence/%'").size();
  }
  [[nodiscard]] Silence silence(const std::string& label, const std::string& pattern,
                                Duration length) const {
    Silence one;
    one.match = {{label, true, pattern}};
    one.from = us.wall_now();
    one.until = us.wall_now() + length;
    one.by = "ann";
    one.comment = "upgrade";
    return one;
  }

  Inbox ann;
};

TEST_F(NotifierTest, WhatWasDeliveredIsShownCountedAndTold) {
  const auto life = begin();
  EXPECT_EQ(state(*life).kind, "fake");
  EXPECT_FALSE(state(*life).last);
  ann.complaint = "bob has no address";
  life->check("bird", kError, kReported);
  world.run_for(1s);
  EXPECT_FALSE(group_row().empty()) << "what is to be told is written down at once";
  world.run_for(1min);
  EXPECT_EQ(ann.told(), Told{"opened 1"});
  EXPECT_EQ(state(*life).delivered, 1U);
  ASSERT_TRUE(state(*life).last);
  EXPECT_EQ(state(*life).last->key, ann.heard.front().key());
  EXPECT_FALSE(state(*life).last->good) << "not all have it";
  EXPECT_EQ(state(*life).last->reason, "bob has no address");
  EXPECT_TRUE(state(*life).tests.empty());
  EXPECT_EQ(life->count("notice_delivered ann"), 1);
  EXPECT_FALSE(group_row().contains("pending")) << group_row();
  ann.complaint.clear();
  life->check("bird", kReported, kHealthy);
  world.run_for(2min);
  EXPECT_EQ(ann.told(), (Told{"opened 1", "resolved 1"}));
  EXPECT_TRUE(state(*life).last->good);
  EXPECT_EQ(state(*life).delivered, 2U);
  EXPECT_EQ(group_row(), "") << "nothing more is to be told";
}

TEST_F(NotifierTest, ARefusalIsToldOnceForANoticeHoweverOftenItIsTried) {
  const auto life = begin();
  ann.refuses = Refusal{false, {}, "500"};
  life->check("bird", kError, kReported);
  world.run_for(5min);
  EXPECT_GE(state(*life).refused, 3U);
  EXPECT_EQ(life->count("notice_refused ann"), 1);
  EXPECT_FALSE(state(*life).last->good);
  EXPECT_EQ(state(*life).last->reason, "500");
  EXPECT_LE(us.now() - state(*life).last->at, 3min);
  EXPECT_EQ(state(*life).dead, 0U);
  ann.refuses.reset();
  world.run_for(15min);
  EXPECT_EQ(ann.told().front(), "opened 1");
  EXPECT_TRUE(state(*life).last->good);
  ann.refuses = Refusal{false, {}, "500"};
  life->check("bird", kReported, kHealthy);
  world.run_for(5min);
  EXPECT_EQ(life->count("notice_refused ann"), 2) << "another notice";
}

TEST_F(NotifierTest, WhatIsRefusedForEverIsADeadLetterAndAHundredOfThemAreKept) {
  const auto life = begin();
  ann.refuses = Refusal{true, {}, "400"};
  life->check("bird", kError, kReported);
  world.run_for(15s);
  const auto& dead = life->manager->notifier().dead_letters();
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].reason, "400");
  EXPECT_EQ(dead[0].attempts, 1);
  EXPECT_EQ(state(*life).dead, 1U);
  EXPECT_EQ(state(*life).refused, 1U);
  EXPECT_EQ(life->count("notice_undelivered ann"), 1);
  EXPECT_EQ(life->incidents.back(), 1) << "it belongs to the incident that it would have told";
  const std::string first = dead[0].notice.key();
  // What is still open is tried again, every ten minutes in the end.
  world.run_for(24h);
  EXPECT_GT(state(*life).dead, 100U);
  EXPECT_EQ(dead.size(), 100U);
  EXPECT_NE(dead.front().notice.key(), first) << "the newest ones";
  ann.refuses.reset();
  world.run_for(15min);
  EXPECT_EQ(ann.told(), Told{"opened 1"});
}

TEST_F(NotifierTest, ATestSaysThatItIsOneAndEndsByItself) {
  const auto life = begin();
  const auto key = life->manager->notifier().send_test("ann");
  ASSERT_TRUE(key);
  const auto another = life->manager->notifier().send_test("ann");
  world.run_for(1s);
  ASSERT_EQ(ann.heard.size(), 2U);
  EXPECT_NE(*key, *another) << "in the same millisecond";
  const judge::notify::Notice& notice = ann.heard.front();
  EXPECT_EQ(notice.key(), *key);
  EXPECT_EQ(notice.group, "test");
  EXPECT_GE(notice.number * 1ms, us.wall_now().time_since_epoch() - 2s) << "also after a restart";
  EXPECT_EQ(ann.heard.back().number, notice.number + 1);
  EXPECT_EQ(notice.receiver, "ann");
  EXPECT_EQ(notice.labels, (judge::notify::Labels{{"test", "true"}}));
  const judge::notify::NoticeItem& item = notice.items.at(0);
  EXPECT_EQ(item.kind, NoticeKind::kOpened);
  EXPECT_EQ(item.labels, (judge::notify::Labels{{"test", "true"}, {"severity", "info"}}));
  EXPECT_EQ(item.incident.root, "test");
  EXPECT_EQ(item.incident.severity, Severity::kInfo);
  EXPECT_EQ(item.incident.code, Code::kCheckFailed);
  EXPECT_EQ(item.incident.summary, "this is a test of the way to ann; nothing is wrong");
  EXPECT_EQ(item.incident.since, item.incident.opened);
  EXPECT_EQ(*item.incident.resolved - item.incident.opened, 5min);
  EXPECT_LE(us.now() - item.incident.opened, 1s);
  EXPECT_EQ(life->count("notice_delivered ann"), 2);
  EXPECT_TRUE(life->manager->book().incidents().empty());
  EXPECT_EQ(life->manager->notifier().send_test("bob").error().code, Errc::kMissing);
}

TEST_F(NotifierTest, OfAReceiverOfSeveralMembersATestNamesOne) {
  Inbox one;
  Inbox two;
  incidents::NotifierOptions options =
      told_to(us, {{"am-1", &one}, {"am-2", &two}, {"mail-1", &ann}});
  options.policy.configured_as = {{"am-1", "am"}, {"am-2", "am"}, {"mail-1", "mail"}};
  Life life(world, us, nullptr, sample_config(), std::move(options));
  serve::NotifyControl& notifier = life.manager->notifier();
  const auto refused = notifier.send_test("am");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kInvalid);
  EXPECT_TRUE(refused.error().describe().contains("am-1, am-2")) << refused.error().describe();
  EXPECT_TRUE(notifier.send_test("am-2"));
  EXPECT_TRUE(notifier.send_test("mail")) << "it has one member";
  world.run_for(1s);
  EXPECT_EQ(one.heard.size(), 0U);
  EXPECT_EQ(two.heard.size(), 1U);
  EXPECT_EQ(ann.heard.size(), 1U);
}

TEST_F(NotifierTest, ASilenceMutesUntilItIsEndedAndIsTold) {
  const auto life = begin();
  serve::NotifyControl& notifier = life->manager->notifier();
  EXPECT_EQ(notifier.add_silence(silence("clustr", "nb", 1h)).error().code, Errc::kInvalid);
  EXPECT_TRUE(notifier.muting().silences().empty());
  const auto added = notifier.add_silence(silence("root", "check:bird", 1h));
  ASSERT_TRUE(added);
  EXPECT_EQ(added->id, 1);
  EXPECT_EQ(life->count("silence_added 1"), 1);
  life->check("bird", kError, kReported);
  world.run_for(10min);
  EXPECT_EQ(ann.told(), Told{});
  EXPECT_EQ(silence_rows(), 1U);
  EXPECT_EQ(notifier.expire_silence(2).error().code, Errc::kMissing);
  EXPECT_TRUE(notifier.expire_silence(1));
  EXPECT_EQ(notifier.expire_silence(1).error().code, Errc::kMissing) << "it has ended";
  EXPECT_EQ(life->count("silence_expired 1"), 1);
  world.run_for(1s);
  EXPECT_EQ(ann.told(), Told{"opened 1"}) << "it has waited long enough";
  EXPECT_EQ(notifier.add_silence(silence("root", "x", 1h))->id, 2) << "no number is used twice";
}

TEST_F(NotifierTest, WhatASilenceMutedIsToldWithinAMinuteOfItsEnd) {
  const auto life = begin();
  ASSERT_TRUE(life->manager->notifier().add_silence(silence("root", "check:*", 20min)));
  life->check("bird", kError, kReported);
  world.run_for(20min - 1s);
  EXPECT_EQ(ann.told(), Told{});
  world.run_for(1min);
  EXPECT_EQ(ann.told(), Told{"opened 1"});
}

TEST_F(NotifierTest, ASilenceOutlivesARestartAndSoDoesItsEnd) {
  {
    const auto life = begin();
    ASSERT_TRUE(life->manager->notifier().add_silence(silence("root", "check:bird", 1h)));
    ASSERT_TRUE(life->manager->notifier().add_silence(silence("root", "check:peer", 1h)));
    ASSERT_TRUE(life->manager->notifier().expire_silence(2));
    world.run_for(1s);
  }
  disk.rows("INSERT INTO store_kv VALUES ('notify/silence/0', 'nonsense', 1, 1, 1, 0)");
  const testing::Logged logged;
  const auto next = begin();
  EXPECT_EQ(logged.count("record_not_understood key=notify/silence/0"), 1);
  EXPECT_EQ(logged.levels("record_not_understood").front(), LogLevel::kError);
  EXPECT_EQ(next->manager->notifier().muting().silences().size(), 2U);
  next->check("bird", kError, kReported);
  world.run_for(10min);
  EXPECT_EQ(ann.told(), Told{});
  EXPECT_EQ(next->manager->notifier().add_silence(silence("root", "x", 1h))->id, 3);
  next->check("bird", kReported, kHealthy);
  next->check("peer", kError, kReported);
  world.run_for(2min);
  EXPECT_EQ(ann.told(), Told{"opened 2"}) << "of that one the silence was ended";
}

TEST_F(NotifierTest, ASilenceIsForgottenADayAfterItsEnd) {
  const auto life = begin();
  serve::NotifyControl& notifier = life->manager->notifier();
  ASSERT_TRUE(notifier.add_silence(silence("root", "check:none", 1h)));
  const auto something_is_told = [&] {
    life->check("bird", kError, kReported);
    world.run_for(11min);
    life->check("bird", kReported, kHealthy);
    world.run_for(11min);
  };
  world.run_for(24h + 15min);
  something_is_told();
  EXPECT_EQ(notifier.muting().silences().size(), 1U) << "for a day it is shown";
  EXPECT_EQ(silence_rows(), 1U);
  world.run_for(30min);
  something_is_told();
  EXPECT_TRUE(notifier.muting().silences().empty());
  EXPECT_EQ(silence_rows(), 0U);
}

TEST_F(NotifierTest, AReloadTellsANewReceiverWhatIsOpenAndForgetsAnOldOne) {
  const auto life = begin();
  life->check("bird", kError, kReported);
  life->check("bird", kReported, kHealthy);
  world.run_for(11min);
  life->finding(kRaised, Code::kRaftNoQuorum, Severity::kCritical, {});
  world.run_for(30s);
  ASSERT_EQ(ann.told().back(), "opened 2");
  Inbox bob;
  life->manager->reload(told_to(us, {{"bob", &bob}}));
  EXPECT_FALSE(life->manager->notifier().receivers().contains("ann"));
  EXPECT_EQ(state(*life, "bob").kind, "fake");
  world.run_for(1s);
  EXPECT_EQ(disk.rows("SELECT 1 FROM store_kv WHERE key LIKE 'notify/group/bob%'").size(), 1U);
  world.run_for(30s);
  EXPECT_EQ(bob.told(), Told{"opened 2"});
  EXPECT_EQ(ann.told().back(), "opened 2");
}

TEST_F(NotifierTest, AReceiverThatIsTakenOutWhileItIsToldIsNotShownAgain) {
  const auto life = begin();
  ann.takes = 1min;
  life->check("bird", kError, kReported);
  world.run_for(30s);
  Inbox bob;
  life->manager->reload(told_to(us, {{"bob", &bob}}));
  world.run_for(2min);
  EXPECT_EQ(ann.heard.size(), 1U) << "what is being told is told";
  EXPECT_FALSE(life->manager->notifier().receivers().contains("ann"));
  EXPECT_EQ(life->count("notice_delivered ann"), 0);
}

TEST_F(NotifierTest, WhoIsTakenOutAndPutBackIsToldTheEndOfWhatItKnows) {
  const auto life = begin();
  life->check("bird", kError, kReported);
  world.run_for(1min);
  ASSERT_EQ(ann.told(), Told{"opened 1"});
  life->check("bird", kReported, kHealthy);
  Inbox bob;
  life->manager->reload(told_to(us, {{"bob", &bob}}));
  world.run_for(1s);
  EXPECT_TRUE(group_row().contains("dormant")) << group_row();
  world.run_for(10min);
  life->manager->reload(told_to(us, {{"ann", &ann}}));
  world.run_for(2min);
  EXPECT_EQ(ann.told(), (Told{"opened 1", "resolved 1"}));
  EXPECT_EQ(bob.told(), Told{});
}

TEST_F(NotifierTest, MaintenanceAndConfiguredSilencesAreThoseOfTheReload) {
  const auto life = begin();
  const auto told_with = [&](incidents::NotifierOptions options) {
    life->manager->reload(std::move(options));
    const std::size_t before = ann.heard.size();
    life->check("bird", kError, kReported);
    world.run_for(2min);
    const std::size_t told = ann.heard.size() - before;
    life->check("bird", kReported, kHealthy);
    world.run_for(11min);
    return told;
  };
  incidents::NotifierOptions options = told_to(us, {{"ann", &ann}});
  options.maintenance.push_back({.name = "always", .match = {}, .window = {.length = 24h}});
  EXPECT_EQ(told_with(std::move(options)), 0U);
  options = told_to(us, {{"ann", &ann}});
  Silence configured = silence("root", "check:*", 24h);
  configured.name = "upgrade";
  options.silences.push_back(configured);
  EXPECT_EQ(told_with(std::move(options)), 0U);
  EXPECT_EQ(told_with(told_to(us, {{"ann", &ann}})), 1U);
}

// It was muted and has waited, so it is told as soon as the new configuration does not mute it.
TEST_F(NotifierTest, WhatAReloadUnmutesIsToldAtOnce) {
  for (const bool by_silence : {false, true}) {
    SimDisk on;
    incidents::NotifierOptions options = told_to(us, {{"ann", &ann}});
    if (by_silence) {
      options.silences.push_back(silence("root", "check:*", 24h));
      options.silences[0].name = "upgrade";
    } else {
      options.maintenance.push_back({.name = "always", .match = {}, .window = {.length = 24h}});
    }
    Life life(world, us, &on, sample_config(), std::move(options));
    ann.heard.clear();
    life.check("bird", kError, kReported);
    world.run_for(10min);
    EXPECT_EQ(ann.told(), Told{}) << "muted from the start";
    life.manager->reload(told_to(us, {{"ann", &ann}}));
    world.run_for(1s);
    EXPECT_EQ(ann.told(), Told{"opened 1"});
  }
}

TEST_F(NotifierTest, ANoticeOfWhichNobodyKnowsWhetherItWasSentIsCountedAsRepeated) {
  {
    const auto life = begin();
    ann.takes = 1h;
    life->check("bird", kError, kReported);
    world.run_for(1min);
  }
  ann.takes = {};
  disk.rows("INSERT INTO store_kv VALUES ('notify/group/a', 'nonsense', 1, 1, 1, 0)");
  const testing::Logged logged;
  auto next = begin();
  EXPECT_EQ(state(*next).repeated, 1U);
  EXPECT_EQ(logged.count("record_not_understood key=notify/group/a"), 1);
  world.run_for(1s);
  EXPECT_EQ(ann.told(), Told{"opened 1"});
  next.reset();
  EXPECT_EQ(state(*begin()).repeated, 0U) << "that one was answered";
}

TEST_F(NotifierTest, WhatAReceiverKnowsIsKeptWhileItIsNotConfigured) {
  Inbox bob;
  {
    Life life(world, us, &disk, sample_config(), told_to(us, {{"ann", &ann}, {"bob", &bob}}));
    life.check("bird", kError, kReported);
    world.run_for(1min);
  }
  {
    const testing::Logged logged;
    Life without(world, us, &disk, sample_config(), told_to(us, {{"bob", &bob}}));
    EXPECT_EQ(logged.count("receiver_is_gone receiver=ann"), 1);
    EXPECT_EQ(logged.levels("receiver_is_gone").front(), LogLevel::kWarning);
    EXPECT_FALSE(without.manager->notifier().receivers().contains("ann"));
    without.check("bird", kReported, kHealthy);
    world.run_for(2min);
    EXPECT_EQ(bob.told(), (Told{"opened 1", "resolved 1"})) << "it knew of the beginning";
  }
  const auto again = begin();
  world.run_for(2min);
  EXPECT_EQ(ann.told(), (Told{"opened 1", "resolved 1"}));
}

TEST_F(NotifierTest, ARestartTellsANewReceiverWhatIsOpen) {
  {
    Life without(world, us, &disk);
    without.check("bird", kError, kReported);
    world.run_for(1s);
  }
  const auto life = begin();
  world.run_for(30s);
  EXPECT_EQ(ann.told(), Told{"opened 1"});
}

TEST_F(NotifierTest, AReminderIsNoDeliveryAndGoesOnAfterARestartAndAReload) {
  auto life = begin(true);
  life->check("bird", kError, kReported);
  world.run_for(5min);
  EXPECT_GE(ann.heard.size(), 4U);
  EXPECT_EQ(state(*life).delivered, 1U);
  EXPECT_FALSE(state(*life).last->key.empty());
  EXPECT_EQ(state(*life).last->key, ann.heard.front().key()) << "a reminder is no news of a notice";
  life.reset();
  ann.heard.clear();
  life = begin(true);
  world.run_for(5min);
  EXPECT_GE(ann.heard.size(), 4U);
  life->manager->reload(told_to(us, {{"ann", &ann}}));
  ann.heard.clear();
  world.run_for(5min);
  EXPECT_TRUE(ann.heard.empty()) << "that one does not forget";
  life->manager->reload(told_to(us, {{"ann", &ann}}, true));
  world.run_for(5min);
  EXPECT_GE(ann.heard.size(), 4U);
}

TEST_F(NotifierTest, WhoIsSlowIsNotRemindedOverAndOver) {
  const auto life = begin(true);
  life->check("bird", kError, kReported);
  world.run_for(30s);
  Inbox bob;
  life->manager->reload(told_to(us, {{"ann", &ann}, {"bob", &bob}}, true));
  world.run_for(30s);
  ann.takes = 4min;
  ann.heard.clear();
  bob.heard.clear();
  world.run_for(12min + 30s);
  EXPECT_LE(ann.heard.size(), 3U);
  EXPECT_GE(bob.heard.size(), 11U) << "nobody waits for another";
  ann.takes = {};
  world.run_for(6min);
  EXPECT_LE(ann.heard.size(), 10U) << "none waited in a queue";
}

}  // namespace
}  // namespace wardmote::agent
