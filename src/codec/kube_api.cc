#include "codec/kube_api.h"

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
#include "base/percent.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/exact_json.h"
#include "codec/json_fields.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

constexpr std::size_t kShown = 400;
constexpr std::size_t kMostCauses = 32;
constexpr std::size_t kDepth = 128;

std::optional<json::object> object_of(std::string_view body) {
  ExactJson read = read_exact_json(body, kDepth);
  if (read.error || !trim(body.substr(read.used)).empty() || !read.value.is_object())
    return std::nullopt;
  return std::move(read.value.get_object());
}

std::string shown(const json::object& object, std::string_view key) {
  return escape_control(text_in(object, key).value_or(""), kShown);
}

bool can(const json::array& verbs, std::string_view verb) {
  for (const json::value& one : verbs) {
    if (one.is_string() && one.get_string() == verb) return true;
  }
  return false;
}

}  // namespace

std::string config_map_path(std::string_view space, std::string_view name) {
  return fmt::format("/api/v1/namespaces/{}/configmaps/{}", percent_encode_value(space),
                     percent_encode_value(name));
}

KubeStatus parse_kube_status(std::string_view body) {
  KubeStatus status;
  const auto object = object_of(body);
  if (!object || text_in(*object, "kind") != "Status") {
    status.message = escape_control(trim(body), kShown);
    return status;
  }
  status.reason = shown(*object, "reason");
  status.message = shown(*object, "message");
  const json::array* const causes = array_in(object_in(*object, "details"), "causes");
  if (causes == nullptr) return status;
  for (const json::value& cause : *causes) {
    const json::object* const one = cause.if_object();
    if (one == nullptr || status.causes.size() == kMostCauses) continue;
    status.causes.push_back({shown(*one, "reason"), shown(*one, "message"), shown(*one, "field")});
  }
  return status;
}

Result<std::vector<KubeResource>> parse_kube_resources(std::string_view body) {
  const auto object = object_of(body);
  const json::array* const found = object ? array_in(&*object, "resources") : nullptr;
  if (found == nullptr) return fail(Errc::kProtocol, "no list of resources");
  std::vector<KubeResource> resources;
  for (const json::value& value : *found) {
    const json::object* const one = value.if_object();
    if (one == nullptr) return fail(Errc::kProtocol, "a resource is no object");
    KubeResource resource;
    resource.plural = text_in(*one, "name").value_or("");
    resource.kind = text_in(*one, "kind").value_or("");
    if (resource.plural.empty() || resource.kind.empty())
      return fail(Errc::kProtocol, "a resource has no name, or no kind");
    if (resource.plural.contains('/')) continue;
    resource.namespaced = flag_in(*one, "namespaced");
    if (const json::array* const verbs = array_in(one, "verbs")) {
      resource.listable = can(*verbs, "list");
      resource.deletable = can(*verbs, "delete");
      resource.appliable = can(*verbs, "patch");
    }
    resources.push_back(std::move(resource));
  }
  return resources;
}

Result<std::vector<std::string>> parse_kube_group(std::string_view body) {
  const auto object = object_of(body);
  const json::array* const found = object ? array_in(&*object, "versions") : nullptr;
  if (found == nullptr) return fail(Errc::kProtocol, "no group of an API");
  std::vector<std::string> versions;
  const json::object* const preferred = object_in(*object, "preferredVersion");
  if (preferred != nullptr) versions.push_back(text_in(*preferred, "groupVersion").value_or(""));
  for (const json::value& value : *found) {
    const json::object* const one = value.if_object();
    if (one != nullptr) versions.push_back(text_in(*one, "groupVersion").value_or(""));
  }
  std::erase(versions, "");
  return versions;
}

// k8s.io/apimachinery, pkg/api/errors/errors.go: NewNotFound.
bool is_no_object(std::string_view body) {
  const KubeStatus status = parse_kube_status(body);
  return status.reason == "NotFound" && status.message.contains("\" not found");
}

Result<KubeList> parse_kube_list(std::string_view body) {
  auto object = object_of(body);
  json::value* const items = object ? object->if_contains("items") : nullptr;
  // An empty list may be null: Go writes that for a list that was never filled.
  if (items == nullptr || !(items->is_array() || items->is_null()))
    return fail(Errc::kProtocol, "no list of objects");
  KubeList list;
  if (const json::value* const metadata = object->if_contains("metadata")) {
    if (const json::object* const facts = metadata->if_object()) {
      list.next = text_in(*facts, "continue").value_or("");
      list.version = text_in(*facts, "resourceVersion").value_or("");
    }
  }
  if (items->is_null()) return list;
  for (json::value& item : items->get_array()) {
    json::object* const one = item.if_object();
    if (one == nullptr) return fail(Errc::kProtocol, "an item is no object");
    list.items.push_back(std::move(*one));
  }
  return list;
}

Result<KubeEvent> parse_kube_event(std::string_view line) {
  auto event = object_of(line);
  const auto type = event ? text_in(*event, "type") : std::nullopt;
  json::value* const found = event ? event->if_contains("object") : nullptr;
  json::object* const object = found == nullptr ? nullptr : found->if_object();
  if (!type || object == nullptr) return fail(Errc::kProtocol, "no event of a watch");
  using Kind = KubeEvent::Kind;
  KubeEvent read{.object = std::move(*object)};
  if (*type == "ADDED" || *type == "MODIFIED") read.kind = Kind::kThere;
  if (*type == "DELETED") read.kind = Kind::kGone;
  if (*type == "BOOKMARK") read.kind = Kind::kBookmark;
  return read;
}

Result<json::object> parse_kube_object(std::string_view body) {
  auto object = object_of(body);
  if (!object || !text_in(*object, "kind")) return fail(Errc::kProtocol, "no object of Kubernetes");
  return *std::move(object);
}

}  // namespace wardmote::codec
