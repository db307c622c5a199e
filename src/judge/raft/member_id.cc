#include "judge/raft/member_id.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"

namespace wardmote::judge::raft {
namespace {

constexpr int kDigitsPerWord = 16;

int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
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
  if (!id.known()) return {};
  return fmt::format("{:04x}", id.high >> 48).substr(0, id.digits < 4 ? id.digits : 4);
}

std::string to_string(const MemberId& id) {
  const std::string all = fmt::format("{:016x}{:016x}", id.high, id.low);
  if (id.digits != 32) return all.substr(0, id.digits);
  return fmt::format("{}-{}-{}-{}-{}", all.substr(0, 8), all.substr(8, 4), all.substr(12, 4),
                     all.substr(16, 4), all.substr(20));
}

}  // namespace wardmote::judge::raft
