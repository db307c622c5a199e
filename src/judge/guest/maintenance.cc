#include "judge/guest/maintenance.h"

#include <chrono>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "base/time.h"
#include "base/utc.h"

namespace wardmote::judge::guest {
namespace {

constexpr Duration kShortest = std::chrono::seconds(1);
constexpr Duration kLongest = std::chrono::hours(24 * 366);

/// A duration after this word; nothing: something else stands there.
std::optional<Duration> after_word(std::string_view& rest, std::string_view word) noexcept {
  if (take_until(rest, ' ') != word) return std::nullopt;
  const auto read = parse_duration(take_until(rest, ' '));
  const bool fits = read && *read >= kShortest && *read <= kLongest;
  return fits ? read : std::nullopt;
}

}  // namespace

bool is_open(const Window& window, WallTime now) noexcept {
  if (now < window.begin) return false;
  Duration since = now - window.begin;
  if (window.every > Duration::zero()) since %= window.every;
  return since < window.length;
}

std::optional<Window> parse_window(std::string_view text) noexcept {
  std::string_view rest = trim(text);
  const auto begin = parse_utc(take_until(rest, ' '));
  const auto length = after_word(rest, "for");
  if (!begin || !length) return std::nullopt;
  if (rest.empty()) return Window{*begin, *length, {}};
  const auto every = after_word(rest, "every");
  if (!every || !rest.empty() || *every <= *length) return std::nullopt;
  return Window{*begin, *length, *every};
}

}  // namespace wardmote::judge::guest
