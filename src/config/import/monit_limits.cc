#include "config/import/monit_limits.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "config/import/monit_service.h"

namespace wardmote::config {
namespace {

constexpr std::int64_t kMost = 1'000'000'000;  // of any unit

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

std::optional<std::int64_t> scaled(std::span<const Unit> units, const MonitComparison& read) {
  const auto unit = std::ranges::find(units, read.unit, &Unit::name);
  if (unit == units.end() || read.value > kMost) return std::nullopt;
  return read.value * unit->factor;
}

}  // namespace

std::string_view monit_sign(std::string_view word) {
  struct Sign {
    std::string_view word;
    std::string_view sign;
  };
  constexpr auto kSigns = std::to_array<Sign>({{">", ">"},
                                               {"gt", ">"},
                                               {"greater", ">"},
                                               {"older", ">"},
                                               {"<", "<"},
                                               {"lt", "<"},
                                               {"less", "<"},
                                               {"newer", "<"},
                                               {"=", "="},
                                               {"==", "="},
                                               {"eq", "="},
                                               {"equal", "="},
                                               {"!=", "!="},
                                               {"ne", "!="},
                                               {"notequal", "!="},
                                               {">=", ">="},
                                               {"<=", "<="}});
  const auto* const found = std::ranges::find(kSigns, word, &Sign::word);
  return found == kSigns.end() ? std::string_view() : found->sign;
}

std::optional<MonitComparison> monit_comparison(const MonitTest& test) {
  MonitComparison read{.sign = "="};  // where none is written
  std::size_t i = 0;
  const auto& words = test.words;
  const auto starts_number = [](std::string_view word) {
    return !word.empty() && word.front() >= '0' && word.front() <= '9';
  };
  for (; i < words.size() && monit_sign(words[i]).empty() && !starts_number(words[i]); ++i) {
    if (words[i].empty()) return std::nullopt;  // a text in quotes
    read.subject += (read.subject.empty() ? "" : " ") + words[i];
  }
  if (i < words.size() && !monit_sign(words[i]).empty()) read.sign = monit_sign(words[i++]);
  if (i == words.size()) return std::nullopt;
  const std::string_view word = words[i++];
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  const auto value = parse_number<std::int64_t>(word.substr(0, digits));
  if (!value) return std::nullopt;
  read.value = *value;
  read.unit = word.substr(digits);
  if (read.unit.empty() && i < words.size()) read.unit = words[i++];
  if (i < words.size()) return std::nullopt;
  return read;
}

std::optional<std::int64_t> monit_bytes(const MonitComparison& comparison) {
  constexpr std::int64_t kKilo = 1024;
  static constexpr auto kUnits = std::to_array<Unit>({{"", 1},
                                                      {"b", 1},
                                                      {"byte", 1},
                                                      {"bytes", 1},
                                                      {"kb", kKilo},
                                                      {"kilobyte", kKilo},
                                                      {"kilobytes", kKilo},
                                                      {"mb", kKilo * kKilo},
                                                      {"megabyte", kKilo * kKilo},
                                                      {"megabytes", kKilo * kKilo},
                                                      {"gb", kKilo * kKilo * kKilo},
                                                      {"gigabyte", kKilo * kKilo * kKilo},
                                                      {"gigabytes", kKilo * kKilo * kKilo}});
  return scaled(kUnits, comparison);
}

std::optional<std::int64_t> monit_seconds(const MonitComparison& comparison) {
  static constexpr auto kUnits = std::to_array<Unit>({{"second", 1},
                                                      {"seconds", 1},
                                                      {"minute", 60},
                                                      {"minutes", 60},
                                                      {"hour", 3600},
                                                      {"hours", 3600},
                                                      {"day", 86'400},
                                                      {"days", 86'400}});
  return scaled(kUnits, comparison);
}

std::string spell_bytes(std::int64_t bytes) {
  constexpr std::int64_t kKilo = 1024;
  constexpr auto kNames = std::to_array<std::string_view>({"", "KiB", "MiB", "GiB"});
  std::size_t name = 0;
  for (; bytes != 0 && bytes % kKilo == 0 && name + 1 < kNames.size(); ++name) bytes /= kKilo;
  return fmt::format("{}{}", bytes, kNames[name]);
}

std::vector<std::string> monit_statuses(std::string_view sign, std::int64_t value) {
  constexpr std::int64_t kLeast = 100;
  constexpr std::int64_t kMostStatus = 999;
  struct Ranges {
    std::string_view sign;
    std::int64_t below;  ///< the last good one below the value, as a difference; 1: none is
    std::int64_t above;  ///< the first good one above it; -1: none is
  };
  // The value itself is in both, or in none.
  static constexpr auto kRanges = std::to_array<Ranges>(
      {{"<", -1, -1}, {"<=", 0, -1}, {">", 1, 1}, {">=", 1, 0}, {"!=", -1, 1}});
  if (value < 0 || value > kMostStatus) return {};
  std::vector<std::string> good;
  const auto put = [&](std::int64_t first, std::int64_t last) {
    first = std::max(first, kLeast);
    last = std::min(last, kMostStatus);
    if (first < last) good.push_back(fmt::format("{}-{}", first, last));
    if (first == last) good.push_back(fmt::format("{}", first));
  };
  if (sign == "=") put(value, value);
  const auto* const row = std::ranges::find(kRanges, sign, &Ranges::sign);
  if (row == kRanges.end()) return good;
  if (row->below <= 0) put(kLeast, value + row->below);
  if (row->above >= 0) put(value + row->above, kMostStatus);
  return good;
}

}  // namespace wardmote::config
