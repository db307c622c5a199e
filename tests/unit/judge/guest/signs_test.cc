// What the hypervisor reports of a guest once: people see it, whatever its pings say.

#include "judge/guest/signs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/condition/condition_tracker.h"
#include "judge/finding.h"
#include "judge/guest/assess.h"
#include "judge/guest/facts.h"
#include "judge/guest/inside.h"
#include "judge/guest/machine.h"

namespace wardmote::judge::guest {
namespace {

using namespace std::chrono_literals;
using Told = std::vector<std::string>;

class GuestSigns : public ::testing::Test {
 protected:
  GuestSigns() { begin({}); }
  void begin(const Policy& policy) {
    machine_ = Machine(policy, now_);
    machine_.found(Run::kRunning, Pause::kOrdered, now_);
    machine_.pinged(Ping::kAnswered, now_);
  }
  Told told() {
    Told all;
    made_ = assess(machine_, inside_, {"web", "u", ""}, memory_, now_);
    for (const Finding& finding : made_.findings) {
      all.push_back(fmt::format("{} {} {}", to_string(finding.severity), to_string(finding.code),
                                finding.summary));
    }
    return all;
  }

  TimePoint now_{1h};
  InsideWatch inside_;
  ConditionTracker memory_;
  Assessment made_;
  Machine machine_{Policy{}, now_};
};

TEST_F(GuestSigns, AWatchdogThatFiresIsSeenForTenMinutes) {
  machine_.signs().watchdog(2, now_);
  const Told fired = {"warning GUEST_NO_ANSWER guest web hung: its watchdog fired (action reset)"};
  EXPECT_EQ(told(), fired);
  EXPECT_EQ(machine_.verdict(now_), Verdict::kHealthy) << "it answers, and nobody restarts it";
  machine_.pinged(Ping::kAnswered, now_);
  now_ += 10min - 1s;
  EXPECT_EQ(told(), fired);
  now_ += 1s;
  EXPECT_EQ(told(), Told{});
  machine_.signs().watchdog(99, now_);
  EXPECT_TRUE(told().at(0).ends_with("(action unknown)"));
}

TEST_F(GuestSigns, ADiskThatFailsIsAWarningOfTheHostWhileTheGuestRunsOn) {
  machine_.signs().disk_error("vda\n", now_);
  const Told seen = {
      "warning HOST_STORAGE guest web runs on a disk that fails: QEMU reported errors of its disk "
      "vda\\n"};
  EXPECT_EQ(told(), seen);
  now_ += 9min;
  machine_.signs().disk_error("vda\n", now_);
  now_ += 9min;
  EXPECT_EQ(told(), seen);
  EXPECT_EQ(made_.findings.at(0).subjects, (Told{"web", "u"}));
  now_ += 1min;
  EXPECT_EQ(told(), Told{});
}

TEST_F(GuestSigns, OfAGuestThatIsReportedTheyAreEvidence) {
  machine_.signs().watchdog(0, now_);
  for (int i = 0; i < 3; ++i) {
    now_ += 10s;
    machine_.pinged(Ping::kSilent, now_);
  }
  EXPECT_EQ(told(), Told{"critical GUEST_NO_ANSWER guest web does not answer"});
  const auto& evidence = made_.findings.at(0).evidence;
  EXPECT_TRUE(std::ranges::any_of(evidence, [](const Evidence& one) {
    return one.says == "its watchdog fired (action none), 30.0s ago";
  }));
}

TEST_F(GuestSigns, AGuestThatItsWatchdogStopsIsLostAndNotJustPaused) {
  machine_.paused(Pause::kWatchdog, now_);
  EXPECT_EQ(machine_.verdict(now_), Verdict::kNoAnswer);
  EXPECT_TRUE(machine_.reported_lost());
  machine_.maintain(true);
  machine_.maintain(false);
  EXPECT_EQ(machine_.verdict(now_), Verdict::kNoAnswer) << "it still stands there";
  machine_.resumed(now_);
  EXPECT_EQ(machine_.verdict(now_), Verdict::kHealthy);
}

TEST_F(GuestSigns, MasakarisRulesKnowNoneAndMaintenanceIsQuiet) {
  begin({.compat = true});
  machine_.signs().watchdog(2, now_);
  EXPECT_EQ(told(), Told{});
  machine_.paused(Pause::kWatchdog, now_);
  EXPECT_EQ(machine_.verdict(now_), Verdict::kSuppressed);
  begin({});
  machine_.signs().disk_error("vda", now_);
  machine_.maintain(true);
  EXPECT_EQ(told(), Told{});
}

}  // namespace
}  // namespace wardmote::judge::guest
