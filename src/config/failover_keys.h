#pragma once
// The keys of `failover`; config/schema.cc has those of most other sections.

#include <array>

#include "config/schema.h"

namespace wardmote::config {

inline constexpr auto kFailoverKeys = std::to_array<KeySpec>({
    {"name", Form::kName, true, "Unique among pairs, checks and clusters; the same on all nodes"},
    {"members", Form::kTexts, true, "The names of all nodes of the pair; the same on all nodes"},
    {.name = "mode",
     .form = Form::kWord,
     .required = false,
     .help = "Whether it promotes, follows and has the address, or only shows what it would do",
     .words = "observe|act",
     .otherwise = "observe"},
    {"nb", Form::kMap, true, "The northbound database of this node", "failover_database"},
    {"sb", Form::kMap, true, "The southbound database of this node", "failover_database"},
    {"address", Form::kText, true,
     "Where clients connect to: it moves with the writable copy; as 10.0.0.100/24"},
    {"interface", Form::kText, true, "Which interface of this node gets the address"},
    KeySpec{"ttl", Form::kDuration, false,
            "Of the active node's lease; without it the address goes, 6s to 5m"}
        .or_else("6s"),
    KeySpec{.name = "priority",
            .form = Form::kNumber,
            .required = false,
            .help = "Of two nodes that have the same, the higher one is promoted",
            .least = -1000,
            .most = 1000}
        .or_else("0"),
    KeySpec{"nofailover", Form::kFlag, false, "Never promote this node"}.or_else("false"),
    {"fence", Form::kTexts, false,
     "A program and its arguments, run with the name of the last active node before another is "
     "promoted; no shell reads it (there is none)"},
    KeySpec{"fence_timeout", Form::kDuration, false, "The end of that program, 1s to 5m"}.or_else(
        "10s"),
    {"tls", Form::kMap, false, "Certificates, where sources are of ssl:", "ovn_tls"},
    {"hooks", Form::kMap, false, "Programs of yours that this node runs", "failover_hooks"},
});

inline constexpr auto kFailoverHookKeys = std::to_array<KeySpec>({
    {"pre_promote", Form::kTexts, false,
     "A program and its arguments, run with the name of the pair and of the last active node "
     "before "
     "this node is promoted; a status other than 0 forbids that for 30 s"},
    {"on_role_change", Form::kTexts, false,
     "A program and its arguments, run with on_role_change, primary or replica, and the name of "
     "the "
     "pair when this node's role has changed, and when the agent starts"},
    KeySpec{"timeout", Form::kDuration, false, "The end of each of these programs, 1s to 5m"}
        .or_else("10s"),
});

inline constexpr auto kFailoverDatabaseKeys = std::to_array<KeySpec>({
    {"source", Form::kText, true,
     "Where the other nodes copy from this one, at its own address; as tcp:10.0.0.1:6641 or "
     "ssl:10.0.0.1:6641"},
    {"control", Form::kText, false, "The server's control socket (/run/ovn/ovnnb_db.ctl)"},
    {"socket", Form::kText, false, "The server's database socket (/run/ovn/ovnnb_db.sock)"},
    {"pid", Form::kText, false, "The server's pid file (/run/ovn/ovnnb_db.pid)"},
    {"file", Form::kText, false, "The database itself (/var/lib/ovn/ovnnb_db.db)"},
});

}  // namespace wardmote::config
