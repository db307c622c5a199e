// Cancellation at the two moments where Asio itself would end the process.
#include <gtest/gtest.h>

#include "net/asio_runtime.h"
#include "runtime/task_group.h"

namespace wardmote::runtime {
namespace {

Task<void> mark(bool* begun) {
  *begun = true;
  co_return;
}

Task<void> cancel_own_group(TaskGroup* group) {
  group->cancel();
  co_return;
}

TEST(TaskGroupCancel, BeforeTheFirstStepSkipsTheTask) {
  net::AsioRuntime runtime;
  TaskGroup group(runtime.executor());
  bool begun = false;
  group.spawn("never begins", mark(&begun));
  group.cancel();
  runtime.run(group.join());
  EXPECT_FALSE(begun);
}

TEST(TaskGroupCancel, ByATaskThatEndsAtOnceEndsTheOthers) {
  net::AsioRuntime runtime;
  TaskGroup group(runtime.executor());
  bool begun = false;
  group.spawn("first", cancel_own_group(&group));
  group.spawn("second", mark(&begun));
  runtime.run(group.join());
  EXPECT_FALSE(begun);
  EXPECT_EQ(group.size(), 0U);
}

}  // namespace
}  // namespace wardmote::runtime
