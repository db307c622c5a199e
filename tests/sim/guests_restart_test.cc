// Guests that are restarted by a plan: on a host whose truth is known, whatever happens meanwhile.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/time.h"
#include "runtime/hypervisor.h"
#include "sim/fake_hypervisor.h"
#include "sim/guest_site.h"
#include "sim/seeds.h"
#include "sim/world.h"

namespace wardmote::agent {
namespace {

using runtime::HypervisorEvent;
using sim::FakeHost;
using sim::GuestSite;
using sim::World;
using namespace std::chrono_literals;

constexpr std::string_view kKeys = "every: 5s, timeout: 1s, threshold: 3, boot_deadline: 2m";

std::string policy(std::string_view more) {
  return fmt::format(
      "policies:\n  - {{name: restarts, on: [GUEST_SPINNING, GUEST_IDLE_HUNG, GUEST_DIED, "
      "GUEST_PANIC], mode: act, sole: true, after: 10s{}}}",
      more);
}
const std::string kActs = policy(", approval: false, budget: 100, cooldown: 0s");

std::size_t count(const FakeHost& host, std::string_view what) {
  return static_cast<std::size_t>(std::ranges::count(host.acts(), what, &FakeHost::Act::what));
}

/// Hangs, and spins.
void hang(GuestSite& site, int number) {
  site.host.set_activity(sim::guest_uuid(number), 0.9, 0);
  site.host.set_agent(sim::guest_uuid(number), FakeHost::Agent::kHangs);
}

std::string plans(GuestSite& site) {
  return site.get("/api/v1/plans?all=true").body;
}

SIM_TEST_SEEDS(SimGuestRestart, OneThatHangsIsRestartedOnceAndItsIncidentEnds, 5) {
  GuestSite site(sim, std::string(kKeys));
  site.policies = kActs;
  const std::string web = site.start_guest(1);
  site.start_guest(2);
  site.begin();
  sim.run_for(90s);
  const int before = site.host.at(web).process;
  hang(site, 1);
  sim.run_for(5min);
  EXPECT_EQ(count(site.host, "destroy"), 1U) << plans(site);
  EXPECT_EQ(count(site.host, "create"), 1U);
  EXPECT_NE(site.host.at(web).process, before);
  EXPECT_EQ(site.verdict(1), "HEALTHY");
  EXPECT_NE(plans(site).find(R"("state":"done")"), std::string::npos) << plans(site);
  sim.run_for(30min);
  EXPECT_EQ(count(site.host, "destroy"), 1U);
}

// Its own ending of the guest made it forget how often that was lost.
SIM_TEST_SEEDS(SimGuestRestart, OneThatHangsAgainAndAgainIsLeftToPeople, 5) {
  GuestSite site(sim, std::string(kKeys) + ", max_alarms: 3, alarm_window: 2h");
  site.policies = kActs;
  site.start_guest(1);
  site.start_guest(2);
  site.begin();
  sim.run_for(90s);
  for (int episode = 0; episode < 6; ++episode) {
    hang(site, 1);
    // The agent begins anew beside it, or when it has just ended it.
    const bool ended =
        episode == 1 &&
        site.time_until([&] { return count(site.host, "destroy") == 2; }, 5min) < 5min;
    EXPECT_EQ(ended, episode == 1);
    if (ended || episode == 2) {
      site.kill();
      site.begin();
    }
    sim.run_for(6min);
  }
  EXPECT_EQ(count(site.host, "destroy"), 3U) << plans(site);
  EXPECT_NE(site.get("/api/v1/guests").body.find("VM_KEEPS_FAILING"), std::string::npos)
      << site.get("/api/v1/guests").body;
}

SIM_TEST_SEEDS(SimGuestRestart, APolicyThatObservesOnlyShowsWhatItWouldDo, 5) {
  GuestSite site(sim, std::string(kKeys));
  site.policies = "policies:\n  - {name: restarts, on: [GUEST_SPINNING], after: 10s}";
  site.start_guest(1);
  site.begin();
  sim.run_for(90s);
  hang(site, 1);
  sim.run_for(10min);
  EXPECT_TRUE(site.host.acts().empty());
  EXPECT_NE(plans(site).find(R"("state":"observed")"), std::string::npos) << plans(site);
}

SIM_TEST_SEEDS(SimGuestRestart, AGuestThatDiedIsOnlyStarted, 5) {
  GuestSite site(sim, std::string(kKeys));
  site.policies = kActs;
  const std::string web = site.start_guest(1);
  site.begin();
  sim.run_for(90s);
  site.host.stop(web, 5);
  sim.run_for(5min);
  EXPECT_EQ(count(site.host, "destroy"), 0U);
  EXPECT_EQ(count(site.host, "create"), 1U) << plans(site);
  EXPECT_EQ(site.verdict(1), "HEALTHY");
}

// Whoever is told that it died may ask for the restart in the same second.
SIM_TEST_SEEDS(SimGuestRestart, PlansKnowOfADeathWhenEverybodyElseDoes, 5) {
  GuestSite site(sim, std::string(kKeys));
  site.policies = kActs;
  const std::string web = site.start_guest(1);
  site.begin();
  sim.run_for(90s);
  site.host.stop(web, 5);
  const auto is_heard_of = [&] {
    return plans(site).find("has not stood for") != std::string::npos;
  };
  EXPECT_LE(site.time_until(is_heard_of, 10s), 200ms) << plans(site);
}

SIM_TEST_SEEDS(SimGuestRestart, WhatItsOwnerShutsDownStaysOff, 5) {
  GuestSite site(sim, std::string(kKeys));
  site.policies = kActs;
  const std::string web = site.start_guest(1);
  site.begin();
  sim.run_for(90s);
  hang(site, 1);
  sim.run_for(40s);
  site.host.stop(web, 1);
  sim.run_for(10min);
  EXPECT_TRUE(site.host.acts().empty()) << plans(site);
}

SIM_TEST_SEEDS(SimGuestRestart, AnNmiComesFirstWhereADumpIsWanted, 5) {
  GuestSite site(sim, std::string(kKeys) + ", restart: {dump: 1m}");
  site.policies = kActs;
  site.start_guest(1);
  site.begin();
  sim.run_for(90s);
  hang(site, 1);
  sim.run_for(10min);
  ASSERT_EQ(site.host.acts().size(), 3U) << plans(site);
  EXPECT_EQ(site.host.acts()[0].what, "nmi");
  EXPECT_EQ(site.host.acts()[1].what, "destroy");
  EXPECT_GE(site.host.acts()[1].at - site.host.acts()[0].at, 1min);
  EXPECT_EQ(site.host.acts()[2].what, "create");
}

SIM_TEST_SEEDS(SimGuestRestart, ThreeAtOnceAreTheHostsFailure, 5) {
  GuestSite site(sim, std::string(kKeys));
  site.policies = kActs;
  for (int i = 1; i <= 20; ++i) site.start_guest(i);
  site.begin();
  sim.run_for(90s);
  for (int i = 1; i <= 3; ++i) hang(site, i);
  sim.run_for(10min);
  EXPECT_TRUE(site.host.acts().empty()) << plans(site);
}

/// What one guest really does, and when nobody may restart it.
struct Truth {
  TimePoint hangs_since;
  TimePoint told_to_migrate;
  TimePoint stopped_since;  ///< its QEMU
  TimePoint changed;        ///< what happened less than this ago nobody can have seen
};

constexpr Duration kUnseen = 500ms;

class RestartWorld {
 public:
  explicit RestartWorld(World& world) : sim_(world), site_(world, std::string(kKeys)) {
    site_.policies = kActs;
    for (int i = 1; i <= kGuests; ++i) site_.start_guest(i);
    site_.host.on_act = [this](const FakeHost::Act& act) { judge(act); };
    site_.begin();
    sim_.run_for(90s);
  }

