#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/render/fields.h"
#include "judge/raft/member_id.h"

namespace wardmote::cli {

/// A name that the user gives, compared with those in the API.
class Name {
 public:
  explicit Name(std::string_view text);

  [[nodiscard]] bool is(std::string_view name) const noexcept { return name == text_; }
  /// True if at least four leading digits agree.
  [[nodiscard]] bool is_id(std::string_view id) const noexcept;
  /// With or without scheme, with or without port.
  [[nodiscard]] bool is_address(std::string_view address) const noexcept;

 private:
  std::string text_;
  std::optional<judge::raft::MemberId> id_;
};

/// All names of one raft server, as far as they are known.
class Names {
 public:
  explicit Names(std::string_view first) { add(first); }
  void add(std::string_view name);

  /// A member of the API: by name, server id, address.
  [[nodiscard]] bool are_of_member(const Fields& member) const;
  /// A line of a member's server list: by nickname, id, address.
  [[nodiscard]] bool are_of_server(const Fields& server) const;
  /// The subjects of a finding: any of them.
  [[nodiscard]] bool are_of_any(const std::vector<std::string>& subjects) const;

 private:
  std::vector<Name> names_;
};

}  // namespace wardmote::cli
