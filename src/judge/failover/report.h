#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/failover/duty.h"
#include "judge/failover/member.h"

namespace wardmote::judge::failover {

/// A promotion of the past.
struct PastPromotion {
  std::uint64_t epoch = 0;
  std::string node;
  std::string reason;
  WallTime at;
};

/// What an operator has changed of a member at run time; nothing: as it is configured.
struct EditedSettings {
  std::string node;
  std::optional<bool> nofailover;
  std::optional<int> priority;
  std::string by;
};

/// All that a node shows of a pair.
struct PairReport {
  std::string name;
  std::string node;
  bool acts = false;
  Duration ttl{};       ///< of the lease
  std::string address;  ///< `10.0.0.100/24 on eth0`
  bool has_address = false;
  std::string active;  ///< who was promoted and still leads; empty: nobody, as far as it knows
  std::string leader;  ///< who leads the election; empty: nobody, as far as this node knows
  Lock lock = Lock::kUnknown;
  NextDuty next;  ///< what it does, or would do
  Candidacy candidacy;
  bool serves = false;  ///< this node is the active one, and clients reach it
  Member own;
  std::vector<Member> members;  ///< the others that are there
  std::vector<std::string> missing;
  std::vector<EditedSettings> edited;  ///< of the missing ones: they count when these are back
  PairRecord record;
  std::string paused_by;                 ///< empty: it is not paused
  std::string order;                     ///< the last one and what came of it; empty: there is none
  std::optional<WallTime> scheduled_at;  ///< of a switchover that waits for its time
  std::string scheduled;                 ///< who is to be active then, and who said so
  std::vector<PastPromotion> history;
  std::optional<Duration> age;  ///< of what the store said; nothing: it never answered
  std::vector<std::string> complaints;
};

/// How many commits the copy of `member` is behind what was published, as far as that shows; 0: it
/// has all. Nothing: that is not known.
std::optional<std::size_t> lag_of(const Member& member, const PairRecord& record) noexcept;

/// Whether a member could become the active node now, as far as this node knows: by a switchover
/// while somebody is active, else by itself.
Candidacy could_take_over(const Member& member, const PairReport& report);

/// `mine`, `other`, …
std::string_view to_string(Lock lock) noexcept;

}  // namespace wardmote::judge::failover
