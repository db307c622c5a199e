#include "base/percent.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/text.h"

namespace wardmote {
namespace {

bool is_unreserved(char c) noexcept {
  const bool alphanumeric =
      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return alphanumeric || std::string_view("-._~").contains(c);
}

std::string encode(std::string_view text, std::string_view kept) {
  std::string encoded;
  for (const char c : text) {
    if (is_unreserved(c) || kept.contains(c)) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text) {
  std::string decoded;
  while (!text.empty()) {
    char next = text.front();
    text.remove_prefix(1);
    if (next == '%') {
      // Two digits exactly: from_chars() would take a sign.
      const auto value =
          text.size() < 2 ? std::nullopt : parse_number<std::uint8_t>(text.substr(0, 2), 16);
      if (!value || *value == 0) return std::nullopt;
      next = static_cast<char>(*value);
      text.remove_prefix(2);
    }
    decoded += next;
  }
  return decoded;
}

std::string percent_encode_path(std::string_view path) {
  return encode(path, "!$&'()*+,;=:@/");
}

std::string percent_encode_value(std::string_view value) {
  return encode(value, "");
}

}  // namespace wardmote
