#pragma once
// Numbers of milliseconds, as records, files and peers write moments and durations. They may be
// junk, and a number that nanoseconds cannot hold must not become a moment.

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace wardmote {

/// Milliseconds since 1970.
constexpr std::int64_t epoch_ms(WallTime at) noexcept {
  return std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
}

/// Nothing outside of the years 1970 to 2199: within them no difference of two moments overflows.
constexpr std::optional<WallTime> moment_of_epoch_ms(std::int64_t ms) noexcept {
  constexpr std::chrono::sys_days kEnd = std::chrono::January / 1 / 2200;
  constexpr std::chrono::milliseconds kMost = kEnd.time_since_epoch();
  if (ms < 0 || ms >= kMost.count()) return std::nullopt;
  return WallTime(std::chrono::milliseconds(ms));
}

/// Nothing below zero or above 100 years.
constexpr std::optional<Duration> duration_of_ms(std::int64_t ms) noexcept {
  constexpr std::chrono::milliseconds kMost = std::chrono::years(100);
  if (ms < 0 || ms > kMost.count()) return std::nullopt;
  return std::chrono::milliseconds(ms);
}

}  // namespace wardmote
