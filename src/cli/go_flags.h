#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace wardmote::cli {

/// Go's package flag takes `-name` and `--name` alike, and `-name=false` for a flag that is off:
/// rewrites such words into those of the command line here. Words after `--`, and the values of
/// options, stay as they are.
std::vector<std::string> from_go_flags(std::vector<std::string> words);

/// What time.ParseDuration of Go reads: `30s`, `1m30s`, `1.5h`, `-2ms`, `0`. Nothing for anything
/// else, a number without a unit and overflow included.
std::optional<Duration> parse_go_duration(std::string_view text) noexcept;

/// `calico-health` and its flags, when a program of that name (argv[0]) stands for it:
/// `calico-node …`, `calico component node health …`. Other words stay.
std::vector<std::string> words_of(std::string_view program, std::vector<std::string> words);

}  // namespace wardmote::cli
