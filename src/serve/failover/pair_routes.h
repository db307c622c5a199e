#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "control/written.h"
#include "judge/failover/report.h"
#include "serve/route.h"
#include "store/failover_record.h"

namespace wardmote::serve {

/// The pairs of databases that this agent manages. Thread: the core loop.
class FailoverView {
 public:
  FailoverView() = default;
  FailoverView(const FailoverView&) = delete;
  FailoverView& operator=(const FailoverView&) = delete;
  virtual ~FailoverView() = default;

  using Written = Result<std::shared_ptr<control::Written>>;

  /// In the order of the configuration.
  [[nodiscard]] virtual std::vector<judge::failover::PairReport> pairs() const = 0;
  /// Orders are records in the store. kMissing: there is no such pair. kInvalid: no such node.
  /// `to` may be empty; `force`: whatever the others have.
  virtual Written hand_over(std::string_view pair, std::string to, bool force, std::string by) = 0;
  /// One at a time, kRejected else; kInvalid also: its time is over.
  virtual Written schedule(std::string_view pair, store::FailoverSchedule switchover) = 0;
  /// Nothing is scheduled any more.
  virtual Written flush(std::string_view pair) = 0;
  virtual Written edit(std::string_view pair, const store::FailoverEdit& edit) = 0;
  /// For `time`; zero: until resume.
  virtual Written pause_pair(std::string_view pair, Duration time, std::string by) = 0;
  virtual Written resume_pair(std::string_view pair) = 0;
};

/// Orders below /api/v1/failover/{name}, and /primary/{name} and /replica/{name} for load
/// balancers, which tell what is this very moment. `view` outlives them; null: the agent has no
/// pairs.
std::vector<Route> failover_routes(FailoverView* view);

}  // namespace wardmote::serve
