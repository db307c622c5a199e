#include "judge/notify/matcher.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "judge/notify/regex.h"

namespace wardmote::judge::notify {
namespace {

constexpr std::size_t kLongest = 256;

bool is_label(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

Result<Matcher> parse_matcher(std::string_view text) {
  const std::size_t at = text.find_first_of("=!");
  std::string_view rest = at == std::string_view::npos ? std::string_view() : text.substr(at);
  Matcher matcher;
  matcher.equal = !consume_prefix(rest, "!");
  const bool regex = matcher.equal ? consume_prefix(rest, "=~") : consume_prefix(rest, "~");
  if ((!regex && !consume_prefix(rest, "=")) || text.size() > kLongest) {
    return fail(Errc::kInvalid,
                "'{}': write label=pattern, label!=pattern, label=~regex or label!~regex",
                escape_control(text, 64));
  }
  const std::string_view label = text.substr(0, at);
  if (!is_label(label)) {
    return fail(Errc::kInvalid, "'{}': a label is made of letters, digits and '_'",
                escape_control(text, 64));
  }
  matcher.label = label;
  matcher.pattern = rest;
  if (!regex) return matcher;
  auto compiled = Regex::compile(rest);
  if (!compiled) return std::unexpected(compiled.error());
  matcher.regex = *std::move(compiled);
  return matcher;
}

std::string to_string(const Matcher& matcher) {
  const std::string_view sign =
      matcher.regex ? (matcher.equal ? "=~" : "!~") : (matcher.equal ? "=" : "!=");
  return matcher.label + std::string(sign) + matcher.pattern;
}

Result<void> check_label(const Matcher& matcher, const std::map<std::string, std::string>& own) {
  if (own.contains(matcher.label)) return {};
  if (std::ranges::find(kIncidentLabels, matcher.label) != std::end(kIncidentLabels)) return {};
  std::string known = fmt::format("{}", fmt::join(kIncidentLabels, ", "));
  for (const auto& [name, value] : own) known += ", " + escape_control(name, 64);
  return fail(Errc::kInvalid, "no incident has the label '{}'; there are {}",
              escape_control(matcher.label, 64), known);
}

bool match(const Matcher& matcher, const Labels& labels) {
  const auto label = labels.find(matcher.label);
  const std::string_view value = label == labels.end() ? std::string_view() : label->second;
  const bool hit = matcher.regex ? matcher.regex->matches(value) : like(matcher.pattern, value);
  return hit == matcher.equal;
}

bool match(std::span<const Matcher> matchers, const Labels& labels) {
  return std::ranges::all_of(matchers,
                             [&](const Matcher& matcher) { return match(matcher, labels); });
}

bool like(std::string_view pattern, std::string_view text) noexcept {
  const std::size_t first_star = pattern.find('*');
  if (first_star == std::string_view::npos) return pattern == text;
  const std::string_view head = pattern.substr(0, first_star);
  const std::string_view tail = pattern.substr(pattern.rfind('*') + 1);
  if (text.size() < head.size() + tail.size()) return false;
  if (!text.starts_with(head) || !text.ends_with(tail)) return false;
  text = text.substr(head.size(), text.size() - head.size() - tail.size());
  pattern = pattern.substr(head.size(), pattern.size() - head.size() - tail.size());
  // The text between two stars may be anywhere: the first place that fits leaves most room.
  for (const std::string_view piece : split(pattern, '*')) {
    const std::size_t found = text.find(piece);
    if (found == std::string_view::npos) return false;
    text.remove_prefix(found + piece.size());
  }
  return true;
}

}  // namespace wardmote::judge::notify
