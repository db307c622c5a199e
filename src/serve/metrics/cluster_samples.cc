#include "serve/metrics/cluster_samples.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "serve/metrics/exposition.h"
#include "serve/view.h"

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
  values.emplace_back(cluster_.name);
  out_.add(metric, values, value);
}

void ClusterSamples::add_of(std::size_t index, Metric metric, double value,
                            std::initializer_list<std::string_view> special) {
  const std::string cid = cid_of(index);
  const std::string sid = sid_of(index);
  std::vector<std::string_view> values{cluster_.expectation.database, cid, sid};
  values.insert(values.end(), special);
  values.emplace_back(cluster_.name);
  values.emplace_back(cluster_.opinions[index].member);
  out_.add(metric, values, value);
}

void ClusterSamples::add_look_times(std::size_t index, Metric metric, const LookTimes& times) {
  const std::string cid = cid_of(index);
  const std::string sid = sid_of(index);
  const std::string_view values[] = {cluster_.expectation.database, cid, sid, cluster_.name,
                                     cluster_.opinions[index].member};
  const double sum = std::chrono::duration<double>(times.sum).count();
  out_.add_histogram(metric, values, LookTimes::kBounds, times.counts, sum);
}

std::string ClusterSamples::sid(const Server& server) const {
  for (const Opinion& opinion : cluster_.opinions) {
    const MemberId own = opinion.server_id();
    // Four digits may collide, so an address that contradicts makes it another server.
    const bool elsewhere = opinion.status && opinion.status->address != server.address;
    if (compatible(own, server.id) && !elsewhere) return to_string(own);
  }
  return server.id.known() ? to_string(server.id) : server.nickname;
}

std::string ClusterSamples::sid_named(const judge::raft::Status& status,
                                      std::string_view nickname) const {
  for (const Server& server : listed(status)) {
    if (server.nickname == nickname) return sid(server);
  }
  return std::string(nickname);
}

std::string ClusterSamples::sid_of(std::size_t index) const {
  return to_string(cluster_.opinions[index].server_id());
}

std::string ClusterSamples::cid_of(std::size_t index) const {
  const MemberId own = cluster_.opinions[index].cluster_id();
  return own.known() ? to_string(own) : cid_;
}

}  // namespace wardmote::serve
