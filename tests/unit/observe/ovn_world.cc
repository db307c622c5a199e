#include "unit/observe/ovn_world.h"

#include <unistd.h>

#include <chrono>

namespace wardmote::testing {

using runtime::Task;
using namespace std::chrono_literals;

OvnWorld::OvnWorld()
    : folder_(std::filesystem::temp_directory_path() / fmt::format("wardmote-ovn-{}", ::getpid())),
      tasks_(runtime_.executor()) {
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
}

OvnWorld::~OvnWorld() {
  servers_.clear();
  std::filesystem::remove_all(folder_);
}

FakeServer& OvnWorld::serve(std::string_view name, FakeManners manners) {
  const auto spawn = [this](std::string task_name, Task<void> task) {
    tasks_.spawn(std::move(task_name), std::move(task));
  };
  servers_.push_back(
      std::make_unique<FakeServer>(runtime_, spawn, endpoint(name), std::move(manners)));
  return *servers_.back();
}

void OvnWorld::remove(std::string_view name, FakeServer& server) {
  server.hang_up();
  std::filesystem::remove(path(name));
}

void OvnWorld::run(Task<void> body) {
  constexpr auto then_stop = [](Task<void> inner, runtime::TaskGroup* tasks) -> Task<void> {
    co_await std::move(inner);
    co_await tasks->stop();
  };
  runtime_.run(then_stop(std::move(body), &tasks_));
}

Task<bool> eventually(runtime::Runtime* runtime, std::function<bool()> condition, Duration limit) {
  const TimePoint end = runtime->now() + limit;
  while (!condition() && runtime->now() < end) co_await runtime->sleep_until(runtime->now() + 1ms);
  co_return condition();
}

}  // namespace wardmote::testing
