#include "observe/ovn/server_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "support/ovn_captures.h"

namespace wardmote::sim {
namespace {

using observe::ovn::ServerWatch;
using testing::FakeManners;
using namespace std::chrono_literals;

constexpr std::string_view kCapture = "06-push-monitor-member3-during-leader-kill.txt";

/// What a real server pushed: the monitor's first reply, then updates.
std::vector<std::string> pushed() {
  std::vector<std::string> messages;
  for (const std::string& line : testing::lines_after(kCapture, "")) {
    const std::size_t brace = line.find('{');
    if (brace != std::string::npos) messages.push_back(line.substr(brace));
  }
  return messages;
}

FakeManners watched_manners() {
  const std::string first = pushed().at(0);
  const std::size_t at = first.find(R"("result":)") + 9;
  FakeManners manners;
  manners.results["monitor_cond_since"] = first.substr(at, first.rfind(R"(,"error")") - at);
  manners.results["echo"] = "[]";
  return manners;
}

/// A server, and a watch of it on another host, so that either can be paused alone.
struct Watched {
  explicit Watched(World& world, FakeManners manners = watched_manners())
      : sim(world), server(serve(host, at, std::move(manners))) {
    agent.spawn("watch", watch.run());
  }
  bool until(const std::function<bool()>& condition, Duration limit = 30s) {
    return sim.run_until(condition, limit);
  }
  bool until_watching() {
    return until([this] { return watch.watching(); });
  }
  void push(std::string bytes) { run_task(sim, host, pushing(server.get(), std::move(bytes))); }

  static runtime::Task<bool> pushing(testing::FakeServer* server, std::string bytes) {
    co_await server->push(std::move(bytes));
    co_return true;
  }

