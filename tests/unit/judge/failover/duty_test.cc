#include "judge/failover/duty.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "judge/failover/decision.h"
#include "judge/failover/member.h"

namespace wardmote::judge::failover {
namespace {

using Verdict = Candidacy::Verdict;

constexpr int kVerdicts = 3;
constexpr int kFlags = 16;

bool backup(Copy copy) {
  return copy == Copy::kFollowing || copy == Copy::kSearching || copy == Copy::kStray ||
         copy == Copy::kIsolated;
}

void for_all(const std::function<void(const Duties&)>& check) {
  Duties now;
  for (int nb = 0; nb < kCopies; ++nb) {
    for (int sb = 0; sb < kCopies; ++sb) {
      for (int lock = 0; lock < kLocks; ++lock) {
        for (int epoch = 0; epoch < kEpochs; ++epoch) {
          for (int source = 0; source < kSources; ++source) {
            for (int verdict = 0; verdict < kVerdicts; ++verdict) {
              for (int flags = 0; flags < kFlags; ++flags) {
                now.nb = static_cast<Copy>(nb);
                now.sb = static_cast<Copy>(sb);
                now.lock = static_cast<Lock>(lock);
                now.epoch = static_cast<Epoch>(epoch);
                now.source = static_cast<Source>(source);
                now.candidacy = static_cast<Verdict>(verdict);
                now.address = (flags & 1) != 0;
                now.announced = (flags & 2) != 0;
                now.standing = (flags & 4) != 0;
                now.paused = (flags & 8) != 0;
                // Who leads stands, and nobody announces who does not lead.
                if (now.lock == Lock::kMine && !now.standing) continue;
                if (now.announced && now.lock != Lock::kMine) continue;
                check(now);
              }
            }
          }
        }
      }
    }
  }
}

std::string show(const Duties& now) {
  return std::string(to_string(now.nb)) + " " + std::string(to_string(now.sb)) + " lock " +
         std::to_string(static_cast<int>(now.lock)) + " epoch " +
         std::to_string(static_cast<int>(now.epoch)) + (now.address ? " address" : "") +
         (now.announced ? " announced" : "") + ": " + std::string(to_string(next_duty(now).duty));
}

TEST(Duty, EveryCaseIsDecidedAndSaysWhy) {
  for_all([](const Duties& now) { ASSERT_FALSE(next_duty(now).reason.empty()) << show(now); });
}

TEST(Duty, EveryRowIsReached) {
  std::set<const char*> reached;
  for_all([&](const Duties& now) { reached.insert(next_duty(now).reason.data()); });
  for (const DutyRow& row : duties())
    EXPECT_TRUE(reached.contains(row.next.reason.data())) << row.next.reason;
}

TEST(Duty, TheAddressGoesBeforeAnythingElseFromWhoDoesNotLead) {
  for_all([](const Duties& now) {
    if (now.address && now.lock != Lock::kMine)
      ASSERT_EQ(next_duty(now).duty, Duty::kAddressOff) << show(now);
  });
}

TEST(Duty, TheAddressGoesFromACopyThatIsNotWritable) {
  for_all([](const Duties& now) {
    const bool bad = backup(now.nb) || backup(now.sb) || now.nb == Copy::kDown ||
                     now.sb == Copy::kDown || now.nb == Copy::kHung || now.sb == Copy::kHung;
    if (now.address && (bad || !now.announced || now.epoch == Epoch::kOlder))
      ASSERT_EQ(next_duty(now).duty, Duty::kAddressOff) << show(now);
  });
}

TEST(Duty, TheAddressIsTakenOnlyWithTwoWritableCopiesOfTheAnnouncedEpoch) {
  for_all([](const Duties& now) {
    if (next_duty(now).duty != Duty::kAddressOn) return;
    ASSERT_TRUE(now.lock == Lock::kMine && now.announced && now.nb == Copy::kActive &&
                now.sb == Copy::kActive && now.epoch != Epoch::kOlder)
        << show(now);
  });
}

TEST(Duty, WhatIsWritableWithoutARightToItBecomesReadOnly) {
  for_all([](const Duties& now) {
    const bool active = now.nb == Copy::kActive || now.sb == Copy::kActive;
    if (!active || now.address || (now.lock == Lock::kMine && now.announced)) return;
    const Duty duty = next_duty(now).duty;
    ASSERT_TRUE(duty == Duty::kStepDown || duty == Duty::kIsolate) << show(now);
  });
}

// While the southbound server hung, the northbound one went on copying from the node that had been
// active, and was emptied when that one began to copy from the new active node.
TEST(Duty, OneServerThatHangsKeepsTheOtherFromCopyingFromNobodyWhoIsActive) {
  const auto silent = [](Copy copy) {
    return copy == Copy::kHung || copy == Copy::kDown || copy == Copy::kUnknown;
  };
  for_all([&](const Duties& now) {
    const bool one =
        (silent(now.nb) && now.sb == Copy::kStray) || (silent(now.sb) && now.nb == Copy::kStray);
    if (!one || now.address || now.standing || now.paused || now.lock == Lock::kMine) return;
    if (now.lock == Lock::kReleased) return;  // it ends by itself
    ASSERT_EQ(next_duty(now).duty, Duty::kIsolate) << show(now);
  });
}

TEST(Duty, OnlyALeaderThatMayAndIsNotPausedIsPromoted) {
  for_all([](const Duties& now) {
    if (next_duty(now).duty != Duty::kPromote) return;
    ASSERT_TRUE(now.lock == Lock::kMine && now.candidacy == Verdict::kGo && !now.paused &&
                now.nb == Copy::kIsolated && now.sb == Copy::kIsolated)
        << show(now);
  });
}

TEST(Duty, NobodyFollowsWithoutAnActiveNodeOrABadSource) {
  for_all([](const Duties& now) {
    if (next_duty(now).duty != Duty::kFollow) return;
    ASSERT_TRUE(now.lock == Lock::kOther && now.source == Source::kGood) << show(now);
  });
}

TEST(Duty, APauseKeepsOthersFromStandingAndTheActiveNodeActive) {
  for_all([](const Duties& now) {
    if (now.paused) ASSERT_NE(next_duty(now).duty, Duty::kStand) << show(now);
  });
  const Duties active{.nb = Copy::kActive,
                      .sb = Copy::kActive,
                      .lock = Lock::kMine,
                      .epoch = Epoch::kCurrent,
                      .address = true,
                      .announced = true,
                      .standing = true,
                      .paused = true};
  EXPECT_EQ(next_duty(active).duty, Duty::kNone);
}

}  // namespace
}  // namespace wardmote::judge::failover
