#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "judge/failover/decision.h"

namespace wardmote::judge::failover {

/// What a copy was when it was last known to be anything.
enum class SyncState : std::uint8_t {
  kHalf,     ///< it was being replaced, and that did not end
  kUnknown,  ///< nobody looked
  kLost,     ///< a backup that had lost its source
  kSynced,   ///< a backup that was connected to its source
  kWasActive,
};

/// How far a copy is. OVSDB has no position of its own in active/backup mode, so this is what can
/// be known without writing: the epoch of the last promotion that it has seen, the place of its
/// content in what the active node published, its state, its counters.
struct Position {
  std::uint64_t epoch = 0;  ///< of the two databases the lower; 0: it never saw a promotion of ours
  std::string author;       ///< the node that was promoted with it; empty: not known
  bool empty = false;       ///< the northbound database has no row
  SyncState sync = SyncState::kUnknown;
  /// The commit of the active node after which this content was the content, if that is known.
  std::optional<std::uint64_t> sequence;
  /// `NB_Global.nb_cfg`, which clients count up.
  std::int64_t counter = 0;
  /// When the last change was written to disk, by the node's own clock.
  std::optional<WallTime> changed;
  std::uint64_t size = 0;  ///< cells
  friend bool operator==(const Position&, const Position&) = default;
};

/// What the node remembers of its copy may be of an earlier one: who did not begin the epoch was
/// not active in it. An empty author proves nothing.
SyncState remembered(SyncState state, std::string_view author, std::string_view node) noexcept;

/// Clocks of two nodes may differ by this much; a shorter difference orders nothing.
inline constexpr Duration kClockTolerance = std::chrono::seconds(5);

struct Comparison {
  enum class Order : std::uint8_t { kBehind, kSame, kAhead };
  Order order = Order::kSame;
  /// A fact of the content itself, and not only a sign (counters, clocks, sizes). Only such a fact
  /// forbids a promotion; a sign orders those who may be promoted.
  bool certain = false;
};

/// `a` against `b`: first empty or half synced, then epoch, then position. Then the content, by
/// counter, time and size; where that differs, whoever was active has more.
Comparison compare(const Position& a, const Position& b) noexcept;

/// Another node, as it last described itself.
struct Peer {
  std::string name;
  Position position;
  bool quarantined = false;
  /// It copies from nobody, so that this position stays what it is.
  bool settled = false;
};

/// What the cluster's own record says, whoever is there now.
struct ClusterRecord {
  std::uint64_t epoch = 0;  ///< of the last promotion; 0: there was none of ours
  std::string author;       ///< the node that began that epoch; empty: not known
  std::string active;       ///< the node that was promoted last; empty: nobody ever was
};

/// The position as the cluster knows it. A node that died before anybody heard of its promotion has
/// the number of an epoch that another one began after it: that copy is of the epoch before.
Position heard(Position position, const ClusterRecord& record);

struct Standing {
  Epoch epoch = Epoch::kUnknown;
  Freshness freshness = Freshness::kUnknown;
  std::string better;  ///< the node that has more; empty when nobody has
};

/// How a copy stands among all that are known. Somebody who was promoted before makes an empty copy
/// one that lost its rows; in a new cluster all are empty, and any may be promoted.
Standing stand(const Position& own, std::span<const Peer> peers, const ClusterRecord& record);

/// The first of those who copy from nobody now that has more than this copy, as far as facts and
/// signs of the content say; empty when nobody has.
std::string has_more(const Position& own, std::span<const Peer> peers, const ClusterRecord& record);

/// Whether nothing tells this copy from any other, so that a later promotion of one of them loses
/// nothing of this one. False while somebody's position may still change.
bool same_as_all(const Position& own, std::span<const Peer> peers) noexcept;

/// What a node tells Pacemaker about itself (`master-<resource>`).
struct ScoreRules {
  int unpromoted = 5;  ///< `slave_score`
  int promoted = 10;   ///< `master_score`
};

/// What is known of an unpromoted copy beside its position.
struct Candidate {
  Position position;
  bool quarantined = false;
  bool following = false;  ///< it is connected to the active node now
};

/// For an unpromoted copy: at most 9, so that the active node of the stock agent (10) stays where
/// it is. `unpromoted` while it follows the active node; else more when it has more than another,
/// less when another has more, and -1 when it must not be promoted.
int score(const Candidate& own, std::span<const Peer> peers, const ClusterRecord& record,
          const ScoreRules& rules);

std::string_view to_string(SyncState state) noexcept;
/// kUnknown for any other word.
SyncState parse_sync_state(std::string_view word) noexcept;

}  // namespace wardmote::judge::failover
