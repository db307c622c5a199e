#pragma once

#include <array>

#include "judge/finding.h"

namespace wardmote::judge {

/// Of these every look at a whole thing would show one, if it were there: a look that shows nothing
/// proves that they are over. Of all others only time can say that.
inline constexpr auto kShownAtOnce = std::to_array<Code>(
    {Code::kRaftNoQuorum,         Code::kRaftQuorumMargin,    Code::kRaftNoLeader,
     Code::kRaftMemberHung,       Code::kRaftMemberDown,      Code::kRaftFailedLeader,
     Code::kMonitorBlind,         Code::kBgpDaemonDown,       Code::kBgpMissingPeer,
     Code::kBgpAsymmetric,        Code::kBgpWrongAs,          Code::kBgpDisabled,
     Code::kBgpRefused,           Code::kBgpUnreachable,      Code::kBgpPasswordMismatch,
     Code::kBgpNoAnswer,          Code::kBgpSessionDown,      Code::kEtcdNospace,
     Code::kEtcdCorrupt,          Code::kEtcdQuota,           Code::kEtcdLearner,
     Code::kEtcdUnstartedMember,  Code::kEtcdUnwatchedMember, Code::kEtcdVersionSkew,
     Code::kFailoverNoActive,     Code::kFailoverTwoActive,   Code::kFailoverAddressMissing,
     Code::kFailoverNotFollowing, Code::kFailoverNoStandby,   Code::kFailoverMemberMissing,
     Code::kFailoverPaused,       Code::kEtcdMetricsUnread});

}  // namespace wardmote::judge
