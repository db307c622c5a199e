#include "codec/kube_fence.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/percent.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/json_fields.h"
#include "codec/kube_api.h"
#include "codec/kube_object.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

constexpr std::string_view kPolicy = "ValidatingAdmissionPolicy";
constexpr std::string_view kBinding = "ValidatingAdmissionPolicyBinding";
constexpr std::string_view kTokenField = "token";

std::string admission_path(std::string_view plural, const KubeFenceNames& names) {
  return fmt::format("/apis/{}/{}/{}", kAdmissionVersion, plural,
                     percent_encode_value(fence_name(names.set)));
}

const json::object* map_at(const json::object* parent, std::string_view key) {
  const json::value* const found = parent == nullptr ? nullptr : parent->if_contains(key);
  return found == nullptr ? nullptr : found->if_object();
}

/// Absent, or without a word in it.
bool is_empty(const json::object* parent, std::string_view key) {
  const json::value* const found = parent == nullptr ? nullptr : parent->if_contains(key);
  if (found == nullptr || found->is_null()) return true;
  if (const json::object* const keys = found->if_object()) return keys->empty();
  const json::array* const items = found->if_array();
  return items != nullptr && items->empty();
}

/// What a rule could except, with its words of `*` alone.
bool is_unnarrowed(const json::object* constraints) {
  return is_empty(constraints, "excludeResourceRules") &&
         is_empty(constraints, "namespaceSelector") && is_empty(constraints, "objectSelector");
}

bool has_whole_scope(const json::object* constraints) {
  const json::value* const rules =
      constraints == nullptr ? nullptr : constraints->if_contains("resourceRules");
  if (rules == nullptr || !rules->is_array()) return false;
  return std::ranges::all_of(rules->get_array(), [](const json::value& rule) {
    const json::object* const keys = rule.if_object();
    return keys != nullptr && is_empty(keys, "resourceNames") &&
           text_in(*keys, "scope").value_or("*") == "*";
  });
}

}  // namespace

Result<bool> has_admission_policies(std::string_view body) {
  const auto kinds = parse_kube_resources(body);
  if (!kinds) return with_context(kinds, "{}", kAdmissionVersion);
  const auto has = [&kinds](std::string_view name) {
    return std::ranges::any_of(*kinds,
                               [name](const KubeResource& kind) { return kind.kind == name; });
  };
  return has(kPolicy) && has(kBinding);
}

std::string fence_name(std::string_view set) {
  return fmt::format("wardmote-fence-{}", set);
}

std::string fence_user(std::string_view set) {
  return fmt::format("wardmote:{}", set);
}

std::string fence_token_path(const KubeFenceNames& names) {
  return config_map_path(names.space, fence_name(names.set));
}

std::string fence_policy_path(const KubeFenceNames& names) {
  return admission_path("validatingadmissionpolicies", names);
}

std::string fence_binding_path(const KubeFenceNames& names) {
  return admission_path("validatingadmissionpolicybindings", names);
}

json::object make_fence_token(const KubeFenceNames& names, std::int64_t token) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", fence_name(names.set)}, {"namespace", names.space}}},
          {"data", {{kTokenField, fmt::format("{}", token)}}}};
}

json::object make_fence_policy(const KubeFenceNames& names) {
  const json::array all{"*"};
  const json::array rules{json::object{{"apiGroups", all},
                                       {"apiVersions", all},
                                       {"operations", {"CREATE", "UPDATE", "DELETE"}},
                                       {"resources", all}}};
  const json::array conditions{json::object{
      {"name", "wardmote"},
      {"expression", fmt::format("request.userInfo.username == '{}'", fence_user(names.set))}}};
  const json::array validations{
      json::object{{"expression", fmt::format("'{0}' in request.userInfo.extra && "
                                              "int(request.userInfo.extra['{0}'][0]) >= "
                                              "int(params.data.{1})",
                                              kFenceExtra, kTokenField)},
                   {"message", kFenceRefusal}}};
  return {{"apiVersion", kAdmissionVersion},
          {"kind", kPolicy},
          {"metadata", {{"name", fence_name(names.set)}}},
          {"spec",
           {{"failurePolicy", "Fail"},
            {"paramKind", {{"apiVersion", "v1"}, {"kind", "ConfigMap"}}},
            {"matchConstraints", {{"resourceRules", rules}}},
            {"matchConditions", conditions},
            {"validations", validations}}}};
}

json::object make_fence_binding(const KubeFenceNames& names) {
  const std::string name = fence_name(names.set);
  return {{"apiVersion", kAdmissionVersion},
          {"kind", kBinding},
          {"metadata", {{"name", name}}},
          {"spec",
           {{"policyName", name},
            {"validationActions", json::array{"Deny"}},
            {"paramRef",
             {{"name", name}, {"namespace", names.space}, {"parameterNotFoundAction", "Deny"}}}}}};
}

std::optional<std::int64_t> read_fence_token(const json::object& config_map) {
  const json::object* const data = map_at(&config_map, "data");
  const auto text = data == nullptr ? std::nullopt : text_in(*data, kTokenField);
  if (!text) return std::nullopt;
  return parse_number<std::int64_t>(*text);
}

bool holds(const json::object& live, const json::object& wanted) {
  if (!covers(live, wanted) || !read_head(live).deleting_since.empty()) return false;
  const json::object* const spec = map_at(&live, "spec");
  if (text_in(wanted, "kind") == kBinding)
    return is_empty(spec, "matchResources") && is_empty(map_at(spec, "paramRef"), "selector");
  const json::object* const constraints = map_at(spec, "matchConstraints");
  return is_unnarrowed(constraints) && has_whole_scope(constraints);
}

}  // namespace wardmote::codec
