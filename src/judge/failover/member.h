#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"
#include "judge/failover/digest_ring.h"

namespace wardmote::judge::failover {

/// The contents that a copy had lately, the newest last; empty: not known. OVSDB has no position of
/// its own, so this is how two copies of one history are compared without a write.
using Trail = std::vector<ContentHash>;

enum class Relation : std::uint8_t {
  kUnknown,
  kBehind,  ///< the other copy once had this content, and went on
  kSame,
  kAhead,  ///< this copy once had the content of the other, and went on
};
Relation relate(std::span<const ContentHash> own, std::span<const ContentHash> other) noexcept;

/// One node of a pair of databases, as it describes itself to the others through the store.
struct Member {
  std::string name;
  Copy nb = Copy::kUnknown;
  Copy sb = Copy::kUnknown;
  Position position;
  Trail trail;  ///< of the northbound database
  /// Of the southbound one, as far as nothing computes it from the northbound one.
  Trail sb_trail;
  bool observes = false;    ///< it only watches: it will neither follow nor be promoted
  bool nofailover = false;  ///< a tag: never promote it
  int priority = 0;         ///< of two that have the same, the higher one is promoted
  /// Who has set one of these two at run time; empty: both are as configured.
  std::string edited_by;
  /// Why it must not be promoted, as it knows itself: a promotion that failed, a disk that is full,
  /// a copy that became writable by itself; empty: it may.
  std::string unfit;
  /// It became writable by itself and changed: what it has more than others no client wrote.
  bool distrusted = false;
  std::string nb_source;  ///< `tcp:10.0.0.1:6641`: where a backup copies from it
  std::string sb_source;

  /// Both servers are read-only and copy from nobody, so what they have stays what it is.
  [[nodiscard]] bool settled() const noexcept {
    return nb == Copy::kIsolated && sb == Copy::kIsolated;
  }
  friend bool operator==(const Member&, const Member&) = default;
};

/// What all nodes know in common of a pair, in the store, written by the active node under its
/// fence.
struct PairRecord {
  /// Of the last promotion that was announced; 0: there was none. Clients are let in only after it
  /// is announced.
  std::uint64_t epoch = 0;
  /// The highest number that was ever given to a promotion. No number is given twice.
  std::uint64_t claimed = 0;
  std::string active;  ///< the node of `epoch`
  /// The fencing token under which it announced that: a leader with another one was not promoted.
  std::int64_t token = 0;
  /// The last position that it published; lags behind what it has by a second at most.
  Position published;
  Trail trail;
  Trail sb_trail;  ///< the last of the southbound database, where it gave up
  /// It gave up in good order: `trail` is the last that it ever had in this epoch.
  bool released = false;
  /// For whom it gives up; until `released` it is read-only and waits for this one to have
  /// everything. Empty: for anybody.
  std::string heir;
  friend bool operator==(const PairRecord&, const PairRecord&) = default;
};

/// What may be changed about the choice.
struct Choice {
  std::vector<std::string> members;  ///< of the configuration: all nodes of the pair
  /// An operator wants this node promoted, whatever the others have. A copy that is empty or half
  /// replaced is refused all the same.
  bool forced = false;
  /// The promotion of this copy has begun, and programs ran for it: only what another copy has
  /// stops it now, not that another is preferred.
  bool begun = false;
};

/// Whether a node may be promoted now.
struct Candidacy {
  enum class Verdict : std::uint8_t {
    kGo,
    kWait,    ///< another is to be promoted, or it is too early to say
    kRefuse,  ///< this copy must not be promoted as things are
  };
  Verdict verdict = Verdict::kRefuse;
  std::string reason;
  friend bool operator==(const Candidacy&, const Candidacy&) = default;
};

/// The epoch that counts: one that was claimed and never announced let no client in, so that copy
/// is of the epoch before. Nothing: the copy knows of epochs that the store does not, so the store
/// is an old one.
std::optional<std::uint64_t> counted_epoch(std::uint64_t epoch, const PairRecord& record) noexcept;

/// Whether `own` may be promoted while nobody is active. It must be the newest of all that are
/// there and no less far than what the last active node published.
Candidacy judge_candidate(const Member& own, std::span<const Member> peers,
                          const PairRecord& record, const Choice& choice);

/// Why the active node must not give up for this one, however much it has; empty: it may.
std::string heir_hindrance(const Member& member);

std::string_view to_string(Candidacy::Verdict verdict) noexcept;

}  // namespace wardmote::judge::failover
