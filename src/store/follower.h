#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "store/store.h"

namespace wardmote::store {

/// Keeps in view what others write below a prefix. Life cycle: start(), then stop() before
/// destruction; what it borrows outlives it. Thread: the core loop.
class Follower {
 public:
  using Records = std::map<std::string, std::string>;  ///< values by key

  /// `changed` is called with all of it, at first and whenever some of it has changed. To write the
  /// same value again changes nothing.
  Follower(runtime::Runtime& runtime, Store& store, std::string prefix,
           std::function<void(const Records&)> changed);

  void start();
  runtime::Task<void> stop() { return tasks_.stop(); }

  [[nodiscard]] const Records& records() const noexcept { return records_; }
  /// When the store last answered; nothing: it never has.
  [[nodiscard]] std::optional<TimePoint> confirmed() const noexcept { return confirmed_; }

 private:
  runtime::Task<void> run();
  /// Lists, and follows from there until the store has forgotten what comes next.
  runtime::Task<Result<void>> follow();
  void apply(const WatchBatch& batch);

  runtime::Runtime& runtime_;
  Store& store_;
  const std::string prefix_;
  std::function<void(const Records&)> changed_;
  Records records_;
  std::optional<TimePoint> confirmed_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::store
