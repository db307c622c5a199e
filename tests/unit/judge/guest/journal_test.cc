// The tables of masakari-monitors: what its FSM does with each ping, and when it notifies.
#include "judge/guest/journal.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "judge/check_machine.h"

namespace wardmote::judge::guest {
namespace {

using Delivery = MasakariJournal::Delivery;

constexpr int kThreshold = 3;  // the default of guest_monitoring_failure_threshold

/// One failed ping as QemuGuestAgent._record(None) does it; returns whether it notifies.
bool fail(MasakariJournal& journal, Delivery delivery = Delivery::kReturned,
          int threshold = kThreshold) {
  const bool notifies = journal.begin_failure(threshold);
  if (notifies) journal.notified(delivery);
  journal.end_failure();
  return notifies;
}

MasakariJournal healthy() {
  MasakariJournal journal;
  journal.answered();
  return journal;
}

// The trace of a healthy guest that falls silent, with threshold 3.
TEST(MasakariJournal, NotifiesAtTheSecondFailureAfterTheThreshold) {
  struct Row {
    State state;
    int failures;
    bool fires;
  };
  const std::vector<Row> rows = {{State::kError, 1, false},   {State::kError, 2, false},
                                 {State::kError, 3, false},   {State::kError, 4, false},
                                 {State::kReported, 4, true}, {State::kReported, 4, false}};
  MasakariJournal journal = healthy();
  for (std::size_t k = 0; k < rows.size(); ++k) {
    EXPECT_EQ(fail(journal), rows[k].fires) << "failure " << k + 1;
    EXPECT_EQ(journal.state(), rows[k].state) << "failure " << k + 1;
    EXPECT_EQ(journal.failures(), rows[k].failures) << "failure " << k + 1;
  }
}

TEST(MasakariJournal, TheThresholdIsWhatItIsAtThatFailure) {
  for (const int threshold : {0, 1, 2, 3, 7}) {
    MasakariJournal journal = healthy();
    int at = 0;
    for (int k = 1; k <= 20 && at == 0; ++k) {
      if (fail(journal, Delivery::kReturned, threshold)) at = k;
    }
    EXPECT_EQ(at, threshold + 2);
  }
}

// state machine of qemu_utils.py: discovery stays discovery while nobody answers.
TEST(MasakariJournal, WhoNeverAnsweredIsNeverReported) {
  MasakariJournal journal;
  for (int k = 0; k < 100; ++k) EXPECT_FALSE(fail(journal));
  EXPECT_EQ(journal.state(), State::kDiscovery);
  EXPECT_EQ(journal.failures(), 0);
}

// Its unit test: discovery -(fail)-> discovery -(ok)-> healthy -(ok)-> healthy -(fail)-> error.
TEST(MasakariJournal, FollowsTheTestOfTheOriginal) {
  MasakariJournal journal;
  EXPECT_FALSE(fail(journal));
  EXPECT_EQ(journal.state(), State::kDiscovery);
  journal.answered();
  EXPECT_EQ(journal.state(), State::kHealthy);
  journal.answered();
  EXPECT_EQ(journal.state(), State::kHealthy);
  EXPECT_FALSE(fail(journal));
  EXPECT_EQ(journal.state(), State::kError);
}

TEST(MasakariJournal, AfterARecoveryItCountsAndSaysNothing) {
  MasakariJournal journal = healthy();
  for (int k = 0; k < 5; ++k) fail(journal);
  journal.answered();
  EXPECT_EQ(journal.state(), State::kDiscovery) << "not healthy yet";
  EXPECT_FALSE(fail(journal));
  EXPECT_EQ(journal.state(), State::kDiscovery);
  journal.answered();
  EXPECT_EQ(journal.state(), State::kHealthy);
  for (int k = 0; k < 50; ++k) EXPECT_FALSE(fail(journal)) << "notifier.send_notification Skipped";
  EXPECT_EQ(journal.state(), State::kError);
  EXPECT_EQ(journal.failures(), 50);
}

TEST(MasakariJournal, AStartBeginsAnew) {
  MasakariJournal journal = healthy();
  for (int k = 0; k < 5; ++k) fail(journal);
  journal.started();
  EXPECT_EQ(journal, MasakariJournal());
  journal.answered();
  for (int k = 1; k <= 5; ++k) EXPECT_EQ(fail(journal), k == 5);
}

// An exception skips the flag, so that the next failure tries again.
TEST(MasakariJournal, WhatWasRaisedIsTriedAgain) {
  MasakariJournal journal = healthy();
  for (int k = 0; k < 4; ++k) fail(journal);
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(fail(journal, Delivery::kRaised));
  EXPECT_EQ(journal.state(), State::kError);
  EXPECT_TRUE(fail(journal));
  EXPECT_FALSE(fail(journal));
}

}  // namespace
}  // namespace wardmote::judge::guest
