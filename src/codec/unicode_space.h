#pragma once

#include <cstddef>
#include <string_view>

namespace wardmote::codec {

constexpr bool is_ascii_space(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/// The length of the Unicode white space (property White_Space, in UTF-8) at the front of `text`; 0
/// if there is none.
std::size_t leading_space(std::string_view text) noexcept;

/// `text` without Unicode white space at the front, and at both ends.
std::string_view trim_space_left(std::string_view text) noexcept;
std::string_view trim_space(std::string_view text) noexcept;

/// Cuts the word up to the next white space, and the white space after it, off the front of `rest`.
std::string_view take_word(std::string_view& rest) noexcept;

}  // namespace wardmote::codec
