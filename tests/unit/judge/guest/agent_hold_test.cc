#include "judge/guest/agent_hold.h"

#include <chrono>

#include <gtest/gtest.h>

#include "base/time.h"

namespace wardmote::judge::guest {
namespace {

using State = AgentHold::State;
using namespace std::chrono_literals;

constexpr TimePoint kBegin{1h};
constexpr Duration kTimeout = 1s;

/// libvirt gives up after half a minute behind somebody else, and is asked anew after that.
TimePoint wait_out(AgentHold& hold, TimePoint begin) {
  hold.asked(begin, true);
  for (Duration passed = 5s; passed < 30s; passed += 5s) hold.still_asked(begin + passed, kTimeout);
  return begin + 35s;
}

TEST(AgentHold, APingThatWaitsLongerThanForAnAgentWaitsForSomebodyElse) {
  AgentHold hold;
  hold.still_asked(kBegin, kTimeout);
  EXPECT_EQ(hold.state(kBegin), State::kFree) << "it was asked for another thing";
  hold.asked(kBegin, true);
  hold.still_asked(kBegin + 6200ms, kTimeout);
  EXPECT_EQ(hold.state(kBegin + 6200ms), State::kFree);
  hold.still_asked(kBegin + 6201ms, kTimeout);
  EXPECT_EQ(hold.state(kBegin + 6201ms), State::kHeld);
  EXPECT_TRUE(hold.held());
  hold.end();
  EXPECT_EQ(hold.state(kBegin + 7s), State::kFree);
}

TEST(AgentHold, ItIsHeldOnWhenLibvirtHasGivenUpAndIsAskedAnew) {
  AgentHold hold;
  TimePoint now = kBegin;
  for (int wait = 0; wait < 3; ++wait) {
    now = wait_out(hold, now);
    EXPECT_EQ(hold.state(now), State::kHeld) << wait;
  }
  hold.asked(now, true);
  EXPECT_EQ(hold.state(now), State::kHeld);
  EXPECT_EQ(hold.state(kBegin + 2min), State::kHeld);
  EXPECT_EQ(hold.state(kBegin + 2min + 1ms), State::kTooLong);
}

// It waits in vain once, as behind somebody else, and then as for an agent that hangs.
TEST(AgentHold, WhoeverLetItGoLeavesAnAgentThatHangs) {
  AgentHold hold;
  const TimePoint anew = wait_out(hold, kBegin);
  hold.asked(anew, true);
  hold.still_asked(anew + 5s, kTimeout);
  EXPECT_EQ(hold.state(anew + 5s), State::kHeld);
  hold.asked(anew + 10s, true);
  EXPECT_EQ(hold.state(anew + 10s), State::kFree);
}

// What ends with libvirt says nothing of who held the agent.
TEST(AgentHold, APingThatLibvirtTookWithItEndsNoHold) {
  AgentHold hold;
  TimePoint now = wait_out(hold, kBegin);
  hold.asked(now, true);
  hold.lost();
  hold.asked(now += 5s, true);
  EXPECT_EQ(hold.state(now), State::kHeld);
  hold.lost();
  hold.asked(now += 5s, false);
  hold.asked(now += 5s, true);
  EXPECT_EQ(hold.state(now), State::kHeld);
  hold.asked(now += 5s, true);
  EXPECT_EQ(hold.state(now), State::kFree);
}

}  // namespace
}  // namespace wardmote::judge::guest
