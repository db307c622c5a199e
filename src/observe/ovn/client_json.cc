#include "observe/ovn/client_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "observe/ovn/client.h"

namespace wardmote::observe::ovn {
namespace {

namespace json = boost::json;

/// Go's `omitempty`.
void put(json::object& object, std::string_view key, std::string_view text) {
  if (!text.empty()) object[key] = text;
}
void put(json::object& object, std::string_view key, std::uint64_t number) {
  if (number != 0) object[key] = number;
}
void put_flag(json::object& object, std::string_view key, bool flag) {
  if (flag) object[key] = true;
}
/// A pointer in Go: zero is not empty.
void put(json::object& object, std::string_view key, const std::optional<std::uint64_t>& number) {
  if (number) object[key] = *number;
}

json::value local_view(const std::optional<ServerLocalView>& local) {
  if (!local) return nullptr;
  json::object object;
  object["leader"] = local->leader;
  object["connected"] = local->connected;
  object["cid"] = local->cid;
  object["sid"] = local->sid;
  object["index"] = local->index.value_or(0);
  return object;
}

json::object server(const ClusterServer& server) {
  json::object object;
  put(object, "sid", server.sid);
  put(object, "address", server.address);
  put(object, "role", server.role);
  put_flag(object, "self", server.self);
  put_flag(object, "connected", server.connected);
  put(object, "lastMsgMs", server.last_message_ms);
  put(object, "nextIndex", server.next_index);
  put(object, "matchIndex", server.match_index);
  return object;
}

json::value status(const std::optional<ClusterStatus>& full) {
  if (!full) return nullptr;
  json::object object;
  put(object, "name", full->name);
  put(object, "role", full->role);
  put(object, "term", full->term);
  put(object, "index", full->index);
  put_flag(object, "connected", full->connected);
  json::array servers;
  for (const ClusterServer& one : full->servers) servers.push_back(server(one));
  if (!servers.empty()) object["servers"] = std::move(servers);
  return object;
}

}  // namespace

std::string to_json(const HealthSnapshot& snapshot) {
  json::object object;
  object["DB"] = to_string(snapshot.database);
  object["Local"] = local_view(snapshot.local);
  object["Full"] = status(snapshot.full);
  json::array errors;
  for (const ClientError& error : snapshot.errors) {
    json::object one;
    one["code"] = to_string(error.code);
    one["context"] = error.context;
    errors.push_back(std::move(one));
  }
  object["Errors"] = std::move(errors);
  return json::serialize(object);
}

}  // namespace wardmote::observe::ovn
