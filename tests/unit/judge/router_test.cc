#include "judge/notify/router.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "unit/judge/router_fixture.h"

namespace wardmote::judge::notify {
namespace {

TEST_F(RouterTest, OneNoticeWhenItBeginsAndOneWhenItEnds) {
  step(1, StepKind::kOpened);
  EXPECT_EQ(run(1min), Said{"30s opened 1"});
  now_ += 10min;
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(1h).size(), 1U);
  EXPECT_TRUE(router_.groups().empty()) << "nothing is kept of what is over";
}

TEST_F(RouterTest, WhatCausesAndWhatItCausesAreOneNotice) {
  step(1, StepKind::kOpened, "node");
  step(2, StepKind::kOpened, "daemon");
  step(2, StepKind::kMerged);
  EXPECT_EQ(run(1h), Said{"30s opened 1"});
}

TEST_F(RouterTest, WhatWasToldAndIsMergedEndsWhenItIsWell) {
  step(2, StepKind::kOpened);
  EXPECT_EQ(run(1min).size(), 1U);
  step(2, StepKind::kMerged);
  EXPECT_EQ(run(10min), Said{"330s changed 2"}) << "it still fails";
  const auto reminder = router_.reminders("oncall", muting_, wall());
  ASSERT_EQ(reminder.size(), 1U);
  EXPECT_EQ(reminder[0].items[0].incident.id, 2);
  step(2, StepKind::kResolved);
  EXPECT_EQ(run(10min), Said{"690s resolved 2"});
  EXPECT_TRUE(router_.groups().empty());
}

TEST_F(RouterTest, WhatIsMergedWhileItsBeginningIsOnItsWayEndsToo) {
  step(2, StepKind::kOpened);
  now_ += 30s;
  const auto first = take();
  step(2, StepKind::kMerged);
  router_.delivered(first.at(0).group, first.at(0).number, now_);
  Said said = run(10min);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(said[0].ends_with("s changed 2")) << said[0];
  step(2, StepKind::kResolved);
  said = run(10min);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(said[0].ends_with("s resolved 2")) << said[0];
}

/// Whoever knows it by its labels, as Alertmanager does, would keep the first for a week.
TEST_F(RouterTest, WhatCameAndWentBeforeAnythingWasToldIsOneNotice) {
  step(1, StepKind::kOpened);
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(1h), Said{"30s brief 1"});
}

TEST_F(RouterTest, ChangesWaitForTheInterval) {
  step(1, StepKind::kOpened);
  run(1min);
  step(1, StepKind::kChanged);
  step(1, StepKind::kChanged);
  EXPECT_EQ(run(10min), Said{"330s changed 1"});
}

TEST_F(RouterTest, WhatNobodyAcknowledgesIsRepeated) {
  step(1, StepKind::kOpened);
  EXPECT_EQ(run(9h).size(), 3U);
  step(1, StepKind::kAcknowledged);
  EXPECT_EQ(run(24h), Said{});
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(10min).size(), 1U);
}

TEST(Retries, AReceiverMayWantManyShortPausesFirst) {
  RouterPolicy policy = one_route();
  policy.retries["oncall"].steady = 12;
  Router router(policy);
  Incident incident;
  incident.id = 1;
  incident.root = "r1";
  TimePoint now = kStart;
  router.hear({StepKind::kOpened, incident}, {{"root", "r1"}}, now);
  now += 30s;
  for (int i = 0; i < 14; ++i) {
    const auto notices = router.take(Muting({}), now, kWallStart);
    ASSERT_EQ(notices.size(), 1U);
    // A chance of 500 of 1000 is no jitter.
    router.refused(notices[0].group, notices[0].number, {false, {}, "500"}, now, 500);
    const Duration pause = *router.next_due() - now;
    EXPECT_EQ(pause, i < 12 ? 10s : Duration(10s) * (1 << (i - 11))) << i;
    now += pause;
  }
}

TEST_F(RouterTest, ARefusedNoticeIsTriedAgainLaterAndLater) {
  step(1, StepKind::kOpened);
  now_ += 30s;
  auto notices = take();
  ASSERT_EQ(notices.size(), 1U);
  const std::string key = notices[0].key();
  EXPECT_TRUE(key.starts_with("oncall{root=r1}#"));
  Duration last{};
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(take().empty()) << "it is under way";
    EXPECT_FALSE(router_.refused(notices[0].group, notices[0].number, {false, {}, "500"}, now_, 0));
    const Duration pause = *router_.next_due() - now_;
    EXPECT_GE(pause, last);
    EXPECT_LE(pause, 12min);
    last = pause;
    now_ += pause;
    notices = take();
    ASSERT_EQ(notices.size(), 1U);
    EXPECT_EQ(notices[0].key(), key) << "the same key each time";
  }
  router_.delivered(notices[0].group, notices[0].number, now_);
  EXPECT_TRUE(take().empty());
}

TEST_F(RouterTest, AReceiverThatAsksForTimeGetsIt) {
  step(1, StepKind::kOpened);
  now_ += 30s;
  const auto notices = take();
  router_.refused(notices[0].group, notices[0].number, {false, 300s, "429"}, now_, 0);
  EXPECT_EQ(*router_.next_due(), now_ + 300s);
}

