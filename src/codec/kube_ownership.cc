#include "codec/kube_ownership.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "codec/exact_json.h"
#include "codec/json_fields.h"
#include "codec/kube_object.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

constexpr std::size_t kKeyDepth = 4;

/// What was found of `wanted` in `live`.
struct Compared {
  bool holds = true;
  std::string reordered{};
};

const json::object* object_at(const json::object& parent, std::string_view key) {
  const json::value* const found = parent.if_contains(key);
  return found == nullptr ? nullptr : found->if_object();
}

/// The keys of an item in `k:{"containerPort":80,"protocol":"TCP"}`; nothing: that is no item.
std::optional<json::object> item_keys(std::string_view element) {
  if (!consume_prefix(element, "k:")) return std::nullopt;
  ExactJson read = read_exact_json(element, kKeyDepth);
  if (read.error || !read.value.is_object()) return std::nullopt;
  return read.value.get_object();
}

/// A key that the item lacks is one that the server filled in.
bool fits(const json::value& item, const json::object& keys) {
  const json::object* const object = item.if_object();
  if (object == nullptr) return false;
  return std::ranges::all_of(keys, [object](const auto& key) {
    const json::value* const found = object->if_contains(key.key());
    return found == nullptr || *found == key.value();
  });
}

class Comparison {
 public:
  void object(const json::object& live, const json::object& wanted, const json::object& fields,
              const std::string& path);
  Compared result{};

 private:
  void value(const json::value& live, const json::value& wanted, const json::object& fields,
             const std::string& path);
  void keyed_list(const json::array& live, const json::array& wanted, const json::object& fields,
                  const std::string& path);
  void list(const json::value& live, const json::array& wanted, const json::object& fields,
            const std::string& path);
};

void Comparison::value(const json::value& live, const json::value& wanted,
                       const json::object& fields, const std::string& path) {
  const json::object* const wanted_map = wanted.if_object();
  const json::object* const live_map = live.if_object();
  if (wanted_map != nullptr && live_map != nullptr && !wanted_map->empty() && !fields.empty()) {
    object(*live_map, *wanted_map, fields, path);
  } else if (const json::array* const wanted_items = wanted.if_array()) {
    list(live, *wanted_items, fields, path);
  } else {
    // Nobody may add to what is said to be empty.
    const bool emptied = wanted_map != nullptr && wanted_map->empty();
    const bool same = emptied ? live == wanted : covers(live, wanted);
    result.holds = result.holds && same;
  }
}

void Comparison::object(const json::object& live, const json::object& wanted,
                        const json::object& fields, const std::string& path) {
  for (const auto& [key, entry] : wanted) {
    const json::value* const there = live.if_contains(key);
    if (entry.is_null()) {
      result.holds = result.holds && (there == nullptr || there->is_null());
      continue;
    }
    const json::object* const owned = object_at(fields, "f:" + std::string(key));
    if (there == nullptr || owned == nullptr) {
      result.holds = false;
      continue;
    }
    value(*there, entry, *owned, path + "." + std::string(key));
  }
}

void Comparison::list(const json::value& live, const json::array& wanted,
                      const json::object& fields, const std::string& path) {
  const json::array* const items = live.if_array();
  const bool keyed = std::ranges::any_of(
      fields, [](const auto& field) { return std::string_view(field.key()).starts_with("k:"); });
  if (keyed && items != nullptr) {
    keyed_list(*items, wanted, fields, path);
    return;
  }
  result.holds = result.holds && covers(live, wanted);
}

void Comparison::keyed_list(const json::array& live, const json::array& wanted,
                            const json::object& fields, const std::string& path) {
  std::size_t furthest = 0;
  for (const json::value& item : wanted) {
    const json::object* owned = nullptr;
    std::size_t at = live.size();
    for (const auto& [element, inner] : fields) {
      const auto keys = item_keys(element);
      if (!keys || !fits(item, *keys) || !inner.is_object()) continue;
      owned = &inner.get_object();
      // The server has filled in all keys of its items.
      const auto* const found =
          std::ranges::find_if(live, [&keys](const json::value& one) { return fits(one, *keys); });
      at = static_cast<std::size_t>(found - live.begin());
      break;
    }
    if (owned == nullptr || at == live.size()) {
      result.holds = false;
      continue;
    }
    if (at < furthest && result.reordered.empty()) result.reordered = path;
    furthest = std::max(furthest, at);
    // Both fit keys, so both are objects.
    object(live[at].get_object(), item.get_object(), *owned, path);
  }
}

/// Without what names the object, which belongs to nobody.
json::object without_name(json::object wanted) {
  for (const char* const own : {"apiVersion", "kind"}) wanted.erase(own);
  json::value* const metadata = wanted.if_contains("metadata");
  if (metadata == nullptr || !metadata->is_object()) return wanted;
  for (const char* const own : {"name", "namespace"}) metadata->get_object().erase(own);
  if (metadata->get_object().empty()) wanted.erase("metadata");
  return wanted;
}

Compared compare(const json::object& live, const json::object& wanted, std::string_view manager) {
  Comparison comparison;
  comparison.object(live, without_name(wanted), owned_fields(live, manager), "");
  return comparison.result;
}

}  // namespace

json::object owned_fields(const json::object& live, std::string_view manager) {
  const json::object* const metadata = object_at(live, "metadata");
  const json::value* const managed =
      metadata == nullptr ? nullptr : metadata->if_contains("managedFields");
  if (managed == nullptr || !managed->is_array()) return {};
  for (const json::value& entry : managed->get_array()) {
    const json::object* const one = entry.if_object();
    if (one == nullptr || text_in(*one, "manager") != manager) continue;
    // What is written to a subresource is another entry.
    if (text_in(*one, "operation") != "Apply" || text_in(*one, "subresource").value_or("") != "")
      continue;
    const json::object* const fields = object_at(*one, "fieldsV1");
    return fields == nullptr ? json::object() : *fields;
  }
  return {};
}

bool holds(const json::object& live, const json::object& wanted, std::string_view manager) {
  const Compared compared = compare(live, wanted, manager);
  return compared.holds && compared.reordered.empty();
}

std::string reordered(const json::object& live, const json::object& wanted,
                      std::string_view manager) {
  return compare(live, wanted, manager).reordered;
}

}  // namespace wardmote::codec
