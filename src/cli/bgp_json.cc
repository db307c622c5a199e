#include "cli/bgp_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "judge/bgp/facts.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

template <class T>
json::value or_null(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::value ms_or_null(const std::optional<Duration>& value) {
  return value ? json::value(to_ms(*value)) : json::value(nullptr);
}

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(escape_control(text));
}

json::object to_json(const judge::bgp::Session& session) {
  json::object object;
  object["name"] = escape_control(session.name);
  object["address"] = text_or_null(session.address);
  object["port"] = session.port;
  object["remote_as"] = or_null(session.remote_as);
  object["local_as"] = or_null(session.local_as);
  object["local_address"] = text_or_null(session.local_address);
  object["state"] = to_string(session.state);
  object["admin_down"] = session.admin_down;
  object["passive"] = session.passive;
  object["restarting"] = session.restarting;
  object["last_error"] = text_or_null(session.last_error);
  json::array families;
  for (const std::string& family : session.families) families.emplace_back(escape_control(family));
  object["families"] = std::move(families);
  object["imported"] = nullptr;
  object["exported"] = nullptr;
  if (session.routes) {
    object["imported"] = session.routes->imported;
    object["exported"] = session.routes->exported;
  }
  object["in_state_ms"] = ms_or_null(session.in_state);
  object["hold_left_ms"] = ms_or_null(session.hold_left);
  object["drops"] = or_null(session.drops);
  object["flaps"] = session.flaps;
  return object;
}

}  // namespace

json::object to_json(const judge::bgp::BgpFacts& facts) {
  json::object object;
  object["version"] = escape_control(facts.version);
  object["router_id"] = text_or_null(facts.router_id);
  object["up_ms"] = ms_or_null(facts.up_for);
  object["shutting_down"] = facts.shutting_down;
  object["reconfiguring"] = facts.reconfiguring;
  object["lines_not_understood"] = facts.lines_not_understood;
  object["graceful_restart"] = nullptr;
  if (facts.restart) {
    object["graceful_restart"] = {{"waiting_for", or_null(facts.restart->waiting_for)},
                                  {"left_ms", ms_or_null(facts.restart->left)},
                                  {"total_ms", ms_or_null(facts.restart->total)}};
  }
  json::array peers;
  for (const judge::bgp::Session& session : facts.sessions) peers.push_back(to_json(session));
  object["peers"] = std::move(peers);
  return object;
}

}  // namespace wardmote::cli
