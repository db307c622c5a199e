// Random worlds whose truth is known: no alarm for a guest that could answer within its window, and
// no silence about one that could not.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "sim/fake_hypervisor.h"
#include "sim/guest_site.h"
#include "sim/seeds.h"
#include "sim/world.h"

namespace wardmote::agent {
namespace {

using sim::FakeHost;
using sim::GuestSite;
using sim::World;
using namespace std::chrono_literals;

constexpr Duration kInterval = 5s;
constexpr Duration kTimeout = 1s;
constexpr int kThreshold = 3;
/// From the first missing answer to the last that makes an alarm: two pings in less than three
/// quarters of an interval count as one.
constexpr Duration kWindow = kInterval * (kThreshold - 1) * 3 / 4;
/// Of libvirt with an agent that hangs, and how many it is asked for at once.
constexpr Duration kPatience = 5050ms;
constexpr int kAtOnce = 16;
/// Somebody else's command is no longer at an agent, as of a backup.
constexpr Duration kLongestHold = 110s;
constexpr Duration kBound = kInterval * kThreshold + kTimeout + 1s;

/// What one guest really does.
struct Truth {
  bool hangs = false;
  TimePoint hangs_since;
  /// Since when somebody could have noticed: it runs, libvirt answers, the agent watches.
  TimePoint seen_since;
  TimePoint held_until;  ///< by somebody else's command, while it answers
};

class TruthWorld {
 public:
  explicit TruthWorld(World& world, int guests = 4)
      : sim_(world),
        guests_(guests),
        site_(world, "every: 5s, timeout: 1s, threshold: 3, boot_deadline: 10m") {
    site_.host.set_patience(sim_.random().below(2) == 0 ? Duration(0) : kPatience);
    for (int i = 1; i <= guests_; ++i) site_.start_guest(i);
    site_.begin();
    sim_.run_for(10s);
    for (int i = 1; i <= guests_; ++i) {
      EXPECT_EQ(site_.verdict(i), "HEALTHY");
      truths_[i].seen_since = sim_.now();
    }
  }

