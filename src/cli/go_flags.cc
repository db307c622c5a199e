#include "cli/go_flags.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"

namespace wardmote::cli {
namespace {

struct Unit {
  std::string_view word;
  std::int64_t nanoseconds;
};

/// A longer prefix comes before a shorter one with which it begins.
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

constexpr auto kChecks = std::to_array<std::string_view>(
    {"felix-live", "felix-ready", "bird-live", "bird6-live", "bird-ready", "bird6-ready"});
constexpr auto kOwnSwitches = std::to_array<std::string_view>({"explain"});
constexpr auto kValued = std::to_array<std::string_view>(
    {"threshold-time", "deadline", "compat", "min-peers", "expect", "gr", "root"});
constexpr std::string_view kThreshold = "threshold-time";
/// The only flag that may be given several times, and counts each time.
constexpr std::string_view kRepeats = "expect";

bool is_one_of(std::span<const std::string_view> names, std::string_view name) noexcept {
  return std::ranges::find(names, name) != names.end();
}

std::string quoted(std::string_view text) {
  return "\"" + escape_control(text, 120) + "\"";
}

/// Reads one command line, flag by flag.
class GoFlags {
 public:
  explicit GoFlags(const std::vector<std::string>& words) : rest_(words) {}

  GoWords read() && {
    while (!rest_.empty() && result_.error.empty()) {
      const std::string& word = rest_.front();
      if (word.size() < 2 || word.front() != '-') break;
      rest_ = rest_.subspan(1);
      if (word == "--") break;
      read_flag(word);
    }
    result_.extra.assign(rest_.begin(), rest_.end());
    for (const auto& [name, value] : set_)
      result_.words.push_back(value ? fmt::format("--{}={}", name, *value) : "--" + name);
    return std::move(result_);
  }

 private:
  void read_flag(const std::string& word) {
    const std::string_view flag = std::string_view(word).substr(word.starts_with("--") ? 2 : 1);
    if (flag.front() == '-' || flag.front() == '=') {
      result_.error = "bad flag syntax: " + escape_control(word, 120);
      return;
    }
    const std::size_t equals = flag.find('=');
    const std::string_view name = flag.substr(0, equals);
    std::optional<std::string> value;
    if (equals != std::string_view::npos) value = flag.substr(equals + 1);
    if (is_one_of(kChecks, name) || is_one_of(kOwnSwitches, name)) {
      read_switch(name, value);
    } else if (is_one_of(kValued, name)) {
      read_value(name, std::move(value));
    } else if (name == "h" || name == "help") {
      result_.help = true;
      result_.error = "flag: help requested";
    } else {
      result_.unknown = true;
      result_.words.push_back(word);
      result_.error = "flag provided but not defined: -" + escape_control(name, 120);
    }
  }

  void read_switch(std::string_view name, const std::optional<std::string>& value) {
    const std::optional<bool> on = value ? go_bool(*value) : true;
    if (!on) {
      result_.error =
          fmt::format("invalid boolean value {} for -{}: parse error", quoted(*value), name);
      return;
    }
    forget(name);
    if (*on) set_.emplace_back(name, std::nullopt);
  }

  void read_value(std::string_view name, std::optional<std::string> value) {
    if (!value && rest_.empty()) {
      result_.error = fmt::format("flag needs an argument: -{}", name);
      return;
    }
    if (!value) {
      value = rest_.front();
      rest_ = rest_.subspan(1);
    }
    if (name == kThreshold && !parse_go_duration(*value)) {
      result_.error =
          fmt::format("invalid value {} for flag -{}: parse error", quoted(*value), name);
      return;
    }
    if (name != kRepeats) forget(name);
    set_.emplace_back(name, std::move(value));
  }

  void forget(std::string_view name) {
    std::erase_if(set_, [&](const auto& one) { return one.first == name; });
  }

  std::span<const std::string> rest_;
  std::vector<std::pair<std::string, std::optional<std::string>>> set_;
  GoWords result_;
};

bool asks_for_health_only(const std::vector<std::string>& words) {
  const GoWords read = from_go_flags(words);
  return read.error.empty() && std::ranges::any_of(kChecks, [&](std::string_view check) {
           return std::ranges::find(read.words, std::string("--").append(check)) !=
                  read.words.end();
         });
}

}  // namespace

GoWords from_go_flags(const std::vector<std::string>& words) {
  return GoFlags(words).read();
}

std::optional<std::int64_t> parse_go_int(std::string_view text) noexcept {
  if (text.starts_with("+") && !text.starts_with("+-")) text.remove_prefix(1);
  return parse_number<std::int64_t>(text);
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

Invocation invocation(std::string_view program, std::vector<std::string> words,
                      std::string_view real) {
  constexpr auto kSubcommand = std::to_array<std::string_view>({"component", "node", "health"});
  const std::string_view name = program.substr(program.rfind('/') + 1);
  if (name != "calico-node" && name != "calico") return {std::move(words), {}};
  std::vector<std::string> flags = words;
  bool health = true;
  if (name == "calico") {
    health = words.size() >= kSubcommand.size() &&
             std::equal(kSubcommand.begin(), kSubcommand.end(), words.begin());
    if (health) flags.erase(flags.begin(), flags.begin() + kSubcommand.size());
  }
  if (health && asks_for_health_only(flags)) {
    flags.insert(flags.begin(), "calico-health");
    return {std::move(flags), {}};
  }
  const std::string beside =
      program.contains('/') ? std::string(program) : fmt::format("/bin/{}", name);
  return {std::move(words), real.empty() ? beside + ".real" : std::string(real)};
}

}  // namespace wardmote::cli
