#include "codec/kube_object.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/digest.h"
#include "codec/json_fields.h"
#include "codec/yaml_text.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

constexpr auto kServerOnly =
    std::to_array<std::string_view>({"uid", "resourceVersion", "generation", "creationTimestamp",
                                     "managedFields", "selfLink", "deletionGracePeriodSeconds"});
constexpr std::string_view kMask = "***";

std::map<std::string, std::string> words_in(const json::object& parent, std::string_view key) {
  std::map<std::string, std::string> texts;
  const json::object* const found = object_in(parent, key);
  if (found == nullptr) return texts;
  for (const auto& [name, value] : *found) {
    if (const json::string* const text = value.if_string())
      texts.emplace(std::string(name), std::string(*text));
  }
  return texts;
}

json::value sorted(const json::value& value) {
  if (const json::array* const items = value.if_array()) {
    json::array copy;
    copy.reserve(items->size());
    for (const json::value& item : *items) copy.push_back(sorted(item));
    return copy;
  }
  const json::object* const object = value.if_object();
  if (object == nullptr) return value;
  std::map<std::string_view, const json::value*> entries;
  for (const auto& [key, entry] : *object) entries.emplace(std::string_view(key), &entry);
  json::object copy;
  copy.reserve(entries.size());
  for (const auto& [key, entry] : entries) copy.emplace(key, sorted(*entry));
  return copy;
}

std::string controller_in(const json::object& metadata) {
  const json::value* const owners = metadata.if_contains("ownerReferences");
  if (owners == nullptr || !owners->is_array()) return "";
  for (const json::value& owner : owners->get_array()) {
    const json::object* const one = owner.if_object();
    const json::value* const controls = one == nullptr ? nullptr : one->if_contains("controller");
    const bool* const yes = controls == nullptr ? nullptr : controls->if_bool();
    if (yes != nullptr && *yes)
      return text_in(*one, "kind").value_or("") + " " + text_in(*one, "name").value_or("");
  }
  return "";
}

/// Each value of this map; `other` has the state that it is compared with.
void mask_values(json::value& values, const json::value* other, std::string_view which) {
  json::object* const map = values.if_object();
  if (map == nullptr) {
    if (!values.is_null()) values = kMask;
    return;
  }
  const json::object* const others = other == nullptr ? nullptr : other->if_object();
  for (auto& entry : *map) {
    const json::value* const there = others == nullptr ? nullptr : others->if_contains(entry.key());
    const bool differs = there != nullptr && *there != entry.value();
    entry.value() = std::string(kMask) + (differs ? " (" + std::string(which) + ")" : "");
  }
}

/// Of the data and of the annotations, where programs keep copies of the whole object.
json::object mask(json::object object, const json::object* other, std::string_view which) {
  for (const char* const part : {"data", "stringData"}) {
    json::value* const found = object.if_contains(part);
    if (found != nullptr)
      mask_values(*found, other == nullptr ? nullptr : other->if_contains(part), which);
  }
  json::value* const metadata = object.if_contains("metadata");
  if (metadata == nullptr || !metadata->is_object()) return object;
  json::value* const notes = metadata->get_object().if_contains("annotations");
  const json::object* const others = other == nullptr ? nullptr : object_in(*other, "metadata");
  if (notes != nullptr)
    mask_values(*notes, others == nullptr ? nullptr : others->if_contains("annotations"), which);
  return object;
}

}  // namespace

bool is_secret(const json::object& object) {
  return text_in(object, "kind") == "Secret" && text_in(object, "apiVersion") == "v1";
}

ObjectHead read_head(const json::object& object) {
  ObjectHead head;
  head.api_version = text_in(object, "apiVersion").value_or("");
  head.kind = text_in(object, "kind").value_or("");
  const json::object* const metadata = object_in(object, "metadata");
  if (metadata == nullptr) return head;
  head.space = text_in(*metadata, "namespace").value_or("");
  head.name = text_in(*metadata, "name").value_or("");
  head.uid = text_in(*metadata, "uid").value_or("");
  head.resource_version = text_in(*metadata, "resourceVersion").value_or("");
  head.deleting_since = text_in(*metadata, "deletionTimestamp").value_or("");
  head.labels = words_in(*metadata, "labels");
  head.annotations = words_in(*metadata, "annotations");
  head.controller = controller_in(*metadata);
  const json::value* const managed = metadata->if_contains("managedFields");
  if (managed == nullptr || !managed->is_array()) return head;
  for (const json::value& entry : managed->get_array()) {
    const json::object* const one = entry.if_object();
    if (one == nullptr) continue;
    std::string manager = text_in(*one, "manager").value_or("");
    if (text_in(*one, "operation") == "Apply") head.appliers.push_back(manager);
    if (std::ranges::find(head.managers, manager) == head.managers.end())
      head.managers.push_back(std::move(manager));
  }
  return head;
}

bool covers(const json::value& live, const json::value& wanted) {
  if (const json::object* const keys = wanted.if_object()) {
    const json::object* const there = live.if_object();
    if (there == nullptr) return false;
    return std::ranges::all_of(*keys, [there](const auto& entry) {
      const json::value* const found = there->if_contains(entry.key());
      if (entry.value().is_null()) return found == nullptr || found->is_null();
      return found != nullptr && covers(*found, entry.value());
    });
  }
  if (const json::array* const items = wanted.if_array()) {
    const json::array* const there = live.if_array();
    if (there == nullptr || there->size() != items->size()) return false;
    for (std::size_t at = 0; at < items->size(); ++at) {
      if (!covers((*there)[at], (*items)[at])) return false;
    }
    return true;
  }
  return live == wanted;
}

json::object without_noise(const json::object& object) {
  json::object copy = sorted(object).get_object();
  copy.erase("status");
  json::value* const metadata = copy.if_contains("metadata");
  if (metadata == nullptr || !metadata->is_object()) return copy;
  for (const std::string_view key : kServerOnly) metadata->get_object().erase(key);
  return copy;
}

ShownStates show_states(const json::object* before, const json::object* after) {
  ShownStates shown;
  json::object old = before == nullptr ? json::object() : without_noise(*before);
  json::object now = after == nullptr ? json::object() : without_noise(*after);
  const bool secret =
      (before != nullptr && is_secret(*before)) || (after != nullptr && is_secret(*after));
  if (secret) {
    json::object masked = mask(old, after == nullptr ? nullptr : &now, "before");
    now = mask(std::move(now), before == nullptr ? nullptr : &old, "after");
    old = std::move(masked);
  }
  if (before != nullptr) shown.before = yaml_text(old);
  if (after != nullptr) shown.after = yaml_text(now);
  return shown;
}

json::object without_secrets(const json::object& object) {
  return is_secret(object) ? mask(object, nullptr, "") : object;
}

std::string digest_of(const json::object& object) {
  return hex(sha256(json::serialize(sorted(object))));
}

}  // namespace wardmote::codec
