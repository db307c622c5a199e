#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "codec/raft_status.h"
#include "codec/raft_status_parts.h"
#include "codec/unicode_space.h"

namespace wardmote::codec {
namespace {

/// How many closing parentheses are tried as the end of a group, so that the work stays linear.
constexpr int kGroupEnds = 8;

/// The word before a parenthesis or white space.
std::string_view take_name(std::string_view& rest) {
  std::size_t end = 0;
  while (end < rest.size() && rest[end] != '(' && leading_space(rest.substr(end)) == 0) ++end;
  const std::string_view name = rest.substr(0, end);
  rest = trim_space_left(rest.substr(end));
  return name;
}

/// `<nick> (<id> at <address>)`, in RaftServer and RaftChange.
template <class Named>
bool take_identity_of(Named& named, std::string_view& rest) {
  std::string_view ahead = rest;
  const std::string_view nickname = take_name(ahead);
  const auto inner = take_group(ahead);
  // A bullet is not a nickname: printed with a space after it, it would be taken off.
  if (nickname.empty() || nickname == "-" || !inner) return false;
  std::string_view address = *inner;
  const std::string_view id = take_word(address);
  if (!is_raft_id(id) || take_word(address) != "at" || address.empty()) return false;
  named.nickname = nickname;
  named.id = id;
  named.address = address;
  rest = ahead;
  return true;
}

/// `<id>[ (self)] at <address> (<role>)`: no OVS prints this form, but `pkg/ovnstatus` accepted it.
bool take_identity_with_role(RaftServer& server, std::string_view& rest) {
  std::string_view ahead = rest;
  const std::string_view id = take_name(ahead);
  const bool self = consume_prefix(ahead, "(self)");
  ahead = trim_space_left(ahead);
  if (!is_raft_id(id) || take_word(ahead) != "at") return false;
  std::string_view address = take_word(ahead);
  std::optional<std::string_view> role = take_group(ahead);
  if (!role && address.ends_with(')')) {
    std::string_view group = address.substr(std::min(address.rfind('('), address.size()));
    address.remove_suffix(group.size());
    role = take_group(group);
  }
  if (!role || role->empty() || address.empty()) return false;
  server.nickname = id;
  server.id = id;
  server.address = address;
  server.role = *role;
  server.self = self;
  rest = ahead;
  return true;
}

/// Reads the rest of a line after the server's identity, by keyword and in any order.
class ServerDetails {
 public:
  explicit ServerDetails(RaftServer& server) noexcept : server_(server) {}

  void read(std::string_view rest) {
    while (!rest.empty()) {
      std::string_view ahead = rest;
      if (take_known(ahead)) {
        close_run();
      } else {
        ahead = rest;
        extend_run(take_unknown(ahead));
      }
      rest = trim_space_left(ahead);
    }
    close_run();
  }

 private:
  /// Adjacent words that were not understood stay together as they were printed; ` ; ` separates
  /// runs.
  void extend_run(std::string_view word) {
    const char* const begin = run_.empty() ? word.data() : run_.data();
    run_ = {begin, static_cast<std::size_t>(word.data() + word.size() - begin)};
  }
  void close_run() {
    if (run_.empty()) return;
    if (!server_.rest.empty()) server_.rest += " ; ";
    server_.rest += trim_space(run_);
    run_ = {};
  }

  static std::string_view take_unknown(std::string_view& rest) {
    const std::string_view all = rest;
    if (!rest.starts_with('(')) return take_word(rest);
    if (take_group(rest)) return all.substr(0, all.size() - rest.size());
    rest = {};
    return all;
  }

  bool take_known(std::string_view& rest) {
    if (rest.starts_with('(')) {
      const auto group = take_group(rest);
      return group && read_group(*group);
    }
    std::string_view value = take_word(rest);
    if (value == "last") {
      if (server_.last_message_ms || take_word(rest) != "msg") return false;
      server_.last_message_ms = take_age(rest);
      return server_.last_message_ms.has_value();
    }
    const std::string_view key = take_until(value, '=');
    if (key == "next_index") return !server_.next_index && read_number(server_.next_index, value);
    if (key == "match_index")
      return !server_.match_index && read_number(server_.match_index, value);
    if (key == "connected" && !server_.connected && (value == "true" || value == "false")) {
      server_.connected = value == "true";
      return true;
    }
    return false;
  }

  bool read_group(std::string_view group) {
    if (group == "self") {
      const bool first = !server_.self;
      server_.self = true;
      return first;
    }
    if (consume_prefix(group, "voted for ")) {
      return server_.voted_for.empty() && read_word(server_.voted_for, trim_space_left(group));
    }
    return server_.phase.empty() && read_word(server_.phase, group);
  }

  RaftServer& server_;
  std::string_view run_;
};

}  // namespace

bool read_word(std::string& into, std::string_view value) {
  if (value.empty()) return false;
  into = value;
  return true;
}

bool read_number(std::optional<std::uint64_t>& into, std::string_view value) {
  into = parse_number<std::uint64_t>(value);
  return into.has_value();
}

std::optional<std::uint64_t> take_age(std::string_view& rest) {
  std::string_view ahead = rest;
  const auto age = parse_number<std::uint64_t>(take_word(ahead));
  if (!age || take_word(ahead) != "ms" || !consume_prefix(ahead, "ago")) return std::nullopt;
  if (!ahead.empty() && ahead.front() != ',' && leading_space(ahead) == 0) return std::nullopt;
  rest = trim_space_left(ahead);
  return age;
}

std::optional<std::string_view> take_group(std::string_view& rest) {
  if (!rest.starts_with('(')) return std::nullopt;
  std::size_t close = rest.find(')');
  if (close == std::string_view::npos) return std::nullopt;
  std::size_t at = close;
  for (int tried = 0; at != std::string_view::npos && tried < kGroupEnds; ++tried) {
    const char next = at + 1 < rest.size() ? rest[at + 1] : ' ';
    if (next == '(' || is_ascii_space(next)) {
      close = at;
      break;
    }
    at = rest.find(')', at + 1);
  }
  const std::string_view inner = trim_space(rest.substr(1, close - 1));
  rest = trim_space_left(rest.substr(close + 1));
  return inner;
}

bool take_identity(RaftChange& change, std::string_view& rest) {
  return take_identity_of(change, rest);
}

std::optional<RaftServer> parse_raft_server(std::string_view line) {
  RaftServer server;
  if (!take_identity_with_role(server, line) && !take_identity_of(server, line)) {
    return std::nullopt;
  }
  ServerDetails(server).read(line);
  return server;
}

bool is_raft_id(std::string_view text) noexcept {
  const auto is_hex = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  };
  const auto digits = std::ranges::count_if(text, is_hex);
  return digits >= 1 && digits <= 32 && digits + std::ranges::count(text, '-') == std::ssize(text);
}

}  // namespace wardmote::codec
