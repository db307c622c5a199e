#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "act/act_log.h"
#include "act/failover/pair_manager.h"
#include "base/result.h"
#include "base/time.h"
#include "config/failover.h"
#include "judge/failover/report.h"
#include "runtime/links.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/failover/pair_routes.h"
#include "store/failover_record.h"
#include "store/store.h"

namespace wardmote::daemon {

/// This node's part in the failover pairs of the configuration. Life cycle: start(), then stop()
/// before destruction; what it borrows outlives it. Thread: the core loop.
class FailoverPairs final : public serve::FailoverView {
 public:
  FailoverPairs(runtime::Runtime& runtime, store::Store& store, runtime::Links& links,
                const std::string& node, const std::vector<config::Failover>& pairs,
                const std::function<act::ActLog*()>& journal);

  void start();
  /// Gives up what this node is active for, in good order where that can be done.
  runtime::Task<void> stop();

  // serve::FailoverView
  [[nodiscard]] std::vector<judge::failover::PairReport> pairs() const override;
  Written hand_over(std::string_view pair, std::string to, bool force, std::string by) override;
  Written schedule(std::string_view pair, store::FailoverSchedule switchover) override;
  Written flush(std::string_view pair) override;
  Written edit(std::string_view pair, const store::FailoverEdit& edit) override;
  Written pause_pair(std::string_view pair, Duration time, std::string by) override;
  Written resume_pair(std::string_view pair) override;

 private:
  [[nodiscard]] act::failover::PairManager* find(std::string_view name) const noexcept;
  [[nodiscard]] Result<act::failover::PairManager*> manager_of(
      std::string_view pair, const std::string& member = {}) const;

  runtime::Runtime& runtime_;
  std::vector<std::unique_ptr<act::failover::PairManager>> pairs_;
};

}  // namespace wardmote::daemon
