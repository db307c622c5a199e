#include "runtime/bell.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "net/asio_runtime.h"
#include "runtime/task_group.h"

namespace wardmote::runtime {
namespace {

using namespace std::chrono_literals;

class Bells : public testing::Test {
 protected:
  static Task<void> wait(Bell* bell, int* woken) {
    for (;;) {
      co_await bell->wait();
      ++*woken;
    }
  }
  static Task<void> ring(Runtime* runtime, Bell* bell, TaskGroup* group, int times) {
    for (int i = 0; i < times; ++i) {
      co_await runtime->sleep_until(runtime->now() + 1ms);
      EXPECT_EQ(bell->waiting(), 3U);
      bell->ring();
    }
    co_await runtime->sleep_until(runtime->now() + 1ms);
    co_await group->stop();
  }

  net::AsioRuntime runtime_;
  Bell bell_{runtime_.executor()};
  TaskGroup group_{runtime_.executor()};
};

TEST_F(Bells, EveryRingWakesAllWhoWait) {
  int woken = 0;
  for (int i = 0; i < 3; ++i) group_.spawn("waiter", wait(&bell_, &woken));
  runtime_.run(ring(&runtime_, &bell_, &group_, 4));
  EXPECT_EQ(woken, 4 * 3);
  EXPECT_EQ(bell_.waiting(), 0U) << "the cancelled have left";
}

TEST_F(Bells, RingingForNobodyIsForgotten) {
  bell_.ring();
  EXPECT_EQ(bell_.waiting(), 0U);
}

}  // namespace
}  // namespace wardmote::runtime
