#include "judge/guest/machine.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "base/time.h"
#include "judge/check_machine.h"
#include "judge/guest/facts.h"

namespace wardmote::judge::guest {
namespace {

using namespace std::chrono_literals;

constexpr Policy kPolicy{.interval = 10s, .timeout = 2s, .threshold = 3, .boot_deadline = 5min};

/// A guest and its clock. Each ping is one interval after the one before.
class GuestMachine : public ::testing::Test {
 protected:
  explicit GuestMachine(const Policy& policy = kPolicy) : machine_(policy, now_) {
    machine_.found(Run::kRunning, Pause::kOrdered, now_);
  }

  Verdict ping(Ping result) {
    now_ += 10s;
    machine_.pinged(result, now_);
    return verdict();
  }
  Verdict pings(int count, Ping result) {
    for (int i = 0; i < count; ++i) ping(result);
    return verdict();
  }
  [[nodiscard]] Verdict verdict() const { return machine_.verdict(now_); }
  /// What the counters show over the next ten seconds.
  void count(Duration cpu, std::uint64_t requests = 0) {
    cpu_ += cpu;
    requests_ += requests;
    machine_.counted({now_, cpu_, requests_, 0});
  }
  /// A silent guest that counts as it goes: the counters are read before a failure counts.
  Verdict silent(int count_of, Duration cpu, std::uint64_t requests = 0) {
    for (int i = 0; i < count_of; ++i) {
      now_ += 10s;
      count(cpu, requests);
      machine_.pinged(Ping::kSilent, now_);
    }
    return verdict();
  }

