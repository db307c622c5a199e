#pragma once

#include "cli/command.h"

namespace wardmote::cli {

// The commands of version gates.

Command wait_ready();
/// One-shot comparison of manifests with a kube-apiserver. wardmoted does it.
Command reconcile_group();

}  // namespace wardmote::cli
