#include "base/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"

namespace wardmote {
namespace {

constexpr std::string_view kSpace = " \t\r\n\v\f";

}  // namespace

CodePoint decode_utf8(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return {first, 0};
  std::uint32_t value = first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {first, 0};
    value = (value << 6) | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
    return {first, 0};
  return {value, length};
}

bool is_hostile(std::uint32_t c) noexcept {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

std::string_view trim(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string escape_control(std::string_view text, std::size_t cap) {
  std::string safe;
  safe.reserve(std::min(text.size(), cap) + 8);
  while (!text.empty()) {
    if (safe.size() >= cap) return safe + "…";
    const CodePoint c = decode_utf8(text);
    if (c.length != 0 && !is_hostile(c.value)) {
      safe += text.substr(0, c.length);
    } else if (c.value == '\n') {
      safe += "\\n";
    } else if (c.value == '\t') {
      safe += "\\t";
    } else if (c.value < 0x100) {
      safe += fmt::format("\\x{:02x}", c.value);
    } else {
      safe += fmt::format("\\u{{{:x}}}", c.value);
    }
    text.remove_prefix(c.length == 0 ? 1 : c.length);
  }
  return safe;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

std::string_view take_until(std::string_view& rest, char separator) noexcept {
  const std::size_t at = rest.find(separator);
  const std::string_view head = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return head;
}

bool consume_prefix(std::string_view& text, std::string_view prefix) noexcept {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace wardmote
