#include "config/import/text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/text.h"

namespace wardmote::config {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kSpace = " \t\r\n\v\f";
constexpr std::int64_t kMostDigits = 9;  // of a number in a duration, so that no sum overflows

struct Unit {
  std::string_view name;
  std::int64_t milliseconds;
};
// Longer names first.
constexpr auto kUnits = std::to_array<Unit>({{"ms", 1},
                                             {"s", 1000},
                                             {"m", 60'000},
                                             {"h", 3'600'000},
                                             {"d", 86'400'000},
                                             {"w", 7 * 86'400'000LL},
                                             {"y", 365 * 86'400'000LL}});

/// Cuts the digits off the front.
std::string_view take_digits(std::string_view& rest) {
  const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const std::string_view digits = rest.substr(0, end);
  rest.remove_prefix(end);
  return digits;
}

}  // namespace

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(kSpace), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::optional<std::string> literal_of(std::string_view expression) {
  std::string literal;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    char c = expression[i];
    if (std::string_view("^$.*+?()[]{}|").contains(c)) return std::nullopt;
    if (c == '\\') {
      if (++i == expression.size()) return std::nullopt;
      c = expression[i];
      // `\d` and `\b` are more than a sign.
      if (std::string_view("^$.*+?()[]{}|\\/-\"' ").find(c) == std::string_view::npos)
        return std::nullopt;
    }
    literal += c;
  }
  if (literal.empty()) return std::nullopt;
  return literal;
}

std::optional<milliseconds> foreign_duration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  milliseconds sum{0};
  while (!text.empty()) {
    const std::string_view whole = take_digits(text);
    std::string_view part;
    if (consume_prefix(text, ".")) part = take_digits(text).substr(0, 3);
    const auto* const unit = std::ranges::find_if(
        kUnits, [&](const Unit& one) { return consume_prefix(text, one.name); });
    if (unit == kUnits.end() || whole.empty() || whole.size() > kMostDigits) return std::nullopt;
    sum += milliseconds(parse_number<std::int64_t>(whole).value_or(0) * unit->milliseconds);
    std::int64_t scale = unit->milliseconds;
    for (const char digit : part) {
      scale /= 10;
      sum += milliseconds((digit - '0') * scale);
    }
  }
  return sum;
}

std::string spell(milliseconds duration) {
  const auto count = duration.count();
  return count % 1000 == 0 ? fmt::format("{}s", count / 1000) : fmt::format("{}ms", count);
}

std::string host_and_port(std::string_view host, std::string_view port) {
  const bool bare = host.contains(':') && !host.starts_with('[');
  return bare ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

}  // namespace wardmote::config
