#pragma once

#include <map>
#include <optional>
#include <set>
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
  using Records = std::map<std::string, std::string>;  ///< values by key

  /// `key` goes with the lease, of `ttl`.
  Presence(runtime::Runtime& runtime, Store& store, std::string key, std::string value,
           Duration ttl);

  void start();
  /// Takes the leased record away.
  runtime::Task<void> stop();

  /// A record that stays. Of several that come at once only the last is written.
  void put(std::string key, std::string value);
  /// The same for what is true now only: while the store is full, the text of before is removed.
  void put_view(std::string key, std::string value);
  /// Whether all records are in the store as they were put; `stored` is what is there, of these and
  /// any other keys.
  [[nodiscard]] bool stays(const Records& stored) const { return lost(stored).empty(); }
  /// Whether what was put last may not be in the store yet.
  [[nodiscard]] bool owes(const std::string& key) const { return unwritten_.contains(key); }
  /// The store took nothing when something was written last: it is full.
  [[nodiscard]] bool full() const noexcept { return full_; }
  /// Writes what is not there as it was put.
  void write_again(const Records& stored);
  /// Why the records are not in the store.
  [[nodiscard]] const std::optional<std::string>& complaint() const noexcept {
    return unwritten_why_ ? unwritten_why_ : unleased_why_;
  }

 private:
  [[nodiscard]] Records lost(const Records& stored) const;
  runtime::Task<void> stay();
  /// From a lease to its end.
  runtime::Task<Result<void>> be_there();
  runtime::Task<void> write();
  /// Of what could not be written.
  runtime::Task<void> remove_views(Records records);

  runtime::Runtime& runtime_;
  Store& store_;
  const std::string key_;
  const std::string value_;
  const Duration ttl_;
  LeaseId lease_ = 0;
  Records records_;  ///< that stay, as they should be
  Records unwritten_;
  std::set<std::string> views_;  ///< keys
  std::optional<std::string> unwritten_why_;
  std::optional<std::string> unleased_why_;
  bool full_ = false;
  runtime::Event put_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::store
