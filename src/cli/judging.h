#pragma once

#include <boost/json/value.hpp>

#include "base/time.h"
#include "judge/raft/assess.h"
#include "judge/raft/memory.h"
#include "serve/view.h"
#include "store/evidence.h"

namespace wardmote::cli {

/// Judges one cluster look after look: the same for what is seen now and for what was recorded, so
/// that both end with the same words. Pure.
class Judging {
 public:
  explicit Judging(const store::EvidenceHead& head);

  void take(store::EvidenceLook look);
  /// Nobody looks again, so what was only seen and would have to stand longer must not pass as
  /// good.
  void finish();

  /// As `/api/v1/clusters/NAME`, at the moment of the last look.
  [[nodiscard]] boost::json::value result() const;
  [[nodiscard]] judge::raft::Verdict verdict() const noexcept { return view_.assessment.verdict; }

 private:
  serve::ClusterView view_;
  judge::raft::Memory memory_;
  WallTime at_;
};

}  // namespace wardmote::cli
