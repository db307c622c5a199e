#include "codec/unicode_space.h"

#include <cstddef>
#include <string_view>

namespace wardmote::codec {
namespace {

/// Whether `text` is one white space character beyond ASCII.
bool is_wide_space(std::string_view text) noexcept {
  if (text.size() == 2) return text == "\u0085" || text == "\u00a0";
  if (text.size() != 3) return false;
  if (text.starts_with("\xe2\x80")) {
    const auto last = static_cast<unsigned char>(text[2]);
    return (last >= 0x80 && last <= 0x8a) || last == 0xa8 || last == 0xa9 || last == 0xaf;
  }
  return text == "\u1680" || text == "\u205f" || text == "\u3000";
}

std::size_t trailing_space(std::string_view text) noexcept {
  if (text.empty()) return 0;
  if (is_ascii_space(text.back())) return 1;
  if (static_cast<unsigned char>(text.back()) < 0x80) return 0;
  for (const std::size_t length : {2U, 3U}) {
    if (text.size() >= length && is_wide_space(text.substr(text.size() - length))) return length;
  }
  return 0;
}

}  // namespace

std::size_t leading_space(std::string_view text) noexcept {
  if (text.empty()) return 0;
  if (is_ascii_space(text.front())) return 1;
  if (static_cast<unsigned char>(text.front()) < 0x80) return 0;
  for (const std::size_t length : {2U, 3U}) {
    if (is_wide_space(text.substr(0, length))) return length;
  }
  return 0;
}

std::string_view trim_space_left(std::string_view text) noexcept {
  while (const std::size_t length = leading_space(text)) text.remove_prefix(length);
  return text;
}

std::string_view trim_space(std::string_view text) noexcept {
  text = trim_space_left(text);
  while (const std::size_t length = trailing_space(text)) text.remove_suffix(length);
  return text;
}

std::string_view take_word(std::string_view& rest) noexcept {
  std::size_t end = 0;
  while (end < rest.size() && leading_space(rest.substr(end)) == 0) ++end;
  const std::string_view word = rest.substr(0, end);
  rest = trim_space_left(rest.substr(end));
  return word;
}

}  // namespace wardmote::codec
