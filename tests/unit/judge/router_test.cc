#include "judge/notify/router.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace wardmote::judge::notify {
namespace {

using incident::Incident;
using incident::Phase;
using incident::StepKind;
using namespace std::chrono_literals;

constexpr TimePoint kStart{10h};
constexpr WallTime kWallStart{
    std::chrono::sys_days(std::chrono::year(2026) / 11 / 20)};  // a Friday

RouterPolicy one_route() {
  RouterPolicy policy;
  policy.routes.push_back({.receiver = "oncall",
                           .match = {},
                           .group_by = {"root"},
                           .group_wait = 30s,
                           .group_interval = 5min,
                           .repeat_interval = 4h});
  return policy;
}

/// Incidents, and a receiver that says what it was told.
class RouterTest : public testing::Test {
 protected:
  void step(std::int64_t id, StepKind kind, const std::string& root = "") {
    Incident& incident = incidents_[id];
    incident.id = id;
    if (!root.empty()) incident.root = root;
    if (incident.root.empty()) incident.root = "r" + std::to_string(id);
    ++incident.revision;
    const bool ends = kind == StepKind::kResolved || kind == StepKind::kMerged;
    incident.phase = ends ? Phase::kResolved : Phase::kOpen;
    if (kind == StepKind::kMerged) incident.merged_into = 1;
    if (kind == StepKind::kAcknowledged) incident.acknowledged = {"ann", "", now_};
    router_.hear({kind, incident},
                 {{"root", incident.root}, {"severity", "critical"}, {"code", "X"}}, now_);
  }
  std::vector<Notice> take() { return router_.take(muting_, now_, wall()); }
  [[nodiscard]] WallTime wall() const { return kWallStart + (now_ - kStart); }
  /// What is sent and delivered until then, as `number: tidings id, …` and the time it took.
  std::vector<std::string> run(Duration time) {
    const TimePoint end = now_ + time;
    std::vector<std::string> said;
    for (int rounds = 0; rounds < 1000; ++rounds) {
      const auto due = router_.next_due();
      if (!due || *due > end) break;
      now_ = std::max(now_, *due);
      for (const Notice& notice : take()) {
        std::string line = std::to_string((now_ - kStart) / 1s) + "s";
        for (const NoticeItem& item : notice.items) {
          line +=
              " " + std::string(to_string(item.tidings)) + " " + std::to_string(item.incident.id);
        }
        said.push_back(line);
        router_.delivered(notice.group, notice.number, now_);
      }
    }
    now_ = end;
    return said;
  }

  using Said = std::vector<std::string>;
  TimePoint now_ = kStart;
  Router router_{one_route()};
  Muting muting_{{}};
  std::map<std::int64_t, Incident> incidents_;
};

TEST_F(RouterTest, OneNoticeWhenItBeginsAndOneWhenItEnds) {
  step(1, StepKind::kOpened);
  EXPECT_EQ(run(1min), Said{"30s began 1"});
  now_ += 10min;
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(1h).size(), 1U);
  EXPECT_TRUE(router_.groups().empty()) << "nothing is kept of what is over";
}

TEST_F(RouterTest, WhatCausesAndWhatItCausesAreOneNotice) {
  step(1, StepKind::kOpened, "node");
  step(2, StepKind::kOpened, "daemon");
  step(2, StepKind::kMerged);
  EXPECT_EQ(run(1h), Said{"30s began 1"});
}

TEST_F(RouterTest, WhatWasToldAndIsMergedThenEnds) {
  step(2, StepKind::kOpened);
  EXPECT_EQ(run(1min).size(), 1U);
  step(2, StepKind::kMerged);
  EXPECT_EQ(run(10min), Said{"330s ended 2"});
}

TEST_F(RouterTest, WhatCameAndWentBeforeAnythingWasToldIsOneNotice) {
  step(1, StepKind::kOpened);
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(1h), Said{"30s came_and_went 1"});
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
  // What stands is told anew, and not at once.
  EXPECT_GE(*router_.next_due(), now_ + 10min);
  now_ = *router_.next_due();
  notices = take();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].items[0].tidings, Tidings::kBegan);
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

