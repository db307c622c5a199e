#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace wardmote::serve {

/// What a caller may do; each role includes those before it.
enum class Role : std::uint8_t {
  kNone,
  kViewer,    ///< read
  kOperator,  ///< give everyday orders: acknowledge, silence, pause
  kAdmin,     ///< everything
};

/// `none`, `viewer`, `operator`, `admin`.
std::string_view to_string(Role role) noexcept;
std::optional<Role> parse_role(std::string_view name) noexcept;

}  // namespace wardmote::serve
