#include "codec/kube_node.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/json_fields.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

const json::array* conditions_of(const json::object& node) {
  const json::value* const status = node.if_contains("status");
  if (status == nullptr || !status->is_object()) return nullptr;
  const json::value* const found = status->get_object().if_contains("conditions");
  return found == nullptr ? nullptr : found->if_array();
}

}  // namespace

std::vector<KubeCondition> read_node_conditions(const json::object& node) {
  std::vector<KubeCondition> found;
  const json::array* const items = conditions_of(node);
  if (items == nullptr) return found;
  for (const json::value& item : *items) {
    const json::object* const keys = item.if_object();
    if (keys == nullptr) continue;
    const auto word = [keys](std::string_view key) { return text_in(*keys, key).value_or(""); };
    KubeCondition condition{.type = word("type"),
                            .status = word("status"),
                            .reason = word("reason"),
                            .message = word("message"),
                            .heartbeat = word("lastHeartbeatTime"),
                            .transition = word("lastTransitionTime")};
    if (!condition.type.empty()) found.push_back(std::move(condition));
  }
  return found;
}

json::object make_conditions_patch(std::span<const KubeCondition> written,
                                   std::span<const std::string> removed) {
  json::array items;
  for (const KubeCondition& one : written)
    items.push_back(json::object{{"type", one.type},
                                 {"status", one.status},
                                 {"reason", one.reason},
                                 {"message", one.message},
                                 {"lastHeartbeatTime", one.heartbeat},
                                 {"lastTransitionTime", one.transition}});
  for (const std::string& type : removed)
    items.push_back(json::object{{"type", type}, {"$patch", "delete"}});
  return {{"status", {{"conditions", std::move(items)}}}};
}

}  // namespace wardmote::codec
