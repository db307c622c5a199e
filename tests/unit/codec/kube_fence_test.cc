#include "codec/kube_fence.h"

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace wardmote::codec {
namespace {

namespace json = boost::json;

const KubeFenceNames kNames{.set = "k8s", .space = "kube-system"};

json::object parsed(std::string_view text) {
  return json::parse(text).as_object();
}

/// The object with `value` at `pointer`, whose last part may be new.
json::object with(json::object object, std::string_view pointer, const json::value& value) {
  json::value all = std::move(object);
  json::value* at = &all;
  pointer.remove_prefix(1);
  while (!pointer.empty()) {
    const std::string part(take_until(pointer, '/'));
    if (json::object* const keys = at->if_object()) {
      at = &(*keys)[part];
      continue;
    }
    json::array& items = at->as_array();
    const std::size_t index = parse_number<std::size_t>(part).value();
    if (index == items.size()) items.emplace_back(nullptr);
    at = &items[index];
  }
  *at = value;
  return all.as_object();
}

/// As a 1.33 gives back what was written: with its defaults.
json::object stored_policy() {
  json::object live = make_fence_policy(kNames);
  live = with(live, "/metadata/uid", "5d3a7d0e-8d3e-4f37-9d9e-0f6b8a3f1c11");
  live = with(live, "/spec/matchConstraints/matchPolicy", "Equivalent");
  live = with(live, "/spec/matchConstraints/namespaceSelector", json::object{});
  live = with(live, "/spec/matchConstraints/objectSelector", json::object{});
  return with(live, "/spec/matchConstraints/resourceRules/0/scope", "*");
}

TEST(KubeFence, ItsObjectsStandAtTheirPaths) {
  EXPECT_EQ(fence_token_path(kNames),
            "/api/v1/namespaces/kube-system/configmaps/wardmote-fence-k8s");
  EXPECT_EQ(fence_policy_path(kNames),
            "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/wardmote-fence-k8s");
  EXPECT_EQ(
      fence_binding_path(kNames),
      "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/wardmote-fence-k8s");
  EXPECT_EQ(fence_user("k8s"), "wardmote:k8s");
}

TEST(KubeFence, ThePolicyRefusesEveryWriteOfTheUserWithoutANewToken) {
  EXPECT_EQ(make_fence_policy(kNames), parsed(R"json({
    "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "wardmote-fence-k8s"},
    "spec": {
      "failurePolicy": "Fail",
      "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
      "matchConstraints": {"resourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"],
          "operations": ["CREATE", "UPDATE", "DELETE"], "resources": ["*"]}]},
      "matchConditions": [{"name": "wardmote",
          "expression": "request.userInfo.username == 'wardmote:k8s'"}],
      "validations": [{"expression": "'fence' in request.userInfo.extra && int(request.userInfo.extra['fence'][0]) >= int(params.data.token)",
          "message": "wardmote: a later leader has raised the fence"}]}})json"));
  EXPECT_EQ(make_fence_binding(kNames), parsed(R"({
    "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "wardmote-fence-k8s"},
    "spec": {"policyName": "wardmote-fence-k8s", "validationActions": ["Deny"],
      "paramRef": {"name": "wardmote-fence-k8s", "namespace": "kube-system",
                   "parameterNotFoundAction": "Deny"}}})"));
}

TEST(KubeFence, ATokenIsReadBackAndNothingElseIsOne) {
  EXPECT_EQ(read_fence_token(make_fence_token(kNames, 41)), 41);
  for (const std::string_view data :
       {R"({})", R"({"data": null})", R"({"data": {"token": 41}})", R"({"data": {"token": ""}})",
        R"({"data": {"token": "41 "}})", R"({"data": {"token": "99999999999999999999"}})",
        R"({"data": {"Token": "41"}})", R"({"data": ["41"]})"})
    EXPECT_EQ(read_fence_token(parsed(data)), std::nullopt) << data;
}

