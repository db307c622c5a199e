#include "agents/fake_etcd.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
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

using runtime::Deadline;
using runtime::Task;
using store::Committed;
using store::Compare;
using store::Found;
using store::KeyEvent;
using store::KeyRange;
using store::KeyValue;
using store::Lease;
using store::LeaseId;
using store::Revision;
using store::Snapshot;
using store::WatchBatch;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view kQueue = "leader/";
/// How long after the end of a lease etcd may take its keys away.
constexpr std::uint64_t kLateness = 500'000'000;
/// A packet that is sent again and again may come this late, when nobody waits for it any more.
constexpr std::uint64_t kLatest = 60'000'000'000;
constexpr double kStraggles = 0.01;

template <class T>
bool related(Compare::Relation relation, const T& value, const T& operand) {
  switch (relation) {
    case Compare::Relation::kEqual: return value == operand;
    case Compare::Relation::kNotEqual: return value != operand;
    case Compare::Relation::kLess: return value < operand;
    case Compare::Relation::kGreater: return value > operand;
  }
  return false;
}

bool holds_for(const Compare& compare, const KeyValue& key) {
  const auto number = [&](std::int64_t value) {
    return related(compare.relation, value, std::get<std::int64_t>(compare.operand));
  };
  switch (compare.target) {
    case Compare::Target::kVersion: return number(key.version);
    case Compare::Target::kCreateRevision: return number(key.create_revision);
    case Compare::Target::kModRevision: return number(key.mod_revision);
    case Compare::Target::kLease: return number(key.lease);
    case Compare::Target::kValue:
      return related(compare.relation, key.value, std::get<std::string>(compare.operand));
  }
  return false;
}

}  // namespace

void FakeEtcd::set_away(bool away) {
  if (std::exchange(away_, away) == away || away) return;
  for (auto& [lease, term] : leases_) arm(lease, term);
}

const KeyValue* FakeEtcd::find(const std::string& key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? nullptr : &found->second;
}

bool FakeEtcd::holds(const Compare& compare) const {
  bool any = false;
  for (auto key = keys_.lower_bound(compare.keys.begin);
       key != keys_.end() && compare.keys.holds(key->first); ++key) {
    any = true;
    if (!holds_for(compare, key->second)) return false;
  }
  return any || (compare.target != Compare::Target::kValue && holds_for(compare, KeyValue{}));
}

Result<Committed> FakeEtcd::put_if(const store::Transaction& transaction, LifeId writer) {
  if (auto makes_sense = store::check_sense(transaction); !makes_sense)
    return std::unexpected(makes_sense.error());
  if (!std::ranges::all_of(transaction.conditions, [&](const auto& one) { return holds(one); }))
    return Committed{false, revision_};
  for (const store::StoreChange& change : transaction.changes) {
    const auto* const put = std::get_if<store::Put>(&change);
    if (put != nullptr && put->lease != 0 && !leases_.contains(put->lease))
      return fail(Errc::kRejected, "the lease is gone");
  }
  std::vector<KeyEvent> events;
  for (const store::StoreChange& change : transaction.changes) {
    if (const auto* const one = std::get_if<store::Put>(&change)) {
      put(*one, events);
    } else {
      const KeyRange& keys = std::get<store::Erase>(change).keys;
      erase([&](const KeyValue& key) { return keys.holds(key.key); }, events);
    }
  }
  commit(std::move(events), writer);
  return Committed{true, revision_};
}

void FakeEtcd::put(const store::Put& put, std::vector<KeyEvent>& events) {
  KeyValue& key = keys_[put.key];
  key.key = put.key;
  key.value = put.value;
  key.mod_revision = revision_ + 1;
  if (key.version == 0) key.create_revision = key.mod_revision;
  ++key.version;
  key.lease = put.lease;
  events.push_back({false, key});
}

void FakeEtcd::erase(const std::function<bool(const KeyValue&)>& unwanted,
                     std::vector<KeyEvent>& events) {
  std::erase_if(keys_, [&](const auto& key) {
    if (!unwanted(key.second)) return false;
    events.push_back({true, {.key = key.first, .value = {}, .mod_revision = revision_ + 1}});
    return true;
  });
}

void FakeEtcd::commit(std::vector<KeyEvent> events, LifeId writer) {
  if (events.empty()) return;
  const LifeId led = leader_;
  entries_.push_back({++revision_, world_.now(), std::move(events)});
  if (entries_.size() > history_) {
    compacted_ = entries_.front().revision;
    entries_.pop_front();
  }
  find_leader();
  const Entry& entry = entries_.back();
  heard_({writer, led, entry.events});
  for (const auto& [id, watcher] : watchers_) watcher->committed(entry);
}

