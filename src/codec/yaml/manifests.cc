#include "codec/yaml/manifests.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "codec/base64.h"
#include "codec/json_fields.h"
#include "codec/kube_names.h"
#include "codec/yaml/yaml_json.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

constexpr std::size_t kShown = 64;
constexpr std::string_view kNoValue = "a name has no value; write `name: \"value\"`";

/// What cannot be a name may be a part of a value: `hunter2: 12` where a quote was forgotten.
std::string shown(std::string_view key) {
  const bool name = is_data_key(key.substr(key.find('/') + 1));
  return name ? fmt::format("'{}'", escape_control(key, kShown))
              : "something that cannot be a name";
}

/// Why `metadata` cannot name one object; nothing: it can.
std::optional<std::string> fault_of_name(const json::object& metadata) {
  if (metadata.contains("generateName"))
    return "generateName makes a new object each time; give a name";
  const auto name = text_in(metadata, "name");
  if (!name) return "metadata.name is missing, or no text";
  if (!is_object_name(*name)) return fmt::format("'{}' is no name", escape_control(*name, kShown));
  if (metadata.contains("namespace")) {
    const auto space = text_in(metadata, "namespace");
    if (!space || !is_object_name(*space)) return "metadata.namespace is no name";
  }
  return std::nullopt;
}

/// Why `metadata.<map>` is no map of texts; nothing: it is one, or is not there.
std::optional<std::string> fault_of_texts(const json::object& metadata, std::string_view map) {
  const json::value* const value = metadata.if_contains(map);
  if (value == nullptr || value->is_null()) return std::nullopt;
  const json::object* const entries = value->if_object();
  if (entries == nullptr) return fmt::format("metadata.{} is no map", map);
  for (const auto& [key, text] : *entries) {
    // A value whose name was forgotten is a name to YAML.
    if (text.is_null()) return fmt::format("metadata.{}: {}", map, kNoValue);
    if (!text.is_string())
      return fmt::format("metadata.{}: {} is no text; quote it", map, shown(key));
  }
  return std::nullopt;
}

std::optional<std::string> fault_of_metadata(const json::object& metadata) {
  if (auto fault = fault_of_name(metadata)) return fault;
  for (const char* const own : {"uid", "resourceVersion", "managedFields", "selfLink"}) {
    if (metadata.contains(own)) return fmt::format("metadata.{} is the server's; remove it", own);
  }
  for (const char* const map : {"labels", "annotations"}) {
    if (auto fault = fault_of_texts(metadata, map)) return fault;
  }
  return std::nullopt;
}

/// Why the object cannot be applied; nothing: it can.
std::optional<std::string> fault_of(const json::object& object) {
  const auto api = text_in(object, "apiVersion");
  if (!api) return "apiVersion is missing, or no text";
  if (!is_api_version(*api))
    return fmt::format("'{}' is no apiVersion", escape_control(*api, kShown));
  const auto kind = text_in(object, "kind");
  if (!kind) return "kind is missing, or no text";
  if (!is_kind(*kind)) return fmt::format("'{}' is no kind", escape_control(*kind, kShown));
  const json::value* const found = object.if_contains("metadata");
  const json::object* const metadata = found == nullptr ? nullptr : found->if_object();
  if (metadata == nullptr) return "metadata is missing, or no map";
  return fault_of_metadata(*metadata);
}

/// A server that cannot read a value quotes it in its answer.
std::optional<std::string> fault_of_data(const json::object& object) {
  const json::value* const found = object.if_contains("data");
  if (found == nullptr || found->is_null()) return std::nullopt;
  const json::object* const data = found->if_object();
  if (data == nullptr) return "data is no map";
  for (const auto& [key, value] : *data) {
    const json::string* const text = value.if_string();
    if (value.is_null() || (text != nullptr && base64_decode(*text))) continue;
    return fmt::format("data: {} is no base64; plain text belongs in stringData", shown(key));
  }
  return std::nullopt;
}

/// Only `data` is kept by the server, so only that can be compared.
std::optional<std::string> encode_secret(json::object& object) {
  if (auto fault = fault_of_data(object)) return fault;
  const auto found = object.find("stringData");
  if (found == object.end()) return std::nullopt;
  const json::value taken = std::move(found->value());
  object.erase(found);
  const json::object* const plain = taken.if_object();
  if (plain == nullptr) return "stringData is no map";
  json::value& place = object["data"];
  if (place.is_null()) place.emplace_object();
  json::object& data = place.get_object();
  for (const auto& [key, value] : *plain) {
    const json::string* const text = value.if_string();
    // `{s3cret}` is a name without a value to YAML, and is meant as the value.
    if (value.is_null()) return fmt::format("stringData: {}", kNoValue);
    if (text == nullptr) return fmt::format("stringData: {} is no text; quote it", shown(key));
    data[key] = base64_encode(*text);
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(std::string_view file, Manifests& into) : file_(file), into_(into) {}

  void add(json::value value, int line) {
    json::object* const object = value.if_object();
    if (object == nullptr) {
      complain(line, "a document is no object of Kubernetes");
      return;
    }
    if (text_in(*object, "kind") == "List" && object->contains("items")) {
      add_items(*object, line);
      return;
    }
    if (auto fault = fault_of(*object)) {
      complain(line, *std::move(fault));
      return;
    }
    object->erase("status");
    object->at("metadata").get_object().erase("creationTimestamp");
    if (text_in(*object, "kind") == "Secret" && text_in(*object, "apiVersion") == "v1") {
      if (auto fault = encode_secret(*object)) {
        complain(line, *std::move(fault));
        return;
      }
    }
    if (into_.objects.size() == kMostManifests) {
      complain(line, fmt::format("more than {} objects", kMostManifests));
      return;
    }
    into_.objects.push_back({std::string(file_), line, std::move(*object)});
  }

  void complain(int line, std::string why, int column = 1) {
    into_.faults.push_back({std::string(file_), line, column, std::move(why)});
  }

 private:
  void add_items(json::object& list, int line) {
    json::array* const items = list.at("items").if_array();
    if (items == nullptr) {
      complain(line, "items is no list");
      return;
    }
    for (json::value& item : *items) {
      const json::object* const object = item.if_object();
      if (object != nullptr && text_in(*object, "kind") == "List") {
        complain(line, "a List in a List");
        continue;
      }
      add(std::move(item), line);
    }
  }

  const std::string_view file_;
  Manifests& into_;
};

}  // namespace

std::string describe(const ManifestFault& fault) {
  return fmt::format("{}:{}:{}: {}", escape_control(fault.file), fault.line, fault.column,
                     fault.why);
}

void read_manifests(std::string_view file, std::string_view bytes, Manifests& into) {
  Reader reader(file, into);
  // So it is left by a disk that was full, and its objects would be deleted.
  if (trim(bytes).empty()) {
    reader.complain(1, "the file is empty; delete it if nothing is wanted of it any more");
    return;
  }
  if (file.ends_with(".json")) {
    auto document = read_json(bytes);
    if (!document) {
      reader.complain(document.error().line, document.error().why, document.error().column);
      return;
    }
    reader.add(std::move(document->value), 1);
    return;
  }
  auto documents = read_yaml(bytes);
  if (!documents) {
    reader.complain(documents.error().line, documents.error().why, documents.error().column);
    return;
  }
  for (JsonDocument& document : *documents) reader.add(std::move(document.value), document.line);
}

}  // namespace wardmote::codec
