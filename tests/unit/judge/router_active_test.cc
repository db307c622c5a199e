// Routes that tell at certain times of the week only.

#include <gtest/gtest.h>
#include <chrono>

#include "judge/notify/router.h"
#include "judge/notify/weekly.h"
#include "unit/judge/router_fixture.h"

namespace wardmote::judge::notify {
namespace {

/// The test begins at midnight.
const WeeklyWindow kDay{.begins = 8h, .length = 10h};

class ActiveRouteTest : public RouterTest {
 protected:
  ActiveRouteTest() {
    RouterPolicy policy = one_route();
    policy.routes.front().active = {kDay};
    router_ = Router(policy);
  }
};

TEST_F(ActiveRouteTest, WhatStandsIsToldWhenItsTimeBeginsAndWhatIsOverIsNot) {
  step(1, StepKind::kOpened);
  step(2, StepKind::kOpened);
  EXPECT_EQ(run(4h), Said{});
  step(2, StepKind::kResolved);
  EXPECT_EQ(run(5h), Said{"28800s opened 1"}) << "at eight, not a minute later";
}

TEST_F(ActiveRouteTest, AnEndIsToldAtAnyTimeAndNothingIsRepeatedOutside) {
  now_ += 17h;
  step(1, StepKind::kOpened);
  step(2, StepKind::kOpened);
  EXPECT_EQ(run(2h), (Said{"61230s opened 1", "61230s opened 2"}));
  now_ += 2h;
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(3h), Said{"75630s resolved 1"}) << "and 2 would be repeated after four hours";
  EXPECT_EQ(run(9h), Said{"115200s ongoing 2"}) << "at eight of the next day";
}

// Its receiver was away when the day ended.
TEST_F(ActiveRouteTest, WhatWasRefusedIsNotTriedAgainOutside) {
  now_ += 18h - 31s;
  step(1, StepKind::kOpened);
  now_ += 30s;
  const auto notices = take();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_FALSE(router_.refused(notices[0].group, notices[0].number, {.reason = "503"}, now_, 0));
  EXPECT_EQ(run(13h), Said{});
  EXPECT_EQ(run(2h), Said{"115200s opened 1"}) << "at eight of the next day, and not given up";
}

// One group, of which the receiver knows one incident and refused another.
TEST_F(ActiveRouteTest, AnEndDoesNotWaitForWhatWasRefusedAndIsMutedNow) {
  for (const bool answered : {true, false}) {
    SCOPED_TRACE(answered);
    RouterPolicy policy = one_route();
    policy.routes.front().active = {kDay};
    policy.routes.front().group_by = {};
    router_ = Router(policy);
    incidents_.clear();
    now_ = kStart + 17h;
    step(1, StepKind::kOpened);
    EXPECT_EQ(run(50min), Said{"61230s opened 1"});
    now_ = kStart + 18h - 31s;
    step(2, StepKind::kOpened);
    now_ += 30s;
    const auto notices = take();
    ASSERT_EQ(notices.size(), 1U);
    const Refusal refusal{.reason = "503", .answered = answered};
    EXPECT_FALSE(router_.refused(notices[0].group, notices[0].number, refusal, now_, 0));
    now_ += 10min;
    step(1, StepKind::kResolved);
    // It may have the beginning of the other one, and an end of that must not be lost.
    const Said at_eight = {"115200s opened 2 ongoing 1", "115200s resolved 1 ongoing 2"};
    EXPECT_EQ(run(13h), answered ? Said{"65399s resolved 1"} : Said{});
    EXPECT_EQ(run(2h), answered ? Said{"115200s opened 2"} : at_eight);
  }
}

TEST_F(ActiveRouteTest, AnEndIsTriedAgainAtAnyTime) {
  now_ += 17h;
  step(1, StepKind::kOpened);
  EXPECT_EQ(run(2h), Said{"61230s opened 1"});
  step(1, StepKind::kResolved);
  now_ = *router_.next_due();
  const auto notices = take();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_FALSE(router_.refused(notices[0].group, notices[0].number, {.reason = "503"}, now_, 0));
  EXPECT_EQ(run(1h).size(), 1U);
}

/// Warnings wait for the morning, and what is critical does not.
TEST_F(ActiveRouteTest, OneOfSeveralRoutesToAReceiverIsEnough) {
  RouterPolicy policy = one_route();
  policy.routes.front().match = {{"root", true, "grave"}};
  policy.routes.push_back(one_route().routes.front());
  policy.routes.back().active = {kDay};
  router_ = Router(policy);
  step(1, StepKind::kOpened, "grave");
  step(2, StepKind::kOpened, "small");
  EXPECT_EQ(run(1h), Said{"30s opened 1"});
  EXPECT_EQ(run(8h), (Said{"14430s ongoing 1", "28800s opened 2", "28830s ongoing 1"}));
}

TEST_F(ActiveRouteTest, TheNextOfSeveralTimesCounts) {
  Route route;
  EXPECT_FALSE(route.rests_until(kWallStart)) << "without a time it always tells";
  route.active = {kDay, {.begins = 3h, .length = 1h}};
  EXPECT_EQ(route.rests_until(kWallStart), kWallStart + 3h);
  EXPECT_FALSE(route.rests_until(kWallStart + 3h));
  EXPECT_EQ(route.rests_until(kWallStart + 4h), kWallStart + 8h);
  EXPECT_EQ(route.rests_until(kWallStart + 18h), kWallStart + 27h);
}

}  // namespace
}  // namespace wardmote::judge::notify
