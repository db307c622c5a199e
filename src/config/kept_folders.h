#pragma once

#include <optional>
#include <string>

#include "config/version_gates.h"

namespace wardmote::config {

/// Whether one of two folders is the other, or is inside it. Links are followed as far as the paths
/// exist now.
bool overlap(const std::string& a, const std::string& b);

/// Why the gate must not keep files in its folder, by what else the configuration says: it is in
/// its own source, or in `data`. Nothing: it may.
std::optional<std::string> bad_folder(const Reconcile& reconcile, const std::string& data);

}  // namespace wardmote::config