TEST_F(RouterTest, WhatCannotBeDeliveredIsALetterWithAReason) {
  step(1, StepKind::kOpened);
  now_ += 30s;
  auto notices = take();
  const auto letter =
      router_.refused(notices[0].group, notices[0].number, {true, {}, "HTTP 400"}, now_, 0);
  ASSERT_TRUE(letter);
  EXPECT_EQ(letter->reason, "HTTP 400");
  EXPECT_EQ(letter->notice.items.size(), 1U);
  // What stands is told anew: soon, since only this notice may be wrong, and then later and later.
  Duration least = 48s;
  for (int i = 0; i < 8; ++i) {
    const Duration pause = *router_.next_due() - now_;
    EXPECT_GE(pause, least) << i;
    EXPECT_LE(pause, std::min<Duration>(2 * least, 12min)) << i;
    least = std::min<Duration>(2 * least, 8min);
    now_ = *router_.next_due();
    notices = take();
    ASSERT_EQ(notices.size(), 1U);
    EXPECT_EQ(notices[0].items[0].kind, NoticeKind::kOpened);
    ASSERT_TRUE(
        router_.refused(notices[0].group, notices[0].number, {true, {}, "HTTP 400"}, now_, 0));
  }
  now_ = *router_.next_due();
  notices = take();
  router_.delivered(notices.at(0).group, notices[0].number, now_);
  EXPECT_EQ(router_.groups().begin()->second.given_up, 0);
}

TEST_F(RouterTest, AReceiverThatIsAwayForADayIsGivenUp) {
  step(1, StepKind::kOpened);
  std::optional<DeadLetter> letter;
  const TimePoint begun = now_;
  while (!letter && now_ - begun < 48h) {
    now_ = *router_.next_due();
    for (const Notice& notice : take()) {
      letter = router_.refused(notice.group, notice.number, {false, {}, "refused"}, now_, 500);
    }
  }
  EXPECT_TRUE(letter);
  EXPECT_NEAR(static_cast<double>((now_ - begun) / 1min), 24 * 60, 20);
}

/// The wall clock is set back in a silence, or forth: what is muted is looked at each minute.
TEST_F(RouterTest, MoreGroupsThanTheLimitShareOneThatSaysSo) {
  RouterPolicy policy = one_route();
  policy.groups = 10;
  router_ = Router(policy);
  for (int i = 1; i <= 500; ++i) step(i, StepKind::kOpened);
  EXPECT_EQ(router_.groups().size(), 11U);
  ASSERT_TRUE(router_.groups().contains("oncall{overflow}"));
  now_ += 30s;
  std::size_t told = 0;
  for (const Notice& notice : take()) told += notice.items.size() + notice.left_out;
  EXPECT_EQ(told, 500U);
}

TEST_F(RouterTest, RoutesAreTriedInOrderAndGoOnOnlyWhenAsked) {
  RouterPolicy policy;
  policy.routes.push_back({.receiver = "log", .match = {}, .group_by = {}, .go_on = true});
  policy.routes.push_back(
      {.receiver = "web", .match = {{"root", true, "r1"}}, .group_by = {"root"}});
  policy.routes.push_back({.receiver = "all", .match = {}, .group_by = {"code"}});
  router_ = Router(policy);
  step(1, StepKind::kOpened);
  step(2, StepKind::kOpened);
  std::vector<std::string> groups;
  for (const auto& [id, group] : router_.groups()) groups.push_back(id);
  EXPECT_EQ(groups, (Said{"all{code=X}", "log{}", "web{root=r1}"}));
}

TEST_F(RouterTest, OtherRoutesHoldForWhatIsOpenToo) {
  step(1, StepKind::kOpened);
  EXPECT_EQ(run(1min), Said{"30s opened 1"});
  RouterPolicy sooner = one_route();
  sooner.routes.front().repeat_interval = 10min;
  router_.reroute(sooner, {"oncall"}, now_);
  EXPECT_EQ(run(15min), Said{"630s ongoing 1"});
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(1h).size(), 1U) << "who heard the beginning hears the end";
}

TEST_F(RouterTest, WhatAReceiverRefusedIsTriedAtOnceWhenTheConfigurationChanges) {
  step(1, StepKind::kOpened);
  now_ += 30s;
  auto notices = take();
  ASSERT_EQ(notices.size(), 1U);
  router_.refused(notices[0].group, notices[0].number, {false, {}, "HTTP 302"}, now_, 0);
  now_ += 1s;
  EXPECT_TRUE(take().empty());
  router_.reroute(one_route(), {"oncall"}, now_);
  EXPECT_EQ(take().size(), 1U);
  router_.reroute(one_route(), {"oncall"}, now_);
  EXPECT_TRUE(take().empty()) << "it is under way";
}

