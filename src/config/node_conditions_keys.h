#pragma once
// The keys of `node_conditions`; config/schema.cc has those of most other sections.

#include <array>

#include "config/schema.h"

namespace wardmote::config {

inline constexpr auto kNodeConditionsKeys = std::to_array<KeySpec>({
    {"node", Form::kText, false, "The name of the Node (that of this agent)"},
    {"kubeconfig", Form::kText, false,
     "An absolute path (the service account of the agent's own pod)"},
    {"context", Form::kText, false, "In the kubeconfig (its current-context)"},
    KeySpec{"heartbeat", Form::kDuration, false,
            "How often a condition is written that stays as it is, 10s to 1h"}
        .or_else("5m"),
});

}  // namespace wardmote::config
