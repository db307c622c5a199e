#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "agent/config/config.h"
#include "base/time.h"
#include "judge/raft/assess.h"
#include "judge/raft/docket.h"
#include "judge/raft/opinion.h"
#include "serve/view.h"

namespace wardmote::agent {

/// Knows which clusters of the configuration are the northbound and southbound database of one
/// deployment, and compares them whenever the northbound one is judged. Time is a parameter.
class Companions {
 public:
  Companions() = default;
  /// Clusters have the indexes that they have in `clusters`, which need not outlive it.
  explicit Companions(const std::vector<config::Cluster>& clusters);

  /// Cluster `index` goes on where cluster `was` of an earlier configuration was.
  void take_over(std::size_t index, Companions& earlier, std::size_t was) {
    pairs_[index].docket = std::move(earlier.pairs_[was].docket);
  }

  /// Adds to the judgement on cluster `index` what the comparison with its companion tells.
  void compare(std::size_t index, const std::vector<judge::raft::Opinion>& opinions,
               judge::raft::Assessment& assessment, const std::vector<serve::ClusterView>& clusters,
               TimePoint now);

  /// Of a northbound cluster, the southbound one.
  [[nodiscard]] std::optional<std::size_t> companion_of(std::size_t index) const noexcept {
    return pairs_[index].other;
  }

 private:
  struct Pair {
    std::optional<std::size_t> other;
    judge::raft::Docket docket;
  };

  std::vector<Pair> pairs_;  // by cluster
};

}  // namespace wardmote::agent
