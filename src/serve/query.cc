#include "serve/query.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/percent.h"
#include "base/result.h"
#include "base/text.h"

namespace wardmote::serve {
namespace {

std::string decode(std::string_view raw) {
  std::string text(raw);
  std::ranges::replace(text, '+', ' ');
  return percent_decode(text).value_or(std::string(raw));
}

}  // namespace

Query::Query(std::string_view raw) {
  while (!raw.empty()) {
    std::string_view value = take_until(raw, '&');
    const std::string_view key = take_until(value, '=');
    if (!key.empty()) pairs_.emplace_back(decode(key), decode(value));
  }
}

bool Query::has(std::string_view key) const {
  return std::ranges::any_of(pairs_, [key](const auto& pair) { return pair.first == key; });
}

std::string Query::value(std::string_view key) const {
  for (const auto& [name, value] : pairs_) {
    if (name == key) return value;
  }
  return {};
}

Result<bool> Query::flag(std::string_view key) const {
  if (!has(key)) return false;
  const std::string word = value(key);
  if (word != "true" && word != "false")
    return fail(Errc::kInvalid, "{}: write true or false", key);
  return word == "true";
}

std::optional<std::string> Query::unknown(std::span<const std::string_view> known) const {
  for (const auto& [key, value] : pairs_) {
    if (std::ranges::find(known, std::string_view(key)) == known.end()) return key;
  }
  return std::nullopt;
}

std::vector<std::string> Query::values(std::string_view key) const {
  std::vector<std::string> all;
  for (const auto& [name, value] : pairs_) {
    if (name == key) all.push_back(value);
  }
  return all;
}

std::vector<std::string> Query::list(std::string_view key) const {
  std::vector<std::string> all;
  for (const auto& [name, value] : pairs_) {
    if (name != key) continue;
    for (const std::string_view one : split(value, ',')) {
      if (!one.empty()) all.emplace_back(one);
    }
  }
  return all;
}

}  // namespace wardmote::serve
