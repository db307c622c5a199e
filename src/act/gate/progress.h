#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "judge/version_gate/report.h"

namespace wardmote::act::gate {

std::string write_progress(const judge::version_gate::Progress& progress);
/// Nothing: it cannot be read.
std::optional<judge::version_gate::Progress> read_progress(std::string_view record);

}  // namespace wardmote::act::gate
