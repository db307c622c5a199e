#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/ocf/parameters.h"
#include "judge/failover/candidate.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::cli::ocf {

/// What the nodes of a Pacemaker cluster know in common, through Pacemaker's own tools, each run as
/// a program with arguments. The names are those of the stock agent: `OVN_REPL_INFO` in the
/// property set `ovn_ovsdb_master_server`, and `master-<resource>`. Life cycle: `runtime` and
/// `parameters` outlive it.
class Cluster {
 public:
  Cluster(runtime::Runtime& runtime, const Parameters& parameters)
      : runtime_(runtime), parameters_(parameters) {}

  /// The name of this node, when the environment does not have it.
  runtime::Task<std::string> node_name(runtime::Deadline deadline);
  /// Who was promoted last, and in which epoch. It outlives a restart of the whole cluster.
  runtime::Task<Result<judge::failover::ClusterRecord>> record(runtime::Deadline deadline);
  /// The same from this node's disk, without running anything. The disk may be late, so this is a
  /// reason to ask, and no answer. Nothing when there is no such file, or nothing in it.
  [[nodiscard]] std::optional<judge::failover::ClusterRecord> record_on_disk() const;
  runtime::Task<Result<void>> record_active(std::string node, runtime::Deadline deadline);
  runtime::Task<Result<void>> record_epoch(std::uint64_t epoch, std::string author,
                                           runtime::Deadline deadline);

  /// `master-<resource>` of this node: how much Pacemaker wants it promoted.
  runtime::Task<Result<void>> set_score(int score, runtime::Deadline deadline);
  runtime::Task<Result<void>> forget_score(runtime::Deadline deadline);

  runtime::Task<Result<void>> publish(std::string position, runtime::Deadline deadline);
  /// Publishes, waits until the cluster has it, and returns what the others have published. Of two
  /// nodes that do this at the same time at least one sees the other. Waits a moment for
  /// those `awaited` to say that they are settled.
  runtime::Task<std::vector<judge::failover::Peer>> exchange(std::string position,
                                                             std::vector<std::string> awaited,
                                                             runtime::Deadline deadline);
  /// The other nodes that run this agent; without this one.
  runtime::Task<std::vector<judge::failover::Peer>> peers(runtime::Deadline deadline);

 private:
  runtime::Task<Result<std::string>> run(std::vector<std::string> argv, runtime::Deadline deadline);
  runtime::Task<std::vector<judge::failover::Peer>> every_node(runtime::Deadline deadline);
  runtime::Task<Result<std::string>> property(std::string name, runtime::Deadline deadline);
  runtime::Task<Result<void>> set_property(std::string name, std::string value,
                                           runtime::Deadline deadline);
  [[nodiscard]] std::string tool(std::string_view name) const;

  runtime::Runtime& runtime_;
  const Parameters& parameters_;
};

}  // namespace wardmote::cli::ocf
