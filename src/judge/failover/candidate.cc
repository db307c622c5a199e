#include "judge/failover/candidate.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "judge/failover/decision.h"

namespace wardmote::judge::failover {
namespace {

using Order = Comparison::Order;

constexpr int kNever = -1;
constexpr int kHighestUnpromoted = 9;
constexpr int kAheadBonus = 3;
constexpr int kBehindMalus = 2;

constexpr auto kSyncStates =
    std::to_array<std::pair<SyncState, std::string_view>>({{SyncState::kHalf, "half"},
                                                           {SyncState::kUnknown, "unknown"},
                                                           {SyncState::kLost, "lost"},
                                                           {SyncState::kSynced, "synced"},
                                                           {SyncState::kWasActive, "active"}});

template <class T>
Order order_of(const T& a, const T& b) noexcept {
  if (a == b) return Order::kSame;
  return a < b ? Order::kBehind : Order::kAhead;
}

bool usable(const Position& position) noexcept {
  return !position.empty && position.sync != SyncState::kHalf;
}

Duration distance(WallTime a, WallTime b) noexcept {
  return a < b ? b - a : a - b;
}

/// What only makes it likely that one has more.
Order signs(const Position& a, const Position& b) noexcept {
  if (const Order order = order_of(a.counter, b.counter); order != Order::kSame) return order;
  // What a backup was when it was last looked at is older news than what is on its disk.
  const bool dated = a.changed && b.changed;
  if (dated && distance(*a.changed, *b.changed) > kClockTolerance)
    return order_of(*a.changed, *b.changed);
  if (const Order order = order_of(a.sync, b.sync); order != Order::kSame) return order;
  return order_of(a.size, b.size);
}

}  // namespace

Comparison compare(const Position& a, const Position& b) noexcept {
  if (usable(a) != usable(b)) return {usable(a) ? Order::kAhead : Order::kBehind, true};
  if (const Order order = order_of(a.epoch, b.epoch); order != Order::kSame) return {order, true};
  if (a.sequence && b.sequence) return {order_of(*a.sequence, *b.sequence), true};
  const bool a_wrote = a.sync == SyncState::kWasActive;
  const bool b_wrote = b.sync == SyncState::kWasActive;
  // Whoever was active in an epoch has all of it. Epoch 0 may have had several active nodes.
  if (a_wrote != b_wrote) return {a_wrote ? Order::kAhead : Order::kBehind, false};
  return {signs(a, b), false};
}

Standing stand(const Position& own, std::span<const Peer> peers, const ClusterRecord& record) {
  Standing standing;
  std::uint64_t highest = std::max(own.epoch, record.epoch);
  bool had_rows = record.epoch > 0;
  for (const Peer& peer : peers) {
    highest = std::max(highest, peer.position.epoch);
    had_rows = had_rows || !peer.position.empty;
    if (standing.better.empty() && !peer.quarantined && usable(peer.position) &&
        compare(peer.position, own).order == Order::kAhead && compare(peer.position, own).certain)
      standing.better = peer.name;
  }
  standing.epoch = own.epoch < highest ? Epoch::kOlder : Epoch::kCurrent;
  if (highest == 0) standing.epoch = Epoch::kUnknown;
  if (own.sync == SyncState::kHalf) {
    standing.freshness = Freshness::kHalfSynced;
  } else if (own.empty && had_rows) {
    standing.freshness = Freshness::kEmpty;
  } else if (!standing.better.empty()) {
    standing.freshness = Freshness::kBehind;
  } else {
    standing.freshness = peers.empty() ? Freshness::kUnknown : Freshness::kNewest;
  }
  return standing;
}

int score(const Candidate& own, std::span<const Peer> peers, const ClusterRecord& record,
          const ScoreRules& rules) {
  const Standing standing = stand(own.position, peers, record);
  const bool barred = own.quarantined || standing.epoch == Epoch::kOlder ||
                      standing.freshness == Freshness::kEmpty ||
                      standing.freshness == Freshness::kHalfSynced;
  if (barred) return kNever;
  bool ahead = false;
  bool behind = false;
  for (const Peer& peer : own.following ? std::span<const Peer>() : peers) {
    const Order order = compare(own.position, peer.position).order;
    ahead = ahead || order == Order::kAhead;
    behind = behind || order == Order::kBehind;
  }
  int points = rules.unpromoted;
  if (behind) {
    points = std::max(points - kBehindMalus, 1);
  } else if (ahead) {
    points += kAheadBonus;
  }
  return std::min({points, kHighestUnpromoted, rules.promoted - 1});
}

std::string_view to_string(SyncState state) noexcept {
  return std::ranges::find(kSyncStates, state, &std::pair<SyncState, std::string_view>::first)
      ->second;
}

SyncState parse_sync_state(std::string_view word) noexcept {
  const auto* const found =
      std::ranges::find(kSyncStates, word, &std::pair<SyncState, std::string_view>::second);
  return found == kSyncStates.end() ? SyncState::kUnknown : found->first;
}

}  // namespace wardmote::judge::failover
