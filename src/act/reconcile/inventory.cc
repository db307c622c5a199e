#include "act/reconcile/inventory.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "act/reconcile/kube_catalog.h"
#include "base/format.h"
#include "base/text.h"
#include "codec/json_fields.h"
#include "codec/kube_api.h"
#include "codec/kube_names.h"
#include "codec/yaml/yaml_json.h"
#include "judge/reconcile/object_id.h"

namespace wardmote::act::reconcile {

namespace json = boost::json;
using judge::reconcile::ObjectId;

namespace {

constexpr std::size_t kMostKinds = 1000;
constexpr std::string_view kKinds = "kinds";
constexpr std::string_view kKept = "kept";

/// False: not all of it could be read.
bool read_kinds(std::string_view text, std::set<KindName>& into) {
  bool whole = true;
  for (const std::string_view line : split(text, '\n')) {
    if (trim(line).empty()) continue;
    const auto words = split(trim(line), ' ');
    const bool good = words.size() == 2 && codec::is_api_version(words[0]) &&
                      codec::is_kind(words[1]) && into.size() < kMostKinds;
    whole = whole && good;
    if (good) into.emplace(words[0], words[1]);
  }
  return whole;
}

std::optional<ObjectId> read_kept(const json::value& value) {
  const json::object* const one = value.if_object();
  if (one == nullptr) return std::nullopt;
  const auto group = codec::text_in(*one, "group");
  const auto kind = codec::text_in(*one, "kind");
  const auto space = codec::text_in(*one, "namespace");
  const auto name = codec::text_in(*one, "name");
  const bool good = group && kind && space && name && codec::is_kind(*kind) &&
                    (space->empty() || codec::is_object_name(*space)) &&
                    codec::is_object_name(*name);
  if (!good) return std::nullopt;
  return ObjectId{*group, *kind, *space, *name};
}

/// False: not all of it could be read.
bool read_kept(std::string_view text, std::set<ObjectId>& into) {
  const auto document = codec::read_json(text);
  const json::array* const list = document ? document->value.if_array() : nullptr;
  if (list == nullptr) return false;
  bool whole = true;
  for (const json::value& value : *list) {
    auto one = read_kept(value);
    whole = whole && one && into.size() < kMostKept;
    if (one && into.size() < kMostKept) into.insert(*std::move(one));
  }
  return whole;
}

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
  const auto kinds = codec::text_in(data->get_object(), kKinds);
  if (!kinds) return inventory;
  inventory.whole = read_kinds(*kinds, inventory.kinds);
  if (!data->get_object().contains(kKept)) return inventory;
  const auto kept = codec::text_in(data->get_object(), kKept);
  inventory.whole = kept && read_kept(*kept, inventory.kept) && inventory.whole;
  return inventory;
}

json::object write_inventory(std::string_view space, std::string_view set,
                             const Inventory& inventory) {
  std::string text;
  for (const auto& [api_version, kind] : inventory.kinds)
    text += fmt::format("{} {}\n", api_version, kind);
  json::object data{{kKinds, text}};
  if (!inventory.kept.empty()) {
    json::array kept;
    for (const ObjectId& id : inventory.kept)
      kept.push_back(json::object{
          {"group", id.group}, {"kind", id.kind}, {"namespace", id.space}, {"name", id.name}});
    data[kKept] = json::serialize(kept);
  }
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", inventory_name(set)}, {"namespace", space}}},
          {"data", std::move(data)}};
}

}  // namespace wardmote::act::reconcile
