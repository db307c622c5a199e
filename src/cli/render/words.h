#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// `HEALTHY`, `DEGRADED`, `CRITICAL`, `UNKNOWN` for a verdict of the API.
Cell verdict_word(std::string_view verdict);

/// The tone of `ok|warn|fail|unknown`.
Tone tone_of_outcome(std::string_view outcome) noexcept;

/// `CRITICAL`, `WARNING`, `INFO`.
Cell severity_word(std::string_view severity);

/// `1 member`, `2 members`.
std::string counted(std::size_t count, std::string_view singular);

/// What format_utc() wrote, or nothing.
std::optional<WallTime> parse_utc(std::string_view text) noexcept;

/// How long `since` was before `at`, both as the API writes times: `3m12s`; "" when either is no time.
std::string age(std::string_view since, std::string_view at);

/// `argv` as a line that a shell splits into the same words.
std::string shell_line(const std::vector<std::string>& argv);

}  // namespace wardmote::cli
