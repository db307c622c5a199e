#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wardmote {

using Duration = std::chrono::nanoseconds;

/// The clock that decisions use: it never jumps, and it runs during suspend (CLOCK_BOOTTIME). It
/// has no now(): time is a parameter, and only a Runtime reads the real clock.
struct BootClock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = Duration;
  using time_point = std::chrono::time_point<BootClock, Duration>;
  static constexpr bool is_steady = true;
};

using TimePoint = BootClock::time_point;
/// For people and records only, never for decisions.
using WallTime = std::chrono::sys_time<Duration>;

/// Milliseconds, rounded down.
constexpr std::int64_t to_ms(Duration d) noexcept {
  return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
}

/// RFC 3339 in UTC with milliseconds: `2026-11-20T07:52:35.125Z`.
std::string format_utc(WallTime t);

/// Short and rounded for people: `340ms`, `3.2s`, `3m12s`, `4h03m`, `2d04h`.
std::string format_duration(Duration d);

/// Exact to the millisecond and accepted by parse_duration: `500ms`, `1s`, `90s`, `2m`.
std::string spell_duration(Duration d);

/// A duration as people write it: a whole number and a unit, `500ms`, `1s`, `2m`, `1h`. Nothing for
/// any other text, and nothing on overflow.
std::optional<Duration> parse_duration(std::string_view text) noexcept;

}  // namespace wardmote
