#pragma once

#include <compare>
#include <string>

namespace wardmote::judge::reconcile {

/// Which object: two with the same id are one object. Versions of an API are views of one object.
struct ObjectId {
  std::string group;  ///< empty: the core group
  std::string kind;
  std::string space;  ///< its namespace; empty: it has none
  std::string name;
  friend auto operator<=>(const ObjectId&, const ObjectId&) = default;
};

/// `ConfigMap kube-system/settings`, `ClusterRole.rbac.authorization.k8s.io reader`
std::string describe(const ObjectId& id);

/// `apps` of `apps/v1`; empty of `v1`.
std::string group_of(const std::string& api_version);

}  // namespace wardmote::judge::reconcile
