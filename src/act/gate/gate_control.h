#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "act/act_log.h"
#include "act/gate/gate_node.h"
#include "base/result.h"
#include "base/time.h"
#include "control/written.h"
#include "judge/journal_entry.h"
#include "judge/plan/planner.h"
#include "judge/version_gate/release.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "store/plan_record.h"
#include "store/store.h"

namespace wardmote::act::gate {

/// Orders of operators to a gate: records beside its state, which all its nodes see. Each is in
/// this agent's journal before it is in the store. Life cycle: stop() before destruction; what it
/// borrows outlives it. Thread: the core loop.
class GateControl {
 public:
  using Written = Result<std::shared_ptr<control::Written>>;

  /// `journal` gives null while it is not open.
  GateControl(runtime::Runtime& runtime, store::Store& store, const GateNode& node,
              std::function<ActLog*()> journal);
  runtime::Task<void> stop() { return tasks_.stop(); }

  /// Nobody writes objects, for `time`; zero: until resume().
  Written pause(Duration time, const std::string& by);
  /// kRejected: this gate is not paused by itself. `everything`: that it is.
  Written resume(const std::string& by,
                 const std::optional<judge::plan::Pause>& everything = std::nullopt);
  /// Only nodes of this release and older ones write objects, until finalize(). kRejected: a newer
  /// release has written them already, an older one is preserved, or no node has this one.
  Written preserve(const judge::version_gate::Release& release, const std::string& by);
  Written finalize(const std::string& by);
  /// Removes the registration of a node that is gone for good. kMissing: it is not registered.
  /// kRejected: it is this one.
  Written forget(std::string_view node, const std::string& by);

 private:
  struct Order {
    std::string step;
    std::string subject;
    std::string by;
    std::string detail;
    std::string key;  ///< that is put or removed
    store::Transaction transaction;
  };
  Written give(Order order);
  runtime::Task<void> carry_out(Order order, std::shared_ptr<control::Written> written);
  runtime::Task<std::optional<std::string>> attempt(const Order* order, ActLog* journal);
  /// Waits a moment, so that the answer to an order shows what it has done.
  runtime::Task<void> see(const Order* order, store::Revision revision);
  [[nodiscard]] judge::JournalEntry entry(const Order& order, std::string kind,
                                          std::string detail) const;

  runtime::Runtime& runtime_;
  store::Store& store_;
  const GateNode& node_;
  const std::function<ActLog*()> journal_;
  store::PauseReader pause_reader_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::act::gate