TEST(KubeFence, AServerHasPoliciesWhenItHasBothKinds) {
  const auto listed = [](std::string_view kinds) {
    return has_admission_policies(std::string(R"({"resources": [)").append(kinds).append("]}"));
  };
  const std::string policy =
      R"({"name": "validatingadmissionpolicies", "kind": "ValidatingAdmissionPolicy", "namespaced": false, "verbs": ["list"]})";
  const std::string binding =
      R"({"name": "validatingadmissionpolicybindings", "kind": "ValidatingAdmissionPolicyBinding", "namespaced": false, "verbs": ["list"]})";
  EXPECT_TRUE(listed(policy + "," + binding).value());
  EXPECT_FALSE(listed(policy).value());
  EXPECT_FALSE(listed(binding).value());
  EXPECT_FALSE(listed("").value());
  EXPECT_EQ(has_admission_policies("<html>").error().code, Errc::kProtocol);
}

TEST(KubeFence, WhatAServerAddsIsNoDifference) {
  EXPECT_TRUE(holds(stored_policy(), make_fence_policy(kNames)));
  json::object binding = make_fence_binding(kNames);
  binding = with(binding, "/metadata/resourceVersion", "17");
  EXPECT_TRUE(holds(binding, make_fence_binding(kNames)));
}

struct Change {
  std::string_view at;
  std::string_view to;  ///< JSON
};

// Each of these lets some write of an earlier leader pass, or is about to.
TEST(KubeFence, APolicyThatSomebodyNarrowedDoesNotHold) {
  const std::vector<Change> changes{
      {"/spec/failurePolicy", R"("Ignore")"},
      {"/spec/paramKind", "null"},
      {"/spec/matchConditions/0/expression", R"("false")"},
      {"/spec/matchConditions/1", R"({"name": "quiet", "expression": "false"})"},
      {"/spec/validations", "[]"},
      {"/spec/validations/0/expression", R"("true")"},
      {"/spec/matchConstraints", "{}"},
      {"/spec/matchConstraints/resourceRules", "[]"},
      {"/spec/matchConstraints/resourceRules/0/operations", R"(["CREATE", "UPDATE"])"},
      {"/spec/matchConstraints/resourceRules/0/apiGroups/0", R"("")"},
      {"/spec/matchConstraints/resourceRules/0/resources/0", R"("configmaps")"},
      {"/spec/matchConstraints/resourceRules/0/scope", R"("Cluster")"},
      {"/spec/matchConstraints/resourceRules/0/resourceNames", R"(["a"])"},
      {"/spec/matchConstraints/excludeResourceRules", R"([{"apiGroups": ["*"]}])"},
      {"/spec/matchConstraints/namespaceSelector", R"({"matchLabels": {"a": "b"}})"},
      {"/spec/matchConstraints/objectSelector", R"({"matchLabels": {"a": "b"}})"},
      {"/spec/matchConstraints/objectSelector", R"("a=b")"},
      {"/metadata/deletionTimestamp", R"("2026-11-25T10:00:00Z")"},
  };
  for (const auto& [at, to] : changes)
    EXPECT_FALSE(holds(with(stored_policy(), at, json::parse(to)), make_fence_policy(kNames)))
        << at << " " << to;
}

TEST(KubeFence, ABindingThatSomebodyNarrowedDoesNotHold) {
  const std::vector<Change> changes{
      {"/spec/validationActions/0", R"("Audit")"},
      {"/spec/policyName", R"("another")"},
      {"/spec/paramRef/name", R"("another")"},
      {"/spec/paramRef/namespace", R"("another")"},
      {"/spec/paramRef/parameterNotFoundAction", R"("Allow")"},
      {"/spec/paramRef/selector", R"({"matchLabels": {"a": "b"}})"},
      {"/spec/matchResources", R"({"namespaceSelector": {"matchLabels": {"a": "b"}}})"},
      {"/metadata/deletionTimestamp", R"("2026-11-25T10:00:00Z")"},
  };
  for (const auto& [at, to] : changes)
    EXPECT_FALSE(
        holds(with(make_fence_binding(kNames), at, json::parse(to)), make_fence_binding(kNames)))
        << at << " " << to;
}

}  // namespace
}  // namespace wardmote::codec
