#include "codec/plugin_output.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kMostValues = 64;
constexpr std::size_t kLongestWord = 128;
constexpr std::size_t kLongestText = 1024;

/// Takes a label with its `=` off the front; it may be quoted, and two quotes inside stand for one.
std::optional<std::string> take_label(std::string_view& rest) {
  std::string label;
  if (!rest.starts_with('\'')) {
    const std::size_t end = rest.find('=');
    if (end == std::string_view::npos || end == 0) return std::nullopt;
    label = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (label.contains(' ')) return std::nullopt;
    return label;
  }
  rest.remove_prefix(1);
  for (;;) {
    const std::size_t quote = rest.find('\'');
    if (quote == std::string_view::npos) return std::nullopt;
    label += rest.substr(0, quote);
    rest.remove_prefix(quote + 1);
    if (!rest.starts_with('\'')) break;
    label += '\'';
    rest.remove_prefix(1);
  }
  if (!consume_prefix(rest, "=")) return std::nullopt;
  return label;
}

std::optional<PluginValue> read_value(std::string label, std::string_view word) {
  const std::string_view number = word.substr(0, word.find(';'));
  double value = 0;
  const char* const begin = std::to_address(number.begin());
  const char* const end = begin + number.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
  return PluginValue{std::move(label), value, std::string(stop, end)};
}

void read_values(std::string_view rest, std::vector<PluginValue>& into) {
  for (rest = trim(rest); !rest.empty() && into.size() < kMostValues; rest = trim(rest)) {
    std::optional<std::string> label = take_label(rest);
    const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
    rest.remove_prefix(word.size());
    if (!label || label->size() > kLongestWord || word.size() > kLongestWord) continue;
    if (auto value = read_value(*std::move(label), word)) into.push_back(*std::move(value));
  }
}

}  // namespace

PluginOutput parse_plugin_output(std::string_view output) {
  PluginOutput read;
  std::string_view first = take_until(output, '\n');
  read.text = trim(take_until(first, '|')).substr(0, kLongestText);
  read_values(first, read.values);
  // Further lines are text up to another bar, and values after it.
  take_until(output, '|');
  while (!output.empty()) read_values(take_until(output, '\n'), read.values);
  return read;
}

}  // namespace wardmote::codec