  void play(int steps) {
    for (int step = 0; step < steps && !::testing::Test::HasFailure(); ++step) {
      happen();
      sim_.run_for(Duration(sim_.random().below(90'000'000'000)));
    }
    site_.end();
  }
  [[nodiscard]] std::size_t restarts() const { return count(site_.host, "destroy"); }

 private:
  static constexpr int kGuests = 8;

  FakeHost::Guest* guest(int number) {
    const auto found = site_.host.guests().find(sim::guest_uuid(number));
    return found == site_.host.guests().end() ? nullptr : &site_.host.at(found->first);
  }

  void happen() {
    const int number = static_cast<int>(sim_.random().below(kGuests)) + 1;
    const std::string uuid = sim::guest_uuid(number);
    const auto what = sim_.random().below(16);
    story_ += fmt::format("; at {}s {} of web-{}", to_ms(sim_.now().time_since_epoch()) / 1000,
                          what, number);
    FakeHost::Guest* const its = guest(number);
    if (its == nullptr) {
      // Its owner starts it again.
      if (what < 8 && site_.host.off(uuid) != nullptr) site_.start_guest(number);
      return;
    }
    const bool runs = its->run == 1;
    truths_[number].changed = sim_.now();
    switch (what) {
      case 0:
      case 1:
      case 2:
      case 3:
        if (!runs) break;
        site_.host.set_activity(uuid, what < 2 ? 0.9 : 0.003, 0);
        if (its->agent != FakeHost::Agent::kHangs) truths_[number].hangs_since = sim_.now();
        site_.host.set_agent(uuid, FakeHost::Agent::kHangs);
        break;
      case 4:
      case 5:
        if (runs) site_.host.set_agent(uuid, FakeHost::Agent::kAnswers);
        break;
      case 6:
        if (runs) site_.host.pause(uuid, 0, 1);
        break;
      case 7:
        if (!runs) site_.host.resume(uuid);
        break;
      case 8: its->job = its->job.empty() ? "a backup" : ""; break;
      case 9:
        if (runs) site_.host.set_activity(uuid, 0.3, 20);
        break;
      case 10:
        if (runs && its->cpu_share > 0) truths_[number].stopped_since = sim_.now();
        if (runs) site_.host.set_activity(uuid, 0, 0);
        break;
      case 11:
        truths_[number].told_to_migrate = sim_.now();
        site_.host.tell(
            {.uuid = uuid, .name = its->name, .at = {}, .what = HypervisorEvent::Migrating{}});
        break;
      case 12: site_.host.stop(uuid, sim_.random().below(2) == 0 ? 0 : 5); break;
      case 13:
        site_.host.stop(uuid, 1);
        site_.start_guest(number);
        break;
      case 14:
        site_.host.set_daemon(FakeHost::Daemon::kHangs);
        sim_.run_for(Duration(sim_.random().below(20'000'000'000)));
        site_.host.set_daemon(FakeHost::Daemon::kAnswers);
        break;
      default:
        if (sim_.random().below(2) == 0) site_.disk.die_before(1 + sim_.random().below(20));
        sim_.run_for(Duration(sim_.random().below(30'000'000'000)));
        site_.kill();
        site_.host.set_acts(50ms, sim_.random().below(3) != 0);
        sim_.run_for(Duration(sim_.random().below(20'000'000'000)));
        site_.begin();
        break;
    }
  }

  /// By the truth of the moment at which something is done.
  void judge(const FakeHost::Act& act) {
    int number = 1;
    while (sim::guest_uuid(number) != act.uuid) ++number;
    const std::string where = fmt::format("{} of web-{}{}", act.what, number, story_);
    if (act.what == "create") {
      const FakeHost::Guest* const off = site_.host.off(act.uuid);
      ASSERT_NE(off, nullptr) << where;
      // VIR_DOMAIN_SHUTOFF_CRASHED: it died; DESTROYED: and then by whom?
      const bool ours = ended_.contains(off->process);
      EXPECT_TRUE(off->reason == 3 || (off->reason == 2 && ours)) << where;
      EXPECT_TRUE(begun_.insert(off->process).second) << "twice for one episode: " << where;
      return;
    }
    const FakeHost::Guest& its = site_.host.at(act.uuid);
    EXPECT_TRUE(ended_.insert(act.process).second) << "twice for one episode: " << where;
    if (sim_.now() - truths_[number].changed < kUnseen) return;
    EXPECT_EQ(its.agent, FakeHost::Agent::kHangs) << "it answers: " << where;
    EXPECT_GE(sim_.now() - truths_[number].hangs_since, 60s) << where;
    EXPECT_EQ(its.run, 1) << "it is paused: " << where;
    EXPECT_EQ(its.job, "") << where;
    const bool stopped = its.cpu_share == 0 && sim_.now() - truths_[number].stopped_since > 20s;
    EXPECT_FALSE(stopped) << "its QEMU is stopped: " << where;
    EXPECT_EQ(its.requests_per_second, 0) << "it works: " << where;
    EXPECT_GE(sim_.now() - truths_[number].told_to_migrate, 1min) << where;
  }

  World& sim_;
  GuestSite site_;
  std::string story_;
  std::map<int, Truth> truths_;
  std::set<int> ended_;  ///< processes that were destroyed by an agent
  std::set<int> begun_;  ///< processes whose end led to a start by an agent
};

SIM_TEST_SEEDS(SimGuestRestart, NobodyIsRestartedWhoLivesNorTwice, 100) {
  RestartWorld world(sim);
  world.play(25);
}

}  // namespace
}  // namespace wardmote::agent
