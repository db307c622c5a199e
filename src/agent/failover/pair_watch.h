#pragma once

#include <map>
#include <memory>
#include <string>

#include "agent/board.h"
#include "agent/domain.h"
#include "agent/domains.h"
#include "base/result.h"
#include "config/config.h"
#include "config/reload_plan.h"
#include "incidents/hold.h"
#include "judge/condition/condition_tracker.h"
#include "judge/failover/report.h"
#include "judge/incident/news.h"
#include "judge/observation.h"
#include "observe/probe.h"
#include "runtime/runtime.h"
#include "serve/failover/pair_view.h"

namespace wardmote::agent {

/// Judges the failover pairs by what their managers on this node report (failover_pairs.h), which
/// know what all nodes of a pair have told in the store. Each pair is a check, whose look is a
/// judgement; what stands goes to the board. A pair that only a reload brought has no manager yet.
class PairWatch final : public Domain {
 public:
  explicit PairWatch(const DomainTools& tools)
      : runtime_(tools.runtime),
        board_(tools.board),
        holds_(incidents::holds_of(tools.incidents)),
        pairs_(tools.pairs) {}

  static void depend(const config::Config& config, judge::incident::Dependencies& known);
  Result<Adopt> prepare(const config::Config& next) override;
  [[nodiscard]] const observe::ProbeKind& kind() const noexcept override;
  std::unique_ptr<observe::Probe> probe(const config::Check& check) override;

  /// Judges the pair of this name now. Unknown where it has no manager.
  judge::Observation judge(const std::string& name);

 private:
  struct Pair {
    judge::ConditionTracker conditions;
    incidents::Hold hold;
    std::shared_ptr<const serve::PairView> shown;
  };

  void adopt(const config::Config& now);

  runtime::Runtime& runtime_;
  Board& board_;
  incidents::Holds holds_;
  const PairReports& pairs_;
  std::map<std::string, Pair> watched_;
};

}  // namespace wardmote::agent
