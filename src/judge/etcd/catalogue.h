#pragma once
// The catalogue rows of etcd clusters; judge/catalogue.cc appends them to all others. What etcd has
// in common with every raft cluster has a RAFT_ code.

#include <array>
#include <chrono>

#include "judge/finding.h"

namespace wardmote::judge::etcd {

/// In the order of their codes.
inline constexpr auto kCatalogue = std::to_array<CodeInfo>({
    {Code::kEtcdNospace,
     "ETCD_NOSPACE",
     Severity::kCritical,
     {},
     {},
     "The alarm NOSPACE is raised: the cluster takes no writes until somebody disarms it.",
     "the alarms in Maintenance.Status of each member",
     "Compact the history, defragment each member one after the other, and disarm the alarm. Find "
     "out who wrote so much."},
    {Code::kEtcdCorrupt,
     "ETCD_CORRUPT",
     Severity::kCritical,
     {},
     {},
     "The alarm CORRUPT is raised: the data of a member differs from that of the others.",
     "the alarms in Maintenance.Status of each member",
     "Do not restart anything yet. Copy the data of all members aside, and replace the member that "
     "differs by a new one."},
    {Code::kEtcdQuota,
     "ETCD_QUOTA",
     Severity::kWarning,
     {.fixed = std::chrono::seconds(10)},
     {},
     "The database of a member is near its quota; at the quota the cluster stops all writes.",
     "the size of the database, the part of it that is in use, and the quota",
     "If much of it is free, defragment this member. Else compact, or raise the quota on all "
     "members."},
    {Code::kEtcdLearner,
     "ETCD_LEARNER",
     Severity::kInfo,
     {.fixed = std::chrono::seconds(5)},
     {},
     "A member is a learner: it gets all data, does not vote, and answers no ordinary reads.",
     "the members' own lists",
     "Promote it when it has caught up, or remove it."},
    {Code::kEtcdUnstartedMember,
     "ETCD_UNSTARTED_MEMBER",
     Severity::kWarning,
     {.fixed = std::chrono::seconds(30)},
     {},
     "A member was added and has not joined yet; it counts for the quorum all the same.",
     "a listed member without a name",
     "Look on its host whether it runs: it has no name before the cluster has committed one. Start "
     "it "
     "with the cluster's state 'existing'. Remove it only if nothing runs there."},
    {Code::kEtcdUnwatchedMember,
     "ETCD_UNWATCHED_MEMBER",
     Severity::kWarning,
     {.fixed = std::chrono::seconds(10)},
     {},
     "The cluster has a member that the configuration does not name, so nobody asks it.",
     "the members' own lists against the ids of the members that answer",
     "Add it to the members in the configuration. If you do not know it, find out who added it."},
    {Code::kEtcdVersionSkew,
     "ETCD_VERSION_SKEW",
     Severity::kInfo,
     {.fixed = std::chrono::minutes(30)},
     {},
     "The members do not run one version of etcd.",
     "the version that each member reports",
     "Finish the upgrade. Versions that are more than one minor release apart must not run "
     "together."},
    {Code::kEtcdSlowDisk,
     "ETCD_SLOW_DISK",
     Severity::kWarning,
     {.fixed = std::chrono::seconds(60)},
     {},
     "The disk of a member is slow: 1 % of the fsyncs of its log take over 10 ms, or of the "
     "commits "
     "of its database over 25 ms.",
     "the histograms of both in the metrics of the member, over the last 40 seconds",
     "Find out what else writes to this disk, and give etcd a faster one of its own."},
    {Code::kEtcdProposalLag,
     "ETCD_PROPOSAL_LAG",
     Severity::kWarning,
     {.fixed = std::chrono::seconds(30)},
     {},
     "A member is behind with its proposals: 100 wait all the time, or 1,000 are committed and not "
     "applied.",
     "the proposals that are pending, committed and applied, in the metrics of the member",
     "Look at the disk and the processor of this member, and find out which clients write so "
     "much."},
    {Code::kEtcdProposalsFail,
     "ETCD_PROPOSALS_FAIL",
     Severity::kWarning,
     {.fixed = std::chrono::seconds(60)},
     {},
     "Proposals keep failing at a member: clients that write through it get errors.",
     "the growth of the failed proposals in the metrics of the member",
     "Look at the other findings first: without a leader or a quorum every proposal fails. Else "
     "look for a slow disk or a slow network between the members."},
    {Code::kEtcdMetricsUnread,
     "ETCD_METRICS_UNREAD",
     Severity::kWarning,
     {.fixed = std::chrono::seconds(60)},
     {},
     "The metrics of a member cannot be read, so nobody knows whether its disk is slow.",
     "what came of the request to the address under 'metrics'",
     "Correct 'metrics' of this member in the configuration, the firewall, or the certificates."},
});

}  // namespace wardmote::judge::etcd