  World& sim;
  SimRuntime& host = sim.host("ctl-1");
  SimRuntime& agent = sim.host("agent");
  const runtime::Endpoint at = runtime::Endpoint::tcp("ctl-1", 6641);
  std::unique_ptr<testing::FakeServer> server;
  int nudges = 0;
  ServerWatch watch{agent, at, "OVN_Northbound", [this] { ++nudges; }};
  Curfew host_ends = Curfew(host);
  Curfew agent_ends = Curfew(agent);
};

SIM_TEST(OvnWatch, TellsOfEveryChangeAndKeepsTheRow) {
  Watched watched(sim);
  ASSERT_TRUE(watched.until_watching());
  EXPECT_FALSE(watched.watch.row()->leader);
  EXPECT_EQ(watched.nudges, 0) << "the schedule looks anyway";
  const std::vector<std::string> messages = pushed();
  for (std::size_t i = 1; i < messages.size(); ++i) watched.push(messages[i]);
  EXPECT_TRUE(watched.until([&] { return watched.watch.row()->leader; }, 1s));
  EXPECT_EQ(watched.nudges, 1) << "its index alone is no news";
}

SIM_TEST(OvnWatch, TellsOfTheLossAtOnceAndComesBack) {
  Watched watched(sim);
  ASSERT_TRUE(watched.until_watching());
  watched.server->hang_up();
  EXPECT_TRUE(watched.until([&] { return watched.nudges == 1; }, 10ms)) << "the loss";
  EXPECT_TRUE(watched.until([&] { return watched.nudges == 2; })) << "the return";
  EXPECT_TRUE(watched.watch.watching());
  EXPECT_EQ(watched.server->connections(), 2);
}

SIM_TEST(OvnWatch, AHungServerIsLostAfterTheEchoAndFoundAgain) {
  Watched watched(sim);
  ASSERT_TRUE(watched.until_watching());
  sim.run_for(60s);
  EXPECT_EQ(watched.server->connections(), 1) << "an idle server that echoes is kept";
  EXPECT_EQ(watched.nudges, 0);

  watched.host.pause();
  EXPECT_TRUE(watched.until([&] { return !watched.watch.watching(); }, 4s))
      << "echo_every + echo_timeout";
  EXPECT_EQ(watched.watch.lost()->code, Errc::kTimeout);
  EXPECT_TRUE(watched.watch.row().has_value()) << "the last known row stays";
  EXPECT_EQ(watched.nudges, 1);
  sim.run_for(20s);
  watched.host.resume();
  EXPECT_TRUE(watched.until_watching());
  EXPECT_EQ(watched.nudges, 2);
}

SIM_TEST(OvnWatch, AnswersTheEchoOfTheServer) {
  Watched watched(sim);
  ASSERT_TRUE(watched.until_watching());
  watched.push(R"({"id":"echo","method":"echo","params":[]})");
  sim.run_for(30s);
  EXPECT_EQ(watched.server->replies(), std::vector<std::string>{R"("echo")"});
  EXPECT_EQ(watched.server->connections(), 1);
}

constexpr std::string_view kRow =
    R"({"name":"OVN_Northbound","model":"clustered","connected":true,"leader":false,"cid":["uuid","b563dad3-5d5e-4b38-a150-859542fb32c9"],"sid":["uuid","499b257a-9bd2-4c64-91ea-a30aa618ef17"]})";

SIM_TEST(OvnWatch, AServerBeforeMonitorCondSinceIsAskedForMonitorCond) {
  FakeManners old = watched_manners();
  old.results.erase("monitor_cond_since");
  old.results["monitor_cond"] = fmt::format(R"({{"Database":{{"r1":{{"initial":{}}}}}}})", kRow);
  Watched watched(sim, std::move(old));
  ASSERT_TRUE(watched.until_watching());
  EXPECT_EQ(watched.server->requests(),
            (std::vector<std::string>{"monitor_cond_since", "monitor_cond"}));
  watched.push(
      R"({"id":null,"method":"update2","params":["wardmote",{"Database":{"r1":{"modify":{"leader":true}}}}]})");
  EXPECT_TRUE(watched.until([&] { return watched.watch.row()->leader; }, 1s));
  EXPECT_EQ(watched.nudges, 1);
  sim.run_for(60s);
  EXPECT_EQ(watched.server->connections(), 1) << "its echoes are answered as well";
}

SIM_TEST(OvnWatch, AServerOfTheRfcAloneIsAskedForMonitor) {
  FakeManners old = watched_manners();
  old.results.erase("monitor_cond_since");
  // A plain monitor has no condition: it tells of all databases.
  old.results["monitor"] = fmt::format(
      R"({{"Database":{{"r0":{{"new":{{"name":"_Server","leader":true}}}},"r1":{{"new":{}}}}}}})",
      kRow);
  Watched watched(sim, std::move(old));
  ASSERT_TRUE(watched.until_watching());
  EXPECT_FALSE(watched.watch.row()->leader);
  watched.push(
      R"({"id":null,"method":"update","params":["wardmote",{"Database":{"r1":{"old":{"connected":true}}}}]})");
  EXPECT_TRUE(watched.until([&] { return !watched.watch.row().has_value(); }, 1s)) << "it went";
}

SIM_TEST(OvnWatch, AServerThatKnowsNoMonitorIsAskedRarely) {
  FakeManners old = watched_manners();
  old.results.erase("monitor_cond_since");
  Watched watched(sim, std::move(old));
  ASSERT_TRUE(watched.until([&] { return watched.watch.lost().has_value(); }));
  EXPECT_TRUE(codec::is_unknown_method(*watched.watch.lost()));
  EXPECT_EQ(watched.nudges, 0);
  sim.run_for(50s);
  EXPECT_EQ(watched.server->connections(), 1);
}

SIM_TEST(OvnWatch, GarbageEndsTheConnectionWithAReason) {
  Watched watched(sim);
  ASSERT_TRUE(watched.until_watching());
  watched.push("garbage");
  EXPECT_TRUE(watched.until([&] { return watched.watch.lost().has_value(); }, 10ms));
  EXPECT_EQ(watched.watch.lost()->code, Errc::kProtocol);
}

SIM_TEST(OvnWatch, AServerThatAcceptsAndClosesIsNotHammered) {
  FakeManners closing = watched_manners();
  closing.closes_after = 1;
  Watched watched(sim, std::move(closing));
  sim.run_for(60s);
  // 100 ms doubled to 5 s, each at least half of that.
  EXPECT_LE(watched.server->connections(), 6 + 60 / 2.5);
  EXPECT_GE(watched.server->connections(), 10);
}

}  // namespace
}  // namespace wardmote::sim
