#include "serve/raft/cluster_samples.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/raft/assess.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "serve/look_times.h"
#include "serve/metrics/exposition.h"
#include "serve/raft/cluster_view.h"

namespace wardmote::serve {

using judge::raft::MemberId;
using judge::raft::Opinion;
using judge::raft::Server;

std::span<const Server> listed(const judge::raft::Status& status) {
  return std::span(status.servers).first(std::min(status.servers.size(), kMostServers));
}

ClusterSamples::ClusterSamples(Exposition& out, const ClusterView& cluster)
    : out_(out), cluster_(cluster), cid_(to_string(cluster_id_of(cluster))) {}

void ClusterSamples::add(Metric metric, double value,
                         std::initializer_list<std::string_view> special) {
  std::vector<std::string_view> values{cluster_.expectation.database, cid_};
  values.insert(values.end(), special);
  values.emplace_back(cluster_.id.name);
  out_.add(metric, values, value);
}

void ClusterSamples::add_of(std::size_t index, Metric metric, double value,
                            std::initializer_list<std::string_view> special) {
  const std::string cid = cid_of(index);
  const std::string sid = sid_of(index);
  std::vector<std::string_view> values{cluster_.expectation.database, cid, sid};
  values.insert(values.end(), special);
  values.emplace_back(cluster_.id.name);
  values.emplace_back(cluster_.opinions[index].member);
  out_.add(metric, values, value);
}

void ClusterSamples::add_look_times(std::size_t index, Metric metric, const LookTimes& times) {
  const std::string cid = cid_of(index);
  const std::string sid = sid_of(index);
  const std::string_view values[] = {cluster_.expectation.database, cid, sid, cluster_.id.name,
                                     cluster_.opinions[index].member};
  const double sum = std::chrono::duration<double>(times.sum).count();
  out_.add_histogram(metric, values, LookTimes::kBounds, times.counts, sum);
}

std::string ClusterSamples::sid(const Server& server) const {
  for (const Opinion& opinion : cluster_.opinions) {
    const MemberId own = opinion.server_id();
    // Four digits may belong to two servers, so another address means another server.
    const bool elsewhere = opinion.status && opinion.status->address != server.address;
    if (compatible(own, server.id) && !elsewhere) return to_string(own);
  }
  return server.id.known() ? to_string(known_as(server)) : server.nickname;
}

MemberId ClusterSamples::known_as(const Server& server) const noexcept {
  for (const judge::raft::NamedServer& named : cluster_.assessment.servers) {
    if (named.address == server.address && compatible(named.id, server.id)) return named.id;
  }
  return server.id;
}

std::string ClusterSamples::full(const std::string& sid) const {
  const auto id = judge::raft::parse_member_id(sid);
  MemberId only;
  for (const judge::raft::NamedServer& named : cluster_.assessment.servers) {
    if (!id || !compatible(named.id, *id)) continue;
    if (only.known()) return sid;
    only = named.id;
  }
  return only.full() ? to_string(only) : sid;
}

std::string ClusterSamples::sid_named(const judge::raft::Status& status,
                                      std::string_view nickname) const {
  for (const Server& server : listed(status)) {
    if (server.nickname == nickname) return sid(server);
  }
  return std::string(nickname);
}

std::string ClusterSamples::sid_of(std::size_t index) const {
  const MemberId own = cluster_.opinions[index].server_id();
  const std::vector<MemberId>& known = cluster_.assessment.ids;
  return to_string(own.known() || index >= known.size() ? own : known[index]);
}

std::string ClusterSamples::cid_of(std::size_t index) const {
  const MemberId own = cluster_.opinions[index].cluster_id();
  return own.known() ? to_string(own) : cid_;
}

}  // namespace wardmote::serve
