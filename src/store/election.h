#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "store/leadership.h"
#include "store/store.h"

namespace wardmote::store {

struct ElectionOptions {
  /// The keys of the candidates are `<name>/<lease in hexadecimal>`, as `etcdctl elect <name>` and
  /// Go's concurrency package make them, so these can stand in the same queue.
  std::string name = "leader";
  std::string candidate;  ///< the value of our key: how this agent is called
  Duration ttl = std::chrono::seconds(6);
};

/// The election among agents that share a store. The candidate whose key was created first leads
/// until its key goes: FIFO by create revision. A leader verifies its own key when its turn comes,
/// watches it from then on, and stops working at two thirds of its lease, counted from the moment
/// before the last renewal was sent, by a clock that runs during suspend. A candidate that lost its
/// key or its lease queues again with a new one. All candidates are watched and not only the one in
/// front, since every agent shows who leads. A key without a lease, which somebody has written
/// over, would stand in the queue for ever: it is removed, by its owner at once, by others when the
/// lease that it had must have ended. Life cycle: start(), then stop() after the work has stopped
/// and before destruction; the store outlives it. Thread: the core loop.
class Election final : public Leadership {
 public:
  Election(runtime::Runtime& runtime, Store& store, ElectionOptions options);

  void start();
  /// Stops, and resigns: the next candidate leads at once.
  runtime::Task<void> stop();

  [[nodiscard]] bool leads() const noexcept override;
  /// Before this agent has led it never holds.
  [[nodiscard]] std::optional<Compare> fence() const override { return fence_; }
  void listen(std::function<void(bool leads)> changed) override;
  [[nodiscard]] std::string another_leads() const override;
  void give_up(const Error& why) override;
  /// Somebody stands first in the queue, as it is now, who can leave it.
  [[nodiscard]] bool is_led() const;

  struct Candidate {
    std::string name;  ///< the value of its key
    std::string key;
    Revision create_revision = 0;  ///< its token, if it leads
    bool leased = true;            ///< else it cannot lead, and is removed
  };
  /// Who stands in the queue, the leader first, as this agent knows it.
  [[nodiscard]] std::vector<Candidate> candidates() const;
  /// Our own key; empty while there is none.
  [[nodiscard]] const std::string& own_key() const noexcept { return key_; }
  /// Until when work may go on without another renewal. Only while it leads.
  [[nodiscard]] TimePoint work_until() const noexcept { return stop_at_; }
  /// When the store last confirmed what this agent knows of the queue.
  [[nodiscard]] std::optional<TimePoint> confirmed() const noexcept { return confirmed_; }
  /// Why this agent cannot take part now.
  [[nodiscard]] const std::optional<std::string>& complaint() const noexcept { return complaint_; }

 private:
  runtime::Task<void> run();
  /// From a lease to its end; why it ended.
  runtime::Task<Error> stand();
  runtime::Task<Result<void>> enter();
  /// Reads the queue, and watches it from there.
  runtime::Task<Result<void>> look(runtime::Deadline deadline);
  runtime::Task<Result<void>> renew();
  /// Waits for news of the queue until the next renewal.
  runtime::Task<Result<void>> follow();
  /// And waits a little.
  runtime::Task<void> complain(Error why);
  void apply(const WatchBatch& batch);
  /// Leads if it is our turn. An error: our key is gone.
  runtime::Task<Result<void>> take_turn();
  runtime::Task<void> watch_clock(std::uint64_t term);
  void extend(TimePoint from, Duration ttl);
  void begin_to_lead();
  void lose();
  [[nodiscard]] bool is_first() const;
  /// Whose turn it is; null: nobody stands.
  [[nodiscard]] const KeyValue* head() const;
  runtime::Task<void> remove_orphan();
  /// Unless it has changed since.
  runtime::Task<void> remove(KeyValue key);

  runtime::Runtime& runtime_;
  Store& store_;
  const ElectionOptions options_;
  const std::string prefix_;
  LeaseId lease_ = 0;
  std::string key_;
  Revision revision_ = 0;  ///< that created our key
  TimePoint stop_at_;      ///< work ends
  TimePoint expires_;      ///< the lease, unless it is renewed
  TimePoint renew_at_;
  bool leads_ = false;
  std::uint64_t term_ = 0;  ///< counts the times that we began to lead
  Compare fence_;
  std::map<std::string, KeyValue> queue_;
  /// The first in the queue has no lease.
  struct Orphan {
    Revision mod_revision = 0;
    TimePoint seen;
  };
  std::optional<Orphan> orphan_;
  std::unique_ptr<Watch> watch_;
  std::optional<TimePoint> confirmed_;
  std::optional<std::string> complaint_;
  std::optional<Error> gave_up_;
  std::vector<std::function<void(bool leads)>> listeners_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::store
