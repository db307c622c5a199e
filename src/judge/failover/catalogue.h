#pragma once
// The catalogue rows of pairs of databases in active/backup mode; judge/catalogue.cc appends them
// to all others.

#include <array>
#include <chrono>

#include "judge/finding.h"

namespace wardmote::judge::failover {

/// In the order of their codes. A healthy failover takes longer than the lease of the pair, so the
/// windows of what shows while it goes on are longer where the lease is.
inline constexpr auto kCatalogue = std::to_array<CodeInfo>({
    {Code::kFailoverNoActive,
     "FAILOVER_NO_ACTIVE",
     Severity::kCritical,
     {.fixed = std::chrono::seconds(12)},
     {},
     "No node of the pair is active: nobody can write, and the address is nowhere.",
     "who leads in the store and has announced a promotion; what keeps each node from one",
     "'wardmote failover explain' says of each node what keeps it from being promoted."},
    {Code::kFailoverTwoActive,
     "FAILOVER_TWO_ACTIVE",
     Severity::kCritical,
     {.fixed = std::chrono::seconds(12)},
     {},
     "Two nodes of the pair have a writable database at the same time.",
     "what the agent of each node says of its own two servers",
     "Find out who made the second one writable and who writes there; what is written there is "
     "replaced when it follows again."},
    {Code::kFailoverAddressMissing,
     "FAILOVER_ADDRESS_MISSING",
     Severity::kCritical,
     {.fixed = std::chrono::seconds(5)},
     {},
     "This node is active, and does not have the address where clients connect.",
     "the addresses of the interface",
     "Look at the interface, and at the rights of the agent: it needs CAP_NET_ADMIN."},
    {Code::kFailoverNotFollowing,
     "FAILOVER_NOT_FOLLOWING",
     Severity::kWarning,
     {.fixed = std::chrono::seconds(15)},
     {},
     "A node does not copy from the active one, so it falls behind.",
     "what the agent of the node says of its two servers",
     "Look at the servers on that node, and at its way to the active one."},
    {Code::kFailoverNoStandby,
     "FAILOVER_NO_STANDBY",
     Severity::kWarning,
     {.fixed = std::chrono::seconds(15)},
     {},
     "One node is active, and no other could take over: the next failure is an outage.",
     "whether each of the others could become active, and why not",
     "Bring another node back; 'wardmote failover explain' says what keeps each from it."},
    {Code::kFailoverMemberMissing,
     "FAILOVER_MEMBER_MISSING",
     Severity::kWarning,
     {.fixed = std::chrono::seconds(15)},
     {},
     "Nothing is heard of the agent of a node of the pair.",
     "the members of the configuration against the agents that the store knows",
     "Look at that node, at its agent, and at its way to the store."},
    {Code::kFailoverPaused,
     "FAILOVER_PAUSED",
     Severity::kInfo,
     {},
     {},
     "Failover is paused: nobody is promoted when the active node fails.",
     "the pause in the store",
     "'wardmote failover resume' ends it."},
});

}  // namespace wardmote::judge::failover