TEST_F(RouterTest, ASilencedBeginningIsToldWhenTheSilenceEndsIfItStillStands) {
  muting_.put({1, {{"root", true, "r1"}}, wall(), wall() + 1h, "ann", ""});
  step(1, StepKind::kOpened);
  step(2, StepKind::kOpened);
  EXPECT_EQ(run(59min), Said{"30s began 2"});
  EXPECT_EQ(run(5min).size(), 1U);
}

TEST_F(RouterTest, ASilenceOfTheConfigurationHoldsInItsTimeAndAsLongAsItStandsThere) {
  muting_.set_configured({{.id = 0,
                           .match = {{"root", true, "r1"}},
                           .from = wall() + 1h,
                           .until = wall() + 2h,
                           .by = {},
                           .comment = {},
                           .name = "upgrade"}});
  const Labels labels{{"root", "r1"}};
  EXPECT_FALSE(muting_.by(labels, wall()));
  EXPECT_EQ(muting_.by(labels, wall() + 1h), "silence upgrade");
  EXPECT_FALSE(muting_.by(labels, wall() + 2h));
  EXPECT_TRUE(muting_.forget(wall() + 24h * 365, 1h).empty()) << "the configuration has it";
  EXPECT_EQ(muting_.next_id(), 1);
  run(90min);
  step(1, StepKind::kOpened);
  EXPECT_EQ(run(10min), Said{});
  muting_.set_configured({});
  router_.muting_changed(now_);
  EXPECT_EQ(run(1min).size(), 1U);
}

TEST_F(RouterTest, AnEndIsToldInSpiteOfASilence) {
  step(1, StepKind::kOpened);
  run(1min);
  muting_.put({1, {{"root", true, "r1"}}, wall(), wall() + 24h, "ann", ""});
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(10min), Said{"330s ended 1"});
}

TEST_F(RouterTest, WhatCameAndWentUnderASilenceIsNotTold) {
  muting_.put({1, {{"root", true, "r*"}}, wall(), wall() + 1h, "ann", ""});
  step(1, StepKind::kOpened);
  run(10min);
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(3h), Said{});
  EXPECT_TRUE(router_.groups().empty());
}

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
  EXPECT_EQ(run(1min), Said{"30s began 1"});
  RouterPolicy sooner = one_route();
  sooner.routes.front().repeat_interval = 10min;
  router_.reroute(sooner, {"oncall"}, now_);
  EXPECT_EQ(run(15min), Said{"630s stands 1"});
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(1h).size(), 1U) << "who heard the beginning hears the end";
}

TEST_F(RouterTest, AReceiverThatIsTakenOutHearsNoMore) {
  step(1, StepKind::kOpened);
  now_ += 30s;
  const std::vector<Notice> under_way = take();
  ASSERT_EQ(under_way.size(), 1U);
  router_.take_changed();
  router_.reroute({}, {"another"}, now_);
  EXPECT_EQ(router_.take_changed().size(), 1U) << "what was written down of it goes too";
  router_.delivered(under_way.front().group, under_way.front().number, now_);
  EXPECT_FALSE(router_.refused(under_way.front().group, 1, {}, now_, 0));
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(24h), Said{});
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
}

TEST(Maintenance, IsATimeOfTheWeekInUtcAndMayLastBeyondMidnight) {
  Maintenance nightly{.name = "n", .match = {}, .days = 1U << 4, .begins = 23h, .length = 2h};
  EXPECT_FALSE(nightly.on(kWallStart + 22h + 59min));
  EXPECT_TRUE(nightly.on(kWallStart + 23h));
  EXPECT_TRUE(nightly.on(kWallStart + 24h + 59min));
  EXPECT_FALSE(nightly.on(kWallStart + 25h));
  EXPECT_FALSE(nightly.on(kWallStart + 47h + 30min)) << "Saturday";
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
        if (item.tidings == Tidings::kEnded) RC_ASSERT(known_open[id]);
        if (item.tidings == Tidings::kBegan) RC_ASSERT(!known_open[id]);
        if (item.tidings == Tidings::kCameAndWent) RC_ASSERT(!known_open[id]);
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

}  // namespace
}  // namespace wardmote::judge::notify
