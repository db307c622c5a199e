#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wardmote::judge::raft {

/// The id of a raft server or cluster, as much of it as is known: a UUID (32 hex digits), an etcd
/// id (16), or the four digits that OVSDB prints. A value type of 24 bytes; zero digits means
/// "unknown".
struct MemberId {
  std::uint64_t high = 0;  ///< the first 16 digits, left-aligned
  std::uint64_t low = 0;
  std::uint8_t digits = 0;

  [[nodiscard]] bool known() const noexcept { return digits != 0; }
  [[nodiscard]] bool full() const noexcept { return digits >= 16; }
  /// All digits known and all zero: what OVSDB reports before a joining server knows its cluster.
  [[nodiscard]] bool zero() const noexcept { return digits != 0 && high == 0 && low == 0; }
  friend bool operator==(const MemberId&, const MemberId&) = default;
  friend auto operator<=>(const MemberId&, const MemberId&) = default;
};

/// Whether both can be the same id: equal in all digits that both know, and both know at least one.
inline bool compatible(const MemberId& a, const MemberId& b) noexcept {
  const auto mask = [](int digits) {
    if (digits <= 0) return std::uint64_t{0};
    return digits >= 16 ? ~std::uint64_t{0} : ~std::uint64_t{0} << (4 * (16 - digits));
  };
  const int digits = a.digits < b.digits ? a.digits : b.digits;
  return digits != 0 && ((a.high ^ b.high) & mask(digits)) == 0 &&
         ((a.low ^ b.low) & mask(digits - 16)) == 0;
}

/// `dea6`, `dea645fa-f66d-419f-89d2-9ef5ed65767e`, 16 digits; hyphens are skipped, case is ignored.
/// 1 to 32 digits.
std::optional<MemberId> parse_member_id(std::string_view text) noexcept;

/// The first four digits: how OVSDB names a server in its output.
std::string short_name(const MemberId& id);

/// As a UUID if it is one, else the known digits; "" when unknown.
std::string to_string(const MemberId& id);

}  // namespace wardmote::judge::raft
