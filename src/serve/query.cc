#include "serve/query.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"

namespace wardmote::serve {
namespace {

std::optional<std::string> decode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      decoded += ' ';
      continue;
    }
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const auto byte = parse_number<std::uint8_t>(text.substr(i + 1, 2), 16);
    if (!byte || i + 2 >= text.size()) return std::nullopt;
    decoded += static_cast<char>(*byte);
    i += 2;
  }
  return decoded;
}

}  // namespace

Result<Query> parse_query(std::string_view text, std::initializer_list<std::string_view> known) {
  Query query;
  while (!text.empty()) {
    std::string_view field = take_until(text, '&');
    if (field.empty()) continue;
    auto name = decode(take_until(field, '='));
    auto value = decode(field);
    if (!name || !value) return fail(Errc::kInvalid, "the query has a bad percent escape");
    if (std::ranges::find(known, std::string_view(*name)) == known.end()) {
      return fail(Errc::kInvalid, "no field '{}' is known here", escape_control(*name, 64));
    }
    const bool first = query.emplace(*name, *std::move(value)).second;
    if (!first) return fail(Errc::kInvalid, "'{}' is given twice", *name);
  }
  return query;
}

}  // namespace wardmote::serve
