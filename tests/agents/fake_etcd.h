#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "sim/parking.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/store.h"

namespace wardmote::agents {

/// Which start of which agent; 0: nobody.
using LifeId = std::uint64_t;

/// A fake etcd cluster in virtual time: revisions, transactions, leases by a clock of its own,
/// watches that may lag, compaction. It is a fake because real etcd needs real time; the suite in
/// tests/conformance and tests/integration/test_etcd.py say what the real one does. It knows what
/// nobody else knows: who really leads, and who wrote what.
class FakeEtcd {
 public:
  /// A transaction that held, as it came about.
  struct Commit {
    LifeId writer = 0;
    LifeId leader = 0;  ///< who led before it
    const std::vector<store::KeyEvent>& events;
  };
  struct Entry {
    store::Revision revision = 0;
    TimePoint at;
    std::vector<store::KeyEvent> events;
  };
  class Watcher {
   public:
    virtual void committed(const Entry& entry) = 0;

   protected:
    ~Watcher() = default;
  };

  /// Its clock runs `rate` times as fast as that of the agents. It remembers `history` revisions.
  FakeEtcd(sim::World& world, double rate, std::size_t history)
      : world_(world), rate_(rate), history_(history) {}

  void listen(std::function<void(const Commit&)> heard) { heard_ = std::move(heard); }
  /// No request reaches it, and no lease ends meanwhile. Whoever elects a leader among its members
  /// gives all leases their full time again.
  void set_away(bool away);
  [[nodiscard]] bool away() const noexcept { return away_; }
  /// How long a change takes.
  void set_slow(Duration time) noexcept { slow_ = time; }
  [[nodiscard]] Duration slow() const noexcept { return slow_; }

  /// From now on no packet comes late.
  void calm_down() noexcept { calm_ = true; }
  [[nodiscard]] bool calm() const noexcept { return calm_; }

  // What is asked of it.
  Result<store::Committed> put_if(const store::Transaction& transaction, LifeId writer);
  [[nodiscard]] store::Snapshot list(const store::KeyRange& keys) const;
  store::Lease grant(Duration ttl, LifeId life);
  Result<store::Lease> keep_alive(store::LeaseId lease);
  Result<void> revoke(store::LeaseId lease);

  // The truth.
  [[nodiscard]] const store::KeyValue* find(const std::string& key) const;
  /// Whose key stands first in the queue.
  [[nodiscard]] LifeId leader() const noexcept { return leader_; }

  // For watches.
  std::uint64_t add(Watcher* watcher);
  void remove(std::uint64_t watcher) { watchers_.erase(watcher); }
  [[nodiscard]] const std::deque<Entry>& entries() const noexcept { return entries_; }
  [[nodiscard]] store::Revision revision() const noexcept { return revision_; }
  [[nodiscard]] store::Revision compacted() const noexcept { return compacted_; }

 private:
  struct Term {
    Duration ttl{};
    LifeId life = 0;
    std::uint64_t renewals = 0;
  };

  [[nodiscard]] bool holds(const store::Compare& compare) const;
  void put(const store::Put& put, std::vector<store::KeyEvent>& events);
  void erase(const std::function<bool(const store::KeyValue&)>& unwanted,
             std::vector<store::KeyEvent>& events);
  void commit(std::vector<store::KeyEvent> events, LifeId writer);
  void find_leader();
  /// Ends the lease later, unless it is renewed.
  void arm(store::LeaseId lease, Term& term);

  sim::World& world_;
  const double rate_;
  const std::size_t history_;
  std::function<void(const Commit&)> heard_ = [](const Commit&) {};
  bool away_ = false;
  bool calm_ = false;
  Duration slow_{};
  store::Revision revision_ = 1;
  store::Revision compacted_ = 0;
  store::LeaseId last_lease_ = 0;
  std::map<std::string, store::KeyValue> keys_;
  std::map<store::LeaseId, Term> leases_;
  std::deque<Entry> entries_;
  LifeId leader_ = 0;
  std::string leader_key_;
  std::uint64_t last_watcher_ = 0;
  std::map<std::uint64_t, Watcher*> watchers_;
};

/// What lies between a node and something else; it outlives the agents of the node.
struct Link {
  bool cut = false;   ///< nothing passes
  bool deaf = false;  ///< requests arrive, and no answer comes back
  Duration way{};     ///< of a request, and of its answer, mostly
  Duration lag{};     ///< of watches
};

/// The store as one life of an agent sees it over its link. A request that was sent arrives also
/// when its agent is dead or no longer waits, perhaps much later.
class FakeStore final : public store::Store {
 public:
  FakeStore(sim::World& world, sim::SimRuntime& us, FakeEtcd& etcd, const Link& link, LifeId life)
      : world_(world), us_(us), etcd_(etcd), link_(link), life_(life) {}

  /// The process is dead: its calls end at once.
  void bury() noexcept { buried_ = true; }

  runtime::Task<Result<store::Found>> get(std::string key, runtime::Deadline deadline) override;
  runtime::Task<Result<store::Snapshot>> list(store::KeyRange keys,
                                              runtime::Deadline deadline) override;
  runtime::Task<Result<store::Committed>> put_if(store::Transaction transaction,
                                                 runtime::Deadline deadline) override;
  std::unique_ptr<store::Watch> watch(store::KeyRange keys, store::Revision from) override;
  runtime::Task<Result<store::Lease>> grant(Duration ttl, runtime::Deadline deadline) override;
  runtime::Task<Result<store::Lease>> keep_alive(store::LeaseId lease,
                                                 runtime::Deadline deadline) override;
  runtime::Task<Result<void>> revoke(store::LeaseId lease, runtime::Deadline deadline) override;
  /// So small that what a leader writes at once takes several transactions.
  [[nodiscard]] store::TransactionLimits limits() const noexcept override {
    return {.changes = 4, .bytes = 100'000};
  }

 private:
  class FakeWatch;

  template <class T>
  runtime::Task<Result<T>> ask(std::function<Result<T>()> question, Duration extra,
                               runtime::Deadline deadline);
  [[nodiscard]] Duration way() const;
  [[nodiscard]] bool reachable() const noexcept { return !link_.cut && !etcd_.away(); }

  sim::World& world_;
  sim::SimRuntime& us_;
  FakeEtcd& etcd_;
  const Link& link_;
  const LifeId life_;
  bool buried_ = false;
};

}  // namespace wardmote::agents
