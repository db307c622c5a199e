#include "net/deadline_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "net/core.h"

namespace wardmote::net {
namespace {

using namespace std::chrono_literals;

class DeadlineQueues : public ::testing::Test {
 protected:
  /// An operation that waits; notes when it was told to end.
  struct Waiting {
    Waiting(DeadlineQueue& queue, Duration time)
        : watch(queue, {SystemBootClock::now() + time}, &Waiting::expire, this) {}
    static void expire(void* self) noexcept {
      static_cast<Waiting*>(self)->ended = SystemBootClock::now();
    }
    std::optional<TimePoint> ended;
    DeadlineQueue::Watch watch;
  };

  void run_for(Duration time) {
    const TimePoint end = SystemBootClock::now() + time;
    BootTimer timer(core_.context, end);
    timer.async_wait([this](const boost::system::error_code&) { core_.context.stop(); });
    core_.context.restart();
    core_.context.run();
  }

  Core core_;
  const TimePoint begun_ = SystemBootClock::now();
};

TEST_F(DeadlineQueues, EachEndsAtItsOwnDeadlineWhateverTheOrder) {
  Waiting late(core_.deadlines, 30ms);
  Waiting early(core_.deadlines, 10ms);
  Waiting never(core_.deadlines, 1h);
  run_for(60ms);
  ASSERT_TRUE(early.ended && late.ended);
  EXPECT_GE(*early.ended - begun_, 10ms);
  EXPECT_GE(*late.ended - begun_, 30ms);
  EXPECT_FALSE(never.ended);
}

TEST_F(DeadlineQueues, AnOperationThatEndedIsNotTold) {
  auto gone = std::make_unique<Waiting>(core_.deadlines, 5ms);
  Waiting stays(core_.deadlines, 10ms);
  gone.reset();
  run_for(30ms);
  EXPECT_TRUE(stays.ended);
}

TEST_F(DeadlineQueues, ManyWithTheSameDeadlineAllEnd) {
  std::vector<std::unique_ptr<Waiting>> many;
  for (int i = 0; i < 500; ++i) many.push_back(std::make_unique<Waiting>(core_.deadlines, 10ms));
  run_for(60ms);
  for (const auto& each : many) EXPECT_TRUE(each->ended);
}

TEST_F(DeadlineQueues, ATimerThatFiresForNobodyGoesOnToTheNext) {
  std::make_unique<Waiting>(core_.deadlines, 1ms).reset();  // leaves the timer armed
  Waiting later(core_.deadlines, 20ms);
  run_for(60ms);
  ASSERT_TRUE(later.ended);
  EXPECT_GE(*later.ended - begun_, 20ms);
}

}  // namespace
}  // namespace wardmote::net
