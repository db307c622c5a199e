#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "agent/domain.h"
#include "agent/domains.h"
#include "agent/ovn/cluster_board.h"
#include "agent/ovn/cluster_watch.h"
#include "agent/ovn/shared_servers.h"
#include "base/result.h"
#include "config/config.h"
#include "config/reload_plan.h"
#include "judge/incident/news.h"
#include "judge/observation.h"
#include "judge/raft/repair/remedy.h"
#include "judge/raft/sighting.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "serve/route.h"

namespace wardmote::agent {

/// The raft clusters of the configuration: a watch for each.
class Clusters final : public Domain {
 public:
  explicit Clusters(const DomainTools& tools);

  static void depend(const config::Config& config, judge::incident::Dependencies& known);
  runtime::Task<Result<void>> recall() override;
  Result<Adopt> prepare(const config::Config& next) override;
  [[nodiscard]] const observe::ProbeKind& kind() const noexcept override;
  void observed(const std::string& check, const judge::Observation& seen) override;
  store::SharedNote* note() override { return &shared_; }
  std::vector<serve::Route> routes() override;
  runtime::Task<void> stop() override;

 private:
  void adopt(const config::Config& now, const config::ReloadPlan& plan);
  void expect_looks(const config::Config& now, const config::ReloadPlan& plan);
  std::shared_ptr<ClusterWatch> begin(const config::Cluster& cluster, std::size_t index);
  void keep_beside();
  void follow_on(ClusterWatch& begun, std::span<const std::shared_ptr<ClusterWatch>> before) const;
  void measure(const serve::ClusterView& judged);

  DomainTools tools_;
  ClusterBoard board_;
  judge::raft::Sightings sightings_;
  SharedServers shared_{sightings_};
  std::vector<judge::raft::Sighting> written_beside_;
  bool owes_ = false;              ///< that was put, and may not be written yet
  std::set<std::string> lookers_;  ///< whom the configuration has look at a server
  std::vector<std::shared_ptr<ClusterWatch>> watches_;
  std::map<std::string, judge::raft::repair::RepairCluster> repairs_;  ///< by cluster
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::agent
