#include "agent/domains.h"

#include <array>
#include <memory>

#include "agent/bgp/mesh_watch.h"
#include "agent/domain.h"
#include "agent/etcd/etcd_watch.h"
#include "agent/failover/pair_watch.h"
#include "agent/guests/guest_watch.h"
#include "agent/ovn/clusters.h"
#include "agent/reports/reporter_registry.h"
#include "incidents/dependencies.h"
#include "serve/bgp/mesh_view.h"
#include "serve/etcd/etcd_view.h"
#include "serve/failover/pair_view.h"
#include "serve/guest/guest_view.h"
#include "serve/raft/cluster_view.h"

namespace wardmote::agent {
namespace {

template <class Kind>
std::unique_ptr<Domain> make(const DomainTools& tools) {
  return std::make_unique<Kind>(tools);
}

constexpr auto kDomains = std::to_array<DomainRow>({
    {"clusters", &serve::kClusterFamily, make<Clusters>, Clusters::depend},
    {"reporters", nullptr, make<ReporterRegistry>, nullptr},
    {"meshes", &serve::kMeshFamily, make<MeshWatch>, MeshWatch::depend},
    {"etcd", &serve::kEtcdFamily, make<EtcdWatch>, EtcdWatch::depend},
    {"failover", &serve::kPairFamily, make<PairWatch>, PairWatch::depend},
    {"guests", &serve::kGuestFamily, make<GuestWatch>, nullptr},
});

}  // namespace

Domains domains() noexcept {
  return kDomains;
}

incidents::Depends depends_of(Domains domains) {
  incidents::Depends depends;
  for (const DomainRow& row : domains) {
    if (row.depend != nullptr) depends.push_back(row.depend);
  }
  return depends;
}

}  // namespace wardmote::agent
