// Failover pairs as the agent shows them: page, gate, incidents, also when it is started again in
// the middle of an outage. What their managers report is made up here.

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/failover/decision.h"
#include "judge/failover/member.h"
#include "judge/failover/report.h"
#include "sim/agent_lives.h"
#include "sim/asked_agent.h"
#include "sim/seeds.h"
#include "sim/world.h"

namespace wardmote::agent {
namespace {

namespace json = boost::json;
using judge::failover::Copy;
using judge::failover::Lock;
using judge::failover::Member;
using judge::failover::PairReport;
using sim::World;
using namespace std::chrono_literals;

constexpr const char* kConfig = R"(
node: {name: ctl}
api: {listen: 127.0.0.1:9470}
data: /var/lib/wardmote
store: {etcd: {endpoints: ['127.0.0.1:2379']}, name: prod}
failover:
  - name: ovn
    members: [ctl, ctl-2]
    nb: {source: 'tcp:10.0.0.1:6641'}
    sb: {source: 'tcp:10.0.0.1:6642'}
    address: 10.0.0.100/24
    interface: eth0
gates:
  ready: {all: [ovn]}
)";

Member member(const std::string& name, Copy copy) {
  Member made;
  made.name = name;
  made.nb = made.sb = copy;
  made.position.epoch = 1;
  made.trail = {{1, 1}};
  return made;
}

/// ctl-2 is active, and this node follows.
PairReport healthy() {
  PairReport made;
  made.name = "ovn";
  made.node = "ctl";
  made.acts = true;
  made.ttl = 6s;
  made.lock = Lock::kOther;
  made.active = "ctl-2";
  made.own = member("ctl", Copy::kFollowing);
  made.members = {member("ctl-2", Copy::kActive)};
  made.record = {.epoch = 1, .claimed = 1, .active = "ctl-2", .trail = {{1, 1}}};
  made.age = 0s;
  return made;
}

PairReport nobody_active() {
  PairReport made = healthy();
  made.lock = Lock::kNone;
  made.active.clear();
  made.own = member("ctl", Copy::kIsolated);
  made.members = {member("ctl-2", Copy::kDown)};
  return made;
}

PairReport store_away() {
  PairReport made = nobody_active();
  made.lock = Lock::kUnknown;
  made.complaints = {"etcd: connection refused"};
  return made;
}

class Site : public sim::AskedAgent {
 public:
  explicit Site(World& world) : AskedAgent(world) {
    agent_.pairs = [this] { return reports; };
    begin();
  }
  ~Site() { end(); }

  void begin() { agent_.begin(kConfig); }
  void end() { agent_.end(); }
  void wipe() { agent_.wipe(); }

  json::value told(const std::string& path) { return json::parse(get(path).body); }
  std::string verdict() { return text(told("/api/v1/failover/ovn").at("verdict")); }
  std::string of_all() { return text(told("/api/v1/status").at("verdict")); }
  bool ready() { return get("/readyz").status == 200; }
  std::string open() {
    std::string open;
    const json::value incidents = told("/api/v1/incidents");
    for (const json::value& one : incidents.at("incidents").as_array())
      open += text(one.at("code")) + " of " + text(one.at("root")) + "\n";
    return open;
  }
  bool all_well() { return verdict() == "ok" && of_all() == "ok" && ready() && open().empty(); }
  void wait_for_the_outage() {
    ASSERT_LE(time_until([&] { return all_well(); }, 60s), 10s);
    reports = {nobody_active()};
    ASSERT_LE(time_until([&] { return verdict() == "critical"; }, 60s), 14s);
    sim.run_for(2s);
    ASSERT_FALSE(ready());
    ASSERT_EQ(of_all(), "critical");
    ASSERT_EQ(open(), "FAILOVER_NO_ACTIVE of failover:ovn\n");
  }

  std::vector<PairReport> reports = {healthy()};

 private:
  static std::string text(const json::value& value) { return value.as_string().c_str(); }

