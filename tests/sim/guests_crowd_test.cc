// So many guests that hang at once that there are not enough places to ask them all: a whole agent
// that watches a fake host, and a libvirt that waits for five seconds for each.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "sim/fake_hypervisor.h"
#include "sim/guest_site.h"
#include "sim/seeds.h"

namespace wardmote::agent {
namespace {

using sim::FakeHost;
using sim::GuestSite;
using sim::World;
using namespace std::chrono_literals;

/// Of libvirt, from when the guest was found: a little more than five seconds after the tick.
constexpr Duration kPatience = 5050ms;
constexpr Duration kEvery = 5s;
/// N x interval + timeout + 1 s.
constexpr Duration kBound = 18s;
/// A round of pings of 50 guests takes 5 s for each 16 of them.
constexpr Duration kBoundOfFifty = kBound + 3 * (3 * kPatience);

class Crowd {
 public:
  Crowd(World& world, int all, std::string keys = "every: 5s, timeout: 2s, threshold: 3")
      : site(world, std::move(keys)), sim_(world), all_(all) {
    site.host.set_patience(kPatience);
    for (int i = 1; i <= all; ++i) site.start_guest(i);
    site.begin();
    sim_.run_for(20s);
    for (int i = 1; i <= all; ++i) EXPECT_EQ(site.verdict(i), "HEALTHY") << i;
  }
  void set_agents(int first, int last, FakeHost::Agent agent) {
    for (int i = first; i <= last; ++i) site.host.set_agent(sim::guest_uuid(i), agent);
  }
  /// How long until this is said of all of them. `watch` is called every half second.
  template <class Watch>
  Duration until_all(int first, int last, const std::string& verdict, Duration limit, Watch watch) {
    const TimePoint begun = sim_.now();
    std::set<int> open;
    for (int i = first; i <= last; ++i) open.insert(i);
    while (!open.empty() && sim_.now() - begun < limit) {
      sim_.run_for(500ms);
      std::erase_if(open, [&](int i) { return site.verdict(i) == verdict; });
      watch();
    }
    EXPECT_TRUE(open.empty()) << open.size() << " of them not; the first: " << *open.begin();
    return sim_.now() - begun;
  }
  Duration until_all(int first, int last, const std::string& verdict, Duration limit) {
    return until_all(first, last, verdict, limit, [] {});
  }

  GuestSite site;

 private:
  World& sim_;
  const int all_;
};

SIM_TEST_SEEDS(SimGuestsCrowd, APingThatIsStillUnderWayWhenTheNextIsDueIsAFailureToo, 10) {
  Crowd one(sim, 1);
  sim.run_for(Duration(sim.random().below(5'000'000'000)));
  one.set_agents(1, 1, FakeHost::Agent::kHangs);
  EXPECT_LE(one.until_all(1, 1, "GUEST_IDLE_HUNG", 60s), kBound);
}

SIM_TEST_SEEDS(SimGuestsCrowd, ByMasakarisRulesTheSame, 10) {
  Crowd one(sim, 1, "every: 5s, timeout: 2s, threshold: 3, rules: masakari");
  sim.run_for(Duration(sim.random().below(5'000'000'000)));
  one.set_agents(1, 1, FakeHost::Agent::kHangs);
  EXPECT_LE(one.until_all(1, 1, "GUEST_NO_ANSWER", 60s), kBound + 2 * kEvery);
}

SIM_TEST_SEEDS(SimGuestsCrowd, OfFiftyThatHangEachIsFoundAndNobodyElseIsSuspected, 5) {
  Crowd many(sim, 55);
  many.set_agents(1, 50, FakeHost::Agent::kHangs);
  const auto nobody_else = [&] {
    for (int i = 51; i <= 55; ++i) {
      EXPECT_EQ(many.site.verdict(i), "HEALTHY") << i;
      EXPECT_EQ(many.site.guest(i).at("failures").as_int64(), 0) << i;
    }
  };
  EXPECT_LE(many.until_all(1, 50, "GUEST_IDLE_HUNG", 4min, nobody_else), kBoundOfFifty);
  // Those who are known already hold up nobody who hangs only now.
  sim.run_for(1min);
  many.set_agents(51, 51, FakeHost::Agent::kHangs);
  EXPECT_LE(many.until_all(51, 51, "GUEST_IDLE_HUNG", 4min), kBound + 2s);
  // Nor are they forgotten.
  many.set_agents(1, 50, FakeHost::Agent::kAnswers);
  EXPECT_LE(many.until_all(1, 50, "HEALTHY", 4min), 30s);
  for (int i = 52; i <= 55; ++i) EXPECT_EQ(many.site.verdict(i), "HEALTHY") << i;
}

SIM_TEST_SEEDS(SimGuestsCrowd, GuestsThatNeverHadAnAgentDoNotHoldUpOneThatHangs, 3) {
  GuestSite site(sim, "every: 5s, timeout: 2s, threshold: 3");
  site.host.set_patience(kPatience);
  for (int i = 1; i <= 41; ++i) site.start_guest(i);
  for (int i = 1; i <= 40; ++i) site.host.set_agent(sim::guest_uuid(i), FakeHost::Agent::kHangs);
  site.begin();
  EXPECT_LE(site.until(41, "HEALTHY", 2min), 30s);
  sim.run_for(1min);
  site.host.set_agent(sim::guest_uuid(41), FakeHost::Agent::kHangs);
  EXPECT_LE(site.until(41, "GUEST_IDLE_HUNG", 2min), kBound + 2s);
}

SIM_TEST_SEEDS(SimGuestsCrowd, AStormCountsGuests, 1) {
  Crowd many(sim, 55);
  many.set_agents(1, 30, FakeHost::Agent::kHangs);
  sim.run_for(2min);
  const std::string incidents = many.site.get("/api/v1/incidents").body;
  EXPECT_TRUE(incidents.contains("30 of 55 guests fail at once")) << incidents;
}

// Whoever restarts guests hears of none while a cause may stand that is not theirs.
SIM_TEST_SEEDS(SimGuestsCrowd, WhoRestartsGuestsIsToldOfThoseThatAStormLeavesDead, 3) {
  GuestSite site(sim, "every: 5s, timeout: 2s, threshold: 3");
  site.recovers = true;
  for (int i = 1; i <= 20; ++i) site.start_guest(i);
  site.begin();
  sim.run_for(30s);
  for (int i = 1; i <= 12; ++i) site.host.set_agent(sim::guest_uuid(i), FakeHost::Agent::kHangs);
  sim.run_for(4min);
  for (int i = 1; i <= 12; ++i) EXPECT_EQ(site.verdict(i), "GUEST_IDLE_HUNG") << i;
  EXPECT_EQ(site.heard.parts.size(), 0U) << "it rages";
  for (int i = 9; i <= 12; ++i) site.host.set_agent(sim::guest_uuid(i), FakeHost::Agent::kAnswers);
  sim.run_for(10min);
  std::ranges::sort(site.heard.parts);
  std::vector<std::string> dead;
  for (int i = 1; i <= 8; ++i)
    dead.push_back("guest:web-" + std::to_string(i) + " GUEST_IDLE_HUNG");
  EXPECT_EQ(site.heard.parts, dead) << "and who answers again is left alone";
}

}  // namespace
}  // namespace wardmote::agent
