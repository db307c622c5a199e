#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Milliseconds for people: `3m12s`; "" for none.
std::string duration_text(std::optional<std::int64_t> ms);

/// `argv` as a line that a shell splits into the same words.
std::string shell_line(const std::vector<std::string>& argv);

}  // namespace wardmote::cli
