#include "base/time.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/text.h"

namespace wardmote {
namespace {

using namespace std::chrono_literals;

struct Unit {
  std::string_view name;
  Duration length;
};
constexpr Unit kUnits[] = {{"ms", 1ms}, {"s", 1s}, {"m", 1min}, {"h", 1h}};

}  // namespace

std::string format_utc(WallTime t) {
  using namespace std::chrono;
  const auto day = floor<days>(t);
  const year_month_day date{day};
  const hh_mm_ss time{floor<milliseconds>(t - day)};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count(),
                     time.subseconds().count());
}

std::string format_duration(Duration d) {
  if (d < Duration::zero()) return "-" + format_duration(-d);
  const std::int64_t ms = to_ms(d);
  const std::int64_t s = ms / 1000;
  if (ms < 1000) return fmt::format("{}ms", ms);
  if (s < 60) return fmt::format("{}.{}s", s, ms % 1000 / 100);
  if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{}h{:02}m", s / 3600, s % 3600 / 60);
  return fmt::format("{}d{:02}h", s / 86400, s % 86400 / 3600);
}

std::string spell_duration(Duration d) {
  const std::int64_t ms = to_ms(d);
  for (const Unit& unit : kUnits | std::views::reverse) {
    const std::int64_t unit_ms = to_ms(unit.length);
    if (ms != 0 && ms % unit_ms == 0) return fmt::format("{}{}", ms / unit_ms, unit.name);
  }
  return "0s";
}

std::optional<Duration> parse_duration(std::string_view text) noexcept {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = parse_number<std::int64_t>(text.substr(0, digits));
  if (!count) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (text.substr(digits) != unit.name) continue;
    if (*count > Duration::max() / unit.length) return std::nullopt;
    return *count * unit.length;
  }
  return std::nullopt;
}

}  // namespace wardmote
