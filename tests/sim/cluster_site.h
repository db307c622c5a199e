#pragma once

#include <gtest/gtest.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/agent_lives.h"
#include "sim/asked_agent.h"
#include "sim/fake_member.h"
#include "support/captured_member.h"

namespace wardmote::sim {

/// Three servers of a healthy cluster `nb`, and an agent on a disk that can be started again. The
/// agent looks at them by `schedule`, lines of YAML.
class ClusterSite : public AskedAgent {
 public:
  explicit ClusterSite(World& world, std::string schedule = "every: 1s\n    timeout: 900ms")
      : AskedAgent(world), schedule_(std::move(schedule)) {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string number = std::to_string(i + 1);
      members.push_back(
          std::make_unique<FakeMember>(sim.process("ovsdb-server-" + number, "ctl"),
                                       runtime::Endpoint::unix_socket("/run/" + number + ".ctl"),
                                       runtime::Endpoint::unix_socket("/run/" + number + ".sock")));
      members.back()->start(testing::captured_member("01-healthy.txt", i));
    }
    begin();
  }
  ~ClusterSite() { end(); }

  void begin() { agent_.begin(text()); }
  void end() { agent_.end(); }

  /// The leader dies, and the others agree on another.
  void lose_the_leader() {
    members[0]->crash();
    sim.run_for(std::chrono::seconds(1));
    members[1]->answer(testing::captured_member("05-leader-killed.txt", 0));
    members[2]->answer(testing::captured_member("05-leader-killed.txt", 1));
  }
  void heal() {
    // The capture is of before the outage; what they have committed since stays in their logs.
    const auto healthy = [](std::size_t i) {
      testing::FakeManners manners = testing::captured_member("01-healthy.txt", i);
      for (auto& [method, answer] : manners.results) {
        replace_all(answer, "Log: [2, 5]", "Log: [2, 6]");
        replace_all(answer, "match_index=4", "match_index=5");
        replace_all(answer, "next_index=5", "next_index=6");
        replace_all(answer, R"("index":4)", R"("index":5)");
      }
      return manners;
    };
    members[0]->start(healthy(0));
    for (const std::size_t i : {1U, 2U}) members[i]->answer(healthy(i));
  }

  std::string verdict() {
    return std::string(
        boost::json::parse(get("/api/v1/clusters/nb").body).at("verdict").as_string());
  }
  /// The verdict on the cluster, as the metrics have it.
  bool metric_is(int verdict) {
    return get("/metrics")
        .body.contains("\nwardmote_cluster_verdict{cluster=\"nb\"} " + std::to_string(verdict) +
                       "\n");
  }
  /// Of what is open: number, code and severity.
  std::string open() {
    std::string open;
    const auto incidents = boost::json::parse(get("/api/v1/incidents").body);
    for (const auto& one : incidents.at("incidents").as_array()) {
      open += "#" + std::to_string(one.at("id").as_int64());
      for (const char* const key : {"code", "severity"})
        open += " " + std::string(one.at(key).as_string());
      open += "\n";
    }
    return open;
  }
  /// Until it is critical on every face.
  void wait_for_the_outage() {
    const auto told = [&] { return verdict() == "critical" && get("/readyz").status == 503; };
    const Duration limit = std::chrono::seconds(60);
    ASSERT_LE(time_until(told, limit), limit);
    sim.run_for(std::chrono::seconds(1));  // and written down
  }

  std::vector<std::unique_ptr<FakeMember>> members;

 private:
  static void replace_all(std::string& text, const std::string& old, const std::string& fresh) {
    for (std::size_t at = text.find(old); at != std::string::npos;
         at = text.find(old, at + fresh.size()))
      text.replace(at, old.size(), fresh);
  }

  [[nodiscard]] std::string text() const {
    return R"(
api: {listen: 127.0.0.1:9470}
data: /var/lib/wardmote
clusters:
  - name: nb
    ovn:
      database: OVN_Northbound
      members:
        - {name: ctl-1, control: /run/1.ctl, ovsdb: "unix:/run/1.sock"}
        - {name: ctl-2, control: /run/2.ctl, ovsdb: "unix:/run/2.sock"}
        - {name: ctl-3, control: /run/3.ctl, ovsdb: "unix:/run/3.sock"}
    )" + schedule_ +
           "\n";
  }

  const std::string schedule_;
  AgentLives agent_{sim, us};
};

}  // namespace wardmote::sim
