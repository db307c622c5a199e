#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "runtime/event.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "store/store.h"

namespace wardmote::store {

/// Keeps some records of this agent in the store: one that is there while the agent lives, by a
/// lease, and others that stay. What cannot be written is written as soon as the store takes it.
/// Life cycle: start(), then stop() before destruction; the store outlives it. Thread: the core
/// loop.
class Presence {
 public:
  /// `key` goes with the lease, of `ttl`.
  Presence(runtime::Runtime& runtime, Store& store, std::string key, std::string value,
           Duration ttl);

  void start();
  /// Takes the leased record away.
  runtime::Task<void> stop();

  /// A record that stays. Of several that come at once only the last is written.
  void put(std::string key, std::string value);
  /// Why the records are not in the store.
  [[nodiscard]] const std::optional<std::string>& complaint() const noexcept { return complaint_; }

 private:
  runtime::Task<void> stay();
  /// From a lease to its end.
  runtime::Task<Result<void>> be_there();
  runtime::Task<void> write();

  runtime::Runtime& runtime_;
  Store& store_;
  const std::string key_;
  const std::string value_;
  const Duration ttl_;
  LeaseId lease_ = 0;
  std::map<std::string, std::string> unwritten_;
  std::optional<std::string> complaint_;
  runtime::Event put_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::store
