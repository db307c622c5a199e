#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/board.h"
#include "agent/domain.h"
#include "agent/domains.h"
#include "base/result.h"
#include "config/config.h"
#include "config/etcd_cluster.h"
#include "config/reload_plan.h"
#include "incidents/hold.h"
#include "judge/etcd/cluster.h"
#include "judge/incident/news.h"
#include "judge/observation.h"
#include "judge/self/starvation_guard.h"
#include "observe/etcd/member_client.h"
#include "observe/probe.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/etcd/etcd_view.h"

namespace wardmote::agent {

/// Watches the etcd clusters of the configuration. Each is a check, whose look asks all members at
/// once and judges what they say together; what stands goes to the board. A domain of its own and
/// not one more source of ClusterWatch, because that watches what only OVSDB has: two sockets of
/// each member, its own notices of changes, pairs of databases, repairs. What both judge by is
/// judge/raft.
class EtcdWatch final : public Domain {
 public:
  explicit EtcdWatch(const DomainTools& tools)
      : runtime_(tools.runtime),
        board_(tools.board),
        scheduler_(tools.scheduler),
        guard_(tools.guard),
        holds_(incidents::holds_of(tools.incidents)) {}

  static void depend(const config::Config& config, judge::incident::Dependencies& known);
  /// A cluster that stays the same keeps what it knows.
  Result<Adopt> prepare(const config::Config& next) override;
  [[nodiscard]] const observe::ProbeKind& kind() const noexcept override;
  std::unique_ptr<observe::Probe> probe(const config::Check& check) override;

 private:
  /// Looks may still end after the configuration has changed, so they share it.
  struct Cluster {
    config::EtcdCluster config;
    std::vector<std::unique_ptr<observe::etcd::MemberClient>> clients;
    judge::etcd::Memory memory;
    incidents::Hold hold;
    std::shared_ptr<const serve::EtcdView> shown;
    bool retired = false;
  };
  class ClusterProbe;

  void adopt(const config::Config& now, const config::ReloadPlan& plan);
  runtime::Task<judge::Observation> look(std::string name, runtime::Deadline deadline);
  runtime::Task<void> ask(Cluster* cluster, std::size_t member, judge::etcd::MemberView* into,
                          runtime::Deadline deadline);
  judge::Observation judge(Cluster& cluster, std::vector<judge::etcd::MemberView> views);

  runtime::Runtime& runtime_;
  Board& board_;
  Scheduler& scheduler_;
  const judge::StarvationGuard& guard_;
  incidents::Holds holds_;
  std::map<std::string, std::shared_ptr<Cluster>> clusters_;
};

}  // namespace wardmote::agent
