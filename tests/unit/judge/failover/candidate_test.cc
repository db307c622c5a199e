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
  EXPECT_EQ(stand(empty(), {}, {1, "n1"}).freshness, Freshness::kEmpty);
  const std::vector<Peer> peers = {{"n2", at(0), false}};
  EXPECT_EQ(stand(empty(), peers, {}).freshness, Freshness::kEmpty);
  EXPECT_EQ(score_of(empty(), peers), -1);
}

TEST(FailoverCandidate, ACopyThatMissedAPromotionIsOlderEvenWhenTheOthersAreGone) {
  const Standing standing = stand(at(3), {}, {4, "n2"});
  EXPECT_EQ(standing.epoch, Epoch::kOlder);
  EXPECT_EQ(score_of(at(3), {}, {4, "n2"}), -1);
  EXPECT_EQ(stand(at(4), {}, {4, "n2"}).epoch, Epoch::kCurrent);
}

TEST(FailoverCandidate, WhoIsAheadGetsTheHigherScoreAndAllStayBelowTheStockAgentsPromoted) {
  Position fresh = at(2);
  fresh.counter = 120;
  Position stale = at(2);
  stale.counter = 100;
  const int ahead = score_of(fresh, {{"n3", stale, false}}, {2, "n1"});
  const int behind = score_of(stale, {{"n2", fresh, false}}, {2, "n1"});
  EXPECT_GT(ahead, behind);
  EXPECT_LE(ahead, 9);
  EXPECT_GT(behind, 0);
}

TEST(FailoverCandidate, ABackupThatFollowsHasTheStockAgentsScore) {
  const std::vector<Peer> peers = {{"n1", at(2, SyncState::kWasActive), false}};
  EXPECT_EQ(score({at(2), false, true}, peers, {2, "n1"}, {}), 5);
  EXPECT_EQ(score({at(2), true, true}, peers, {2, "n1"}, {}), -1);
}

TEST(FailoverCandidate, ASignOrdersAndAFactForbids) {
  Position fresh = at(2);
  fresh.size = 100;
  EXPECT_NE(stand(at(2), std::vector<Peer>{{"n2", fresh, false}}, {2, "n1"}).freshness,
            Freshness::kBehind);
  fresh.sequence = 9;
  Position own = at(2);
  own.sequence = 8;
  const Standing standing = stand(own, std::vector<Peer>{{"n2", fresh, false}}, {2, "n1"});
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
