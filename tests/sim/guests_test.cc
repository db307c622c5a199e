// Guests of a fake host, watched by a whole agent.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/time.h"
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

/// N x interval + timeout + 1 s.
constexpr Duration kBound = 33s;

SIM_TEST_SEEDS(SimGuests, AHungGuestIsReportedInTimeAndEachEpisodeOnce, 5) {
  GuestSite site(sim);
  const std::string web = site.start_guest(1);
  site.begin();
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 3s) << "it is asked at once";
  for (int episode = 0; episode < 3; ++episode) {
    site.told.clear();
    site.host.set_agent(web, FakeHost::Agent::kHangs);
    EXPECT_LE(site.until(1, "GUEST_IDLE_HUNG", 60s), kBound);
    sim.run_for(5min);
    ASSERT_EQ(site.told.size(), 1U);
    EXPECT_TRUE(site.told.front().ends_with("opened guest:web-1 GUEST_IDLE_HUNG") ||
                site.told.front().contains("guest:web-1 GUEST_IDLE_HUNG"))
        << site.told.front();
    site.host.set_agent(web, FakeHost::Agent::kAnswers);
    EXPECT_LE(site.until(1, "HEALTHY", 60s), 13s);
    sim.run_for(30min);
    ASSERT_EQ(site.told.size(), 2U);
    EXPECT_TRUE(site.told.back().starts_with("resolved guest:web-1")) << site.told.back();
  }
}

SIM_TEST_SEEDS(SimGuests, TheBoundHoldsAlsoWhenLibvirtWaitsForFiveSeconds, 5) {
  GuestSite site(sim);
  site.host.set_patience(5s);
  const std::string web = site.start_guest(1);
  site.begin();
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 3s);
  site.host.set_agent(web, FakeHost::Agent::kHangs);
  EXPECT_LE(site.until(1, "GUEST_IDLE_HUNG", 60s), kBound);
}

