#include "codec/http_date.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "base/time.h"
#include "base/utc.h"

namespace wardmote::codec {
namespace {

constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::string_view kDays[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                      "Friday", "Saturday", "Sunday"};
constexpr std::size_t kShortName = 3;
constexpr int kFarAhead = 50;

/// Whether the text has the length and the separators of `shape`; `0` stands for any character.
bool has_shape(std::string_view text, std::string_view shape) noexcept {
  if (text.size() != shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != '0' && text[i] != shape[i]) return false;
  }
  return true;
}

/// `length` digits at `at`; for asctime the first may be a space.
std::optional<unsigned> digits(std::string_view text, std::size_t at, std::size_t length) noexcept {
  std::string_view field = text.substr(at, length);
  if (length == 2) consume_prefix(field, " ");
  if (field.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return parse_number<unsigned>(field);
}

std::optional<unsigned> month_of(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kMonths, name);
  if (found == std::end(kMonths)) return std::nullopt;
  return static_cast<unsigned>(found - std::begin(kMonths)) + 1;
}

/// Where the parts of a form are, after the name of the day.
struct Form {
  std::string_view shape;
  std::size_t day;
  std::size_t month;
  std::size_t year;
  std::size_t year_digits;
  std::size_t time;
};
constexpr auto kForms = std::to_array<Form>({
    {", 00 000 0000 00:00:00 GMT", 2, 5, 9, 4, 14},
    {", 00-000-00 00:00:00 GMT", 2, 5, 9, 2, 12},
    {" 000 00 00:00:00 0000", 5, 1, 17, 4, 8},
});

std::optional<WallTime> read(std::string_view text, const Form& form, WallTime now) noexcept {
  const auto day = digits(text, form.day, 2);
  const auto month = month_of(text.substr(form.month, kShortName));
  const auto year = digits(text, form.year, form.year_digits);
  const auto hour = digits(text, form.time, 2);
  const auto minute = digits(text, form.time + 3, 2);
  const auto second = digits(text, form.time + 6, 2);
  if (!day || !month || !year || !hour || !minute || !second) return std::nullopt;
  int full = static_cast<int>(*year);
  if (form.year_digits == 2) {
    const std::chrono::year_month_day today{std::chrono::floor<std::chrono::days>(now)};
    const int this_year = static_cast<int>(today.year());
    full += this_year - this_year % 100 + 100;
    while (full > this_year + kFarAhead) full -= 100;
  }
  return utc_time(full, *month, *day, *hour, *minute, *second);
}

}  // namespace

std::optional<WallTime> parse_http_date(std::string_view text, WallTime now) noexcept {
  const std::size_t name_end = std::min(text.find_first_of(", "), text.size());
  const std::string_view name = text.substr(0, name_end);
  const bool named = std::ranges::any_of(kDays, [&](std::string_view each) {
    return name == each || name == each.substr(0, kShortName);
  });
  if (!named) return std::nullopt;
  const std::string_view rest = text.substr(name_end);
  const auto* const form =
      std::ranges::find_if(kForms, [&](const Form& each) { return has_shape(rest, each.shape); });
  if (form == kForms.end()) return std::nullopt;
  return read(rest, *form, now);
}

}  // namespace wardmote::codec
