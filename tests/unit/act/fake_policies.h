#pragma once

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/text.h"
#include "runtime/http_client.h"
#include "unit/act/fake_kube.h"

namespace wardmote::act::reconcile {

/// What a kube-apiserver since 1.30 adds: admission policies. A fake, because none that new runs
/// here. It knows the one form of policy that was measured at a real 1.33: of one user, whose extra
/// field `fence` is no lower than `token` of a ConfigMap; dry runs are checked, too, a parameter
/// that is missing denies, and policies themselves are exempt. It reads neither CEL nor rules.
class FakePolicies {
 public:
  static constexpr std::string_view kApi = "/apis/admissionregistration.k8s.io/v1";

  explicit FakePolicies(FakeKube& kube) : kube_(kube) {
    kube.versions[std::string(kApi)] = R"({"resources":[
{"name":"validatingadmissionpolicies","kind":"ValidatingAdmissionPolicy","namespaced":false,"verbs":["list"]},
{"name":"validatingadmissionpolicybindings","kind":"ValidatingAdmissionPolicyBinding","namespaced":false,"verbs":["list"]}]})";
  }

  /// For FakeKube::before.
  FakeKube::Answer check(const runtime::HttpCall& call) {
    const std::string user = header(call, "Impersonate-User");
    if (!user.empty() && !may_impersonate)
      return FakeKube::status(403, "Forbidden",
                              "users \"" + user + "\" is forbidden: cannot impersonate");
    if (call.method == "GET" || call.url.contains(kApi)) return std::nullopt;
    if (call.method != "PATCH" && call.method != "DELETE") return std::nullopt;
    if (!heeds || user != "wardmote:k8s" || !has("policies") || !has("policybindings"))
      return std::nullopt;
    const auto* const token = kube_.data(kToken, "token");
    if (token == nullptr)
      return FakeKube::status(422, "Invalid",
                              "failed to configure binding: no params found for policy binding "
                              "with `Deny` parameterNotFoundAction");
    const auto sent = parse_number<std::int64_t>(header(call, "Impersonate-Extra-fence"));
    const auto least = parse_number<std::int64_t>(std::string(token->as_string()));
    if (sent && least && *sent >= *least) return std::nullopt;
    ++refused;
    return FakeKube::status(
        422, "Invalid",
        fmt::format("configmaps \"x\" is forbidden: ValidatingAdmissionPolicy 'wardmote-fence-k8s' "
                    "with binding 'wardmote-fence-k8s' denied request: {}",
                    message()));
  }

  static std::string header(const runtime::HttpCall& call, std::string_view name) {
    for (const auto& [key, value] : call.headers) {
      if (key == name) return value;
    }
    return "";
  }

  static constexpr const char* kToken =
      "/api/v1/namespaces/kube-system/configmaps/wardmote-fence-k8s";
  static std::string path(std::string_view kind) {
    return fmt::format("{}/validatingadmission{}/wardmote-fence-k8s", kApi, kind);
  }
  [[nodiscard]] bool has(std::string_view kind) const { return kube_.objects.contains(path(kind)); }

  bool heeds = true;  ///< the admission plugin is on
  bool may_impersonate = true;
  int refused = 0;

 private:
  [[nodiscard]] std::string message() const {
    return std::string(kube_.objects.at(path("policies"))
                           .at("spec")
                           .at("validations")
                           .at(0)
                           .at("message")
                           .as_string());
  }
  FakeKube& kube_;
};

}  // namespace wardmote::act::reconcile