  sim::AgentLives agent_{sim, us};
};

SIM_TEST_SEEDS(SimFailoverPairs, AnOutageIsOneIncidentAndEveryFaceSaysIt, 3) {
  Site site(sim);
  site.wait_for_the_outage();
  const json::value pair = site.told("/api/v1/failover/ovn");
  EXPECT_EQ(pair.at("findings").as_array().size(), 1U);
  EXPECT_EQ(site.told("/api/v1/status").at("failover").as_array().size(), 1U);
  EXPECT_EQ(site.told("/api/v1/findings").at("findings").as_array().at(0).at("pair"), "ovn");
  EXPECT_NE(
      site.get("/metrics")
          .body.find("wardmote_failover_finding{pair=\"ovn\",code=\"FAILOVER_NO_ACTIVE\",severity="
                     "\"critical\"} 1"),
      std::string::npos);
  site.reports = {healthy()};
  EXPECT_LE(site.time_until([&] { return site.all_well(); }, 60s), 3s) << site.open();
}

SIM_TEST_SEEDS(SimFailoverPairs, ARestartInAnOutageCallsNothingBetter, 3) {
  Site site(sim);
  site.wait_for_the_outage();
  site.end();
  sim.run_for(Duration(sim.random().below(5'000'000'000)));
  site.reports = {store_away()};  // the manager begins anew
  site.begin();
  for (int i = 0; i < 300; ++i) {
    if (i == 50) site.reports = {nobody_active()};
    ASSERT_EQ(site.verdict(), "critical") << i;
    ASSERT_EQ(site.of_all(), "critical") << i;
    ASSERT_FALSE(site.ready()) << i;
    ASSERT_EQ(site.open(), "FAILOVER_NO_ACTIVE of failover:ovn\n") << i;
    sim.run_for(100ms);
  }
  site.reports = {healthy()};
  EXPECT_LE(site.time_until([&] { return site.all_well(); }, 60s), 5s) << site.open();
}

SIM_TEST_SEEDS(SimFailoverPairs, AFirstStartInAnOutageCallsNothingGood, 3) {
  Site site(sim);
  site.end();
  site.reports = {nobody_active()};
  site.wipe();
  site.begin();
  while (site.verdict() != "critical") {
    ASSERT_EQ(site.verdict(), "unknown");
    ASSERT_NE(site.of_all(), "ok");
    ASSERT_FALSE(site.ready());
    sim.run_for(100ms);
  }
}

SIM_TEST_SEEDS(SimFailoverPairs, WhatEndedMeanwhileIsBelievedAfterThreeCleanLooks, 3) {
  Site site(sim);
  site.wait_for_the_outage();
  site.end();
  site.reports = {healthy()};
  site.begin();
  EXPECT_EQ(site.verdict(), "critical") << "nobody has looked yet";
  EXPECT_LE(site.time_until([&] { return site.all_well(); }, 60s), 5s) << site.open();
}

SIM_TEST_SEEDS(SimFailoverPairs, ASignOfALesserFaultDoesNotKeepAnOutageUp, 3) {
  Site site(sim);
  site.wait_for_the_outage();
  PairReport lesser = healthy();
  lesser.own = member("ctl", Copy::kSearching);
  site.reports = {lesser};
  EXPECT_LE(site.time_until([&] { return site.verdict() == "ok" && site.ready(); }, 60s), 8s);
  EXPECT_TRUE(site.open().empty()) << site.open();
  EXPECT_LE(site.time_until([&] { return site.verdict() == "warning"; }, 60s), 16s);
}

SIM_TEST_SEEDS(SimFailoverPairs, WithoutTheStoreNothingIsKnownAndThatIsNotGood, 3) {
  Site site(sim);
  ASSERT_LE(site.time_until([&] { return site.all_well(); }, 60s), 10s);
  site.reports = {store_away()};
  ASSERT_LE(site.time_until([&] { return site.verdict() == "unknown"; }, 60s), 2s);
  ASSERT_LE(site.time_until([&] { return !site.ready(); }, 120s), 62s);
  EXPECT_EQ(site.told("/api/v1/checks").at("checks").as_array().at(0).at("detail"),
            "etcd: connection refused");
}

SIM_TEST_SEEDS(SimFailoverPairs, APairWithoutAManagerIsNotCalledGood, 3) {
  Site site(sim);
  ASSERT_LE(site.time_until([&] { return site.all_well(); }, 60s), 10s);
  site.reports.clear();
  EXPECT_LE(site.time_until([&] { return !site.ready(); }, 120s), 62s);
  EXPECT_EQ(site.told("/api/v1/checks").at("checks").as_array().at(0).at("detail"),
            "this pair counts from the next start of the agent");
}

}  // namespace
}  // namespace wardmote::agent
