// What agents are asked besides pings, and what happens while a ping is under way: a whole agent
// that watches a fake host.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "codec/qga.h"
#include "runtime/hypervisor.h"
#include "sim/fake_hypervisor.h"
#include "sim/guest_site.h"
#include "sim/seeds.h"

namespace wardmote::agent {
namespace {

using sim::FakeHost;
using sim::GuestSite;
using sim::World;
using Told = std::vector<std::string>;
using namespace std::chrono_literals;

/// Without what a notice repeats of incidents that its receiver knows.
Told news(const GuestSite& site) {
  Told told;
  for (const std::string& one : site.told) {
    if (!one.starts_with("ongoing")) told.push_back(one);
  }
  return told;
}

SIM_TEST_SEEDS(SimGuestsInside, AFreezeLeftBehindIsAnIncidentOfItsOwn, 3) {
  GuestSite site(sim);
  const std::string web = site.start_guest(1);
  site.begin();
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 3s);
  site.host.at(web).frozen = true;
  sim.run_for(9min);
  EXPECT_EQ(news(site), Told()) << "a backup may take that long";
  sim.run_for(6min);
  EXPECT_EQ(news(site), Told{"opened guest:web-1/inside VM_FS_FROZEN"});
  EXPECT_EQ(site.verdict(1), "HEALTHY");
  // A restart of the agent changes nothing that is said.
  site.end();
  sim.run_for(30s);
  site.begin();
  sim.run_for(10min);
  EXPECT_EQ(news(site).size(), 1U) << news(site).back();
  // The guest hangs meanwhile, and comes back.
  site.host.set_agent(web, FakeHost::Agent::kHangs);
  sim.run_for(5min);
  site.host.set_agent(web, FakeHost::Agent::kAnswers);
  sim.run_for(5min);
  EXPECT_EQ(news(site),
            (Told{"opened guest:web-1/inside VM_FS_FROZEN", "opened guest:web-1 GUEST_IDLE_HUNG",
                  "resolved guest:web-1 GUEST_IDLE_HUNG"}));
  site.host.at(web).frozen = false;
  sim.run_for(10min);
  EXPECT_EQ(news(site).size(), 4U);
  EXPECT_EQ(news(site).back(), "resolved guest:web-1/inside VM_FS_FROZEN");
}

SIM_TEST_SEEDS(SimGuestsInside, ClocksAndFullFileSystemsAreFoundAndEnd, 3) {
  GuestSite site(sim);
  const std::string slow = site.start_guest(1);
  const std::string full = site.start_guest(2);
  site.begin();
  EXPECT_LE(site.until(2, "HEALTHY", 20s), 3s);
  site.host.at(slow).clock_ahead = -1min;
  site.host.at(full).full_percent = 97;
  sim.run_for(15min);
  Told told = news(site);
  std::ranges::sort(told);
  EXPECT_EQ(told, (Told{"opened guest:web-1/inside VM_CLOCK_DRIFT",
                        "opened guest:web-2/inside VM_FS_FULL"}));
  site.host.at(slow).clock_ahead = 1s;
  site.host.at(full).full_percent = 10;
  sim.run_for(30min);
  EXPECT_EQ(news(site).size(), 4U);
}

/// For each guest, whether any two questions came closer together than a minute.
void expect_one_a_minute(const FakeHost& host) {
  std::map<std::string, TimePoint> last;
  for (const auto& [at, whom] : host.inquiries()) {
    const std::string uuid = whom.substr(0, 36);
    if (last.contains(uuid)) EXPECT_GE(at - last[uuid], 1min) << whom;
    last[uuid] = at;
  }
}

SIM_TEST_SEEDS(SimGuestsInside, NoGuestIsAskedMoreThanOnceAMinute, 3) {
  GuestSite site(sim, "every: 1s, timeout: 500ms, threshold: 3");
  for (int i = 1; i <= 5; ++i) site.start_guest(i);
  site.host.at(sim::guest_uuid(2)).frozen = true;
  site.begin();
  sim.run_for(10min);
  site.host.set_agent(sim::guest_uuid(3), FakeHost::Agent::kHangs);
  sim.run_for(10min);
  expect_one_a_minute(site.host);
  EXPECT_GE(site.host.inquiries().size(), 5U * 15);
}

SIM_TEST_SEEDS(SimGuestsInside, WhoeverSwitchesItOffIsAskedForNothingElse, 2) {
  const bool compat = sim.random().below(2) == 0;
  GuestSite site(sim,
                 compat ? "every: 1s, rules: masakari"
                        : "every: 1s, inside: {freeze: false, clock: false, file_systems: false}");
  site.start_guest(1);
  site.begin();
  sim.run_for(10min);
  EXPECT_EQ(site.host.inquiries().size(), 0U);
}

SIM_TEST_SEEDS(SimGuestsInside, AGuestSaysInItsMetadataThatItIsNotAsked, 2) {
  GuestSite site(sim);
  const std::string web = site.start_guest(1);
  site.host.at(web).metadata =
      "<w:guest xmlns:w='https://wardmote.io/xmlns/guest/1' inside='no' max_alarms='1'/>";
  site.begin();
  sim.run_for(10min);
  EXPECT_EQ(site.host.inquiries().size(), 0U);
  EXPECT_EQ(site.verdict(1), "HEALTHY");
}

SIM_TEST_SEEDS(SimGuestsInside, AGuestThatKeepsFailingIsNotCalledLostAgain, 2) {
  GuestSite site(sim);
  const std::string web = site.start_guest(1);
  site.begin();
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 3s);
  for (int i = 0; i < 4; ++i) {
    site.host.set_agent(web, FakeHost::Agent::kHangs);
    sim.run_for(3min);
    site.host.set_agent(web, FakeHost::Agent::kAnswers);
    sim.run_for(7min);
  }
  const auto says = [&](std::string_view code) {
    return std::ranges::count_if(site.told, [&](const std::string& one) {
      return one.starts_with("opened") && one.ends_with(code);
    });
  };
  EXPECT_LE(says("GUEST_IDLE_HUNG"), 3);
  EXPECT_TRUE(std::ranges::any_of(
      site.told, [](const std::string& one) { return one.ends_with("VM_KEEPS_FAILING"); }));
}

