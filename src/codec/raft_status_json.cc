#include "base/result.h"
#include "codec/raft_status.h"
#include "codec/raft_status_parts.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "codec/unicode_space.h"

namespace wardmote::codec {
namespace {

namespace json = boost::json;

/// A word of the text form: a value that could not stand in a status line is refused, not altered.
bool read_word(std::string& into, const json::value& value, bool spaces_allowed) {
  const json::string* const text = value.if_string();
  if (text == nullptr) return false;
  const std::string_view word = *text;
  const auto unfit = [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f || c == '(' || c == ')' || (c == ' ' && !spaces_allowed);
  };
  if (trim_space(word).size() != word.size() || std::ranges::any_of(word, unfit)) return false;
  into = word;
  return true;
}

bool read_number(std::optional<std::uint64_t>& into, const json::value& value) {
  if (value.is_null()) return true;
  boost::system::error_code failed;
  const auto number = value.to_number<std::uint64_t>(failed);
  if (failed || value.is_double()) return false;
  into = number;
  return true;
}

bool read_flag(std::optional<bool>& into, const json::value& value) {
  if (const bool* const flag = value.if_bool()) into = *flag;
  return value.is_bool();
}

std::string spell(std::string_view key, const json::value& value) {
  return json::serialize(json::value(key)) + ": " + json::serialize(value);
}

bool read_server_field(RaftServer& server, std::string_view key, const json::value& value) {
  if (key == "sid") return read_word(server.id, value, false) && is_raft_id(server.id);
  if (key == "address") return read_word(server.address, value, false);
  if (key == "role") return read_word(server.role, value, true);
  if (key == "self") {
    std::optional<bool> self;
    const bool read = read_flag(self, value);
    server.self = self.value_or(false);
    return read;
  }
  if (key == "connected") return read_flag(server.connected, value);
  if (key == "lastMsgMs") return read_number(server.last_message_ms, value);
  if (key == "nextIndex") return read_number(server.next_index, value);
  if (key == "matchIndex") return read_number(server.match_index, value);
  return false;
}

void read_server(RaftStatus& status, const json::value& item) {
  RaftServer server;
  if (const json::object* const fields = item.if_object()) {
    for (const auto& [key, value] : *fields) {
      if (!read_server_field(server, key, value)) {
        keep_unknown(status, status.unknown_lines, spell(key, value));
      }
    }
  }
  if (!is_raft_id(server.id) || server.address.empty()) {
    return keep_unknown(status, status.unknown_lines, spell("servers", item));
  }
  server.nickname = server.id;
  status.servers.push_back(std::move(server));
}

bool read_field(RaftStatus& status, std::string_view key, const json::value& value) {
  if (key == "name") return read_word(status.name, value, true);
  if (key == "role") return read_word(status.role, value, true);
  if (key == "term") return read_number(status.term, value);
  if (key == "index") return read_number(status.index, value);
  if (key == "connected") return read_flag(status.connected, value);
  return key == "servers";
}

}  // namespace

Result<RaftStatus> parse_raft_status_json(std::string_view text) {
  boost::system::error_code failed;
  const json::value document = json::parse(json::string_view(text.data(), text.size()), failed);
  if (failed) return fail(Errc::kProtocol, "cluster/status: JSON: {}", failed.message());
  const json::object* fields = document.if_object();
  if (fields != nullptr && !fields->contains("servers") && fields->contains("data")) {
    fields = fields->at("data").if_object();
  }
  const json::value* const servers = fields == nullptr ? nullptr : fields->if_contains("servers");
  if (servers == nullptr || !servers->is_array() || servers->get_array().empty()) {
    return fail(Errc::kProtocol, "cluster/status: JSON without servers");
  }
  if (servers->get_array().size() > kMaxRaftServers)
    return fail(Errc::kLimit, "cluster/status: too many servers");
  RaftStatus status;
  for (const auto& [key, value] : *fields) {
    if (!read_field(status, key, value))
      keep_unknown(status, status.unknown_lines, spell(key, value));
  }
  status.lists_servers = true;
  for (const json::value& item : servers->get_array()) read_server(status, item);
  return status;
}

}  // namespace wardmote::codec
