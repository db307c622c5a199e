#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "serve/metrics/exposition.h"
#include "serve/raft/cluster_view.h"

namespace wardmote::serve {

/// Adds samples of one cluster with the labels that all of them have: `db` and `cid` first, the
/// special ones in the middle, `cluster` last. Life cycle: for one exposition.
class ClusterSamples {
 public:
  ClusterSamples(Exposition& out, const ClusterView& cluster);

  [[nodiscard]] const ClusterView& cluster() const noexcept { return cluster_; }

  /// A sample of the cluster: db, cid, `special`…, cluster.
  void add(Metric metric, double value, std::initializer_list<std::string_view> special = {});
  /// A sample of the configured member `index`: db, cid, sid, `special`…, cluster, member. The cid
  /// is the member's own where it is known.
  void add_of(std::size_t index, Metric metric, double value,
              std::initializer_list<std::string_view> special = {});
  void add_look_times(std::size_t index, Metric metric, const LookTimes& times);

  /// The full id of a listed server if a member answers or answered as this server, else as much as
  /// the list has.
  [[nodiscard]] std::string sid(const judge::raft::Server& server) const;
  /// The same for the server that `status` lists under a nickname; the nickname itself if it lists
  /// none.
  [[nodiscard]] std::string sid_named(const judge::raft::Status& status,
                                      std::string_view nickname) const;
  /// The id in full where the digits fit one known server only, else unchanged.
  [[nodiscard]] std::string full(const std::string& sid) const;
  /// The id of member `index`: its own, else the one in its last answer, else "".
  [[nodiscard]] std::string sid_of(std::size_t index) const;

 private:
  [[nodiscard]] std::string cid_of(std::size_t index) const;
  [[nodiscard]] judge::raft::MemberId known_as(const judge::raft::Server& server) const noexcept;

  Exposition& out_;
  const ClusterView& cluster_;
  std::string cid_;
};

/// A list may contain any number of stale servers; the number of labels must have a limit.
inline constexpr std::size_t kMostServers = 64;
/// The first servers in a member's list, up to the limit.
std::span<const judge::raft::Server> listed(const judge::raft::Status& status);

// One for each group of the table.
void add_raft_metrics(ClusterSamples& samples);
void add_plunger_metrics(ClusterSamples& samples);

}  // namespace wardmote::serve
