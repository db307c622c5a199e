#pragma once

#include <boost/json/value.hpp>

#include "base/time.h"
#include "judge/raft/assess.h"
#include "judge/raft/memory.h"
#include "judge/verdict.h"
#include "serve/raft/cluster_view.h"
#include "store/evidence.h"

namespace wardmote::cli {

/// Judges one cluster round after round, both for live probes and for a recording, so that both
/// print the same. Pure.
class Judging {
 public:
  explicit Judging(const store::EvidenceHead& head);

  void take(store::EvidenceLook look);
  /// No further round follows, so a condition that would have to last longer must not pass as good.
  void finish();

  /// As `/api/v1/clusters/NAME`, at the moment of the last round.
  [[nodiscard]] boost::json::value result() const;
  [[nodiscard]] judge::Verdict verdict() const noexcept { return view_.assessment.verdict; }

 private:
  serve::ClusterView view_;
  judge::raft::Memory memory_;
  WallTime at_;
};

}  // namespace wardmote::cli