SIM_TEST_SEEDS(SimGuests, ARestartOfTheAgentChangesNothingThatIsSaid, 10) {
  GuestSite site(sim);
  const std::string web = site.start_guest(1);
  site.begin();
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 3s);
  site.host.set_agent(web, FakeHost::Agent::kHangs);
  // At any moment of the episode.
  sim.run_for(Duration(sim.random().below(60'000'000'000)));
  site.end();
  sim.run_for(Duration(sim.random().below(60'000'000'000)));
  site.begin();
  EXPECT_LE(site.until(1, "GUEST_IDLE_HUNG", 60s), kBound);
  for (int i = 0; i < 3; ++i) {
    sim.run_for(Duration(sim.random().below(60'000'000'000)));
    site.end();
    site.begin();
    EXPECT_EQ(site.verdict(1), "GUEST_IDLE_HUNG") << "from the first moment";
  }
  sim.run_for(5min);
  EXPECT_EQ(site.told, Told{"opened guest:web-1 GUEST_IDLE_HUNG"}) << "one for one episode";
  site.host.set_agent(web, FakeHost::Agent::kAnswers);
  EXPECT_LE(site.until(1, "HEALTHY", 60s), 13s);
  sim.run_for(10min);
  EXPECT_EQ(site.told.size(), 2U);
}

// libvirt knows how a guest ended of which it could tell nobody.
SIM_TEST_SEEDS(SimGuests, AGuestThatDiesWhileNobodyListensIsToldOfAndOneThatIsEndedIsNot, 10) {
  GuestSite site(sim);
  const std::string web = site.start_guest(1);
  const std::string mail = site.start_guest(2);
  site.begin();
  EXPECT_LE(site.until(2, "HEALTHY", 20s), 3s);
  sim.run_for(5s);
  const bool killed = sim.random().below(2) == 0;
  if (killed) {
    site.kill();
  } else {
    site.host.set_daemon(FakeHost::Daemon::kGone);
  }
  site.host.stop(web, 5);
  site.host.stop(mail, 0);
  sim.run_for(5s);
  if (killed) site.begin();
  site.host.set_daemon(FakeHost::Daemon::kAnswers);
  EXPECT_LE(site.until(1, "GUEST_DIED", 60s), 13s);
  sim.run_for(1min);
  EXPECT_EQ(site.told, Told{"opened guest:web-1 GUEST_DIED"});
  EXPECT_EQ(site.get("/api/v1/guests/web-2").status, 404);
  site.kill();
  site.begin();
  sim.run_for(1min);
  EXPECT_EQ(site.verdict(1), "GUEST_DIED");
  site.start_guest(1);
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 3s);
}

SIM_TEST_SEEDS(SimGuests, WhileTheHypervisorIsAwayNothingIsHeldAgainstAGuest, 10) {
  GuestSite site(sim);
  for (int i = 1; i <= 5; ++i) site.start_guest(i);
  site.begin();
  for (int i = 1; i <= 5; ++i) EXPECT_LE(site.until(i, "HEALTHY", 20s), 3s);
  const auto how = sim.random().below(2) == 0 ? FakeHost::Daemon::kGone : FakeHost::Daemon::kHangs;
  site.host.set_daemon(how);
  sim.run_for(5min);
  EXPECT_EQ(site.told, Told{"opened check:guests CHECK_FAILED"}) << "one alarm, and not of guests";
  site.host.set_daemon(FakeHost::Daemon::kAnswers);
  sim.run_for(1min);
  for (int i = 1; i <= 5; ++i) EXPECT_EQ(site.verdict(i), "HEALTHY");
  sim.run_for(10min);
  EXPECT_EQ(site.told,
            (Told{"opened check:guests CHECK_FAILED", "resolved check:guests CHECK_FAILED"}));
}

SIM_TEST_SEEDS(SimGuests, HungGuestsDelayNobody, 3) {
  GuestSite site(sim);
  site.host.set_patience(5s);
  for (int i = 1; i <= 18; ++i) site.start_guest(i);
  site.begin();
  for (int i = 1; i <= 18; ++i) EXPECT_LE(site.until(i, "HEALTHY", 20s), 3s);
  for (int i = 1; i <= 8; ++i) site.host.set_agent(sim::guest_uuid(i), FakeHost::Agent::kHangs);
  const TimePoint begun = sim.now();
  for (int i = 1; i <= 8; ++i) EXPECT_LE(site.until(i, "GUEST_IDLE_HUNG", 60s), kBound);
  EXPECT_LE(sim.now() - begun, kBound) << "all of them";
  for (int i = 9; i <= 18; ++i) EXPECT_EQ(site.verdict(i), "HEALTHY");
}

SIM_TEST_SEEDS(SimGuests, GuestsComeAndGoWithoutAReload, 3) {
  GuestSite site(sim);
  site.begin();
  sim.run_for(5s);
  const std::string web = site.start_guest(1);
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 3s);
  site.host.stop(web, 0);
  sim.run_for(1s);
  EXPECT_EQ(site.get("/api/v1/guests/web-1").status, 404);
  EXPECT_TRUE(site.told.empty());
  site.start_guest(1);
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 3s);
  site.host.stop(web, 5);  // VIR_DOMAIN_EVENT_STOPPED_FAILED
  EXPECT_LE(site.until(1, "GUEST_DIED", 20s), 1s);
  sim.run_for(10s);
  EXPECT_EQ(site.told, Told{"opened guest:web-1 GUEST_DIED"});
  site.start_guest(1);
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 3s);
  sim.run_for(10min);
  EXPECT_EQ(site.told, (Told{"opened guest:web-1 GUEST_DIED", "resolved guest:web-1 GUEST_DIED"}));
}

SIM_TEST_SEEDS(SimGuests, WhatItDoesSaysWhatIsDead, 3) {
  struct Row {
    double cpu_share;
    double requests;
    const char* verdict;
  };
  int number = 0;
  GuestSite site(sim);
  const std::vector<Row> rows = {{1.0, 0, "GUEST_SPINNING"},
                                 {0.003, 0, "GUEST_IDLE_HUNG"},
                                 {0, 0, "QEMU_STUCK"},
                                 {0.5, 2, "AGENT_STUCK"}};
  for (std::size_t i = 0; i < rows.size(); ++i) site.start_guest(static_cast<int>(i) + 1);
  site.begin();
  for (int i = 1; i <= 4; ++i) EXPECT_LE(site.until(i, "HEALTHY", 20s), 3s);
  for (const Row& row : rows) {
    const std::string uuid = sim::guest_uuid(++number);
    site.host.set_agent(uuid, FakeHost::Agent::kHangs);
    site.host.set_activity(uuid, row.cpu_share, row.requests);
  }
  number = 0;
  for (const Row& row : rows) EXPECT_LE(site.until(++number, row.verdict, 60s), kBound);
}

SIM_TEST_SEEDS(SimGuests, AnAgentThatIsGoneIsSeenAtOnceAndNobodyIsWoken, 3) {
  GuestSite site(sim);
  const std::string web = site.start_guest(1);
  site.begin();
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 3s);
  site.host.set_agent(web, FakeHost::Agent::kClosed);
  EXPECT_LE(site.until(1, "AGENT_DOWN", 20s), 1s);
  EXPECT_TRUE(site.told.empty());
  sim.run_for(2min);
  EXPECT_EQ(site.told, Told{"opened guest:web-1 AGENT_DOWN"}) << "a warning";
  site.host.set_agent(web, FakeHost::Agent::kAnswers);
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 1s) << "asked as soon as the port opens";
}

SIM_TEST_SEEDS(SimGuests, ASlowRebootAndAPauseAreNoFailures, 3) {
  GuestSite site(sim);
  const std::string web = site.start_guest(1);
  site.begin();
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 3s);
  site.host.reboot(web);
  EXPECT_LE(site.until(1, "WAITING", 20s), 1s);
  sim.run_for(4min);
  site.host.set_agent(web, FakeHost::Agent::kAnswers);
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 1s);
  site.host.pause(web, 0, 1);
  EXPECT_LE(site.until(1, "SUPPRESSED", 20s), 1s);
  sim.run_for(10min);
  site.host.resume(web);
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 13s);
  site.host.pause(web, 2, 5);  // for an I/O error
  EXPECT_LE(site.until(1, "HOST_STORAGE", 20s), 1s);
  EXPECT_EQ(site.told, Told{"opened guest:web-1 HOST_STORAGE"});
  site.told.clear();
  site.host.resume(web);
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 13s);
  site.host.reboot(web);
  EXPECT_LE(site.until(1, "GUEST_BOOT_STUCK", 10min), 5min + 13s);
}

