#include "judge/reconcile/order.h"

#include <array>
#include <string_view>

#include "judge/reconcile/object_id.h"

namespace wardmote::judge::reconcile {
namespace {

struct Row {
  std::string_view group;
  std::string_view kind;
  int rank;
};
constexpr int kOthers = 50;
constexpr auto kRanks = std::to_array<Row>({
    {"apiextensions.k8s.io", "CustomResourceDefinition", 0},
    {"", "Namespace", 1},
    {"scheduling.k8s.io", "PriorityClass", 2},
    {"storage.k8s.io", "StorageClass", 2},
    {"storage.k8s.io", "CSIDriver", 2},
    {"node.k8s.io", "RuntimeClass", 2},
    {"", "ResourceQuota", 3},
    {"", "LimitRange", 3},
    {"networking.k8s.io", "NetworkPolicy", 3},
    {"", "ServiceAccount", 4},
    {"", "Secret", 5},
    {"", "ConfigMap", 5},
    {"rbac.authorization.k8s.io", "ClusterRole", 6},
    {"rbac.authorization.k8s.io", "Role", 6},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding", 7},
    {"rbac.authorization.k8s.io", "RoleBinding", 7},
    {"", "PersistentVolume", 8},
    {"", "PersistentVolumeClaim", 9},
    {"", "Service", 10},
    {"apiregistration.k8s.io", "APIService", 80},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy", 90},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", 91},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration", 92},
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", 92},
});

}  // namespace

int rank_of(const ObjectId& id) {
  for (const Row& row : kRanks) {
    if (row.group == id.group && row.kind == id.kind) return row.rank;
  }
  return kOthers;
}

bool applies_before(const ObjectId& a, const ObjectId& b) {
  const int first = rank_of(a);
  const int second = rank_of(b);
  return first != second ? first < second : a < b;
}

}  // namespace wardmote::judge::reconcile
