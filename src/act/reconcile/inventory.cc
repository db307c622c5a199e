#include "act/reconcile/inventory.h"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "act/reconcile/kube_catalog.h"
#include "base/format.h"
#include "base/text.h"
#include "codec/kube_api.h"
#include "codec/kube_object.h"

namespace wardmote::act::reconcile {

namespace json = boost::json;

namespace {

constexpr std::size_t kMostKinds = 1000;
constexpr std::string_view kField = "kinds";

}  // namespace

std::string inventory_name(std::string_view set) {
  return fmt::format("wardmote-set-{}", set);
}

std::string inventory_path(std::string_view space, std::string_view set) {
  return codec::config_map_path(space, inventory_name(set));
}

Inventory read_inventory(const json::object& config_map) {
  Inventory inventory{.there = true, .whole = false};
  const json::value* const data = config_map.if_contains("data");
  if (data == nullptr || !data->is_object()) return inventory;
  const auto text = codec::text_of(data->get_object(), kField);
  if (!text) return inventory;
  inventory.whole = true;
  for (const std::string_view line : split(*text, '\n')) {
    if (trim(line).empty()) continue;
    const auto words = split(trim(line), ' ');
    const bool good = words.size() == 2 && inventory.kinds.size() < kMostKinds;
    inventory.whole = inventory.whole && good;
    if (good) inventory.kinds.emplace(words[0], words[1]);
  }
  return inventory;
}

json::object write_inventory(std::string_view space, std::string_view set,
                             const std::set<KindName>& kinds) {
  std::string text;
  for (const auto& [api_version, kind] : kinds) text += fmt::format("{} {}\n", api_version, kind);
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", inventory_name(set)}, {"namespace", space}}},
          {"data", {{kField, text}}}};
}

}  // namespace wardmote::act::reconcile
