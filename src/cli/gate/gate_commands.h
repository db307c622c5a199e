#pragma once

#include "cli/command.h"

namespace wardmote::cli {

// The commands of version gates.

Command wait_ready();
/// Orders to a gate: preserve, finalize, force-forget.
Command gate_group();
/// One-shot comparison of manifests with a kube-apiserver. wardmoted does it. And orders to the
/// agents that do it again and again.
Command reconcile_group();

}  // namespace wardmote::cli
