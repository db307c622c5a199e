#pragma once
// The room agent/ of the made-up domain.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agent/board.h"
#include "agent/domain.h"
#include "agent/domains.h"
#include "base/result.h"
#include "config/config.h"
#include "config/reload_plan.h"
#include "judge/condition/condition_tracker.h"
#include "judge/incident/news.h"
#include "judge/observation.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/runtime.h"
#include "serve/thing_view.h"
#include "unit/agent/toy_domain/counter.h"

namespace wardmote::agent::toy {

/// Counters are configured as checks of their kind: `counter: {of: web, most: 3}`. Looking at one
/// is judging it.
class Counters final : public Domain {
 public:
  explicit Counters(const DomainTools& tools) : runtime_(tools.runtime), board_(tools.board) {}

  /// Each counter stands below what it counts.
  static void depend(const config::Config& config, judge::incident::Dependencies& known);
  Result<Adopt> prepare(const config::Config& next) override;
  [[nodiscard]] const observe::ProbeKind& kind() const noexcept override;
  std::unique_ptr<observe::Probe> probe(const config::Check& check) override;
  void observed(const std::string& check, const judge::Observation& seen) override;

  judge::Observation judge(const std::string& name);

 private:
  struct Kept {
    judge::toy::Counter counter;
    judge::ConditionTracker memory;
    std::shared_ptr<const serve::ThingView> shown;
  };

  void adopt(const config::Config& now, const config::ReloadPlan& plan);

  runtime::Runtime& runtime_;
  Board& board_;
  std::map<std::string, Kept> counters_;
};

/// The product's, and this one behind them.
Domains domains_with_counters();
std::span<const observe::ProbeKind> kinds_with_counters();

}  // namespace wardmote::agent::toy