SIM_TEST_SEEDS(SimGuests, AReloadKeepsWhatIsKnownAndLetsGoOfWhatIsNotWatchedAnyMore, 5) {
  GuestSite site(sim);
  const std::string web = site.start_guest(1);
  site.start_guest(2);
  site.begin();
  for (int i = 1; i <= 2; ++i) EXPECT_LE(site.until(i, "HEALTHY", 20s), 3s);
  site.host.set_agent(web, FakeHost::Agent::kHangs);
  EXPECT_LE(site.until(1, "GUEST_IDLE_HUNG", 60s), kBound);
  site.reload("every: 2s, timeout: 1s, threshold: 5, ignore: [web-2]");
  EXPECT_LE(site.until(2, "IGNORED", 20s), 1s);
  EXPECT_EQ(site.verdict(1), "GUEST_IDLE_HUNG");
  sim.run_for(1min);
  EXPECT_EQ(site.told.size(), 1U) << "it is the same episode";
  // Another hypervisor, at any moment of what goes on; then none.
  site.reload("uri: 'qemu:///other', every: 10s, timeout: 2s");
  sim.run_for(Duration(sim.random().below(100'000'000)));
  site.reload("uri: 'qemu:///third', every: 10s, timeout: 2s");
  EXPECT_LE(site.until(2, "HEALTHY", 20s), 3s);
  sim.run_for(Duration(sim.random().below(20'000'000'000)));
  site.reload("");
  EXPECT_EQ(site.get("/api/v1/guests/web-2").status, 404);
  sim.run_for(1min);
  site.reload("every: 10s, timeout: 2s");
  EXPECT_LE(site.until(2, "HEALTHY", 20s), 3s);
}

SIM_TEST_SEEDS(SimGuests, AWallClockThatJumpsIsNoGuestsFaultAndDelaysNoAlarm, 5) {
  GuestSite site(sim);
  const std::string web = site.start_guest(1);
  site.start_guest(2);
  site.begin();
  for (int i = 1; i <= 2; ++i) EXPECT_LE(site.until(i, "HEALTHY", 20s), 3s);
  for (const Duration jump : {Duration(1h), Duration(-2h), Duration(1h)}) {
    site.us.jump_wall_clock(jump);
    site.host.set_agent(web, FakeHost::Agent::kHangs);
    sim.run_for(Duration(sim.random().below(15'000'000'000)));
    site.us.jump_wall_clock(-jump);
    EXPECT_LE(site.until(1, "GUEST_IDLE_HUNG", 60s), kBound);
    EXPECT_EQ(site.verdict(2), "HEALTHY");
    EXPECT_EQ(site.guest(2).at("failures"), 0);
    site.us.jump_wall_clock(jump);
    sim.run_for(1min);
    EXPECT_EQ(site.verdict(1), "GUEST_IDLE_HUNG");
    site.host.set_agent(web, FakeHost::Agent::kAnswers);
    EXPECT_LE(site.until(1, "HEALTHY", 20s), 13s);
    sim.run_for(6min);
  }
  EXPECT_EQ(site.told.size(), 6U) << "three episodes, each with its end";
}

SIM_TEST_SEEDS(SimGuests, WhatTheHypervisorReportsOnceIsSeenAndPassedOn, 3) {
  using runtime::HypervisorEvent;
  GuestSite site(sim);
  const std::string web = site.start_guest(1);
  const std::string db = site.start_guest(2);
  site.begin();
  for (int i = 1; i <= 2; ++i) EXPECT_LE(site.until(i, "HEALTHY", 20s), 3s);
  site.host.tell(
      {.uuid = web, .name = "web-1", .at = {}, .what = HypervisorEvent::IoError{2, "vda", ""}});
  sim.run_for(1s);
  EXPECT_EQ(site.told, std::vector<std::string>{"opened guest:web-1 HOST_STORAGE"});
  EXPECT_EQ(site.verdict(1), "HEALTHY");
  site.host.tell({.uuid = db, .name = "web-2", .at = {}, .what = HypervisorEvent::Watchdog{1}});
  site.host.pause(db, 3, 6);
  EXPECT_LE(site.until(2, "GUEST_NO_ANSWER", 5s), 1s) << "its watchdog stopped it";
  site.host.tell({.uuid = db, .name = "web-2", .at = {}, .what = HypervisorEvent::ControlError{}});
  EXPECT_EQ(site.heard.events,
            (std::vector<std::string>{"IO_ERROR/IO_ERROR_REPORT", "IO_ERROR_REASON/UNKNOWN",
                                      "WATCHDOG/WATCHDOG_PAUSE", "LIFECYCLE/SUSPENDED_WATCHDOG"}));
  sim.run_for(15min);
  EXPECT_EQ(site.heard.events.back(), "CONTROL_ERROR/UNKNOWN");
  EXPECT_EQ(std::ranges::count(site.told, "resolved guest:web-1 HOST_STORAGE"), 1);
  EXPECT_EQ(site.verdict(2), "GUEST_NO_ANSWER") << "for as long as it stands there";
  site.host.resume(db);
  EXPECT_LE(site.until(2, "HEALTHY", 20s), 13s);
}

SIM_TEST_SEEDS(SimGuests, ItsOwnMetadataCountsAndIsReadAgain, 1) {
  GuestSite site(sim, "every: 10s, timeout: 2s, ignore: ['web-2']");
  const std::string web = site.start_guest(1);
  site.host.at(web).metadata =
      "<w:guest xmlns:w='https://wardmote.io/xmlns/guest/1' threshold='1' interval='5s'/>";
  site.start_guest(2);
  site.begin();
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 3s);
  EXPECT_EQ(site.verdict(2), "IGNORED");
  site.host.set_agent(web, FakeHost::Agent::kHangs);
  EXPECT_LE(site.until(1, "GUEST_NO_ANSWER", 20s), 8s) << "after one ping";
  site.host.at(web).metadata = "<w:guest xmlns:w='https://wardmote.io/xmlns/guest/1' watch='no'/>";
  site.host.tell(
      {.uuid = web, .name = "web-1", .at = {}, .what = runtime::HypervisorEvent::Changed{}});
  EXPECT_LE(site.until(1, "IGNORED", 20s), 1s);
}

SIM_TEST_SEEDS(SimGuests, ByMasakarisRulesTheFifthFailureReportsAndOnlyOnce, 3) {
  GuestSite site(sim, "every: 10s, timeout: 2s, threshold: 3, rules: masakari");
  const std::string web = site.start_guest(1);
  site.begin();
  EXPECT_LE(site.until(1, "HEALTHY", 20s), 3s);
  site.host.set_agent(web, FakeHost::Agent::kHangs);
  const Duration took = site.until(1, "GUEST_NO_ANSWER", 2min);
  EXPECT_GE(took, 42s);
  EXPECT_LE(took, 53s);
  site.host.set_agent(web, FakeHost::Agent::kAnswers);
  EXPECT_LE(site.until(1, "HEALTHY", 1min), 23s);
  site.host.set_agent(web, FakeHost::Agent::kHangs);
  sim.run_for(10min);
  EXPECT_EQ(site.verdict(1), "SILENT") << "it was told of already";
  EXPECT_EQ(site.told.size(), 2U);
}

SIM_TEST_SEEDS(SimGuests, AWindowOfMaintenanceEndsAnAlarmAndBeginsTheCountAnew, 20) {
  GuestSite site(sim);
  const std::string web = site.start_guest(1);
  site.begin();
  sim.run_for(20s);
  site.host.set_agent(web, FakeHost::Agent::kHangs);
  sim.run_for(2min);
  ASSERT_EQ(site.told.size(), 1U);
  const auto metadata = [&](WallTime begin) {
    return fmt::format(
        "<w:guest xmlns:w='https://wardmote.io/xmlns/guest/1' maintenance='{} for 30m'/>",
        format_utc(begin));
  };
  site.host.at(web).metadata = metadata(site.us.wall_now() - 1s);
  site.host.tell(
      {.uuid = web, .name = "web-1", .at = {}, .what = runtime::HypervisorEvent::Changed{}});
  sim.run_for(20s);
  EXPECT_EQ(site.verdict(1), "MAINTENANCE");
  sim.run_for(15min);
  ASSERT_EQ(site.told.size(), 2U) << "it is over, and nothing else is told";
  EXPECT_TRUE(site.told.back().starts_with("resolved"));
  const std::uint64_t before = site.host.pings();
  sim.run_for(14min + 30s);
  EXPECT_EQ(site.host.pings(), before) << "nobody is asked";
  EXPECT_EQ(site.verdict(1), "MAINTENANCE");
  sim.run_for(20s);
  EXPECT_EQ(site.told.size(), 2U) << "from zero";
  sim.run_for(1min);
  EXPECT_EQ(site.told.size(), 3U);
}

SIM_TEST_SEEDS(SimGuests, WhileSomebodyWorksOnTheHostNobodyIsToldOfItsGuests, 5) {
  GuestSite site(sim);
  const std::string web = site.start_guest(1);
  site.begin();
  sim.run_for(20s);
  site.host_maintenance = true;
  sim.run_for(20s);
  EXPECT_EQ(site.verdict(1), "MAINTENANCE");
  site.host.set_agent(web, FakeHost::Agent::kHangs);
  sim.run_for(5min);
  EXPECT_TRUE(site.told.empty());
  site.host_maintenance = false;
  sim.run_for(2min);
  EXPECT_EQ(site.told.size(), 1U);
}

}  // namespace
}  // namespace wardmote::agent
