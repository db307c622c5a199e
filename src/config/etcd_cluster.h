#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "observe/etcd/metrics_client.h"
#include "observe/kinds.h"
#include "runtime/endpoint.h"

namespace wardmote::config {

/// One member of an etcd cluster.
struct EtcdMember {
  std::string name;
  runtime::Endpoint endpoint;                           ///< tcp or tls
  std::optional<observe::etcd::MetricsTarget> metrics;  ///< nothing: they are not read
  friend bool operator==(const EtcdMember&, const EtcdMember&) = default;
};

/// An etcd cluster, judged by what all its members say. It is a check of its name, whose parameters
/// hold all of this, so that a reload sees by its check that a cluster is another.
struct EtcdCluster {
  std::string name;
  std::vector<EtcdMember> members;     ///< at least one; names and endpoints differ
  std::vector<std::string> expect;     ///< peer URLs; empty: no expectation
  std::optional<std::uint64_t> quota;  ///< of the database, in bytes
  friend bool operator==(const EtcdCluster&, const EtcdCluster&) = default;
};

/// The kind of the check of an etcd cluster; its probe is made by the domain that judges them.
const observe::ProbeKind& etcd_cluster_kind() noexcept;

/// Those of the configuration, in its order.
std::vector<EtcdCluster> etcd_clusters(const Config& config);

}  // namespace wardmote::config
