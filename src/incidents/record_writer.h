#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/event.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "store/fenced_writer.h"
#include "store/leadership.h"
#include "store/records.h"
#include "store/store.h"

namespace wardmote::incidents {

/// Writes records into the store, in the name of the leader. What is put before the loop turns is
/// one transaction, so an incident and what is to be told of it are never apart. Life cycle: stop()
/// before destruction. Thread: the core loop.
class RecordWriter {
 public:
  /// `store` may be null: then nothing is written down, and everything else is the same. Both
  /// outlive it.
  RecordWriter(runtime::Runtime& runtime, store::Store* store, const store::Leadership& leadership)
      : runtime_(runtime),
        store_(store),
        leadership_(leadership),
        settled_(runtime.executor()),
        tasks_(runtime.executor()) {
    if (store != nullptr) writer_.emplace(*store, leadership, "last/write/records");
  }

  /// The records whose key begins with `prefix`.
  runtime::Task<Result<std::map<std::string, std::string>>> load(std::string prefix);
  /// Tries a last time to write what is not written.
  runtime::Task<void> stop();

  /// A text, or nothing to remove the record. Dropped while another agent leads.
  void put(std::string key, std::optional<std::string> value);
  /// At once, also while held back: of who begins to lead, after settle(). Errors as of
  /// FencedWriter; then some of it may be written.
  runtime::Task<Result<void>> write(store::RecordChanges changes);
  /// Calls `then` when all that was put so far is on stable storage. When that cannot be, after the
  /// attempt: to tell people of a fault comes before writing it down.
  void after_writing(std::function<void()> then);
  /// The store is shared: as long as it is not known whether something was written, another agent
  /// may lead, and tell people too. Then `then` waits; it is called when the store takes no more
  /// (kExhausted).
  void wait_for_store() noexcept { waits_for_store_ = true; }
  /// Forgets what is not written, and who waits for it: somebody else leads, and writes.
  void drop();
  /// Waits for the end of the write that is under way, and makes sure that none that was not
  /// answered comes later. An agent that lost the lead and won it again under the same fence may
  /// have begun it before; what is read earlier may be changed by it. Errors are the store's.
  runtime::Task<Result<void>> settle();
  /// Whether what is told and done now is told and done by who leads. The store may know of
  /// another leader before this agent does.
  [[nodiscard]] bool leads() const noexcept { return may_write() && !refused_; }
  [[nodiscard]] std::string another_leads() const { return leadership_.another_leads(); }
  /// Another number whenever the lead was lost or won: what was read under one number is of no use
  /// under another.
  [[nodiscard]] std::uint64_t term() const noexcept { return drops_; }
  /// While held back it is as if another agent led: what that one has written is not known yet.
  void hold_back(bool held) noexcept { held_ = held; }
  /// Whether the last that was put under this key is not known to be on stable storage yet.
  [[nodiscard]] bool owes(const std::string& key) const {
    return store_ != nullptr && (unwritten_.contains(key) || under_way_ > 0);
  }
  /// What holds the answer to an order until all that was put so far is written down, or says that
  /// it is not (503). Null without a database: then it holds as long as the agent lives.
  std::shared_ptr<runtime::HttpHold> hold();
  [[nodiscard]] const std::optional<std::string>& complaint() const noexcept { return complaint_; }

 private:
  [[nodiscard]] bool may_write() const noexcept { return leadership_.leads() && !held_; }
  void start();
  runtime::Task<void> keep_writing();
  runtime::Task<void> rest(Duration pause);
  runtime::Task<Result<void>> write_out();
  runtime::Task<Result<void>> write_some();
  /// As many of the changes as the store takes at once, the first ones.
  [[nodiscard]] store::RecordChanges take_some(store::RecordChanges& changes) const;

  runtime::Runtime& runtime_;
  store::Store* store_;
  const store::Leadership& leadership_;
  std::optional<store::FencedWriter> writer_;  ///< if there is a store
  store::RecordChanges unwritten_;
  std::vector<std::function<void()>> waiting_;
  std::vector<std::function<void()>> holds_;  ///< answers, which wait for one attempt only
  bool waits_for_store_ = false;
  std::uint64_t drops_ = 0;  ///< counts the times that what is not written was forgotten
  std::uint64_t torn_ = 0;   ///< the last of them that came while something was being written
  std::uint64_t torn_puts_ = 0;
  std::uint64_t puts_ = 0;
  std::uint64_t sent_puts_ = 0;  ///< up to which some were given to the store
  bool hurry_ = false;           ///< somebody has begun to wait
  bool writing_ = false;
  int under_way_ = 0;  ///< transactions
  runtime::Event settled_;
  bool refused_ = false;  ///< the fence did not hold
  bool held_ = false;
  std::optional<std::string> complaint_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::incidents