TEST(Matchers, ReadAndMatch) {
  const Labels labels = {{"code", "RAFT_NO_QUORUM"}, {"root", "cluster:nb"}};
  for (const char* good : {"code=RAFT_*", "code=*", "code=*QUORUM", "code=RAFT*NO*UM",
                           "root!=check:*", "missing=", "missing!=x", "code=RAFT_NO_QUORUM"}) {
    const auto matcher = parse_matcher(good);
    ASSERT_TRUE(matcher) << good;
    EXPECT_TRUE(match({&*matcher, 1}, labels)) << good;
    EXPECT_EQ(to_string(*matcher), good);
  }
  for (const char* other :
       {"code=RAFT", "code=*X*", "root=check:*", "code!=*", "code=RAFT_*NO_*NO*"}) {
    const auto matcher = parse_matcher(other);
    ASSERT_TRUE(matcher) << other;
    EXPECT_FALSE(match({&*matcher, 1}, labels)) << other;
  }
  for (const char* wrong : {"", "code", "=x", "!=x", "a b=x", "a-b=x"}) {
    EXPECT_FALSE(parse_matcher(wrong)) << wrong;
  }
  // A typing error would match nothing, and with != everything.
  const std::map<std::string, std::string> own = {{"zone", "a"}};
  for (const char* known : {"code=x", "zone=a", "cluster!=nb", "subject=*"}) {
    EXPECT_TRUE(check_label(*parse_matcher(known), own)) << known;
  }
  const auto unknown = check_label(*parse_matcher("Severity!=x"), own);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().context,
            "no incident has the label 'Severity'; there are cluster, code, node, root, scope, "
            "severity, subject, uuid, zone");
}

/// Whatever happens, a receiver that sometimes refuses hears each beginning and each end, in order,
/// and in the end nothing is left to tell.
RC_GTEST_PROP(RouterProperty, EveryBeginningAndEveryEndIsToldInOrder, ()) {
  Router router(one_route());
  const Muting muting({});
  TimePoint now = kStart;
  std::map<std::int64_t, Incident> incidents;
  std::map<std::int64_t, bool> known_open;
  std::map<std::int64_t, std::uint64_t> told;
  const auto tell = [&](StepKind kind, std::int64_t id) {
    Incident& incident = incidents[id];
    incident.id = id;
    ++incident.revision;
    incident.root = "r" + std::to_string(id % 3);
    incident.phase = kind == StepKind::kResolved ? Phase::kResolved : Phase::kOpen;
    router.hear({kind, incident}, {{"root", incident.root}}, now);
  };
  const auto deliver = [&](bool refusals) {
    for (const Notice& notice : router.take(muting, now, kWallStart + (now - kStart))) {
      if (refusals && *rc::gen::inRange(0, 3) == 0) {
        router.refused(notice.group, notice.number, {false, {}, "500"}, now, 7);
        continue;
      }
      for (const NoticeItem& item : notice.items) {
        const std::int64_t id = item.incident.id;
        RC_ASSERT(item.incident.revision >= told[id]);
        if (item.kind == NoticeKind::kResolved) RC_ASSERT(known_open[id]);
        if (item.kind == NoticeKind::kOpened) RC_ASSERT(!known_open[id]);
        if (item.kind == NoticeKind::kBrief) RC_ASSERT(!known_open[id]);
        known_open[id] = item.incident.phase == Phase::kOpen;
        told[id] = item.incident.revision;
      }
      router.delivered(notice.group, notice.number, now);
    }
  };
  const int length = *rc::gen::inRange(1, 60);
  for (int i = 0; i < length; ++i) {
    now += std::chrono::seconds(*rc::gen::inRange(0, 200));
    const std::int64_t id = *rc::gen::inRange<std::int64_t>(1, 7);
    const bool open = incidents.contains(id) && incidents[id].phase == Phase::kOpen;
    switch (*rc::gen::inRange(0, 3)) {
      case 0: tell(open ? StepKind::kResolved : StepKind::kOpened, id); break;
      case 1:
        if (open) tell(StepKind::kChanged, id);
        break;
      default: deliver(true); break;
    }
  }
  for (auto& [id, incident] : incidents) {
    if (incident.phase == Phase::kOpen) tell(StepKind::kResolved, id);
  }
  for (int i = 0; i < 200 && router.next_due(); ++i) {
    now = std::max(now, *router.next_due());
    deliver(false);
  }
  RC_ASSERT(router.groups().empty());
  for (const auto& [id, incident] : incidents) RC_ASSERT(told[id] == incident.revision);
}

// The agent that led wrote the end of the incident, and was ended before it wrote the group.
TEST_F(RouterTest, AnIncidentThatWentOnWithoutItsGroupIsToldToItsEnd) {
  step(1, StepKind::kOpened);
  EXPECT_EQ(run(1min), (Said{"30s opened 1"}));
  Incident ended = incidents_[1];
  ++ended.revision;
  ended.phase = Phase::kResolved;
  router_.catch_up(incidents_[1], now_);
  EXPECT_EQ(run(10min), Said{}) << "that is no news";
  router_.catch_up(ended, now_);
  EXPECT_EQ(run(10min), (Said{"690s resolved 1"}));
}

}  // namespace
}  // namespace wardmote::judge::notify
