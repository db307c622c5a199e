#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "config/config.h"
#include "judge/condition/condition_tracker.h"
#include "judge/raft/assess.h"
#include "judge/raft/opinion.h"
#include "serve/raft/cluster_view.h"

namespace wardmote::agent {

/// Knows which clusters of the configuration are the northbound and southbound database of one
/// deployment, and compares them whenever the northbound one is judged. Time is a parameter.
class NbSbPairing {
 public:
  NbSbPairing() = default;
  /// Clusters have the indexes that they have in `clusters`, which need not outlive it.
  explicit NbSbPairing(const std::vector<config::Cluster>& clusters);

  /// Cluster `index` goes on where cluster `was` of an earlier configuration was.
  void take_over(std::size_t index, NbSbPairing& earlier, std::size_t was) {
    pairs_[index].tracker = std::move(earlier.pairs_[was].tracker);
  }

  /// Who is judged now.
  struct Own {
    const std::string& name;
    const std::vector<judge::raft::Opinion>& opinions;
  };
  /// Adds to the judgement on cluster `index` what the comparison with its companion tells, as
  /// that was judged last.
  void compare(std::size_t index, const Own& own, judge::raft::Assessment& assessment,
               const serve::ClusterView& companion, TimePoint now);

  /// Of a northbound cluster, the southbound one.
  [[nodiscard]] std::optional<std::size_t> companion_of(std::size_t index) const noexcept {
    return pairs_[index].other;
  }

 private:
  struct Pair {
    std::optional<std::size_t> other;
    judge::ConditionTracker tracker;
  };

  std::vector<Pair> pairs_;  // by cluster
};

}  // namespace wardmote::agent
