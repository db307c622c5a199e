#include "cli/render/words.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"

namespace wardmote::cli {
namespace {

/// The digits at the front of `rest`, up to `separator`.
template <class Number>
bool take_number(std::string_view& rest, char separator, Number& number) noexcept {
  const auto parsed = parse_number<unsigned>(take_until(rest, separator));
  if (parsed) number = static_cast<Number>(*parsed);
  return parsed.has_value();
}

bool plain_for_a_shell(std::string_view word) noexcept {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos;
}

}  // namespace

Cell verdict_word(std::string_view verdict) {
  if (verdict == "ok") return {"HEALTHY", Tone::kGood};
  if (verdict == "warning") return {"DEGRADED", Tone::kWarning};
  if (verdict == "critical") return {"CRITICAL", Tone::kCritical};
  return {"UNKNOWN", Tone::kUnknown};
}

Tone tone_of_outcome(std::string_view outcome) noexcept {
  if (outcome == "ok") return Tone::kGood;
  if (outcome == "warn") return Tone::kWarning;
  return outcome == "fail" ? Tone::kCritical : Tone::kUnknown;
}

Cell severity_word(std::string_view severity) {
  if (severity == "critical") return {"CRITICAL", Tone::kCritical};
  if (severity == "warning") return {"WARNING", Tone::kWarning};
  return {severity == "info" ? "INFO" : "UNKNOWN", Tone::kPlain};
}

std::string counted(std::size_t count, std::string_view singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

std::optional<WallTime> parse_utc(std::string_view text) noexcept {
  using namespace std::chrono;
  if (!text.ends_with('Z')) return std::nullopt;
  text.remove_suffix(1);
  int year_number = 0;
  unsigned month_number = 0;
  unsigned day_number = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int millisecond = 0;
  const bool complete = take_number(text, '-', year_number) && take_number(text, '-', month_number) &&
                        take_number(text, 'T', day_number) && take_number(text, ':', hour) &&
                        take_number(text, ':', minute) && take_number(text, '.', second) &&
                        take_number(text, 'Z', millisecond);
  const year_month_day date{year{year_number}, month{month_number}, day{day_number}};
  if (!complete || !date.ok()) return std::nullopt;
  return sys_days{date} + hours{hour} + minutes{minute} + seconds{second} + milliseconds{millisecond};
}

std::string age(std::string_view since, std::string_view at) {
  const std::optional<WallTime> begun = parse_utc(since);
  const std::optional<WallTime> now = parse_utc(at);
  if (!begun || !now) return {};
  return format_duration(std::max(*now - *begun, Duration::zero()));
}

std::string shell_line(const std::vector<std::string>& argv) {
  std::string line;
  for (const std::string& word : argv) {
    if (!line.empty()) line += ' ';
    if (plain_for_a_shell(word)) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace wardmote::cli
