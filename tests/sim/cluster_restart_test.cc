// An agent that is started again in the middle of a cluster's outage calls the cluster no better
// than it called it before, on any face, until the windows of its findings have passed anew.

#include <gtest/gtest.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/agent_lives.h"
#include "sim/asked_agent.h"
#include "sim/fake_member.h"
#include "sim/seeds.h"
#include "support/captured_member.h"

namespace wardmote::agent {
namespace {

namespace json = boost::json;
using runtime::Endpoint;
using sim::FakeMember;
using sim::World;
using testing::captured_member;
using testing::FakeManners;
using namespace std::chrono_literals;

constexpr std::string_view kConfig = R"(
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
    every: 1s
    timeout: 900ms
)";

std::string text(const json::value& value) {
  return value.as_string().c_str();
}

/// Three servers, and an agent on a disk that can be started again.
class Site : public sim::AskedAgent {
 public:
  explicit Site(World& world) : AskedAgent(world) {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string number = std::to_string(i + 1);
      members.push_back(
          std::make_unique<FakeMember>(sim.process("ovsdb-server-" + number, "ctl"),
                                       Endpoint::unix_socket("/run/" + number + ".ctl"),
                                       Endpoint::unix_socket("/run/" + number + ".sock")));
      members.back()->start(captured_member("01-healthy.txt", i));
    }
    begin();
  }
  ~Site() { end(); }

  void begin() { agent_.begin(kConfig); }
  void end() { agent_.end(); }

  /// The leader dies, and the others agree on another.
  void lose_the_leader() {
    members[0]->crash();
    sim.run_for(1s);
    members[1]->answer(captured_member("05-leader-killed.txt", 0));
    members[2]->answer(captured_member("05-leader-killed.txt", 1));
  }
  void heal() {
    members[0]->start(captured_member("01-healthy.txt", 0));
    for (const std::size_t i : {1U, 2U}) members[i]->answer(captured_member("01-healthy.txt", i));
  }

  std::string verdict() { return text(json::parse(get("/api/v1/clusters/nb").body).at("verdict")); }
  /// The verdict on the cluster, as the metrics have it.
  bool metric_is(int verdict) {
    return get("/metrics")
        .body.contains("\nwardmote_cluster_verdict{cluster=\"nb\"} " + std::to_string(verdict) +
                       "\n");
  }
  /// Of what is open: number, code and severity.
  std::string open() {
    std::string open;
    const json::value incidents = json::parse(get("/api/v1/incidents").body);
    for (const json::value& one : incidents.at("incidents").as_array()) {
      open += "#" + std::to_string(one.at("id").as_int64()) + " " + text(one.at("code")) + " " +
              text(one.at("severity")) + "\n";
    }
    return open;
  }
  /// Until it is critical on every face.
  void wait_for_the_outage() {
    const auto told = [&] { return verdict() == "critical" && get("/readyz").status == 503; };
    ASSERT_LE(time_until(told, 60s), 60s);
    sim.run_for(1s);  // and written down
  }

  std::vector<std::unique_ptr<FakeMember>> members;

 private:
  sim::AgentLives agent_{sim, us};
};

SIM_TEST_SEEDS(SimClusterRestart, AnOutageStaysWhatItIsOnEveryFace, 5) {
  Site site(sim);
  sim.run_for(10s + Duration(sim.random().below(1'000'000'000)));
  site.lose_the_leader();
  site.wait_for_the_outage();
  const std::string before = site.open();
  ASSERT_TRUE(before.contains("RAFT_MEMBER_DOWN critical")) << before;
  site.end();
  sim.run_for(Duration(sim.random().below(5'000'000'000)));
  site.begin();
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(site.verdict(), "critical") << i;
    ASSERT_EQ(site.get("/readyz").status, 503) << i;
    ASSERT_TRUE(site.metric_is(2)) << i;
    ASSERT_EQ(site.open(), before) << i;
    sim.run_for(100ms);
  }
  site.heal();
  EXPECT_LE(site.time_until([&] { return site.verdict() == "ok"; }, 30s), 30s);
  EXPECT_LE(site.time_until([&] { return site.get("/readyz").status == 200; }, 30s), 30s);
  EXPECT_EQ(site.open(), "");
}

SIM_TEST_SEEDS(SimClusterRestart, AnOutageThatEndedMeanwhileIsOverAfterAFewLooks, 5) {
  Site site(sim);
  sim.run_for(10s + Duration(sim.random().below(1'000'000'000)));
  site.lose_the_leader();
  site.wait_for_the_outage();
  site.end();
  site.heal();
  site.begin();
  EXPECT_EQ(site.verdict(), "critical") << "nobody has looked yet";
  EXPECT_LE(site.time_until([&] { return site.verdict() == "ok"; }, 30s), 6s);
  EXPECT_EQ(site.open(), "") << "all faces at one moment";
  EXPECT_LE(site.time_until([&] { return site.get("/readyz").status == 200; }, 30s), 3s);
}

}  // namespace
}  // namespace wardmote::agent
