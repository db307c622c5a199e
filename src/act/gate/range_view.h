#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "store/store.h"

namespace wardmote::act::gate {

/// Keeps the keys below a prefix in view, with their revisions. It survives a watch that is lost, a
/// compaction, and a store whose history begins anew. Life cycle: start(), then stop() before
/// destruction; what it borrows outlives it. Thread: the core loop.
class RangeView {
 public:
  using Keys = std::map<std::string, store::KeyValue>;

  /// `changed` is called after each change of what is in view.
  RangeView(runtime::Runtime& runtime, store::Store& store, std::string prefix,
            std::function<void()> changed);

  void start();
  runtime::Task<void> stop() { return tasks_.stop(); }

  /// Reads all of it now, beside the watch. kRejected: what was read is older than what is in view;
  /// either the watch has come further meanwhile, or the store's history has begun anew, which the
  /// watch notices.
  runtime::Task<Result<void>> read(runtime::Deadline deadline);

  [[nodiscard]] const Keys& keys() const noexcept { return keys_; }
  [[nodiscard]] std::optional<store::KeyValue> find(const std::string& key) const;
  /// Up to this revision nothing is missing; 0: nothing was read yet.
  [[nodiscard]] store::Revision revision() const noexcept { return revision_; }
  /// Counts how often it was read anew because the watch could not go on: what happened in between
  /// was not seen.
  [[nodiscard]] int gaps() const noexcept { return gaps_; }
  /// When the store last confirmed it; nothing: it never has.
  [[nodiscard]] std::optional<TimePoint> confirmed() const noexcept { return confirmed_; }
  /// Why it cannot be followed now.
  [[nodiscard]] const std::optional<std::string>& complaint() const noexcept { return complaint_; }

 private:
  runtime::Task<void> run();
  runtime::Task<Result<void>> follow();
  void replace(store::Snapshot snapshot);
  void apply(const store::WatchBatch& batch);
  void confirm();

  runtime::Runtime& runtime_;
  store::Store& store_;
  const std::string prefix_;
  std::function<void()> changed_;
  Keys keys_;
  store::Revision revision_ = 0;
  int gaps_ = 0;
  std::optional<TimePoint> confirmed_;
  std::optional<std::string> complaint_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::act::gate
