// What libvirt says by a connection that is gone. A fake of its functions, since a real libvirtd
// takes a connection away at a moment of its own; tests/integration/test_guests.py kills and stops
// a real one.
#include "net/libvirt/hypervisor.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "base/result.h"
#include "net/asio_runtime.h"
#include "net/libvirt/api.h"
#include "runtime/deadline.h"
#include "runtime/hypervisor.h"
#include "runtime/task.h"

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
  api.all_stats = [](virConnect*, unsigned, virDomainStatsRecord***, unsigned) { return -1; };
  return api;
}

class DeadConnection : public ::testing::Test {
 protected:
  DeadConnection() { alive = opened = 0; }
  ~DeadConnection() override { run_task(runtime, stopped(&hypervisor)); }
  template <class T>
  T ask(runtime::Task<T> task) {
    return run_task(runtime, std::move(task));
  }
  static runtime::Task<bool> stopped(Hypervisor* hypervisor) {
    co_await hypervisor->stop();
    co_return true;
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
  const auto answer =
      ask(hypervisor.ask_agent("0", "{}", 1s, Lane::kFast, runtime.deadline_in(10s)));
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
  const auto answer =
      ask(hypervisor.ask_agent("0", "{}", 1s, Lane::kFast, runtime.deadline_in(10s)));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, AgentAnswer::Kind::kReply);
  EXPECT_FALSE(ask(hypervisor.list(runtime.deadline_in(10s))));
  EXPECT_FALSE(ask(hypervisor.list(runtime.deadline_in(10s))));
  EXPECT_EQ(opened, 2) << "one for the agents, one for lists";
}

}  // namespace
}  // namespace wardmote::net::libvirt
