#include "act/reconcile/desired.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/reconcile/kube_catalog.h"
#include "base/format.h"
#include "base/text.h"
#include "codec/json_fields.h"
#include "codec/kube_api.h"
#include "codec/kube_object.h"
#include "codec/kube_ownership.h"
#include "codec/yaml/manifests.h"
#include "judge/reconcile/object_id.h"
#include "judge/reconcile/order.h"
#include "judge/reconcile/policy.h"

namespace wardmote::act::reconcile {

namespace json = boost::json;
namespace rules = judge::reconcile;
using codec::Manifest;

namespace {

std::string place_of(const Manifest& manifest) {
  return fmt::format("{}:{}", escape_control(manifest.file), manifest.line);
}

json::object& map_in(json::object& parent, std::string_view key) {
  json::value& place = parent[key];
  if (!place.is_object()) place.emplace_object();
  return place.get_object();
}

/// Whether the kind has namespaces; nothing: neither the server nor the set says.
std::optional<bool> is_namespaced(const KindName& kind, const KubeCatalog& catalog,
                                  const std::vector<DefinedKind>& defined) {
  if (const codec::KubeResource* const known = catalog.find(kind)) return known->namespaced;
  const std::string group = rules::group_of(kind.first);
  for (const DefinedKind& one : defined) {
    if (one.group == group && one.kind == kind.second) return one.namespaced;
  }
  return std::nullopt;
}

/// What is wrong with the marks of a manifest that a pass writes itself; nothing: it has none, or
/// the very same.
std::optional<std::string> fault_of_marks(const codec::ObjectHead& head, std::string_view set) {
  if (head.annotations.contains(std::string(rules::kDigestAnnotation)))
    return fmt::format("the annotation {} is written by the pass; leave it out of the manifest",
                       rules::kDigestAnnotation);
  for (const auto& [name, value] : head.labels) {
    if (name == rules::kSetLabel && value != set)
      return fmt::format("the label {} says another set than '{}'; leave it out of the manifest",
                         name, set);
    if (name != rules::kSetLabel && name.starts_with(rules::kAnnotationPrefix))
      return fmt::format("the label {} is not known; write it as an annotation",
                         escape_control(name));
  }
  return std::nullopt;
}

}  // namespace

bool is_noted(const DesiredObject& object, const json::object& live) {
  const codec::ObjectHead head = codec::read_head(live);
  const auto note = head.annotations.find(std::string(rules::kDigestAnnotation));
  return note != head.annotations.end() && note->second == object.note;
}

bool is_as_wanted(const DesiredObject& object, const json::object& live, std::string_view manager) {
  return is_noted(object, live) && codec::holds(live, object.body, manager);
}

std::vector<KindName> kinds_of(const std::vector<Manifest>& manifests) {
  std::set<KindName> kinds;
  for (const Manifest& manifest : manifests) {
    const codec::ObjectHead head = codec::read_head(manifest.object);
    kinds.emplace(head.api_version, head.kind);
  }
  return {kinds.begin(), kinds.end()};
}

std::vector<std::string> kinds_defined_by(const json::object& object) {
  std::vector<std::string> kinds;
  if (codec::read_head(object).kind != "CustomResourceDefinition") return kinds;
  constexpr std::pair<std::string_view, std::string_view> kPlaces[] = {{"spec", "names"},
                                                                       {"status", "acceptedNames"}};
  for (const auto& [part, names] : kPlaces) {
    const json::object* const in = codec::object_in(object, part);
    auto kind = in == nullptr ? std::nullopt : codec::text_in(codec::object_in(*in, names), "kind");
    if (kind) kinds.push_back(*std::move(kind));
  }
  return kinds;
}

std::vector<DefinedKind> defined_kinds(const std::vector<Manifest>& manifests) {
  std::vector<DefinedKind> defined;
  for (const Manifest& manifest : manifests) {
    const codec::ObjectHead head = codec::read_head(manifest.object);
    if (head.kind != "CustomResourceDefinition") continue;
    const json::value* const spec = manifest.object.if_contains("spec");
    if (spec == nullptr || !spec->is_object()) continue;
    const json::value* const names = spec->get_object().if_contains("names");
    if (names == nullptr || !names->is_object()) continue;
    defined.push_back({codec::text_in(spec->get_object(), "group").value_or(""),
                       codec::text_in(names->get_object(), "kind").value_or(""),
                       codec::text_in(spec->get_object(), "scope") == "Namespaced"});
  }
  return defined;
}

DesiredSet make_desired(const std::vector<Manifest>& manifests, const KubeCatalog& catalog,
                        std::string_view set, std::string_view space) {
  DesiredSet desired;
  const std::vector<DefinedKind> defined = defined_kinds(manifests);
  std::map<rules::ObjectId, std::string> places;
  for (const Manifest& manifest : manifests) {
    const codec::ObjectHead head = codec::read_head(manifest.object);
    DesiredObject object;
    object.place = place_of(manifest);
    const auto complain = [&](std::string_view why) {
      desired.faults.push_back(fmt::format("{}: {}", object.place, why));
    };
    const auto policy = rules::read_policy(head.annotations);
    if (!policy) {
      complain(policy.error().context);
      continue;
    }
    if (const auto fault = fault_of_marks(head, set)) {
      complain(*fault);
      continue;
    }
    object.policy = *policy;
    object.kind = {head.api_version, head.kind};
    object.body = manifest.object;
    object.id = {.group = rules::group_of(head.api_version),
                 .kind = head.kind,
                 .space = head.space,
                 .name = head.name};
    json::object& metadata = map_in(object.body, "metadata");
    const std::optional<bool> namespaced = is_namespaced(object.kind, catalog, defined);
    if (namespaced == false && !head.space.empty()) {
      complain(fmt::format("a {} has no namespace", head.kind));
      continue;
    }
    if (namespaced == true && head.space.empty()) {
      object.id.space = space;
      metadata["namespace"] = space;
    }
    const auto [known, first] = places.emplace(object.id, object.place);
    if (!first) {
      complain(fmt::format("{} is in {} too", rules::describe(object.id), known->second));
      continue;
    }
    map_in(metadata, "labels")[rules::kSetLabel] = set;
    object.digest = codec::digest_of(object.body);
    object.note = codec::is_secret(object.body)
                      ? codec::digest_of(codec::without_secrets(object.body))
                      : object.digest;
    map_in(metadata, "annotations")[rules::kDigestAnnotation] = object.note;
    desired.objects.push_back(std::move(object));
  }
  std::ranges::sort(desired.objects, [](const DesiredObject& a, const DesiredObject& b) {
    return rules::applies_before(a.id, b.id);
  });
  return desired;
}

}  // namespace wardmote::act::reconcile
