// Who of several copies may be promoted.
#include "judge/failover/candidate.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace wardmote::judge::failover {
namespace {

using namespace std::chrono_literals;
using Order = Comparison::Order;

Position at(std::uint64_t epoch, SyncState sync = SyncState::kSynced) {
  Position position;
  position.epoch = epoch;
  position.sync = sync;
  return position;
}

Position empty() {
  Position position;
  position.empty = true;
  return position;
}

int score_of(const Position& own, std::vector<Peer> peers, const ClusterRecord& record = {}) {
  return score({own, false, false}, peers, record, {});
}

TEST(FailoverCandidate, ALaterEpochHasMoreWhateverElseIsTrue) {
  Position old = at(3, SyncState::kWasActive);
  old.counter = 1000;
  old.size = 1000;
  const Comparison found = compare(at(4, SyncState::kLost), old);
  EXPECT_EQ(found.order, Order::kAhead);
  EXPECT_TRUE(found.certain);
}

TEST(FailoverCandidate, AnEmptyOrHalfSyncedCopyIsBehindAnyOther) {
  EXPECT_EQ(compare(at(0), empty()).order, Order::kAhead);
  EXPECT_EQ(compare(at(1), at(9, SyncState::kHalf)).order, Order::kAhead);
}

TEST(FailoverCandidate, ThePlaceInWhatTheActiveNodePublishedDecidesWithinAnEpoch) {
  Position a = at(2);
  Position b = at(2);
  a.sequence = 40;
  b.sequence = 41;
  b.sync = SyncState::kLost;
  EXPECT_EQ(compare(a, b).order, Order::kBehind);
  EXPECT_TRUE(compare(a, b).certain);
}

TEST(FailoverCandidate, ClocksThatDifferALittleOrderNothing) {
  Position a = at(2);
  Position b = at(2);
  a.changed = WallTime(100s);
  b.changed = WallTime(103s);
  EXPECT_EQ(compare(a, b).order, Order::kSame);
  b.changed = WallTime(160s);
  EXPECT_EQ(compare(a, b).order, Order::kBehind);
  EXPECT_FALSE(compare(a, b).certain);
}

/// One node was away for a minute before all lost power, and its agent had looked just before it
/// left.
TEST(FailoverCandidate, WhatIsOnTheDiskCountsMoreThanWhatTheAgentLastSaw) {
  Position fresh = at(2, SyncState::kUnknown);
  Position stale = at(2, SyncState::kSynced);
  fresh.changed = WallTime(100s);
  stale.changed = WallTime(40s);
  EXPECT_EQ(compare(fresh, stale).order, Order::kAhead);
}

/// A file that lost its end looks like any other, and its agent had seen it well.
TEST(FailoverCandidate, RowsThatAreThereCountMoreThanWhatTheAgentLastSaw) {
  Position whole = at(2, SyncState::kUnknown);
  Position cut = at(2, SyncState::kSynced);
  whole.size = 592;
  cut.size = 358;
  EXPECT_EQ(compare(whole, cut).order, Order::kAhead);
  EXPECT_EQ(compare(at(2, SyncState::kSynced), at(2, SyncState::kLost)).order, Order::kSame);
}

TEST(FailoverCandidate, OnlyACopyThatCopiesFromNobodyHasMore) {
  Position more = at(2);
  more.size = 749;
  Position own = at(2);
  own.size = 99;
  EXPECT_EQ(has_more(own, std::vector<Peer>{{"n2", more, false, true}}, {}), "n2");
  EXPECT_EQ(has_more(own, std::vector<Peer>{{"n2", more, false, false}}, {}), "") << "may change";
  EXPECT_EQ(has_more(own, std::vector<Peer>{{"n2", more, true, true}}, {}), "") << "quarantined";
  EXPECT_EQ(has_more(more, std::vector<Peer>{{"n2", own, false, true}}, {}), "");
}

/// Or each switch-over would go back.
TEST(FailoverCandidate, WhoWasActiveHasMoreOnlyIfItsContentDiffers) {
  Position own = at(2);
  Position was_active = at(2, SyncState::kWasActive);
  EXPECT_EQ(has_more(own, std::vector<Peer>{{"n1", was_active, false, true}}, {}), "");
  was_active.size = 5;
  EXPECT_EQ(has_more(own, std::vector<Peer>{{"n1", was_active, false, true}}, {}), "n1");
  own.size = 9;
  EXPECT_EQ(has_more(own, std::vector<Peer>{{"n1", was_active, false, true}}, {}), "n1");
}

TEST(FailoverCandidate, ACopyIsTheSameOnlyIfNothingTellsItFromAnyOther) {
  const Position own = at(2);
  const Peer same{"n2", own, false, true};
  EXPECT_TRUE(same_as_all(own, std::vector<Peer>{same}));
  EXPECT_TRUE(
      same_as_all(own, std::vector<Peer>{{"n1", at(2, SyncState::kWasActive), false, true}}));
  EXPECT_FALSE(same_as_all(own, {})) << "nobody says anything";
  EXPECT_FALSE(same_as_all(own, std::vector<Peer>{same, {"n3", own, false, false}}));
  Position other = own;
  other.size = 1;
  EXPECT_FALSE(same_as_all(own, std::vector<Peer>{{"n2", other, false, true}}));
  EXPECT_FALSE(same_as_all(own, std::vector<Peer>{{"n2", at(3), false, true}}));
  EXPECT_FALSE(same_as_all(own, std::vector<Peer>{{"n2", empty(), false, true}}));
  // Each of two that were active may have rows of its own, as many as the other.
  const Position active = at(2, SyncState::kWasActive);
  EXPECT_FALSE(same_as_all(active, std::vector<Peer>{{"n2", active, false, true}}));
}

/// n1 was promoted and lost power before anybody heard of it; n2 was promoted after that with the
/// same number, and had clients for hours.
TEST(FailoverCandidate, AnEpochOfWhichNobodyHeardIsOlderThanTheOneOfThatNumber) {
  Position unheard = at(2, SyncState::kWasActive);
  unheard.author = "n1";
  Position own = at(2);
  own.author = "n2";
  own.size = 749;
  const ClusterRecord record{2, "n2", "n2"};
  EXPECT_EQ(stand(unheard, {}, record).epoch, Epoch::kOlder);
  EXPECT_EQ(stand(own, std::vector<Peer>{{"n1", unheard, false, true}}, record).freshness,
            Freshness::kNewest);
  EXPECT_EQ(has_more(own, std::vector<Peer>{{"n1", unheard, false, true}}, record), "");
  EXPECT_EQ(has_more(unheard, std::vector<Peer>{{"n3", own, false, true}}, record), "n3");
  EXPECT_EQ(score_of(unheard, {{"n3", own}}, record), -1);
  EXPECT_EQ(score_of(own, {{"n1", unheard}}, record), 5) << "who is barred counts for nothing";
  EXPECT_FALSE(same_as_all(own, std::vector<Peer>{{"n1",
                                                   [&] {
                                                     Position same = own;
                                                     same.author = "n1";
                                                     return same;
                                                   }(),
                                                   false, true}}));
  // Where nobody says who began it, the number counts.
  unheard.author.clear();
  EXPECT_EQ(heard(unheard, record).epoch, 2U);
  EXPECT_EQ(heard(own, {2, "", "n1"}).epoch, 2U);
  EXPECT_EQ(heard(own, {3, "n1", "n1"}).epoch, 2U);
}

/// n1 was active, followed n2 for a moment, and lost power before it noted that.
TEST(FailoverCandidate, WhoDidNotBeginTheEpochWasNotActiveInIt) {
  EXPECT_EQ(remembered(SyncState::kWasActive, "n2", "n1"), SyncState::kUnknown);
  EXPECT_EQ(remembered(SyncState::kWasActive, "n1", "n1"), SyncState::kWasActive);
  EXPECT_EQ(remembered(SyncState::kWasActive, "", "n1"), SyncState::kWasActive);
  EXPECT_EQ(remembered(SyncState::kSynced, "n2", "n1"), SyncState::kSynced);
}

TEST(FailoverCandidate, AComparisonTurnedRoundSaysTheOpposite) {
  std::vector<Position> all = {at(0), at(1), at(1, SyncState::kWasActive), at(2, SyncState::kHalf),
                               empty()};
  all.push_back(at(1));
  all.back().counter = 7;
  all.push_back(at(1));
  all.back().size = 5;
  for (const Position& a : all) {
    for (const Position& b : all) {
      const int forth = static_cast<int>(compare(a, b).order) - 1;
      const int back = static_cast<int>(compare(b, a).order) - 1;
      EXPECT_EQ(forth, -back);
    }
  }
}

TEST(FailoverCandidate, InANewClusterAnEmptyCopyMayBePromoted) {
  const std::vector<Peer> peers = {{"n2", empty(), false}};
  EXPECT_NE(stand(empty(), peers, {}).freshness, Freshness::kEmpty);
  EXPECT_EQ(score_of(empty(), peers), 5);
}

TEST(FailoverCandidate, AnEmptyCopyMayNotBePromotedOnceTheClusterHadRows) {
  EXPECT_EQ(stand(empty(), {}, {1, "", "n1"}).freshness, Freshness::kEmpty);
  const std::vector<Peer> peers = {{"n2", at(0), false}};
  EXPECT_EQ(stand(empty(), peers, {}).freshness, Freshness::kEmpty);
  EXPECT_EQ(score_of(empty(), peers), -1);
}

TEST(FailoverCandidate, ACopyThatMissedAPromotionIsOlderEvenWhenTheOthersAreGone) {
  const Standing standing = stand(at(3), {}, {4, "", "n2"});
  EXPECT_EQ(standing.epoch, Epoch::kOlder);
  EXPECT_EQ(score_of(at(3), {}, {4, "", "n2"}), -1);
  EXPECT_EQ(stand(at(4), {}, {4, "", "n2"}).epoch, Epoch::kCurrent);
}

TEST(FailoverCandidate, WhoIsAheadGetsTheHigherScoreAndAllStayBelowTheStockAgentsPromoted) {
  Position fresh = at(2);
  fresh.counter = 120;
  Position stale = at(2);
  stale.counter = 100;
  const int ahead = score_of(fresh, {{"n3", stale, false}}, {2, "", "n1"});
  const int behind = score_of(stale, {{"n2", fresh, false}}, {2, "", "n1"});
  EXPECT_GT(ahead, behind);
  EXPECT_LE(ahead, 9);
  EXPECT_GT(behind, 0);
}

TEST(FailoverCandidate, ABackupThatFollowsHasTheStockAgentsScore) {
  const std::vector<Peer> peers = {{"n1", at(2, SyncState::kWasActive), false}};
  EXPECT_EQ(score({at(2), false, true}, peers, {2, "", "n1"}, {}), 5);
  EXPECT_EQ(score({at(2), true, true}, peers, {2, "", "n1"}, {}), -1);
}

TEST(FailoverCandidate, ASignOrdersAndAFactForbids) {
  Position fresh = at(2);
  fresh.size = 100;
  EXPECT_NE(stand(at(2), std::vector<Peer>{{"n2", fresh, false}}, {2, "", "n1"}).freshness,
            Freshness::kBehind);
  fresh.sequence = 9;
  Position own = at(2);
  own.sequence = 8;
  const Standing standing = stand(own, std::vector<Peer>{{"n2", fresh, false}}, {2, "", "n1"});
  EXPECT_EQ(standing.freshness, Freshness::kBehind);
  EXPECT_EQ(standing.better, "n2");
}

TEST(FailoverCandidate, TheWordsOfASyncStateAreReadBack) {
  for (const SyncState state : {SyncState::kHalf, SyncState::kUnknown, SyncState::kLost,
                                SyncState::kSynced, SyncState::kWasActive})
    EXPECT_EQ(parse_sync_state(to_string(state)), state);
  EXPECT_EQ(parse_sync_state("something"), SyncState::kUnknown);
}

}  // namespace
}  // namespace wardmote::judge::failover
