#include "judge/notify/weekly.h"

#include <chrono>
#include <optional>

#include "base/time.h"
#include "base/time_zone.h"

namespace wardmote::judge::notify {

std::optional<WallTime> WeeklyWindow::begin_on(Day day) const noexcept {
  const unsigned weekday = std::chrono::weekday(day).iso_encoding() - 1;
  if ((days & (1U << weekday)) == 0) return std::nullopt;
  return zone.moment(LocalTime(day) + begins);
}

std::optional<WallTime> WeeklyWindow::until(WallTime at) const noexcept {
  const Day today = std::chrono::floor<std::chrono::days>(zone.local(at));
  // One of yesterday may last beyond midnight, and by an hour more after a night that had one less.
  for (const int before : {0, 1, 2}) {
    const auto from = begin_on(today - std::chrono::days(before));
    if (from && at >= *from && at < *from + length) return *from + length;
  }
  return std::nullopt;
}

std::optional<WallTime> WeeklyWindow::next(WallTime at) const noexcept {
  const Day today = std::chrono::floor<std::chrono::days>(zone.local(at));
  for (int later = 0; later <= 7; ++later) {
    const auto from = begin_on(today + std::chrono::days(later));
    if (from && *from > at) return from;
  }
  return std::nullopt;
}

}  // namespace wardmote::judge::notify
