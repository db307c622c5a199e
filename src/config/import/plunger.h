#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "config/import/format.h"

namespace wardmote::config {

/// Whether the text is of the KubeOVN plunger, or has the NODE_IPS of ovn-central.
bool is_plunger(std::string_view text);

/// Translates what starts cozystack's KubeOVN plunger (1.6): Deployments of it and of ovn-central
/// as Kubernetes has them, or its command line. NODE_IPS become the members and `expect` of the two
/// OVN clusters; without them the agent looks at the servers of its own node. Each flag without a
/// counterpart is named. kLimit: too long or too deep. kInvalid: neither YAML nor a command line of
/// the plunger.
Result<Imported> import_plunger(std::span<const ForeignFile> files);

}  // namespace wardmote::config
