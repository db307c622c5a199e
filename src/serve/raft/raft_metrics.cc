#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "serve/metrics/exposition.h"
#include "serve/raft/cluster_metrics.h"
#include "serve/raft/cluster_samples.h"
#include "serve/raft/cluster_view.h"

namespace wardmote::serve {
namespace {

using judge::raft::Link;
using judge::raft::Opinion;
using judge::raft::Role;
using judge::raft::Server;
using judge::raft::Status;

constexpr std::size_t kMostLinks = 128;

double number(std::uint64_t value) {
  return static_cast<double>(value);
}

void add_log(ClusterSamples& samples, std::size_t index, const Status& status) {
  const auto add = [&](Metric metric, std::uint64_t value) {
    samples.add_of(index, metric, number(value));
  };
  add(cluster_metric("ovn_raft_term"), status.term);
  add(cluster_metric("ovn_raft_commit_index"), status.committed_index());
  add(cluster_metric("ovn_raft_applied_index"), status.applied_index());
  add(cluster_metric("ovn_raft_log_start"), status.log_start);
  add(cluster_metric("ovn_raft_log_next"), status.log_next);
  add(cluster_metric("ovn_raft_uncommitted"), status.uncommitted);
  add(cluster_metric("ovn_raft_unapplied"), status.unapplied);
  add(cluster_metric("ovn_raft_disconnections_total"), status.disconnections);
  samples.add_of(index, cluster_metric("ovn_raft_election_timer_ms"),
                 static_cast<double>(status.election_timer.count()));
}

void add_words(ClusterSamples& samples, std::size_t index, const Status& status) {
  samples.add_of(index, cluster_metric("ovn_raft_role"), 1, {to_string(status.role)});
  samples.add_of(index, cluster_metric("ovn_raft_status"), 1, {to_string(status.standing)});
  const bool self = status.leader.kind == judge::raft::PeerName::Kind::kSelf;
  const std::string leader =
      self ? samples.sid_of(index) : samples.sid_named(status, to_string(status.leader));
  samples.add_of(index, cluster_metric("ovn_raft_leader_info"), 1, {leader});
}

void add_peers(ClusterSamples& samples, std::size_t index, const Status& status) {
  for (const Server& server : listed(status)) {
    if (server.self) continue;
    const std::string peer = samples.sid(server);
    if (status.role == Role::kLeader && server.match_index) {
      const std::uint64_t last = status.log_next > 0 ? status.log_next - 1 : 0;
      const std::uint64_t lag = last > *server.match_index ? last - *server.match_index : 0;
      samples.add_of(index, cluster_metric("ovn_raft_peer_match_lag"), number(lag), {peer});
    }
    if (server.last_message) {
      samples.add_of(index, cluster_metric("ovn_raft_peer_last_msg_ms"),
                     static_cast<double>(server.last_message->count()), {peer});
    }
  }
}

void add_links(ClusterSamples& samples, const Status& status) {
  // Two connections with the same peer and direction are one series: up when any of them is.
  std::map<std::pair<std::string_view, bool>, bool> up;
  for (const Link& link : status.links) {
    if (up.size() < kMostLinks) up[{link.peer, link.outgoing}] |= link.up;
  }
  const std::string from = to_string(status.server_id);
  for (const auto& [link, any_up] : up) {
    const std::string to = samples.sid_named(status, link.first);
    samples.add(cluster_metric("ovn_raft_link_up"), any_up ? 1 : 0,
                {from, to, link.second ? "out" : "in"});
  }
}

void add_counters(ClusterSamples& samples, std::size_t index, const MemberCounters& counters) {
  samples.add_look_times(index, cluster_metric("ovn_raft_probe_seconds"), counters.looks);
  for (const auto& [code, count] : counters.errors) {
    samples.add_of(index, cluster_metric("ovn_raft_probe_errors_total"), number(count),
                   {to_string(code)});
  }
}

void add_findings(ClusterSamples& samples) {
  std::map<std::pair<judge::Code, judge::Severity>, int> standing;
  for (const judge::Finding& finding : samples.cluster().assessment.findings) {
    ++standing[{finding.code, finding.severity}];
  }
  for (const auto& [kind, count] : standing) {
    samples.add(cluster_metric("ovn_finding"), count,
                {to_string(kind.first), to_string(kind.second)});
  }
}

}  // namespace

void add_raft_metrics(ClusterSamples& samples) {
  const ClusterView& cluster = samples.cluster();
  for (std::size_t i = 0; i < cluster.opinions.size(); ++i) {
    if (const auto& status = cluster.opinions[i].status) {
      add_log(samples, i, *status);
      add_words(samples, i, *status);
      add_peers(samples, i, *status);
      add_links(samples, *status);
    }
    if (i < cluster.counters.members.size()) add_counters(samples, i, cluster.counters.members[i]);
  }
  samples.add(cluster_metric("ovn_raft_elections_total"), number(cluster.counters.elections));
  add_findings(samples);
}

}  // namespace wardmote::serve
