#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace wardmote::judge::failover {

/// What one database server of a node is. A node has two, northbound and southbound.
enum class Copy : std::uint8_t {
  kDown,       ///< no process
  kHung,       ///< there is a process, and it will not answer: stopped, a zombie, silent too long
  kUnknown,    ///< it could not be asked, or is busy: nothing is known
  kActive,     ///< writable
  kFollowing,  ///< a backup that is connected to the holder of the lock
  kSearching,  ///< a backup of the holder of the lock that is not connected to it
  kStray,      ///< a backup of anything else
  kIsolated,   ///< a backup of the address that nobody has: read-only, and nothing replaces it
};
inline constexpr int kCopies = 8;

/// Who may be writable.
enum class Lock : std::uint8_t {
  kMine,      ///< this node, or it is asked to become the active one now
  kReleased,  ///< not this node, which gives it up in good order now
  kOther,     ///< another node
  kNone,      ///< nobody
  kUnknown,   ///< whoever keeps the lock does not answer
};
inline constexpr int kLocks = 5;

/// The epoch of this node's copy against the highest one that is known. Each promotion begins one.
enum class Epoch : std::uint8_t { kOlder, kCurrent, kUnknown };
inline constexpr int kEpochs = 3;

/// This node's copy against all others that are known.
enum class Freshness : std::uint8_t {
  kEmpty,       ///< it has no rows, and the cluster once had some
  kHalfSynced,  ///< it was being replaced, and that did not end
  kBehind,      ///< another copy of the same epoch has more
  kNewest,      ///< no known copy has more
  kUnknown,     ///< the others do not say
};
inline constexpr int kFreshnesses = 5;

/// The holder of the lock as a source to copy from.
enum class Source : std::uint8_t {
  kNone,     ///< there is no holder
  kSelf,     ///< its address is one of this host, or the same server answers there
  kEmpty,    ///< it has no rows, and this copy has some
  kOlder,    ///< its epoch is older than this copy's
  kGood,     ///< another server, with an epoch that is not older
  kUnknown,  ///< it does not answer
};
inline constexpr int kSources = 6;

struct Situation {
  Copy nb = Copy::kUnknown;
  Copy sb = Copy::kUnknown;
  Lock lock = Lock::kUnknown;
  Epoch epoch = Epoch::kUnknown;
  Freshness freshness = Freshness::kUnknown;
  Source source = Source::kUnknown;
};

/// What a node has to do with both servers. They never get different roles.
enum class Action : std::uint8_t {
  kNone,      ///< all is as it should be
  kWait,      ///< look again: too little is known
  kStart,     ///< start what is down, as a backup that is isolated
  kPromote,   ///< make both writable, or take both back if one does not become so
  kFollow,    ///< make both backups of the holder of the lock
  kIsolate,   ///< make both read-only, in good order
  kStepDown,  ///< make both read-only at once, and do not trust this copy until it was replaced
  kEnd,       ///< kill both: a hung server cannot be proven to be read-only
  kRefuse,    ///< do not become the active one
};

struct Decision {
  Action action = Action::kWait;
  std::string_view reason;  ///< a sentence for people
};

/// The first row of decisions() that fits.
Decision decide(const Situation& situation) noexcept;

/// Sets of the enumerators above, by bits.
using Set = std::uint16_t;

/// One row of the table. An empty set fits always.
struct Row {
  Set any = 0;   ///< one of the two copies is one of these
  Set both = 0;  ///< each of the two copies is one of these
  Set lock = 0;
  Set epoch = 0;
  Set freshness = 0;
  Set source = 0;
  Decision decision;

  [[nodiscard]] bool fits(const Situation& situation) const noexcept;
};

/// All that a node may do, in the order in which it is decided.
std::span<const Row> decisions() noexcept;
/// The first row of another table that fits; kWait when none does.
Decision decide(std::span<const Row> table, const Situation& situation) noexcept;

/// Lower-case words: `step down`, `half synced`, …
std::string_view to_string(Action action) noexcept;
std::string_view to_string(Copy copy) noexcept;

}  // namespace wardmote::judge::failover
