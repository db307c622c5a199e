#include "serve/role.h"

#include <optional>
#include <string_view>

namespace wardmote::serve {

std::string_view to_string(Role role) noexcept {
  switch (role) {
    case Role::kNone: return "none";
    case Role::kViewer: return "viewer";
    case Role::kOperator: return "operator";
    case Role::kAdmin: return "admin";
  }
  return "none";
}

std::optional<Role> parse_role(std::string_view name) noexcept {
  for (const Role role : {Role::kNone, Role::kViewer, Role::kOperator, Role::kAdmin}) {
    if (to_string(role) == name) return role;
  }
  return std::nullopt;
}

}  // namespace wardmote::serve
