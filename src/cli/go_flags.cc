#include "cli/go_flags.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"

namespace wardmote::cli {
namespace {

struct Unit {
  std::string_view word;
  std::int64_t nanoseconds;
};

/// The longer before those that they begin with.
constexpr auto kUnits = std::to_array<Unit>({{"ns", 1},
                                             {"us", 1'000},
                                             {"µs", 1'000},
                                             {"μs", 1'000},
                                             {"ms", 1'000'000},
                                             {"s", 1'000'000'000},
                                             {"m", 60'000'000'000},
                                             {"h", 3'600'000'000'000}});

/// `true` and `false` as strconv.ParseBool of Go.
std::optional<bool> go_bool(std::string_view text) noexcept {
  constexpr auto kTrue = std::to_array<std::string_view>({"1", "t", "T", "true", "TRUE", "True"});
  constexpr auto kFalse =
      std::to_array<std::string_view>({"0", "f", "F", "false", "FALSE", "False"});
  if (std::ranges::find(kTrue, text) != kTrue.end()) return true;
  if (std::ranges::find(kFalse, text) != kFalse.end()) return false;
  return std::nullopt;
}

std::string_view take_digits(std::string_view& rest) noexcept {
  const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const std::string_view digits = rest.substr(0, end);
  rest.remove_prefix(end);
  return digits;
}

}  // namespace

std::vector<std::string> from_go_flags(std::vector<std::string> words) {
  std::vector<std::string> rewritten;
  bool only_values = false;
  for (std::string& word : words) {
    only_values = only_values || word == "--";
    // One letter is an option of our own, `-h`.
    const bool single = word.size() > 2 && word[0] == '-' && word[1] >= 'a' && word[1] <= 'z';
    if (!only_values && single) word.insert(0, "-");
    const std::size_t equals = word.find('=');
    if (!only_values && word.starts_with("--") && equals != std::string::npos) {
      const std::optional<bool> on = go_bool(std::string_view(word).substr(equals + 1));
      if (on && !*on) continue;
      if (on) word.resize(equals);
    }
    rewritten.push_back(std::move(word));
  }
  return rewritten;
}

std::optional<Duration> parse_go_duration(std::string_view text) noexcept {
  constexpr auto kLongest = static_cast<long double>(std::numeric_limits<std::int64_t>::max()) / 2;
  const bool negative = consume_prefix(text, "-");
  if (!negative) consume_prefix(text, "+");
  if (text == "0") return Duration::zero();
  if (text.empty()) return std::nullopt;
  long double sum = 0;
  while (!text.empty()) {
    const std::string_view whole = take_digits(text);
    const std::string_view fraction = consume_prefix(text, ".") ? take_digits(text) : "";
    if (whole.empty() && fraction.empty()) return std::nullopt;
    const auto* const unit =
        std::ranges::find_if(kUnits, [&](const Unit& one) { return text.starts_with(one.word); });
    if (unit == kUnits.end()) return std::nullopt;
    text.remove_prefix(unit->word.size());
    long double number = 0;
    for (const char digit : whole) number = number * 10 + (digit - '0');
    long double place = 1;
    for (const char digit : fraction) number += (digit - '0') * (place /= 10);
    sum += number * static_cast<long double>(unit->nanoseconds);
    if (sum > kLongest) return std::nullopt;
  }
  const auto nanoseconds = static_cast<std::int64_t>(std::llround(sum));
  return Duration(negative ? -nanoseconds : nanoseconds);
}

std::vector<std::string> words_of(std::string_view program, std::vector<std::string> words) {
  constexpr auto kSubcommand = std::to_array<std::string_view>({"component", "node", "health"});
  const std::string_view name = program.substr(program.rfind('/') + 1);
  const bool nested = name == "calico" && words.size() >= kSubcommand.size() &&
                      std::equal(kSubcommand.begin(), kSubcommand.end(), words.begin());
  if (nested) words.erase(words.begin(), words.begin() + kSubcommand.size());
  if (nested || name == "calico-node") words.insert(words.begin(), "calico-health");
  return words;
}

}  // namespace wardmote::cli