SIM_TEST_SEEDS(SimGuestsPing, AnAnswerJustBeforeTheTimeoutIsOneAndJustAfterIsNone, 5) {
  GuestSite site(sim);
  const std::string web = site.start_guest(1);
  site.host.at(web).answers_in = 1900ms;
  site.begin();
  sim.run_for(10min);
  EXPECT_EQ(site.verdict(1), "HEALTHY");
  EXPECT_EQ(site.told, Told());
  site.host.at(web).answers_in = 2300ms;
  EXPECT_LE(site.until(1, "GUEST_IDLE_HUNG", 60s), 33s) << "a late answer is none";
  site.host.at(web).answers_in = 1900ms;
  EXPECT_LE(site.until(1, "HEALTHY", 60s), 13s);
}

SIM_TEST_SEEDS(SimGuestsPing, AGuestThatIsDestroyedWhileItIsAskedIsGoneAndNoAlarm, 10) {
  GuestSite site(sim);
  site.host.set_patience(5s);
  const std::string web = site.start_guest(1);
  site.begin();
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 3s);
  site.host.set_agent(web, FakeHost::Agent::kHangs);
  // At any moment of its first two pings.
  sim.run_for(10s + Duration(sim.random().below(10'000'000'000)));
  constexpr int kDestroyed = 1;
  site.host.stop(web, kDestroyed);
  sim.run_for(5min);
  EXPECT_EQ(site.told, Told());
  EXPECT_TRUE(site.guest(1).empty());
  site.start_guest(1);
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 11s) << "a fresh one of the same UUID";
}

SIM_TEST_SEEDS(SimGuestsPing, AShutdownThatTakesLongerThanTheThresholdIsNoAlarm, 5) {
  GuestSite site(sim, "every: 1s, timeout: 500ms, threshold: 3");
  const std::string web = site.start_guest(1);
  site.begin();
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 3s);
  // The agent is among the first that a shutdown ends; libvirt tells of it when it is over.
  site.host.set_agent(web, FakeHost::Agent::kClosed);
  sim.run_for(25s);
  constexpr int kShutdown = 0;
  site.host.stop(web, kShutdown);
  sim.run_for(5min);
  EXPECT_EQ(site.told, Told());
}

SIM_TEST_SEEDS(SimGuestsPing, AnAgentThatSomebodyElseHoldsIsBusyAndNotSilent, 5) {
  GuestSite site(sim);
  site.host.set_patience(5s);
  const std::string web = site.start_guest(1);
  site.begin();
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 3s);
  // A backup freezes file systems, and a hook in the guest takes its time.
  site.host.at(web).held_until = sim.now() + 100s;
  sim.run_for(3min);
  EXPECT_EQ(site.told, Told());
  EXPECT_EQ(site.verdict(1), "HEALTHY");
  // Nobody should hold it for an hour.
  site.host.at(web).held_until = sim.now() + 1h;
  EXPECT_LE(site.until(1, "GUEST_IDLE_HUNG", 10min), 3min);
}

SIM_TEST_SEEDS(SimGuestsPing, AGuestThatComesByMigrationIsNoGuestThatBoots, 5) {
  GuestSite site(sim);
  site.begin();
  const std::string web = site.start_guest(1);
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 3s);
  // It was silent on its way, and begins anew here.
  site.host.set_agent(web, FakeHost::Agent::kHangs);
  sim.run_for(22s);
  constexpr int kStarted = 2;
  constexpr int kMigrated = 1;
  site.host.tell({.uuid = web,
                  .name = "web-1",
                  .at = {},
                  .what = runtime::HypervisorEvent::Lifecycle{kStarted, kMigrated}});
  sim.run_for(15s);
  EXPECT_EQ(site.told, Told()) << "its failures of before do not count";
  site.host.set_agent(web, FakeHost::Agent::kAnswers);
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 13s);
  EXPECT_EQ(site.told, Told());
}

}  // namespace
}  // namespace wardmote::agent