  void play(int steps) {
    for (int step = 0; step < steps && !::testing::Test::HasFailure(); ++step) {
      happen();
      // Looks often: an alarm must be judged by the truth of its moment.
      const Duration until = Duration(sim_.random().below(20'000'000'000));
      for (Duration passed{}; passed < until; passed += 250ms) {
        sim_.run_for(250ms);
        compare();
      }
    }
  }

 private:
  void happen() {
    const int number =
        static_cast<int>(sim_.random().below(static_cast<std::uint64_t>(guests_))) + 1;
    const std::string uuid = sim::guest_uuid(number);
    const auto what = sim_.random().below(10);
    story_ +=
        fmt::format("; at {} {} of web-{}", to_ms(sim_.now().time_since_epoch()), what, number);
    switch (what) {
      case 0:
      case 1:
      case 2: set_hang(number, true); break;
      case 3:
      case 4:
      case 5: set_hang(number, false); break;
      case 6:
        if (truths_[number].hangs) break;
        site_.host.pause(uuid, 0, 1);
        sim_.run_for(Duration(sim_.random().below(30'000'000'000)));
        site_.host.resume(uuid);
        unseen();
        break;
      case 7:
        site_.host.set_daemon(sim_.random().below(2) == 0 ? FakeHost::Daemon::kGone
                                                          : FakeHost::Daemon::kHangs);
        for (int i = 0; i < 20; ++i) {
          sim_.run_for(Duration(sim_.random().below(1'000'000'000)));
          unseen();
          compare();
        }
        site_.host.set_daemon(FakeHost::Daemon::kAnswers);
        unseen();
        break;
      case 8:
        if (sim_.random().below(2) == 0) {
          site_.end();
        } else {
          site_.kill();
        }
        sim_.run_for(Duration(sim_.random().below(20'000'000'000)));
        site_.begin();
        unseen();
        break;
      default:
        // A backup holds its agent, or a crowd hangs: most of them at once.
        if (guests_ <= kAtOnce) {
          hold(number);
          break;
        }
        for (int i = 1; i <= guests_; ++i) {
          if (sim_.random().below(4) > 0) set_hang(i, number % 2 == 0);
        }
    }
  }

  void set_hang(int number, bool hangs) {
    Truth& truth = truths_[number];
    if (truth.hangs == hangs) return;
    truth.hangs = hangs;
    truth.hangs_since = sim_.now();
    site_.host.set_agent(sim::guest_uuid(number),
                         hangs ? FakeHost::Agent::kHangs : FakeHost::Agent::kAnswers);
  }
  void hold(int number) {
    Truth& truth = truths_[number];
    // Who hangs is held by nobody for long, and one who holds it again and again is no backup.
    if (truth.hangs || sim_.now() < truth.held_until + kLongestHold) return;
    truth.held_until = sim_.now() + Duration(sim_.random().below(kLongestHold.count()));
    site_.host.at(sim::guest_uuid(number)).held_until = truth.held_until;
    // libvirt gives up behind it after half a minute, and is asked anew twice before it is blamed.
    truth.seen_since = truth.held_until + 30s + 3 * kInterval;
  }
  void unseen() {
    for (auto& [number, truth] : truths_) truth.seen_since = std::max(truth.seen_since, sim_.now());
  }

  void compare() {
    const std::string incidents = site_.get("/api/v1/incidents").body;
    for (const auto& [number, truth] : truths_) {
      const bool reported = is_told(number, incidents);
      const Duration silent = truth.hangs ? sim_.now() - truth.hangs_since : Duration::zero();
      const bool fresh = reported && !reported_[number];
      reported_[number] = reported;
      if (fresh) {
        // Whoever hangs in the hands of somebody else did not answer before that either.
        const bool was_held = sim_.now() < truth.held_until + kWindow + kInterval;
        EXPECT_TRUE(truth.hangs && (silent >= kWindow || was_held))
            << "web-" << number << " answered within its window; silent for " << to_ms(silent)
            << story_;
      }
      const Duration noticeable = std::min(silent, sim_.now() - truth.seen_since);
      // Each round of pings takes libvirt's patience for each so many that hang.
      const Duration crowd = kPatience * kThreshold * ((guests_ - 1) / kAtOnce);
      if (noticeable > kBound + 1s + crowd) {
        EXPECT_TRUE(reported) << "web-" << number << " hangs, and nobody says so; for "
                              << to_ms(noticeable) << story_;
      }
    }
  }

  /// Of a crowd one incident tells, so look at what is said of each.
  bool is_told(int number, const std::string& incidents) {
    if (guests_ <= kAtOnce)
      return incidents.contains(fmt::format(R"("root":"guest:web-{}")", number));
    return site_.verdict(number).starts_with("GUEST_");
  }

  World& sim_;
  const int guests_;
  GuestSite site_;
  std::string story_;  ///< what happened, for who reads a failure
  std::map<int, Truth> truths_;
  std::map<int, bool> reported_;
};

SIM_TEST_SEEDS(SimGuestTruth, NoAlarmForWhoAnswersAndNoSilenceAboutWhoDoesNot, 500) {
  TruthWorld world(sim);
  world.play(8);
}

SIM_TEST_SEEDS(SimGuestTruth, TheSameOfMoreGuestsThanAreAskedAtOnce, 40) {
  TruthWorld world(sim, 40);
  world.play(6);
}

/// An agent that is killed again and again while a guest hangs, at any moment and before any write.
SIM_TEST_SEEDS(SimGuestTruth, AKilledAgentTellsOnceAndNobodyIsLeftUntold, 100) {
  GuestSite site(sim, "every: 5s, timeout: 1s, threshold: 3");
  const std::string web = site.start_guest(1);
  site.begin();
  sim.run_for(10s);
  ASSERT_EQ(site.verdict(1), "HEALTHY");
  site.host.set_agent(web, FakeHost::Agent::kHangs);
  for (int death = 0; death < 3; ++death) {
    if (sim.random().below(2) == 0) site.disk.die_before(1 + sim.random().below(30));
    sim.run_until([&] { return site.disk.died(); }, Duration(sim.random().below(40'000'000'000)));
    site.kill();
    sim.run_for(Duration(sim.random().below(10'000'000'000)));
    site.begin();
  }
  sim.run_for(2min);
  const auto count = [](const std::vector<std::string>& told, std::string_view what) {
    return std::ranges::count_if(told,
                                 [&](const std::string& one) { return one.starts_with(what); });
  };
  EXPECT_GE(count(site.heard.all, "opened guest:web-1 "), 1) << "whoever hears everything";
  EXPECT_EQ(count(site.heard.once, "opened guest:web-1 "), 1) << "whoever drops what he knows";
  EXPECT_EQ(count(site.heard.all, "resolved"), 0);
  site.host.set_agent(web, FakeHost::Agent::kAnswers);
  sim.run_for(5s);
  site.kill();
  site.begin();
  sim.run_for(10min);
  EXPECT_GE(count(site.heard.all, "resolved guest:web-1 "), 1);
  EXPECT_EQ(count(site.heard.once, "resolved guest:web-1 "), 1);
}

}  // namespace
}  // namespace wardmote::agent
