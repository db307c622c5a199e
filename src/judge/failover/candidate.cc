#include "judge/failover/candidate.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
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

/// What the content itself suggests: counters, dates, size.
Order content(const Position& a, const Position& b) noexcept {
  if (const Order order = order_of(a.counter, b.counter); order != Order::kSame) return order;
  const bool dated = a.changed && b.changed;
  if (dated && distance(*a.changed, *b.changed) > kClockTolerance)
    return order_of(*a.changed, *b.changed);
  return order_of(a.size, b.size);
}

bool wrote(const Position& position) noexcept {
  return position.sync == SyncState::kWasActive;
}

}  // namespace

Comparison compare(const Position& a, const Position& b) noexcept {
  if (usable(a) != usable(b)) return {usable(a) ? Order::kAhead : Order::kBehind, true};
  if (const Order order = order_of(a.epoch, b.epoch); order != Order::kSame) return {order, true};
  if (a.sequence && b.sequence) return {order_of(*a.sequence, *b.sequence), true};
  const Order order = content(a, b);
  // Whoever was active in an epoch has all of it. Epoch 0 may have had several active nodes.
  if (wrote(a) != wrote(b) && order != Order::kSame)
    return {wrote(a) ? Order::kAhead : Order::kBehind, false};
  return {order, false};
}

SyncState remembered(SyncState state, std::string_view author, std::string_view node) noexcept {
  const bool old = state == SyncState::kWasActive && !author.empty() && author != node;
  return old ? SyncState::kUnknown : state;
}

Position heard(Position position, const ClusterRecord& record) {
  const bool another = position.epoch > 0 && position.epoch == record.epoch &&
                       !position.author.empty() && !record.author.empty() &&
                       position.author != record.author;
  if (another) --position.epoch;
  return position;
}

Standing stand(const Position& copy, std::span<const Peer> peers, const ClusterRecord& record) {
  const Position own = heard(copy, record);
  Standing standing;
  std::uint64_t highest = std::max(own.epoch, record.epoch);
  bool had_rows = record.epoch > 0;
  for (const Peer& peer : peers) {
    const Position position = heard(peer.position, record);
    highest = std::max(highest, position.epoch);
    had_rows = had_rows || !position.empty;
    const Comparison found = compare(position, own);
    if (standing.better.empty() && !peer.quarantined && usable(position) &&
        found.order == Order::kAhead && found.certain)
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

std::string has_more(const Position& copy, std::span<const Peer> peers,
                     const ClusterRecord& record) {
  const Position own = heard(copy, record);
  const auto better = std::ranges::find_if(peers, [&](const Peer& peer) {
    const Position position = heard(peer.position, record);
    return peer.settled && !peer.quarantined && compare(position, own).order == Order::kAhead;
  });
  return better == peers.end() ? std::string() : better->name;
}

bool same_as_all(const Position& own, std::span<const Peer> peers) noexcept {
  return !peers.empty() && std::ranges::all_of(peers, [&](const Peer& peer) {
    const bool both_wrote = wrote(own) && wrote(peer.position);
    return peer.settled && !both_wrote && usable(peer.position) &&
           peer.position.epoch == own.epoch && peer.position.author == own.author &&
           content(peer.position, own) == Order::kSame;
  });
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
  const Position mine = heard(own.position, record);
  for (const Peer& peer : own.following ? std::span<const Peer>() : peers) {
    const Position theirs = heard(peer.position, record);
    // Nobody has to be ahead of one who is barred.
    if (peer.quarantined || !usable(theirs) || theirs.epoch < mine.epoch) continue;
    const Order order = compare(mine, theirs).order;
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