void FakeEtcd::find_leader() {
  const KeyValue* first = nullptr;
  for (auto key = keys_.lower_bound(std::string(kQueue));
       key != keys_.end() && key->first.starts_with(kQueue); ++key) {
    const bool earlier = first == nullptr || key->second.create_revision < first->create_revision;
    if (earlier) first = &key->second;
  }
  const std::string now = first == nullptr ? "" : first->key;
  if (now == leader_key_) return;
  leader_key_ = now;
  leader_ = first == nullptr ? 0 : leases_.at(first->lease).life;
}

Snapshot FakeEtcd::list(const KeyRange& keys) const {
  Snapshot snapshot{revision_, {}};
  for (auto key = keys_.lower_bound(keys.begin); key != keys_.end() && keys.holds(key->first);
       ++key)
    snapshot.keys.push_back(key->second);
  return snapshot;
}

Lease FakeEtcd::grant(Duration ttl, LifeId life) {
  Term& term = leases_[++last_lease_];
  term = {ttl, life, 0};
  arm(last_lease_, term);
  return {last_lease_, ttl};
}

void FakeEtcd::arm(LeaseId lease, Term& term) {
  const std::uint64_t renewal = ++term.renewals;
  const Duration ours(static_cast<std::int64_t>(static_cast<double>(term.ttl.count()) / rate_));
  const Duration late(world_.random().chance(0.5) ? world_.random().below(kLateness) : 0);
  world_.schedule(world_.now() + ours + late, [this, lease, renewal] {
    const auto found = leases_.find(lease);
    if (away_ || found == leases_.end() || found->second.renewals != renewal) return;
    static_cast<void>(revoke(lease));
  });
}

Result<Lease> FakeEtcd::keep_alive(LeaseId lease) {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return fail(Errc::kMissing, "lease {}", lease);
  arm(lease, found->second);
  return Lease{lease, found->second.ttl};
}

Result<void> FakeEtcd::revoke(LeaseId lease) {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return fail(Errc::kMissing, "lease {}", lease);
  const LifeId life = found->second.life;
  std::vector<KeyEvent> events;
  erase([&](const KeyValue& key) { return key.lease == lease; }, events);
  leases_.erase(found);
  commit(std::move(events), life);
  return {};
}

std::uint64_t FakeEtcd::add(Watcher* watcher) {
  watchers_[++last_watcher_] = watcher;
  return last_watcher_;
}

class FakeStore::FakeWatch final : public store::Watch, public FakeEtcd::Watcher {
 public:
  FakeWatch(FakeStore& store, KeyRange keys, Revision from)
      : store_(store),
        keys_(std::move(keys)),
        next_(std::max<Revision>(from, 1)),
        bed_(store.us_),
        id_(store.etcd_.add(this)) {}
  ~FakeWatch() { store_.etcd_.remove(id_); }

  Task<Result<WatchBatch>> next(Deadline deadline) override {
    for (;;) {
      if (store_.buried_) co_return fail(Errc::kClosed, "the process is dead");
      TimePoint again = deadline.at;
      const bool hears = store_.reachable() && !store_.link_.deaf;
      if (hears) {
        Result<std::optional<WatchBatch>> found = look(&again);
        if (!found) co_return std::unexpected(found.error());
        if (*found) co_return *std::move(*found);
      }
      if (deadline.passed(store_.us_.now()))
        co_return fail(hears ? Errc::kTimeout : Errc::kClosed, "no events");
      const TimePoint until = std::min(again, deadline.at);
      co_await bed_.wait_until(until);
    }
  }

  void committed(const FakeEtcd::Entry& entry) override {
    const bool any = std::ranges::any_of(
        entry.events, [&](const KeyEvent& event) { return keys_.holds(event.key.key); });
    if (any) return bed_.wake();
    // etcd tells a watch that hears now of what is not for it, too.
    if (next_ == entry.revision && store_.reachable()) ++next_;
  }

 private:
  /// What has come; nothing: nothing has, and `again` is when something may have.
  Result<std::optional<WatchBatch>> look(TimePoint* again) {
    const FakeEtcd& etcd = store_.etcd_;
    if (next_ <= etcd.compacted()) return fail(Errc::kMissing, "revision {} is forgotten", next_);
    WatchBatch batch;
    const TimePoint now = store_.us_.now();
    auto entry = std::ranges::lower_bound(etcd.entries(), next_, {}, &FakeEtcd::Entry::revision);
    for (; entry != etcd.entries().end(); ++entry) {
      if (entry->at + store_.link_.lag > now) {
        *again = entry->at + store_.link_.lag;
        break;
      }
      // Several revisions may come at once, or one by one.
      if (!batch.events.empty() && store_.world_.random().chance(0.3)) break;
      for (const KeyEvent& event : entry->events) {
        if (keys_.holds(event.key.key)) batch.events.push_back(event);
      }
      next_ = entry->revision + 1;
    }
    if (batch.events.empty()) return std::nullopt;
    batch.upto = next_ - 1;
    return batch;
  }

