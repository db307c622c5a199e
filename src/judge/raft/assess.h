#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {

/// What the operator says the cluster should be. Hints only: live evidence beats them.
struct Expectation {
  std::string database;  ///< `OVN_Northbound`; used in advice
  /// Raft addresses, `tcp:10.0.0.1:6643`; empty: no expectation.
  std::vector<std::string> addresses;
  std::size_t replicas = 0;  ///< expected voters; 0: the number of addresses, or no expectation
  friend bool operator==(const Expectation&, const Expectation&) = default;
};

enum class Verdict : std::uint8_t { kOk, kWarning, kCritical, kUnknown };

/// What must be remembered between two looks (judge/raft/memory.h).
class Memory;

/// The judgement on one configured member, in the order of the opinions.
struct MemberVerdict {
  Outcome outcome = Outcome::kUnknown;
  Reason reason;
};

/// The voters of the newest view.
struct Quorum {
  std::size_t voters = 0;
  std::size_t needed = 0;  ///< a majority of them
  std::size_t live = 0;
};

/// A condition that is seen and is not a finding yet, because its window has not passed: no reason
/// to act or to notify.
struct Observed {
  Code code{};
  std::string subject;  ///< the first name of the thing
  TimePoint since;
  TimePoint due;  ///< when it becomes a finding, if it still stands
  friend bool operator==(const Observed&, const Observed&) = default;
};

struct Assessment {
  /// KUnknown only when nobody speaks and nothing critical is certain. To be blind (MONITOR_BLIND)
  /// is neither good nor bad news, however severe it is for the watching.
  Verdict verdict = Verdict::kUnknown;
  std::vector<Finding> findings;   ///< most severe first, then by code and subject
  std::vector<Observed> observed;  ///< in the same order
  std::vector<MemberVerdict> members;
  Quorum quorum;
  /// Index into the opinions of the leader in the highest term, if it answers.
  std::optional<std::size_t> leader;
  std::vector<std::string> hosts;  ///< of the voters of the newest view, sorted, each once
  std::string leader_host;         ///< empty without a leader
};

std::string_view to_string(Verdict verdict) noexcept;

/// Compares the opinions of one cluster's members, all from about the same moment. Pure: same
/// memory, opinions and `now` give the same answer, and their order does not matter (but for
/// Assessment::members and ::leader, which follow it).
Assessment assess(std::span<const Opinion> opinions, const Expectation& expectation, Memory& memory,
                  TimePoint now);

}  // namespace wardmote::judge::raft
