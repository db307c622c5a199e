#include "serve/raft/cluster_view.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <chrono>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/verdict.h"
#include "serve/json_values.h"
#include "serve/metrics/exposition.h"
#include "serve/raft/cluster_metrics.h"
#include "serve/raft/cluster_samples.h"
#include "serve/thing_view.h"

namespace wardmote::serve {

using judge::raft::MemberId;
using judge::raft::Opinion;

MemberId cluster_id_of(const ClusterView& cluster) {
  if (cluster.assessment.leader) {
    const MemberId id = cluster.opinions[*cluster.assessment.leader].cluster_id();
    if (id.known()) return id;
  }
  for (const Opinion& opinion : cluster.opinions) {
    const MemberId id = opinion.cluster_id();
    if (id.known() && !id.zero()) return id;
  }
  return cluster.assessment.cluster_id;
}

std::string cluster_node(std::string_view cluster) {
  return fmt::format("cluster:{}", cluster);
}

std::string member_node(std::string_view cluster, std::string_view member) {
  return fmt::format("member:{}/{}", cluster, member);
}

std::string ClusterView::owner() const {
  return cluster_node(id.name);
}

std::string ClusterView::component_of(const judge::Finding& finding) const {
  for (const Opinion& opinion : opinions) {
    if (std::ranges::find(finding.subjects, opinion.member) != finding.subjects.end())
      return member_node(id.name, opinion.member);
  }
  return owner();
}

boost::json::object ClusterView::names() const {
  return {{"cluster", text(id.name, kNameCap)}, {"database", text(expectation.database, kNameCap)}};
}

void ClusterView::measure(Exposition& out, Moment at) const {
  ClusterSamples samples(out, *this);
  add_plunger_metrics(samples);
  if (counters.judgements > 0) {
    const WallTime when = at.wall - (at.now - judged);
    samples.add(cluster_metric("ovn_ops_snapshot_timestamp_seconds"),
                std::chrono::duration<double>(when.time_since_epoch()).count());
  }
  add_raft_metrics(samples);
  const std::string_view name[] = {id.name};
  out.add(cluster_metric("wardmote_cluster_verdict"), name, exit_code_of(assessment.verdict));
}

}  // namespace wardmote::serve
