// What a node does with its two databases, for every combination of what it can know.
#include "judge/failover/decision.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/format.h"

namespace wardmote::judge::failover {
namespace {

void for_all(const std::function<void(const Situation&)>& look) {
  for (int nb = 0; nb < kCopies; ++nb)
    for (int sb = 0; sb < kCopies; ++sb)
      for (int lock = 0; lock < kLocks; ++lock)
        for (int epoch = 0; epoch < kEpochs; ++epoch)
          for (int fresh = 0; fresh < kFreshnesses; ++fresh)
            for (int source = 0; source < kSources; ++source)
              look({static_cast<Copy>(nb), static_cast<Copy>(sb), static_cast<Lock>(lock),
                    static_cast<Epoch>(epoch), static_cast<Freshness>(fresh),
                    static_cast<Source>(source)});
}

bool any(const Situation& s, Copy copy) {
  return s.nb == copy || s.sb == copy;
}

bool backup(Copy copy) {
  return copy == Copy::kFollowing || copy == Copy::kSearching || copy == Copy::kStray ||
         copy == Copy::kIsolated;
}

std::string words(const Situation& s) {
  return fmt::format("nb {}, sb {}, lock {}, epoch {}, freshness {}, source {}: {}",
                     to_string(s.nb), to_string(s.sb), static_cast<int>(s.lock),
                     static_cast<int>(s.epoch), static_cast<int>(s.freshness),
                     static_cast<int>(s.source), to_string(decide(s).action));
}

TEST(FailoverDecision, NeverPromotesAnEmptyHalfSyncedOrOlderCopyNorWithoutTheLock) {
  for_all([](const Situation& s) {
    if (decide(s).action != Action::kPromote) return;
    EXPECT_EQ(s.lock, Lock::kMine) << words(s);
    EXPECT_NE(s.epoch, Epoch::kOlder) << words(s);
    EXPECT_NE(s.freshness, Freshness::kEmpty) << words(s);
    EXPECT_NE(s.freshness, Freshness::kHalfSynced) << words(s);
    if (backup(s.nb) && backup(s.sb)) {
      EXPECT_NE(s.freshness, Freshness::kBehind) << words(s);
    }
    for (const Copy copy : {Copy::kDown, Copy::kHung, Copy::kUnknown})
      EXPECT_FALSE(any(s, copy)) << words(s);
  });
}

/// What an operator reads is what was seen, not what is usual.
TEST(FailoverDecision, ReasonsAreTrue) {
  for_all([](const Situation& s) {
    const std::string_view reason = decide(s).reason;
    if (reason.starts_with("one database is writable")) {
      EXPECT_TRUE(any(s, Copy::kActive)) << words(s);
    }
    if (reason == "another copy was promoted after this one") {
      EXPECT_NE(s.freshness, Freshness::kEmpty) << words(s);
    }
    if (reason == "this node itself has the address") {
      EXPECT_EQ(s.source, Source::kSelf) << words(s);
    }
    if (reason.starts_with("its copy is empty")) {
      EXPECT_EQ(s.source, Source::kEmpty) << words(s);
    }
    if (reason.starts_with("its copy is older")) {
      EXPECT_EQ(s.source, Source::kOlder) << words(s);
    }
  });
  Situation strays{Copy::kStray, Copy::kStray, Lock::kMine};
  EXPECT_EQ(decide(strays).action, Action::kPromote);
  strays.nb = Copy::kActive;
  EXPECT_EQ(decide(strays).action, Action::kStepDown);
}

TEST(FailoverDecision, WritableWithoutTheLockEndsAtOnce) {
  for_all([](const Situation& s) {
    if (!any(s, Copy::kActive)) return;
    const Action action = decide(s).action;
    if (s.lock == Lock::kOther || s.lock == Lock::kNone) {
      EXPECT_TRUE(action == Action::kStepDown || action == Action::kEnd) << words(s);
    }
    if (s.lock == Lock::kReleased) {
      EXPECT_TRUE(action == Action::kIsolate || action == Action::kEnd) << words(s);
    }
  });
}

TEST(FailoverDecision, AnOldActiveNodeThatComesBackStepsDown) {
  for_all([](const Situation& s) {
    if (!any(s, Copy::kActive) || s.lock != Lock::kMine || s.epoch != Epoch::kOlder) return;
    const Action action = decide(s).action;
    EXPECT_TRUE(action == Action::kStepDown || action == Action::kEnd) << words(s);
  });
}

TEST(FailoverDecision, AWritableCopyThatLostItsRowsStepsDownEvenWithTheLock) {
  for_all([](const Situation& s) {
    const bool lost = s.freshness == Freshness::kEmpty || s.freshness == Freshness::kHalfSynced;
    if (!any(s, Copy::kActive) || s.lock != Lock::kMine || !lost) return;
    const Action action = decide(s).action;
    EXPECT_TRUE(action == Action::kStepDown || action == Action::kEnd) << words(s);
  });
}

TEST(FailoverDecision, FollowsOnlyAnotherNodeThatHasTheLockAndIsNeitherEmptyNorOlder) {
  for_all([](const Situation& s) {
    if (decide(s).action != Action::kFollow) return;
    EXPECT_EQ(s.lock, Lock::kOther) << words(s);
    EXPECT_EQ(s.source, Source::kGood) << words(s);
    EXPECT_TRUE(backup(s.nb) && backup(s.sb)) << words(s);
  });
}

TEST(FailoverDecision, ABackupLeavesASourceThatWouldDestroyIt) {
  for_all([](const Situation& s) {
    const bool bad =
        s.source == Source::kSelf || s.source == Source::kEmpty || s.source == Source::kOlder;
    if (!bad || s.lock != Lock::kOther || !backup(s.nb) || !backup(s.sb)) return;
    const bool safe = s.nb == Copy::kIsolated && s.sb == Copy::kIsolated;
    EXPECT_EQ(decide(s).action, safe ? Action::kNone : Action::kIsolate) << words(s);
  });
}

TEST(FailoverDecision, NothingIsLeftWithOneDatabaseWritableAndOneNot) {
  for_all([](const Situation& s) {
    const bool mixed = (s.nb == Copy::kActive) != (s.sb == Copy::kActive);
    if (mixed) {
      EXPECT_NE(decide(s).action, Action::kNone) << words(s);
    }
  });
}

TEST(FailoverDecision, AHungServerIsEndedUnlessNobodySaysWhoMayBeActive) {
  for_all([](const Situation& s) {
    if (!any(s, Copy::kHung)) return;
    EXPECT_EQ(decide(s).action, s.lock == Lock::kUnknown ? Action::kWait : Action::kEnd)
        << words(s);
  });
}

TEST(FailoverDecision, TheTwoDatabasesAreTreatedAlike) {
  for_all([](const Situation& s) {
    Situation swapped = s;
    std::swap(swapped.nb, swapped.sb);
    EXPECT_EQ(decide(s).action, decide(swapped).action) << words(s);
  });
}

TEST(FailoverDecision, WithoutAnybodyWhoKeepsTheLockNothingChangesItsRole) {
  for_all([](const Situation& s) {
    if (s.lock != Lock::kUnknown) return;
    const Action action = decide(s).action;
    EXPECT_TRUE(action == Action::kWait || action == Action::kStart) << words(s);
  });
}

TEST(FailoverDecision, EveryRowOfTheTableDecidesSomething) {
  std::set<const Row*> used;
  for_all([&](const Situation& s) {
    for (const Row& row : decisions()) {
      if (!row.fits(s)) continue;
      used.insert(&row);
      return;
    }
  });
  for (const Row& row : decisions()) EXPECT_TRUE(used.contains(&row)) << row.decision.reason;
}

}  // namespace
}  // namespace wardmote::judge::failover
