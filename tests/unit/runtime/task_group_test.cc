#include "runtime/task_group.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <vector>

#include "net/asio_runtime.h"

namespace wardmote::runtime {
namespace {

using namespace std::chrono_literals;

class TaskGroups : public ::testing::Test {
 protected:
  static Task<void> sleep(Runtime* runtime, Duration time, int* ended) {
    co_await runtime->sleep_until(runtime->now() + time);
    ++*ended;
  }
  static Task<void> for_ever(Runtime* runtime, int* unwound) {
    struct Count {
      int* into;
      ~Count() { ++*into; }
    } const count{unwound};
    for (;;) co_await runtime->sleep_until(runtime->now() + 1h);
  }

  net::AsioRuntime runtime_;
  TaskGroup group_{runtime_.executor()};
  int ended_ = 0;
  int unwound_ = 0;
};

TEST_F(TaskGroups, JoinWaitsForAll) {
  group_.spawn("a", sleep(&runtime_, 1ms, &ended_));
  group_.spawn("b", sleep(&runtime_, 3ms, &ended_));
  EXPECT_EQ(group_.size(), 2U);
  EXPECT_EQ(group_.names(), (std::vector<std::string>{"a", "b"}));
  runtime_.run(group_.join());
  EXPECT_EQ(ended_, 2);
  EXPECT_EQ(group_.size(), 0U);
}

TEST_F(TaskGroups, JoinOfAnEmptyGroupReturns) {
  runtime_.run(group_.join());
}

TEST_F(TaskGroups, StopUnwindsEveryTaskAndDropsLaterOnes) {
  group_.spawn("a", for_ever(&runtime_, &unwound_));
  group_.spawn("b", for_ever(&runtime_, &unwound_));
  runtime_.run(sleep(&runtime_, 1ms, &ended_));
  runtime_.run(group_.stop());
  EXPECT_EQ(unwound_, 2);
  group_.spawn("late", for_ever(&runtime_, &unwound_));
  EXPECT_EQ(group_.size(), 0U);
  runtime_.run(group_.stop());
}

TEST_F(TaskGroups, OneTaskCanBeCancelledAlone) {
  const TaskGroup::TaskId first = group_.spawn("a", for_ever(&runtime_, &unwound_));
  group_.spawn("b", sleep(&runtime_, 5ms, &ended_));
  runtime_.run(sleep(&runtime_, 1ms, &ended_));
  group_.cancel(first);
  runtime_.run(group_.join());
  EXPECT_EQ(unwound_, 1);
  EXPECT_EQ(ended_, 2);
  group_.cancel(first);  // long gone
}

TEST_F(TaskGroups, ATaskCancelledBeforeItsFirstStepEndsToo) {
  group_.spawn("a", for_ever(&runtime_, &unwound_));
  group_.cancel();
  runtime_.run(group_.join());
  EXPECT_EQ(group_.size(), 0U);
}

TEST_F(TaskGroups, ATaskMaySpawnIntoItsOwnGroup) {
  constexpr auto parent = [](Runtime* runtime, TaskGroup* group, int* ended) -> Task<void> {
    group->spawn("child", sleep(runtime, 2ms, ended));
    co_await runtime->sleep_until(runtime->now() + 1ms);
    ++*ended;
  };
  group_.spawn("parent", parent(&runtime_, &group_, &ended_));
  runtime_.run(group_.join());
  EXPECT_EQ(ended_, 2);
}

TEST_F(TaskGroups, ATaskMayCancelItsOwnGroup) {
  constexpr auto last_straw = [](Runtime* runtime, TaskGroup* group) -> Task<void> {
    co_await runtime->sleep_until(runtime->now() + 1ms);
    group->cancel();
  };
  group_.spawn("a", for_ever(&runtime_, &unwound_));
  group_.spawn("straw", last_straw(&runtime_, &group_));
  runtime_.run(group_.join());
  EXPECT_EQ(unwound_, 1);
}

TEST_F(TaskGroups, SeveralMayJoin) {
  group_.spawn("a", sleep(&runtime_, 2ms, &ended_));
  TaskGroup joiners(runtime_.executor());
  joiners.spawn("one", group_.join());
  joiners.spawn("two", group_.join());
  runtime_.run(joiners.join());
  EXPECT_EQ(ended_, 1);
}

TEST_F(TaskGroups, CancellingTheOneWhoJoinsCancelsTheGroupAndWaits) {
  group_.spawn("a", for_ever(&runtime_, &unwound_));
  TaskGroup joiner(runtime_.executor());
  joiner.spawn("join", group_.join());
  runtime_.run(sleep(&runtime_, 1ms, &ended_));
  runtime_.run(joiner.stop());
  EXPECT_EQ(unwound_, 1);
  EXPECT_EQ(group_.size(), 0U);
}

TEST_F(TaskGroups, RunAllReturnsWhenTheSlowestHasEnded) {
  std::vector<Task<void>> tasks;
  tasks.push_back(sleep(&runtime_, 1ms, &ended_));
  tasks.push_back(sleep(&runtime_, 5ms, &ended_));
  const TimePoint begun = runtime_.now();
  runtime_.run(run_all(runtime_.executor(), std::move(tasks)));
  EXPECT_EQ(ended_, 2);
  EXPECT_GE(runtime_.now() - begun, 5ms);
}

TEST_F(TaskGroups, RunAllOfNothingReturns) {
  runtime_.run(run_all(runtime_.executor(), {}));
}

TEST_F(TaskGroups, RunAllUnwindsItsPartsWhenItsCallerIsCancelled) {
  constexpr auto caller = [](Runtime* runtime, int* unwound, int* after) -> Task<void> {
    std::vector<Task<void>> tasks;
    tasks.push_back(for_ever(runtime, unwound));
    tasks.push_back(for_ever(runtime, unwound));
    Task<void> all = run_all(runtime->executor(), std::move(tasks));
    co_await std::move(all);
    ++*after;
  };
  group_.spawn("caller", caller(&runtime_, &unwound_, &ended_));
  runtime_.run(sleep(&runtime_, 1ms, &ended_));
  runtime_.run(group_.stop());
  EXPECT_EQ(unwound_, 2);
  EXPECT_EQ(ended_, 1);  // the sleep of the test; the caller was unwound after run_all()
}

/// The parts of run_all() may not have suspended once when the cancellation comes.
TEST_F(TaskGroups, RunAllUnwindsWhenCancelledByItsOwnPart) {
  constexpr auto straw = [](TaskGroup* group) -> Task<void> {
    group->cancel();
    co_return;
  };
  constexpr auto caller = [](Runtime* runtime, TaskGroup* group, Task<void> last,
                             int* unwound) -> Task<void> {
    std::vector<Task<void>> tasks;
    tasks.push_back(for_ever(runtime, unwound));
    tasks.push_back(std::move(last));
    Task<void> all = run_all(runtime->executor(), std::move(tasks));
    co_await std::move(all);
  };
  group_.spawn("caller", caller(&runtime_, &group_, straw(&group_), &unwound_));
  runtime_.run(group_.join());
  EXPECT_EQ(unwound_, 1);
}

using TaskGroupDeath = TaskGroups;

TEST_F(TaskGroupDeath, AnExceptionEndsTheProcessAndNamesTheTask) {
  constexpr auto broken = []() -> Task<void> {
    throw std::runtime_error("no such luck");
    co_return;
  };
  EXPECT_DEATH(
      {
        group_.spawn("fortune", broken());
        runtime_.run(group_.join());
      },
      "task fortune threw: no such luck");
}

TEST_F(TaskGroupDeath, AGroupMustNotGoBeforeItsTasks) {
  EXPECT_DEATH(
      {
        TaskGroup early(runtime_.executor());
        early.spawn("a", for_ever(&runtime_, &unwound_));
      },
      "destroyed before its tasks ended");
}

}  // namespace
}  // namespace wardmote::runtime
