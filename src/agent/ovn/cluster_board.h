#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "agent/board.h"
#include "agent/ovn/nb_sb_pairing.h"
#include "base/time.h"
#include "config/config.h"
#include "config/reload_plan.h"
#include "incidents/change_feed.h"
#include "incidents/hold.h"
#include "judge/raft/assess.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/verdict.h"
#include "serve/raft/cluster_view.h"

namespace wardmote::agent {

/// Whether it was asked, and did not answer.
bool failed(const judge::raft::Source& source) noexcept;

/// The clusters' part of the board: what their watches report to. Counts, compares northbound with
/// southbound, shows each judgement, tells what changed, and feeds the check that stands for the
/// cluster. Time is a parameter. Life cycle: the board and the feed outlive it. Thread: the core
/// loop.
class ClusterBoard {
 public:
  ClusterBoard(Board& board, incidents::ChangeFeed& feed, incidents::Holds holds)
      : board_(board), feed_(feed), holds_(std::move(holds)) {}

  /// Goes over to another configuration by `plan`, which leads to `config`. What is kept or retimed
  /// keeps its state and counters. Clusters have the indexes that they have in `config`.
  void reload(const config::Config& config, const config::ReloadPlan& plan, TimePoint now);

  /// Member `member` of cluster `cluster` was looked at; counts only.
  void member_observed(std::size_t cluster, std::size_t member, const judge::raft::Opinion& seen);
  /// Cluster `cluster` was judged; `final_of_round` when no member's answer is awaited any more. A
  /// round is fed to the cluster's check once, as soon as it is bad, and once more if its end is
  /// not.
  void cluster_judged(std::size_t cluster, std::vector<judge::raft::Opinion> opinions,
                      judge::raft::Assessment assessment, TimePoint now, bool final_of_round);
  /// A piece of bad news was void because the agent was starved.
  void voided() noexcept { board_.voided(); }

  /// As judged last.
  [[nodiscard]] const serve::ClusterView& cluster(std::size_t index) const {
    return *clusters_.at(index).shown;
  }

 private:
  struct Entry {
    std::shared_ptr<const serve::ClusterView> shown;
    serve::ClusterCounters counters;
    judge::raft::MemberId leader;  ///< the last that was known
    std::uint64_t term = 0;        ///< the highest seen
    incidents::Hold hold;
    bool whole = false;     ///< every member was asked once
    bool told = false;      ///< its check, in the middle of a round, that it is bad
    std::size_t check = 0;  ///< that stands for it, on the board
  };

  static bool is_news(Entry& entry, judge::Verdict verdict, bool final_of_round);
  void count(Entry& entry, const serve::ClusterView& view);

  Board& board_;
  incidents::ChangeFeed& feed_;
  incidents::Holds holds_;
  NbSbPairing pairing_;
  std::vector<Entry> clusters_;
};

}  // namespace wardmote::agent