  TimePoint now_{1h};
  Duration cpu_{};
  std::uint64_t requests_ = 0;
  Machine machine_;
};

TEST_F(GuestMachine, ANewGuestWaitsUntilItAnswers) {
  EXPECT_EQ(verdict(), Verdict::kWaiting);
  EXPECT_EQ(machine_.state(), State::kDiscovery);
  EXPECT_EQ(pings(5, Ping::kSilent), Verdict::kWaiting) << "it may boot";
  EXPECT_EQ(ping(Ping::kAnswered), Verdict::kHealthy);
  EXPECT_EQ(machine_.state(), State::kHealthy);
}

TEST_F(GuestMachine, IsReportedAtExactlyTheThresholdAndNoSooner) {
  ping(Ping::kAnswered);
  EXPECT_EQ(pings(2, Ping::kSilent), Verdict::kSilent);
  EXPECT_EQ(machine_.state(), State::kError);
  EXPECT_EQ(ping(Ping::kSilent), Verdict::kNoAnswer);
  EXPECT_EQ(machine_.state(), State::kReported);
  EXPECT_EQ(machine_.since(), now_ - 20s) << "the first ping without an answer";
}

TEST_F(GuestMachine, TwoPingsInOneIntervalCountAsOne) {
  ping(Ping::kAnswered);
  for (int i = 0; i < 10; ++i) machine_.pinged(Ping::kSilent, now_ + i * 700ms, now_ + i * 700ms);
  EXPECT_EQ(machine_.failures(), 1);
  machine_.pinged(Ping::kSilent, now_ + 10s, now_ + 8s);
  EXPECT_EQ(machine_.failures(), 2);
}

TEST_F(GuestMachine, OneAnswerInBetweenBeginsAnew) {
  ping(Ping::kAnswered);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(pings(2, Ping::kSilent), Verdict::kSilent);
    EXPECT_EQ(ping(Ping::kAnswered), Verdict::kHealthy);
  }
}

TEST_F(GuestMachine, IsReportedAgainAfterARecovery) {
  ping(Ping::kAnswered);
  EXPECT_EQ(pings(4, Ping::kSilent), Verdict::kNoAnswer);
  EXPECT_EQ(ping(Ping::kAnswered), Verdict::kHealthy);
  EXPECT_EQ(pings(3, Ping::kSilent), Verdict::kNoAnswer);
}

TEST_F(GuestMachine, WhatNobodyKnowsCountsNeitherWay) {
  ping(Ping::kAnswered);
  pings(2, Ping::kSilent);
  EXPECT_EQ(pings(50, Ping::kUnknown), Verdict::kSilent);
  EXPECT_EQ(pings(50, Ping::kBusy), Verdict::kSilent);
  EXPECT_EQ(machine_.failures(), 2);
  EXPECT_EQ(ping(Ping::kSilent), Verdict::kNoAnswer);
}

TEST_F(GuestMachine, TheCountersSayWhatIsDead) {
  struct Row {
    Duration cpu;
    std::uint64_t requests;
    Verdict verdict;
  };
  // Measured on real guests over 8 s: idle +20 ms, panicked without pvpanic +8040 ms, QEMU stopped
  // exactly 0.
  for (const Row& row : {Row{25ms, 0, Verdict::kIdleHung}, Row{10050ms, 0, Verdict::kSpinning},
                         Row{0ms, 0, Verdict::kQemuStuck}, Row{25ms, 3, Verdict::kAgentStuck},
                         Row{10050ms, 1, Verdict::kAgentStuck}}) {
    ping(Ping::kAnswered);
    EXPECT_EQ(silent(3, row.cpu, row.requests), row.verdict) << to_ms(row.cpu);
    ping(Ping::kAnswered);
  }
}

TEST_F(GuestMachine, AFinerVerdictMayComeAfterTheAlarm) {
  ping(Ping::kAnswered);
  EXPECT_EQ(pings(3, Ping::kSilent), Verdict::kNoAnswer) << "no counters yet";
  EXPECT_EQ(silent(2, 10s), Verdict::kSpinning);
  EXPECT_EQ(silent(1, 10s, 5), Verdict::kAgentStuck) << "it reads its disk";
  EXPECT_EQ(silent(13, 10s), Verdict::kSpinning) << "and has not for two minutes";
}

TEST_F(GuestMachine, AnAgentThatIsGoneIsNoDeadGuest) {
  ping(Ping::kAnswered);
  machine_.agent(Channel::kDisconnected, now_);
  EXPECT_EQ(verdict(), Verdict::kAgentDown) << "at once";
  EXPECT_EQ(pings(100, Ping::kDisconnected), Verdict::kAgentDown);
  machine_.agent(Channel::kConnected, now_);
  EXPECT_EQ(ping(Ping::kAnswered), Verdict::kHealthy);
}

TEST_F(GuestMachine, ARebootIsNoFailureUntilTheDeadline) {
  ping(Ping::kAnswered);
  for (int i = 0; i < 3; ++i) machine_.rebooted(now_ + i * 20ms);
  machine_.agent(Channel::kDisconnected, now_);
  EXPECT_EQ(pings(29, Ping::kDisconnected), Verdict::kWaiting);
  EXPECT_EQ(ping(Ping::kDisconnected), Verdict::kBootStuck);
  EXPECT_EQ(machine_.state(), State::kReported);
  EXPECT_EQ(ping(Ping::kAnswered), Verdict::kHealthy);
}

TEST_F(GuestMachine, TheDeadlineStandsStillWhileNobodyCouldHearIt) {
  ping(Ping::kAnswered);
  machine_.rebooted(now_);
  pings(10, Ping::kDisconnected);
  EXPECT_EQ(pings(1000, Ping::kUnknown), Verdict::kWaiting);
  EXPECT_EQ(pings(19, Ping::kDisconnected), Verdict::kWaiting);
  EXPECT_EQ(pings(2, Ping::kDisconnected), Verdict::kBootStuck);
}

TEST_F(GuestMachine, OneThatComesBackWithoutItsAgentIsNotStuck) {
  ping(Ping::kAnswered);
  machine_.rebooted(now_);
  for (int i = 0; i < 31; ++i) {
    now_ += 10s;
    count(1s, 20);
    machine_.pinged(Ping::kDisconnected, now_);
  }
  EXPECT_EQ(verdict(), Verdict::kAgentDown);
}

TEST_F(GuestMachine, OneThatNeverHadAnAgentIsOnlyToldOf) {
  EXPECT_EQ(pings(29, Ping::kDisconnected), Verdict::kWaiting);
  EXPECT_EQ(pings(100, Ping::kDisconnected), Verdict::kNeverAnswered);
  EXPECT_EQ(machine_.state(), State::kDiscovery) << "here that state lasts";
}

// Masakari's monitor leaves it in discovery for ever.
TEST_F(GuestMachine, OneThatHangsWhenItIsFirstSeenIsReportedAfterTheDeadline) {
  machine_.agent(Channel::kConnected, now_);
  EXPECT_EQ(pings(29, Ping::kSilent), Verdict::kWaiting);
  EXPECT_EQ(ping(Ping::kSilent), Verdict::kBootStuck) << "somebody has opened the port";
}

TEST_F(GuestMachine, APauseSuppressesAndBeginsAnew) {
  ping(Ping::kAnswered);
  pings(2, Ping::kSilent);
  machine_.paused(Pause::kOrdered, now_);
  EXPECT_EQ(verdict(), Verdict::kSuppressed);
  EXPECT_FALSE(machine_.asks(now_));
  EXPECT_EQ(pings(20, Ping::kNotRunning), Verdict::kSuppressed);
  machine_.resumed(now_);
  EXPECT_EQ(pings(2, Ping::kSilent), Verdict::kSilent);
  EXPECT_EQ(ping(Ping::kSilent), Verdict::kNoAnswer);
}

TEST_F(GuestMachine, APauseForItsDiskIsTheHostsFault) {
  ping(Ping::kAnswered);
  machine_.paused(Pause::kStorage, now_);
  EXPECT_EQ(verdict(), Verdict::kHostStorage);
  machine_.resumed(now_);
  EXPECT_EQ(verdict(), Verdict::kHealthy);
}

TEST_F(GuestMachine, AMigrationSuppressesAndEnds) {
  ping(Ping::kAnswered);
  machine_.migrating(now_);
  EXPECT_EQ(pings(5, Ping::kSilent), Verdict::kSuppressed);
  EXPECT_EQ(machine_.failures(), 0);
  now_ += 1min;
  EXPECT_EQ(pings(3, Ping::kSilent), Verdict::kNoAnswer) << "no round of it for a minute";
}

TEST_F(GuestMachine, ARebootEndsAMigrationThatNobodySawTheEndOf) {
  ping(Ping::kAnswered);
  machine_.migrating(now_);
  machine_.rebooted(now_);
  EXPECT_NE(ping(Ping::kSilent), Verdict::kSuppressed);
}

TEST_F(GuestMachine, APanicIsReportedAtOnceAndOnce) {
  ping(Ping::kAnswered);
  machine_.paused(Pause::kOrdered, now_);
  machine_.panicked(now_);
  EXPECT_EQ(verdict(), Verdict::kPanic);
  const TimePoint since = machine_.since();
  now_ += 1min;
  machine_.found(Run::kCrashed, Pause::kOrdered, now_);
  EXPECT_EQ(machine_.since(), since);
  machine_.rebooted(now_);
  EXPECT_EQ(verdict(), Verdict::kPanic) << "until it answers";
  EXPECT_EQ(ping(Ping::kAnswered), Verdict::kHealthy);
}

TEST_F(GuestMachine, AQemuThatEndsUnaskedIsReportedUntilTheGuestIsBack) {
  ping(Ping::kAnswered);
  machine_.died(now_);
  EXPECT_EQ(verdict(), Verdict::kDied);
  machine_.started(true, now_);
  EXPECT_EQ(verdict(), Verdict::kDied);
  EXPECT_EQ(ping(Ping::kAnswered), Verdict::kHealthy);
}

TEST_F(GuestMachine, OneWithoutAnAgentIsBackWhenItIsStarted) {
  machine_.agent(Channel::kNone, now_);
  EXPECT_EQ(verdict(), Verdict::kNoAgent);
  machine_.died(now_);
  EXPECT_EQ(verdict(), Verdict::kDied);
  machine_.started(true, now_);
  EXPECT_EQ(verdict(), Verdict::kNoAgent);
}

TEST_F(GuestMachine, AnotherLifeOfTheAgentGoesOnWhereItWas) {
  ping(Ping::kAnswered);
  pings(4, Ping::kSilent);
  const Machine::Record record = machine_.record();
  Machine next(kPolicy, now_ + 1min);
  next.recall(record, now_ + 1min);
  next.found(Run::kRunning, Pause::kOrdered, now_ + 1min);
  EXPECT_EQ(next.verdict(now_ + 1min), Verdict::kNoAnswer);
  EXPECT_EQ(next.since(), machine_.since());
  EXPECT_EQ(next.record(), record);
  EXPECT_EQ(next.state(), State::kReported);
  next.pinged(Ping::kAnswered, now_ + 2min);
  EXPECT_EQ(next.verdict(now_ + 2min), Verdict::kHealthy);
}

// D11: what was healthy is reported although it died while nobody watched.
TEST_F(GuestMachine, OneThatDiesWhileNobodyWatchesIsReportedAfterTheRestart) {
  ping(Ping::kAnswered);
  Machine next(kPolicy, now_);
  next.recall(machine_.record(), now_);
  next.found(Run::kRunning, Pause::kOrdered, now_);
  for (int i = 0; i < 3; ++i) next.pinged(Ping::kSilent, now_ + i * 10s);
  EXPECT_EQ(next.state(), State::kReported);
}

TEST_F(GuestMachine, OneThatBootsIsNotReportedForARestartOfTheAgent) {
  ping(Ping::kAnswered);
  machine_.rebooted(now_);
  Machine next(kPolicy, now_);
  next.recall(machine_.record(), now_);
  next.found(Run::kRunning, Pause::kOrdered, now_);
  for (int i = 0; i < 5; ++i) next.pinged(Ping::kSilent, now_ + i * 10s);
  EXPECT_EQ(next.verdict(now_ + 1min), Verdict::kWaiting);
}

constexpr Policy kCompat{.compat = true, .interval = 10s, .timeout = 2s, .threshold = 3};

class CompatMachine : public GuestMachine {
 protected:
  CompatMachine() : GuestMachine(kCompat) {}
};

TEST_F(CompatMachine, IsReportedAtTheFifthFailureOnceForEachStart) {
  ping(Ping::kAnswered);
  EXPECT_EQ(pings(4, Ping::kSilent), Verdict::kSilent);
  EXPECT_EQ(ping(Ping::kSilent), Verdict::kNoAnswer);
  EXPECT_EQ(ping(Ping::kAnswered), Verdict::kWaiting) << "discovery";
  EXPECT_EQ(ping(Ping::kAnswered), Verdict::kHealthy);
  EXPECT_EQ(pings(20, Ping::kSilent), Verdict::kSilent) << "it was told of already";
  machine_.started(true, now_);
  ping(Ping::kAnswered);
  EXPECT_EQ(pings(5, Ping::kDisconnected), Verdict::kNoAnswer);
}

TEST_F(CompatMachine, ARebootIsHeardAndIgnored) {
  ping(Ping::kAnswered);
  machine_.rebooted(now_);
  EXPECT_EQ(pings(5, Ping::kSilent), Verdict::kNoAnswer) << "the false alarm of the original";
}

TEST_F(CompatMachine, OneThatNeverAnsweredIsNeverReported) {
  machine_.agent(Channel::kConnected, now_);
  pings(200, Ping::kSilent);
  EXPECT_EQ(machine_.state(), State::kDiscovery);
  EXPECT_EQ(verdict(), Verdict::kNeverAnswered);
}

TEST_F(CompatMachine, APauseBeginsAnewOnlyByTheOption) {
  ping(Ping::kAnswered);
  pings(4, Ping::kSilent);
  machine_.paused(Pause::kOrdered, now_);
  machine_.resumed(now_);
  EXPECT_EQ(ping(Ping::kSilent), Verdict::kNoAnswer) << "the state machine stood still";
  Policy policy = kCompat;
  policy.compat_pause_resets = true;
  machine_.set_policy(policy);
  machine_.paused(Pause::kOrdered, now_);
  EXPECT_EQ(machine_.state(), State::kDiscovery);
}

}  // namespace
}  // namespace wardmote::judge::guest
