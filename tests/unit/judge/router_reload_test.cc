// Receivers, routes and labels that a reload takes away, brings back, or changes while incidents
// are open.

#include "unit/judge/router_fixture.h"

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "judge/incident/incident.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"

namespace wardmote::judge::notify {
namespace {

/// A reload, which has the open incidents considered again.
class RouterReload : public RouterTest {
 protected:
  void reload(const RouterPolicy& policy, const std::set<std::string>& receivers,
              const Labels& more = {}) {
    router_.reroute(policy, receivers, now_);
    for (const auto& [id, incident] : incidents_) {
      if (incident.phase != Phase::kOpen) continue;
      Labels labels = labels_of(incident);
      for (const auto& [name, value] : more) labels[name] = value;
      router_.consider(incident, labels, now_);
    }
  }
};

TEST_F(RouterReload, AReceiverThatIsTakenOutIsSentNothing) {
  step(1, StepKind::kOpened);
  now_ += 30s;
  const std::vector<Notice> under_way = take();
  ASSERT_EQ(under_way.size(), 1U);
  reload({}, {"another"});
  router_.refused(under_way.front().group, 1, {}, now_, 0);
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(23h), Said{});
  router_.take_changed();
  EXPECT_EQ(run(2h), Said{});
  EXPECT_TRUE(router_.groups().empty()) << "a day later nobody waits for it any more";
  EXPECT_EQ(router_.take_changed().size(), 1U) << "what is written down of it goes too";
}

TEST_F(RouterReload, AReceiverThatIsPutBackGetsTheEndsThatItMissed) {
  step(1, StepKind::kOpened);
  step(2, StepKind::kOpened);
  EXPECT_EQ(run(1min).size(), 2U);
  reload({}, {});
  now_ += 4s;
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(10min), Said{});
  reload(one_route(), {"oncall"});
  EXPECT_EQ(run(10min), Said{"664s resolved 1"});
  step(2, StepKind::kResolved);
  EXPECT_EQ(run(10min).size(), 1U);
}

TEST_F(RouterReload, AReceiverThatIsPutBackGetsTheBeginningsThatItMissed) {
  step(1, StepKind::kOpened);
  reload({}, {});
  now_ += 4s;
  step(2, StepKind::kOpened);
  step(3, StepKind::kOpened);
  step(3, StepKind::kResolved);
  reload(one_route(), {"oncall"});
  EXPECT_EQ(run(10min), (Said{"30s opened 1", "34s opened 2"}));
}

TEST_F(RouterReload, ANoticeThatWasOnItsWayIsSentAgainWhenTheReceiverIsBack) {
  step(1, StepKind::kOpened);
  now_ += 30s;
  ASSERT_EQ(take().size(), 1U);
  reload({}, {});
  now_ += 23h + 59min;
  reload(one_route(), {"oncall"});
  const std::vector<Notice> again = take();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_FALSE(router_.refused(again[0].group, again[0].number, {false, {}, "HTTP 503"}, now_, 0))
      << "the time away does not count as trying";
}

// It refused the beginning, and was put back after the end: it was told that something fails.
TEST_F(RouterReload, WhatWasRefusedIsComposedAnewWhenTheReceiverIsBack) {
  step(1, StepKind::kOpened);
  now_ += 30s;
  const std::vector<Notice> sent = take();
  ASSERT_EQ(sent.size(), 1U);
  router_.refused(sent[0].group, sent[0].number, {false, {}, "HTTP 503"}, now_, 0);
  reload({}, {});
  now_ += 4s;
  step(1, StepKind::kResolved);
  reload(one_route(), {"oncall"});
  now_ += 10min;
  const std::vector<Notice> again = take();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].items[0].kind, NoticeKind::kBrief);
}

TEST_F(RouterReload, ANewReceiverIsToldWhatIsOpen) {
  step(1, StepKind::kOpened);
  step(2, StepKind::kOpened);
  step(2, StepKind::kResolved);
  run(1min);
  RouterPolicy policy = one_route();
  policy.routes.push_back(policy.routes[0]);
  policy.routes[0].go_on = true;
  policy.routes[1].receiver = "boss";
  reload(policy, {"oncall", "boss"});
  EXPECT_EQ(run(10min), Said{"90s opened 1"});
}

TEST_F(RouterReload, AMemberThatComesLaterIsToldWhatIsOpenUnderTheSameLabels) {
  step(1, StepKind::kOpened, "daemon");
  step(2, StepKind::kOpened);
  run(1min);
  step(2, StepKind::kResolved);
  step(1, StepKind::kChanged, "host");
  RouterPolicy policy = one_route();
  policy.routes.push_back(policy.routes[0]);
  policy.routes[0].go_on = true;
  policy.routes[1].receiver = "oncall@b";
  policy.configured_as["oncall@b"] = "oncall";
  reload(policy, {"oncall", "oncall@b"});
  now_ += 30s;
  const auto notices = take();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].receiver, "oncall@b");
  ASSERT_EQ(notices[0].items.size(), 1U);
  EXPECT_EQ(notices[0].items[0].kind, NoticeKind::kOpened);
  EXPECT_EQ(notices[0].items[0].known_as.at("root"), "daemon");
  router_.delivered(notices[0].group, notices[0].number, now_);
  EXPECT_EQ(run(10min).size(), 2U) << "the news of both, to the first; the other knows";
}

TEST_F(RouterReload, AnotherGroupingDoesNotBeginAgainWhatTheReceiverKnows) {
  step(1, StepKind::kOpened);
  step(2, StepKind::kOpened);
  EXPECT_EQ(run(1min).size(), 2U);
  RouterPolicy policy = one_route();
  policy.routes[0].group_by = {"severity"};
  policy.routes[0].repeat_interval = 10min;
  reload(policy, {"oncall"});
  step(1, StepKind::kChanged);
  EXPECT_EQ(run(9min), Said{"330s changed 1"});
  step(3, StepKind::kOpened);
  step(4, StepKind::kOpened);
  EXPECT_EQ(run(30s), (Said{"630s ongoing 2", "630s opened 3 opened 4"}))
      << "what is new is grouped as the route says, and its other settings hold for all";
  step(2, StepKind::kResolved);
  EXPECT_EQ(run(6min), (Said{"930s ongoing 1", "930s resolved 2"}));
}

TEST_F(RouterReload, LabelsThatChangeReachOtherReceiversAndLeaveTheKnownNameOfTheIncident) {
  RouterPolicy policy = one_route();
  policy.routes[0].match = {{"site", true, "b"}};
  policy.routes.push_back(one_route().routes[0]);
  policy.routes.front().receiver = "site-b";
  router_ = Router(policy);
  step(1, StepKind::kOpened);
  EXPECT_EQ(run(1min), Said{"30s opened 1"});
  reload(policy, {"oncall", "site-b"}, {{"site", "b"}});
  now_ += 30s;
  const std::vector<Notice> notices = take();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].receiver, "site-b");
  EXPECT_EQ(notices[0].items[0].labels.at("site"), "b");
  step(1, StepKind::kResolved);
  now_ += 10min;
  for (const Notice& notice : take()) {
    if (notice.receiver == "oncall") {
      EXPECT_FALSE(notice.items[0].known_as.contains("site"));
    }
  }
}

}  // namespace
}  // namespace wardmote::judge::notify