  FakeStore& store_;
  const KeyRange keys_;
  Revision next_;
  sim::Parking bed_;
  const std::uint64_t id_;
};

Duration FakeStore::way() const {
  if (!etcd_.calm() && world_.random().chance(kStraggles))
    return Duration(world_.random().below(kLatest));
  return link_.way / 2 + Duration(world_.random().below(1'000'000)) +
         Duration(world_.random().below(static_cast<std::uint64_t>(link_.way.count()) + 1));
}

template <class T>
Task<Result<T>> FakeStore::ask(std::function<Result<T>()> question, Duration extra,
                               Deadline deadline) {
  struct Call {
    std::optional<Result<T>> answer;
    sim::Parking* bed = nullptr;
  };
  if (buried_) co_return fail(Errc::kClosed, "the process is dead");
  sim::Parking bed(us_);
  const auto call = std::make_shared<Call>();
  call->bed = &bed;
  struct Leave {
    Call* call;
    ~Leave() { call->bed = nullptr; }
  } const leave{call.get()};
  const auto answer = [call](Result<T> says) {
    call->answer = std::move(says);
    if (call->bed != nullptr) call->bed->wake();
  };
  if (!link_.cut) {
    // The store outlives the process; the link, too.
    world_.schedule(world_.now() + way() + extra,
                    [question = std::move(question), answer, &world = world_, &etcd = etcd_,
                     &link = link_, back = way()] {
                      if (link.cut) return;
                      if (etcd.away()) {
                        if (world.random().chance(0.5))
                          answer(fail(Errc::kClosed, "nobody is there"));
                        return;
                      }
                      Result<T> says = question();
                      world.schedule(world.now() + back, [answer, &link, says = std::move(says)] {
                        if (!link.cut && !link.deaf) answer(says);
                      });
                    });
  }
  while (!call->answer) {
    if (deadline.passed(us_.now())) co_return fail(Errc::kTimeout, "no answer");
    co_await bed.wait_until(deadline.at);
  }
  co_return *std::move(call->answer);
}

Task<Result<Found>> FakeStore::get(std::string key, Deadline deadline) {
  std::function<Result<Found>()> question = [&etcd = etcd_, key = std::move(key)] {
    const KeyValue* const found = etcd.find(key);
    return Found{etcd.revision(), found == nullptr ? std::nullopt : std::optional(*found)};
  };
  Result<Found> found = co_await ask<Found>(std::move(question), Duration::zero(), deadline);
  co_return found;
}

Task<Result<Snapshot>> FakeStore::list(KeyRange keys, Deadline deadline) {
  std::function<Result<Snapshot>()> question = [&etcd = etcd_, keys = std::move(keys)] {
    return etcd.list(keys);
  };
  Result<Snapshot> found = co_await ask<Snapshot>(std::move(question), Duration::zero(), deadline);
  co_return found;
}

Task<Result<Committed>> FakeStore::put_if(store::Transaction transaction, Deadline deadline) {
  std::function<Result<Committed>()> question = [&etcd = etcd_, life = life_,
                                                 transaction = std::move(transaction)] {
    return etcd.put_if(transaction, life);
  };
  const Duration extra = etcd_.slow();
  Result<Committed> done = co_await ask<Committed>(std::move(question), extra, deadline);
  co_return done;
}

std::unique_ptr<store::Watch> FakeStore::watch(KeyRange keys, Revision from) {
  return std::make_unique<FakeWatch>(*this, std::move(keys), from);
}

Task<Result<Lease>> FakeStore::grant(Duration ttl, Deadline deadline) {
  std::function<Result<Lease>()> question = [&etcd = etcd_, life = life_, ttl] {
    return etcd.grant(ttl, life);
  };
  const Duration extra = etcd_.slow();
  Result<Lease> lease = co_await ask<Lease>(std::move(question), extra, deadline);
  co_return lease;
}

Task<Result<Lease>> FakeStore::keep_alive(LeaseId lease, Deadline deadline) {
  std::function<Result<Lease>()> question = [&etcd = etcd_, lease] {
    return etcd.keep_alive(lease);
  };
  Result<Lease> kept = co_await ask<Lease>(std::move(question), Duration::zero(), deadline);
  co_return kept;
}

Task<Result<void>> FakeStore::revoke(LeaseId lease, Deadline deadline) {
  std::function<Result<void>()> question = [&etcd = etcd_, lease] { return etcd.revoke(lease); };
  const Duration extra = etcd_.slow();
  Result<void> done = co_await ask<void>(std::move(question), extra, deadline);
  co_return done;
}

}  // namespace wardmote::agents
