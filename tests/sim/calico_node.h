#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "observe/calico/health.h"
#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "support/bird_captures.h"
#include "support/fake_bird.h"

namespace wardmote::sim {

using observe::calico::Check;
using observe::calico::HealthPlan;
using observe::calico::HealthResult;
using observe::calico::Release;
using runtime::Endpoint;
using runtime::Task;
using testing::bird_table;
using testing::bird_with;
using testing::BirdManners;
using testing::FakeBird;
using Verdict = HealthResult::Verdict;
using namespace std::chrono_literals;

inline constexpr std::string_view kUp1 =
    "Mesh_10_0_0_1 BGP      master   up     07:54:13    Established   \n";
inline constexpr std::string_view kUp2 =
    " Mesh_10_0_0_2 BGP      master   up     07:54:13    Established   \n";
inline constexpr std::string_view kDown2 =
    " Mesh_10_0_0_2 BGP      master   start  07:54:13    Active        \n";
inline const std::string kBothUp = bird_table(std::string(kUp1).append(kUp2));
inline const std::string kOneUp = bird_table(std::string(kUp1).append(kDown2));
inline constexpr std::string_view kRestarting =
    "1000-BIRD 1.6.8\n1011-Router ID is 1.1.1.1\n"
    "0024-Graceful restart recovery in progress\n   Waiting for 1 protocols to recover\n"
    "   Wait timer is 238/240\n0013 Daemon is up and running\n";
inline const std::string kNotReady = "calico/node is not ready: BIRD is not ready: ";

/// A Calico node with one BIRD, its nodename file, runit folders, and a Felix that answers one
/// thing.
class CalicoNode {
 public:
  explicit CalicoNode(World& world) : sim(world) {
    host.files().put("/var/lib/calico/nodename", "node-1", host.wall_now());
    for (const char* service : {"confd", "bird"}) run_service(service);
    plan.policy = observe::calico::own_policy();
  }

  void serve(BirdManners manners, std::string path = "/var/run/calico/bird.ctl") {
    host.files().put(path, "");
    const auto spawn = [this](std::string name, Task<void> task) {
      host.spawn(std::move(name), std::move(task));
    };
    bird = std::make_unique<FakeBird>(host, spawn, Endpoint::unix_socket(std::move(path)),
                                      std::move(manners));
  }
  void nodename_age(Duration age) {
    host.files().put("/var/lib/calico/nodename", "node-1", host.wall_now() - age);
  }
  void run_service(const std::string& name, char state = '\1') {
    const std::string folder = "/etc/service/enabled/" + name + "/supervise";
    host.files().put_fifo(folder + "/ok", true);
    std::string status("\x40\0\0\0\x6a\xff\xfd\x16\x09\x98\xfa\x54\x91\x6f\0\0\0\x75\0", 19);
    host.files().put(folder + "/status", status + state);
  }
  void answer_http(std::string bytes, bool closes = true,
                   Endpoint at = Endpoint::tcp("node-1", 9099)) {
    auto listener = host.listen(std::move(at));
    check(listener.has_value(), "no listener");
    host.spawn("felix", serve_http(&host, *std::move(listener), &http_));
    http_ = {std::move(bytes), closes};
    plan.felix.host = "node-1";
  }
  void answers_now(std::string bytes) { http_.bytes = std::move(bytes); }

  HealthResult run(Check check = Check::kBirdReady) {
    begun = host.now();
    HealthResult result = run_task(
        sim, host, observe::calico::check_health(&host, &plan, check, host.deadline_in(3s)));
    took = host.now() - begun;
    return result;
  }
  HealthResult run(Release release, Check check = Check::kBirdReady) {
    plan.release = release;
    return run(check);
  }

  World& sim;
  SimRuntime& host = sim.host("node-1");
  HealthPlan plan;
  std::unique_ptr<FakeBird> bird;
  TimePoint begun;
  Duration took{};

 private:
  struct Http {
    std::string bytes;
    bool closes = true;
  };

  static Task<void> serve_http(SimRuntime* host, std::unique_ptr<runtime::Listener> listener,
                               Http* http) {
    for (;;) {
      auto stream = co_await listener->accept();
      if (!stream) co_return;
      // All of it: whoever closes with bytes unread resets the connection.
      std::string request;
      while (!request.ends_with("\r\n\r\n")) {
        std::array<char, 1024> chunk;
        const auto got = co_await (*stream)->read_some(chunk, host->deadline_in(1h));
        if (!got) break;
        request.append(chunk.data(), *got);
      }
      const std::string answer = http->bytes;
      const auto sent = co_await (*stream)->write(answer, host->deadline_in(1h));
      if (sent && !http->closes) co_await host->sleep_until(host->now() + 1h);
    }
  }

  Http http_;
  Curfew ends_ = Curfew(host);
};

inline constexpr std::array kAll = {Release::kOwn, Release::kCalico322, Release::kCalico330,
                                    Release::kHead};

}  // namespace wardmote::sim
