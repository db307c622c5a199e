#include "runtime/event.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "net/asio_runtime.h"
#include "runtime/task_group.h"

namespace wardmote::runtime {
namespace {

using namespace std::chrono_literals;

class Bells : public ::testing::Test {
 protected:
  static Task<void> wait(Event* event, int* woken) {
    for (;;) {
      co_await event->wait();
      ++*woken;
    }
  }
  static Task<void> ring(Runtime* runtime, Event* event, TaskGroup* group, int times) {
    for (int i = 0; i < times; ++i) {
      co_await runtime->sleep_until(runtime->now() + 1ms);
      EXPECT_EQ(event->waiting(), 3U);
      event->notify();
    }
    co_await runtime->sleep_until(runtime->now() + 1ms);
    co_await group->stop();
  }

  net::AsioRuntime runtime_;
  Event event_{runtime_.executor()};
  TaskGroup group_{runtime_.executor()};
};

TEST_F(Bells, EveryRingWakesAllWhoWait) {
  int woken = 0;
  for (int i = 0; i < 3; ++i) group_.spawn("waiter", wait(&event_, &woken));
  runtime_.run(ring(&runtime_, &event_, &group_, 4));
  EXPECT_EQ(woken, 4 * 3);
  EXPECT_EQ(event_.waiting(), 0U) << "the cancelled have left";
}

TEST_F(Bells, RingingForNobodyIsForgotten) {
  event_.notify();
  EXPECT_EQ(event_.waiting(), 0U);
}

}  // namespace
}  // namespace wardmote::runtime
