#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "judge/raft/address.h"
#include "judge/raft/assess.h"
#include "judge/raft/consensus.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "serve/metrics/exposition.h"
#include "serve/raft/cluster_metrics.h"
#include "serve/raft/cluster_samples.h"
#include "serve/raft/cluster_view.h"

namespace wardmote::serve {
namespace {

using judge::raft::ExtendedConsensusResult;
using judge::raft::Opinion;
using judge::raft::Server;
using judge::raft::Status;

double number(std::uint64_t value) {
  return static_cast<double>(value);
}

/// The leader's status, if it answers.
const Status* leader_status(const ClusterView& cluster) {
  const auto& leader = cluster.assessment.leader;
  if (!leader || !cluster.opinions[*leader].status) return nullptr;
  return &*cluster.opinions[*leader].status;
}

/// The last index that a member has applied, if it reports one.
std::optional<std::uint64_t> index_of(const Opinion& opinion) {
  if (opinion.local && opinion.local->index) return opinion.local->index;
  if (opinion.status) return opinion.status->applied_index();
  return std::nullopt;
}

/// The member that answers as `server`.
const Opinion* reporter_of(const ClusterView& cluster, const Server& server) {
  for (const Opinion& opinion : cluster.opinions) {
    if (!compatible(opinion.server_id(), server.id)) continue;
    if (!opinion.status || opinion.status->address == server.address) return &opinion;
  }
  return nullptr;
}

void add_member(ClusterSamples& samples, std::size_t index) {
  const ClusterView& cluster = samples.cluster();
  const Opinion& opinion = cluster.opinions[index];
  const std::string_view ip =
      opinion.status ? judge::raft::host_of(opinion.status->address) : std::string_view("unknown");
  const bool connected = opinion.local && opinion.local->connected;
  samples.add_of(index, cluster_metric("ovn_member_connected"), connected ? 1 : 0, {ip});
  samples.add_of(index, cluster_metric("ovn_member_leader"),
                 cluster.assessment.leader == index ? 1 : 0);
  samples.add_of(index, cluster_metric("ovn_member_reporter"), opinion.speaks() ? 1 : 0);
  if (const auto applied = index_of(opinion)) {
    samples.add_of(index, cluster_metric("ovn_member_index"), number(*applied));
  }
}

/// How far `server` is behind the leader: by its own report, else by what it last acknowledged to
/// the leader.
std::optional<std::uint64_t> gap_of(const ClusterView& cluster, const Status& leader,
                                    const Server& server) {
  const Opinion* const reporter = reporter_of(cluster, server);
  const auto own = reporter != nullptr ? index_of(*reporter) : std::nullopt;
  const auto leads = index_of(cluster.opinions[*cluster.assessment.leader]);
  if (own && leads) return *leads > *own ? *leads - *own : 0;
  if (!server.match_index) return std::nullopt;
  const std::uint64_t last = leader.log_next > 0 ? leader.log_next - 1 : 0;
  return last > *server.match_index ? last - *server.match_index : 0;
}

/// What only the leader knows about every server in its list, silent ones included.
void add_as_the_leader_sees(ClusterSamples& samples) {
  const Status* const leader = leader_status(samples.cluster());
  if (leader == nullptr) return;
  for (const Server& server : listed(*leader)) {
    const std::string sid = samples.sid(server);
    if (const auto gap = gap_of(samples.cluster(), *leader, server)) {
      samples.add(cluster_metric("ovn_member_index_gap"), number(*gap), {sid});
    }
    if (!server.self && server.last_message) {
      samples.add(cluster_metric("ovn_member_last_msg_ms"),
                  static_cast<double>(server.last_message->count()), {sid});
    }
  }
}

/// One sample for each of `names`, up to a limit.
void add_each(ClusterSamples& samples, Metric metric, const std::vector<std::string>& names) {
  for (const std::string& name : names | std::views::take(kMostServers))
    samples.add(metric, 1, {name});
}

void add_agreement(ClusterSamples& samples, const ExtendedConsensusResult& consensus) {
  std::size_t diffs = 0;
  for (const auto& [reporter, diff] : consensus.diffs) {
    diffs += diff.missing_ids.size() + diff.extra_ids.size() + diff.address_mismatches.size();
  }
  const std::size_t majority = consensus.has_majority ? consensus.majority_members.size() : 0;
  samples.add(cluster_metric("ovn_cluster_all_agree"), consensus.all_agree ? 1 : 0);
  samples.add(cluster_metric("ovn_consensus_majority_size"), number(majority));
  samples.add(cluster_metric("ovn_consensus_minority_size"),
              number(consensus.minority_members.size()));
  samples.add(cluster_metric("ovn_consensus_diffs_total"), number(diffs));
}

void add_lists(ClusterSamples& samples, const ExtendedConsensusResult& consensus) {
  samples.add(cluster_metric("ovn_cluster_members_observed"), number(consensus.members_count));
  samples.add(cluster_metric("ovn_cluster_ips_observed"), number(consensus.union_ips.size()));
  samples.add(cluster_metric("ovn_cluster_ip_conflicts"), number(consensus.ip_conflicts.size()));
  samples.add(cluster_metric("ovn_cluster_sid_address_disagreements"),
              number(consensus.sid_address_disagreements.size()));
  for (const auto& [address, ids] : consensus.ip_conflicts | std::views::take(kMostServers)) {
    samples.add(cluster_metric("ovn_consensus_ip_conflict"), number(ids.size()),
                {judge::raft::host_of(address)});
  }
  const auto in_full = [&](std::vector<std::string> sids) {
    for (std::string& sid : sids) sid = samples.full(sid);
    return sids;
  };
  add_each(samples, cluster_metric("ovn_member_missing_reporter"),
           in_full(consensus.missing_reporters));
  add_each(samples, cluster_metric("ovn_consensus_suspect_stale"),
           in_full(consensus.suspect_stale_ids));
}

void add_expected(ClusterSamples& samples, const ExtendedConsensusResult& consensus) {
  if (consensus.expected_members > 0) {
    samples.add(cluster_metric("ovn_cluster_members_expected"), number(consensus.expected_members));
    samples.add(cluster_metric("ovn_cluster_excess_members"), number(consensus.expected_excess));
    samples.add(cluster_metric("ovn_cluster_missing_members"),
                number(consensus.expected_shortfall));
  }
  if (consensus.expected_ips.empty()) return;
  samples.add(cluster_metric("ovn_cluster_ips_expected"), number(consensus.expected_ips.size()));
  samples.add(cluster_metric("ovn_cluster_unexpected_ips"),
              number(consensus.unexpected_ips.size()));
  samples.add(cluster_metric("ovn_cluster_missing_expected_ips"),
              number(consensus.missing_expected_ips.size()));
  add_each(samples, cluster_metric("ovn_consensus_unexpected_ip"), consensus.unexpected_ips);
  add_each(samples, cluster_metric("ovn_consensus_missing_expected_ip"),
           consensus.missing_expected_ips);
}

/// Agreement and lists of the members that answer; without answers there is nothing to compare.
void add_consensus(ClusterSamples& samples) {
  const ClusterView& cluster = samples.cluster();
  const ExtendedConsensusResult consensus =
      judge::raft::analyze_consensus(cluster.opinions, cluster.expectation);
  if (consensus.reporters.empty()) return;
  add_agreement(samples, consensus);
  add_lists(samples, consensus);
  add_expected(samples, consensus);
}

void add_counters(ClusterSamples& samples) {
  const ClusterCounters& counters = samples.cluster().counters;
  samples.add(cluster_metric("ovn_ops_leader_transitions_total"),
              number(counters.leader_transitions));
  samples.add(cluster_metric("ovn_ops_collect_errors_total"), number(counters.collect_errors));
  samples.add(cluster_metric("ovn_ops_publish_events_total"), number(counters.judgements));
}

}  // namespace

void add_plunger_metrics(ClusterSamples& samples) {
  const ClusterView& cluster = samples.cluster();
  const judge::raft::Quorum& quorum = cluster.assessment.quorum;
  if (quorum.voters > 0)
    samples.add(cluster_metric("ovn_cluster_quorum"), quorum.live >= quorum.needed ? 1 : 0);
  for (std::size_t i = 0; i < cluster.opinions.size(); ++i) add_member(samples, i);
  add_as_the_leader_sees(samples);
  add_consensus(samples);
  add_counters(samples);
}

}  // namespace wardmote::serve
