#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "base/time_zone.h"

namespace wardmote::judge::notify {

/// A time that comes again each week, by the clocks of a place.
struct WeeklyWindow {
  std::uint8_t days = 0x7f;  ///< on which it begins; bit 0 is Monday
  Duration begins{};         ///< the time of day
  Duration length{};         ///< at most a day
  TimeZone zone{};

  /// The end of the window that contains `at`; nothing when it is in none.
  [[nodiscard]] std::optional<WallTime> until(WallTime at) const noexcept;
  /// When it begins for the first time after `at`; nothing when it has no day.
  [[nodiscard]] std::optional<WallTime> next(WallTime at) const noexcept;
  friend bool operator==(const WeeklyWindow&, const WeeklyWindow&) = default;

 private:
  using Day = std::chrono::local_time<std::chrono::days>;
  /// When it begins on this day; nothing when it does not.
  [[nodiscard]] std::optional<WallTime> begin_on(Day day) const noexcept;
};

}  // namespace wardmote::judge::notify
