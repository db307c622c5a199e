#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/verdict.h"

namespace wardmote::judge::raft {

/// Longer than a host needs to restart, including its memory check.
inline constexpr Duration kGoneForGood = std::chrono::minutes(10);

/// What the operator says the cluster should be. These are hints only: live evidence counts more.
struct Expectation {
  std::string database;  ///< `OVN_Northbound`; used in advice
  /// Raft addresses, `tcp:10.0.0.1:6643`; empty: no expectation.
  std::vector<std::string> addresses;
  std::size_t replicas = 0;  ///< expected voters; 0: the number of addresses, or no expectation
  /// A server that nobody has heard for this long is gone for good, if everything else agrees.
  /// Before that, it may only be restarting.
  Duration gone_after = kGoneForGood;
  friend bool operator==(const Expectation&, const Expectation&) = default;
};

/// What must be remembered between two rounds (judge/raft/memory.h).
class Memory;

/// The judgement on one configured member, in the order of the opinions.
struct MemberVerdict {
  Outcome outcome = Outcome::kUnknown;
  Reason reason;
};

/// The voters of the newest list.
struct Quorum {
  std::size_t voters = 0;
  std::size_t needed = 0;  ///< a majority of them
  std::size_t live = 0;
};

/// A server of the newest list, or of the last known one.
struct NamedServer {
  MemberId id;  ///< as much of the id as any member reports or the memory has
  std::string address;
};

struct Assessment {
  /// kUnknown only when no member answers and nothing critical is certain. Blindness
  /// (MONITOR_BLIND) is neither good nor bad news about the cluster, however severe it is for the
  /// monitoring.
  Verdict verdict = Verdict::kUnknown;
  std::vector<Finding> findings;   ///< most severe first, then by code and subject
  std::vector<Observed> observed;  ///< in the same order
  std::vector<MemberVerdict> members;
  Quorum quorum;
  /// Index into the opinions of the leader in the highest term, if it answers.
  std::optional<std::size_t> leader;
  std::vector<std::string> hosts;  ///< of the voters of the newest list, sorted, each once
  std::string leader_host;         ///< empty without a leader
  MemberId cluster_id;             ///< of the judged cluster; remembered while no member reports it
  /// Of the members, in the order of the opinions: the present answer, else the last one.
  std::vector<MemberId> ids;
  std::vector<NamedServer> servers;
};

/// Compares the opinions of one cluster's members, all from about the same moment. Pure: the same
/// memory, opinions and `now` give the same result, and the order of the opinions does not matter
/// (except for Assessment::members and ::leader, which follow it).
Assessment assess(std::span<const Opinion> opinions, const Expectation& expectation, Memory& memory,
                  TimePoint now);

}  // namespace wardmote::judge::raft
