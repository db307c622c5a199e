#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "config/import/format.h"

namespace wardmote::config {

/// Whether the text has blackbox_exporter's `modules`, or jobs of a Prometheus server that ask it.
bool is_blackbox(std::string_view text);

/// Translates blackbox.yml (blackbox_exporter 0.12 to 0.28): each target of a `/probe` job in a
/// prometheus.yml among the files becomes a check by its module. Without a prometheus.yml each
/// module becomes an optional check of `target.invalid`, to be filled in. What a probe of ours does
/// not look at is named; a module that would ask something else is left out, with its reason, and
/// so is one that logs in: no credential is copied. kLimit: a file is too long, too deep or has too
/// many checks. kInvalid: a file is not YAML, or nothing can be translated.
Result<Imported> import_blackbox(std::span<const ForeignFile> files);

}  // namespace wardmote::config
