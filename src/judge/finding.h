#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace wardmote::judge {

enum class Severity : std::uint8_t { kInfo, kWarning, kCritical };

/// Every named condition, in the order of the catalogue. Names are stable, because people use them
/// in alert rules.
enum class Code : std::uint8_t {
  kRaftTwoLeadersSameTerm,
  kRaftStaleLeader,
  kRaftFailedLeader,
  kRaftNoQuorum,
  kRaftQuorumMargin,
  kRaftNoLeader,
  kRaftLeaderDisagreement,
  kRaftTermDivergence,
  kRaftElectionStorm,
  kRaftLeaderFlap,
  kRaftVoteAnomaly,
  kRaftClusterIdMismatch,
  kRaftJoiningStuck,
  kRaftMemberRemoved,
  kRaftNoDatabase,
  kRaftStaleMember,
  kRaftDeadMember,
  kRaftZombieMember,
  kRaftServerIdCloned,
  kRaftMemberListMismatch,
  kRaftAddressMismatch,
  kRaftUnexpectedMember,
  kRaftMissingMember,
  kRaftStaleHint,
  kRaftClusterSize,
  kRaftLogRolledBack,
  kRaftLogLag,
  kRaftCommitStall,
  kRaftApplyStall,
  kRaftLogGrowth,
  kRaftLinkAsymmetric,
  kRaftOneWaySilence,
  kRaftConnectionChurn,
  kRaftUnidentifiedPeer,
  kRaftElectionTimerMismatch,
  kRaftMemberHung,
  kRaftMemberDown,
  kRaftModeMismatch,
  kRaftCrashLoop,
  kRaftAgesRewound,
  kOvnNbSbDivergence,
  kCheckFailed,
  kMonitorBlind,
  kNodeDown,
  kBgpDaemonDown,
  kBgpMissingPeer,
  kBgpAsymmetric,
  kBgpWrongAs,
  kBgpDisabled,
  kBgpRefused,
  kBgpUnreachable,
  kBgpPasswordMismatch,
  kBgpNoAnswer,
  kBgpSessionDown,
  kGuestPanic,
  kGuestDied,
  kGuestSpinning,
  kGuestIdleHung,
  kGuestBootStuck,
  kGuestNoAnswer,
  kQemuStuck,
  kHostStorage,
  kAgentStuck,
  kAgentDown,
  kAgentNeverAnswered,
  kVmKeepsFailing,
  kVmFsFrozen,
  kVmClockDrift,
  kVmFsFull,
  kEtcdNospace,
  kEtcdCorrupt,
  kEtcdQuota,
  kEtcdLearner,
  kEtcdUnstartedMember,
  kEtcdUnwatchedMember,
  kEtcdVersionSkew,
  kEtcdSlowDisk,
  kEtcdProposalLag,
  kEtcdProposalsFail,
  kEtcdMetricsUnread,
  kFailoverNoActive,
  kFailoverTwoActive,
  kFailoverAddressMissing,
  kFailoverNotFollowing,
  kFailoverNoStandby,
  kFailoverMemberMissing,
  kFailoverPaused,
};

/// How long a condition must last before it is a finding: a number of rounds of the thing (of a
/// raft cluster: election rounds; other things have none), plus a fixed time.
struct Window {
  int rounds = 0;
  Duration fixed{};
};

/// The length of `window` if a round is this long.
Duration length(const Window& window, Duration round) noexcept;

/// One row of the catalogue, the only place with these facts. `explain`, the pages, metrics and the
/// API read it.
struct CodeInfo {
  Code code;
  std::string_view name;                 ///< `RAFT_STALE_MEMBER`
  Severity severity;                     ///< at first
  Window window;                         ///< how long until it is raised
  std::optional<Window> critical_after;  ///< how long until it becomes critical, if it does
  std::string_view meaning;              ///< one sentence
  std::string_view evidence;             ///< what is compared
  std::string_view advice;               ///< what a person should do
};

std::span<const CodeInfo> catalogue() noexcept;
const CodeInfo& info(Code code) noexcept;
/// Case-insensitive.
std::optional<Code> parse_code(std::string_view name) noexcept;

/// Who says what: `by` is a member or an address, `says` a line of its output.
struct Evidence {
  std::string by;
  std::string says;
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

struct Advice {
  std::string text;
  std::vector<std::string> command;  ///< argv; empty when no command can help
  std::string run_on;                ///< the member to run it on
  friend bool operator==(const Advice&, const Advice&) = default;
};

/// A named condition of one subject, with its evidence.
struct Finding {
  Code code{};
  Severity severity = Severity::kInfo;
  std::vector<std::string> subjects;  ///< every name the thing has: member name, server id, address
  std::string summary;                ///< one sentence, for people
  std::vector<Evidence> evidence;
  std::optional<Advice> advice;
  TimePoint since;  ///< when the condition was first observed
  /// False: the last round could neither confirm nor clear it, as its summary says.
  bool confirmed = true;
  friend bool operator==(const Finding&, const Finding&) = default;
};

std::string_view to_string(Severity severity) noexcept;
std::string_view to_string(Code code) noexcept;

}  // namespace wardmote::judge
