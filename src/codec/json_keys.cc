#include "codec/json_keys.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wardmote::codec {
namespace {

namespace json = boost::json;

/// The position after the text that begins at `begin` with its quote.
std::size_t end_of_text(std::string_view text, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

std::string decoded(std::string_view literal) {
  boost::system::error_code broken;
  const json::value value = json::parse({literal.data(), literal.size()}, broken);
  return value.is_string() ? std::string(value.get_string()) : std::string(literal);
}

}  // namespace

std::optional<std::string> key_given_twice(std::string_view text) {
  std::set<std::string> seen;
  int depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != '"') {
      ++at;
      continue;
    }
    const std::size_t end = end_of_text(text, at);
    const std::size_t next = text.find_first_not_of(" \t\r\n", end);
    if (depth == 1 && next != std::string_view::npos && text[next] == ':') {
      std::string key = decoded(text.substr(at, end - at));
      if (seen.contains(key)) return key;
      seen.insert(std::move(key));
    }
    at = end;
  }
  return std::nullopt;
}

std::optional<std::size_t> place_of_key_given_twice(std::string_view text) {
  std::vector<std::set<std::string>> seen;  // of each object and list around the place
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '{' || c == '[') seen.emplace_back();
    if ((c == '}' || c == ']') && !seen.empty()) seen.pop_back();
    if (c != '"') {
      ++at;
      continue;
    }
    const std::size_t end = end_of_text(text, at);
    const std::size_t next = text.find_first_not_of(" \t\r\n", end);
    const bool key = next != std::string_view::npos && text[next] == ':' && !seen.empty();
    if (key && !seen.back().insert(decoded(text.substr(at, end - at))).second) return at;
    at = end;
  }
  return std::nullopt;
}

}  // namespace wardmote::codec
