#include "cli/explain/names.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/render/fields.h"
#include "judge/raft/member_id.h"

namespace wardmote::cli {
namespace {

// OVSDB's own short form; fewer digits are more likely a name.
constexpr int kLeastDigits = 4;

std::optional<judge::raft::MemberId> parse_id(std::string_view text) noexcept {
  std::optional<judge::raft::MemberId> id = judge::raft::parse_member_id(text);
  if (id && id->digits < kLeastDigits) id.reset();
  return id;
}

}  // namespace

Name::Name(std::string_view text) : text_(text), id_(parse_id(text)) {}

bool Name::is_id(std::string_view id) const noexcept {
  const std::optional<judge::raft::MemberId> other = parse_id(id);
  return id_ && other && judge::raft::compatible(*id_, *other);
}

bool Name::is_address(std::string_view address) const noexcept {
  if (is(address)) return true;
  if (!consume_prefix(address, "tcp:") && !consume_prefix(address, "ssl:")) return false;
  return is(address) || is(address.substr(0, address.rfind(':')));
}

void Names::add(std::string_view name) {
  if (!name.empty()) names_.emplace_back(name);
}

bool Names::are_of_member(const Fields& member) const {
  return std::ranges::any_of(names_, [&](const Name& name) {
    return name.is(member.raw("name")) || name.is_id(member.raw("server_id")) ||
           name.is_address(member.raw("address"));
  });
}

bool Names::are_of_server(const Fields& server) const {
  return std::ranges::any_of(names_, [&](const Name& name) {
    return name.is(server.raw("nickname")) || name.is_id(server.raw("id")) ||
           name.is_address(server.raw("address"));
  });
}

bool Names::are_of_any(const std::vector<std::string>& subjects) const {
  return std::ranges::any_of(names_, [&](const Name& name) {
    return std::ranges::any_of(subjects, [&](const std::string& subject) {
      return name.is(subject) || name.is_id(subject) || name.is_address(subject);
    });
  });
}

}  // namespace wardmote::cli
