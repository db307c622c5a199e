#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wardmote {

/// Without leading and trailing ASCII white space.
std::string_view trim(std::string_view text) noexcept;

/// The same as `==`, and cheaper where most texts differ at one of their ends, as addresses and
/// short names do: that is seen without a call.
inline bool same_text(std::string_view a, std::string_view b) noexcept {
  constexpr std::size_t kEnd = 8;
  if (a.size() != b.size()) return false;
  if (a.size() < kEnd) return a.empty() || (a.front() == b.front() && a == b);
  const std::size_t end = a.size() - kEnd;
  return std::memcmp(a.data() + end, b.data() + end, kEnd) == 0 && a == b;
}

/// The code point at the front of a text and its length in bytes. If the bytes are not valid UTF-8,
/// the length is 0 and `value` is the first byte.
struct CodePoint {
  std::uint32_t value;
  std::size_t length;
};

/// Precondition: `text` is not empty.
CodePoint decode_utf8(std::string_view text) noexcept;

/// True for control characters, and for invisible characters that reorder or hide text on a screen.
bool is_hostile(std::uint32_t code_point) noexcept;

/// Text from outside, made safe to print: control characters, invalid UTF-8 and direction overrides
/// become `\xNN` or
/// `\u{…}`, and what is longer than `cap` bytes is cut and ends in `…`. The result may be a little
/// longer than `cap`.
std::string escape_control(std::string_view text, std::size_t cap = 512);

/// The pieces between `separator`s; an empty text has one empty piece.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Cuts the text up to `separator`, and the separator, off the front of `rest` and returns the
/// text; returns all of `rest` if it has no separator.
std::string_view take_until(std::string_view& rest, char separator) noexcept;

/// If `text` begins with `prefix`, cuts it off and returns true.
bool consume_prefix(std::string_view& text, std::string_view prefix) noexcept;

/// The whole of `text` as a number in `base`, or nothing (empty, sign of an unsigned, trailing
/// bytes, overflow).
template <std::integral T>
[[nodiscard]] std::optional<T> parse_number(std::string_view text, int base = 10) noexcept {
  T value{};
  const char* const end = text.data() + text.size();
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): `end` says where it ends
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace wardmote
