// What libvirt says by a connection that is gone. A fake of its functions, since a real libvirtd
// takes a connection away at a moment of its own; tests/integration/test_guests.py kills and stops
// a real one.
#include "net/libvirt/hypervisor.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/asio_runtime.h"
#include "net/libvirt/api.h"
#include "runtime/deadline.h"
#include "runtime/hypervisor.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::net::libvirt {
namespace {

using runtime::AgentAnswer;
using Lane = runtime::Hypervisor::Lane;
using namespace std::chrono_literals;

int alive = 1;
int opened = 0;
std::array<char, 40> words{"internal error: client socket is closed"};
virError error{.code = kInternalError, .domain = 0, .message = words.data()};
int anything = 0;
std::atomic<int> agent_patience = -1;  // as it was set last; -1: never

virConnect* connection() {
  return reinterpret_cast<virConnect*>(&anything);
}

Api fake_api() {
  Api api{};
  api.open = [](const char*) {
    ++opened;
    return connection();
  };
  api.close = [](virConnect*) { return 0; };
  api.is_alive = [](virConnect*) { return alive; };
  api.set_keep_alive = [](virConnect*, int, unsigned) { return 0; };
  api.last_error = [] { return &error; };
  api.free_memory = [](virConnect*) { return 0ULL; };
  api.lookup = [](virConnect*, const char*) { return reinterpret_cast<virDomain*>(&anything); };
  api.free_domain = [](virDomain*) { return 0; };
  api.agent_command = [](virDomain*, const char*, int, unsigned) -> char* { return nullptr; };
  api.agent_timeout = [](virDomain*, int timeout, unsigned) {
    agent_patience = timeout;
    return 0;
  };
  api.all_stats = [](virConnect*, unsigned, virDomainStatsRecord***, unsigned) { return -1; };
  return api;
}

runtime::AgentOrder ping() {
  return {.uuid = "0", .command = "{}", .timeout = 1s, .patience = 10s, .ended = {}};
}

runtime::Task<bool> stopped(Hypervisor* hypervisor) {
  co_await hypervisor->stop();
  co_return true;
}

class DeadConnection : public ::testing::Test {
 protected:
  DeadConnection() { alive = opened = 0; }
  ~DeadConnection() override { run_task(runtime, stopped(&hypervisor)); }
  template <class T>
  T ask(runtime::Task<T> task) {
    return run_task(runtime, std::move(task));
  }
  // The pools' threads outlive the pools.
  inline static const Api api = fake_api();
  AsioRuntime runtime;
  Hypervisor hypervisor{runtime, api, {.uri = "fake:///"}};
};

TEST_F(DeadConnection, IsNoDaemonThatAnswers) {
  const Result<void> knocked = ask(hypervisor.knock(runtime.deadline_in(10s)));
  ASSERT_FALSE(knocked);
  EXPECT_EQ(knocked.error().code, Errc::kClosed);
}

TEST_F(DeadConnection, IsNoGuestThatAnswers) {
  const auto answer = ask(hypervisor.ask_agent(ping(), runtime.deadline_in(10s)));
  ASSERT_FALSE(answer) << "its words were taken for a reply";
  EXPECT_EQ(answer.error().code, Errc::kClosed);
}

TEST_F(DeadConnection, IsOpenedAgain) {
  EXPECT_FALSE(ask(hypervisor.list(runtime.deadline_in(10s))));
  EXPECT_FALSE(ask(hypervisor.list(runtime.deadline_in(10s))));
  EXPECT_EQ(opened, 2);
}

TEST_F(DeadConnection, OneThatLivesIsKeptAndItsRefusalIsAnAnswer) {
  alive = 1;
  EXPECT_TRUE(ask(hypervisor.knock(runtime.deadline_in(10s))));
  const auto answer = ask(hypervisor.ask_agent(ping(), runtime.deadline_in(10s)));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, AgentAnswer::Kind::kReply);
  EXPECT_FALSE(ask(hypervisor.list(runtime.deadline_in(10s))));
  EXPECT_FALSE(ask(hypervisor.list(runtime.deadline_in(10s))));
  EXPECT_EQ(opened, 2) << "one for the agents, one for lists";
}

