#include "net/worker.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/task_group.h"
#include "unit/net/net_fixture.h"

namespace wardmote::net {
namespace {

using namespace std::chrono_literals;
using runtime::Task;

class WorkerTest : public NetTest {};

TEST_F(WorkerTest, WorkIsDoneElsewhereAndTheLoopGoesOnMeanwhile) {
  Worker worker(runtime_);
  std::promise<void> loop_went_on;
  std::future<void> heard = loop_went_on.get_future();
  std::thread::id where;
  bool in_time = false;
  std::vector<Task<void>> tasks;
  tasks.push_back(worker.run([&] {
    where = std::this_thread::get_id();
    in_time = heard.wait_for(30s) == std::future_status::ready;
  }));
  constexpr auto go_on = [](AsioRuntime* runtime, std::promise<void>* tell) -> Task<void> {
    co_await runtime->sleep_until(runtime->now() + 1ms);
    tell->set_value();
  };
  tasks.push_back(go_on(&runtime_, &loop_went_on));
  runtime_.run(runtime::run_all(runtime_.executor(), std::move(tasks)));
  EXPECT_TRUE(in_time);
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST_F(WorkerTest, OneAfterTheOther) {
  Worker worker(runtime_);
  int done = 0;
  for (int i = 0; i < 3; ++i) runtime_.run(worker.run([&] { ++done; }));
  EXPECT_EQ(done, 3);
}

}  // namespace
}  // namespace wardmote::net
