#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wardmote::codec {

// A fence at a kube-apiserver since Kubernetes 1.30: a ValidatingAdmissionPolicy that lets one user
// write only with a token no lower than that of a ConfigMap. The token comes as an extra field of
// the impersonated user, in a header, so a deletion has one too.

inline constexpr std::string_view kAdmissionVersion = "admissionregistration.k8s.io/v1";
/// The extra field of the user: `Impersonate-Extra-Fence`.
inline constexpr std::string_view kFenceExtra = "fence";
/// With these words the server refuses a write of an earlier leader.
inline constexpr std::string_view kFenceRefusal = "wardmote: a later leader has raised the fence";

/// Whether an APIResourceList of kAdmissionVersion has admission policies. kProtocol.
Result<bool> has_admission_policies(std::string_view body);

/// The fence of one set.
struct KubeFenceNames {
  std::string set;
  std::string space;  ///< the namespace of the ConfigMap
};
std::string fence_name(std::string_view set);
/// Who writes: `wardmote:k8s`.
std::string fence_user(std::string_view set);
std::string fence_token_path(const KubeFenceNames& names);
std::string fence_policy_path(const KubeFenceNames& names);
std::string fence_binding_path(const KubeFenceNames& names);

boost::json::object make_fence_token(const KubeFenceNames& names, std::int64_t token);
boost::json::object make_fence_policy(const KubeFenceNames& names);
boost::json::object make_fence_binding(const KubeFenceNames& names);

/// Nothing: there is none that anybody can read.
std::optional<std::int64_t> read_fence_token(const boost::json::object& config_map);

/// Whether the policy or the binding `live` holds as `wanted` says: all of it, nothing that narrows
/// it, and nobody deletes it. What a server adds as a default is no difference.
bool holds(const boost::json::object& live, const boost::json::object& wanted);

}  // namespace wardmote::codec
