#include "judge/raft/member_id.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wardmote::judge::raft {
namespace {

constexpr int kDigitsPerWord = 16;
constexpr int kShortDigits = 4;

int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// As many digits as are known. Not by a format string, because an assessment calls this thousands
/// of times.
std::string first_digits(const MemberId& id, int most) {
  std::string text(static_cast<std::size_t>(std::min<int>(id.digits, most)), '0');
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::uint64_t word = at < kDigitsPerWord ? id.high : id.low;
    text[at] = "0123456789abcdef"[(word >> (4 * (kDigitsPerWord - 1 - at % kDigitsPerWord))) & 0xF];
  }
  return text;
}

}  // namespace

std::optional<MemberId> parse_member_id(std::string_view text) noexcept {
  MemberId id;
  for (const char c : text) {
    if (c == '-') continue;
    const int value = hex_value(c);
    if (value < 0 || id.digits == 2 * kDigitsPerWord) return std::nullopt;
    std::uint64_t& word = id.digits < kDigitsPerWord ? id.high : id.low;
    const int shift = 4 * (kDigitsPerWord - 1 - id.digits % kDigitsPerWord);
    word |= static_cast<std::uint64_t>(value) << shift;
    ++id.digits;
  }
  if (id.digits == 0) return std::nullopt;
  return id;
}

std::string short_name(const MemberId& id) {
  return first_digits(id, kShortDigits);
}

std::string to_string(const MemberId& id) {
  std::string text = first_digits(id, 2 * kDigitsPerWord);
  if (id.digits != 2 * kDigitsPerWord) return text;
  // From the back, so that earlier positions stay valid.
  for (const std::size_t place : {20U, 16U, 12U, 8U}) text.insert(place, 1, '-');
  return text;
}

}  // namespace wardmote::judge::raft
