#include "base/utc.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "base/time.h"

namespace wardmote {

std::optional<WallTime> utc_time(int year, unsigned month, unsigned day, unsigned hour,
                                 unsigned minute, unsigned second) noexcept {
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  // A time that would overflow the clock is not a time either.
  if (!date.ok() || year < 1970 || year > 2200 || hour > 23 || minute > 59 || second > 60) {
    return std::nullopt;
  }
  return WallTime(std::chrono::sys_days(date)) + std::chrono::hours(hour) +
         std::chrono::minutes(minute) + std::chrono::seconds(second);
}

std::optional<WallTime> parse_utc(std::string_view text) noexcept {
  constexpr std::string_view kShape = "0000-00-00T00:00:00";
  if (text.size() <= kShape.size() || text.back() != 'Z') return std::nullopt;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] != '0' && text[i] != kShape[i]) return std::nullopt;
  }
  std::string_view fraction = text.substr(kShape.size());
  fraction.remove_suffix(1);
  Duration part{};
  if (!fraction.empty()) {
    if (!consume_prefix(fraction, ".") || fraction.empty() ||
        fraction.find_first_not_of("0123456789") != std::string_view::npos) {
      return std::nullopt;
    }
    Duration place = std::chrono::milliseconds(100);
    for (const char digit : fraction.substr(0, 9)) {
      part += place * (digit - '0');
      place /= 10;
    }
  }
  const auto number = [&](std::size_t at, std::size_t length) {
    return parse_number<std::uint16_t>(text.substr(at, length));
  };
  const auto year = number(0, 4);
  const auto month = number(5, 2);
  const auto day = number(8, 2);
  const auto hour = number(11, 2);
  const auto minute = number(14, 2);
  const auto second = number(17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const auto whole = utc_time(*year, *month, *day, *hour, *minute, *second);
  if (!whole) return std::nullopt;
  return *whole + part;
}

}  // namespace wardmote