// It is a property of the guest that all users of its agent share.
TEST(LibvirtAgent, ItsPatienceIsLeftAloneUnlessSomebodySaysOtherwise) {
  static const Api api = fake_api();
  alive = 1;
  agent_patience = -1;
  for (const auto& [response, expected] : {std::pair(Duration::zero(), -1), {1500ms, 2}}) {
    AsioRuntime runtime;
    Hypervisor hypervisor(runtime, api, {.uri = "fake:///", .response_timeout = response});
    const auto answer = run_task(runtime, hypervisor.ask_agent(ping(), runtime.deadline_in(10s)));
    EXPECT_TRUE(answer);
    EXPECT_EQ(agent_patience, expected);
    run_task(runtime, stopped(&hypervisor));
  }
}

/// Agents that hang in libvirt until somebody lets them go.
class HungAgents : public ::testing::Test {
 protected:
  HungAgents() { held = true; }
  ~HungAgents() override {
    let_go();
    run_task(runtime, stopped(&hypervisor));
  }
  static Api hanging_api() {
    Api hanging = fake_api();
    hanging.is_alive = [](virConnect*) { return 1; };
    hanging.agent_command = [](virDomain*, const char*, int, unsigned) -> char* {
      while (held) std::this_thread::sleep_for(1ms);
      return nullptr;
    };
    return hanging;
  }
  static void let_go() { held = false; }
  static runtime::Task<bool> stopped(Hypervisor* hypervisor) {
    co_await hypervisor->stop();
    co_return true;
  }
  /// Asks this guest, and says what came of it.
  runtime::Task<void> ask(std::string uuid, Duration turn, Duration patience) {
    runtime::AgentOrder order = ping();
    order.uuid = uuid;
    order.patience = patience;
    order.ended = [this, uuid] { ended.insert(uuid); };
    const runtime::Deadline begun_by = runtime.deadline_in(turn);
    const auto answer = co_await hypervisor.ask_agent(std::move(order), begun_by);
    came_of[uuid] = answer ? Errc::kInvalid : answer.error().code;
  }
  runtime::Task<bool> all_ended(std::size_t count) {
    const TimePoint until = runtime.now() + 10s;
    while (ended.size() < count && runtime.now() < until) {
      const TimePoint next = runtime.now() + 5ms;
      co_await runtime.sleep_until(next);
    }
    co_return ended.size() == count;
  }
  runtime::Task<bool> ask_all(std::vector<runtime::Task<void>> all) {
    co_await runtime::run_all(runtime.executor(), std::move(all));
    co_return true;
  }

  inline static std::atomic<bool> held = false;
  inline static const Api api = hanging_api();
  AsioRuntime runtime;
  Hypervisor hypervisor{runtime, api, {.uri = "fake:///", .fast_connections = 1}};
  std::map<std::string, Errc> came_of;
  std::set<std::string> ended;
};

TEST_F(HungAgents, OneThatHadNoThreadWasNotAskedAndHasItsOwnTimeOnceItIs) {
  std::vector<runtime::Task<void>> all;
  for (const char* const uuid : {"1", "2", "3", "4"}) all.push_back(ask(uuid, 5s, 100ms));
  all.push_back(ask("late", 100ms, 10s));
  run_task(runtime, ask_all(std::move(all)));
  for (const char* const uuid : {"1", "2", "3", "4"})
    EXPECT_EQ(came_of[uuid], Errc::kTimeout) << uuid;
  EXPECT_EQ(came_of["late"], Errc::kLimit) << "its time did not even begin";
  EXPECT_EQ(ended, std::set<std::string>{"late"}) << "the others go on";
  // The next waits for longer than its patience, and is answered all the same.
  std::thread later([] {
    std::this_thread::sleep_for(300ms);
    let_go();
  });
  std::vector<runtime::Task<void>> patient;
  patient.push_back(ask("patient", 10s, 200ms));
  run_task(runtime, ask_all(std::move(patient)));
  later.join();
  EXPECT_EQ(came_of["patient"], Errc::kInvalid) << "it was answered";
  EXPECT_TRUE(run_task(runtime, all_ended(6))) << "those of the others, too";
}

TEST_F(HungAgents, OneThatIsStillAskedIsNotAskedAgain) {
  std::vector<runtime::Task<void>> all;
  all.push_back(ask("1", 5s, 50ms));
  run_task(runtime, ask_all(std::move(all)));
  EXPECT_EQ(came_of["1"], Errc::kTimeout);
  EXPECT_TRUE(ended.empty());
  std::vector<runtime::Task<void>> again;
  again.push_back(ask("1", 5s, 50ms));
  run_task(runtime, ask_all(std::move(again)));
  EXPECT_EQ(came_of["1"], Errc::kLimit) << "that says nothing of it";
}

}  // namespace
}  // namespace wardmote::net::libvirt
