#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "store/store.h"

namespace wardmote::store {

/// What a store is: the specification that implementations are compared with. It knows neither
/// files nor processes; time is a parameter.
class StoreModel {
 public:
  explicit StoreModel(Revision history) : history_(history) {}

  /// Nothing when a lease that a key should go with is gone.
  std::optional<Committed> put_if(const Transaction& transaction, TimePoint now) {
    const StoreModel before = *this;
    expire(now);
    const auto holds = [this](const Compare& compare) { return satisfied(compare); };
    if (!std::ranges::all_of(transaction.conditions, holds)) return Committed{false, revision_};
    for (const StoreChange& change : transaction.changes) {
      const auto* const put = std::get_if<Put>(&change);
      if (put != nullptr && put->lease != 0 && !leases_.contains(put->lease)) {
        *this = before;
        return std::nullopt;
      }
    }
    const Revision next = revision_ + 1;
    for (const StoreChange& change : transaction.changes) {
      if (const auto* const put = std::get_if<Put>(&change)) {
        write(*put, next);
      } else {
        erase_if([&](const KeyValue& key) { return std::get<Erase>(change).keys.holds(key.key); },
                 next);
      }
    }
    return Committed{true, revision_};
  }

  Snapshot list(const KeyRange& keys, TimePoint now) {
    if (any_lapsed(now)) expire(now);
    Snapshot snapshot{revision_, {}};
    for (const auto& [name, key] : keys_) {
      if (keys.holds(name)) snapshot.keys.push_back(key);
    }
    return snapshot;
  }

  LeaseId grant(Duration ttl, TimePoint now) {
    leases_[++last_lease_] = {ttl, now + ttl};
    return last_lease_;
  }
  bool keep_alive(LeaseId id, TimePoint now) {
    expire(now);
    const auto lease = leases_.find(id);
    if (lease == leases_.end()) return false;
    lease->second.expires = now + lease->second.ttl;
    return true;
  }
  bool revoke(LeaseId id, TimePoint now) {
    expire(now);
    if (leases_.erase(id) == 0) return false;
    erase_if([&](const KeyValue& key) { return key.lease == id; }, revision_ + 1);
    return true;
  }

  /// Everything from `from` on; nothing when some of it is forgotten.
  std::optional<std::vector<KeyEvent>> events(const KeyRange& keys, Revision from, TimePoint now) {
    if (any_lapsed(now)) expire(now);
    if (from <= compacted_) return std::nullopt;
    std::vector<KeyEvent> found;
    for (const auto& [place, event] : events_) {
      if (place.first >= from && keys.holds(place.second)) found.push_back(event);
    }
    return found;
  }
  [[nodiscard]] Revision revision() const noexcept { return revision_; }

 private:
  struct Term {
    Duration ttl;
    TimePoint expires;
  };

  [[nodiscard]] bool any_lapsed(TimePoint now) const {
    return std::ranges::any_of(leases_, [&](const auto& one) { return one.second.expires <= now; });
  }
  void expire(TimePoint now) {
    const auto lapsed = [&](LeaseId id) { return id != 0 && leases_.at(id).expires <= now; };
    erase_if([&](const KeyValue& key) { return lapsed(key.lease); }, revision_ + 1);
    std::erase_if(leases_, [&](const auto& one) { return one.second.expires <= now; });
    compacted_ = std::max(compacted_, revision_ - history_);
  }
  void write(const Put& put, Revision next) {
    KeyValue& key = keys_[put.key];
    key.key = put.key;
    key.value = put.value;
    key.create_revision = key.version == 0 ? next : key.create_revision;
    key.mod_revision = next;
    ++key.version;
    key.lease = put.lease;
    events_[{next, put.key}] = {false, key};
    revision_ = next;
  }
  void erase_if(const auto& unwanted, Revision next) {
    for (auto at = keys_.begin(); at != keys_.end();) {
      if (!unwanted(at->second)) {
        ++at;
        continue;
      }
      KeyValue removed{.key = at->first, .mod_revision = next};
      events_[{next, at->first}] = {true, std::move(removed)};
      revision_ = next;
      at = keys_.erase(at);
    }
  }
  [[nodiscard]] bool satisfied(const Compare& compare) const {
    bool any = false;
    for (const auto& [name, key] : keys_) {
      if (!compare.keys.holds(name)) continue;
      any = true;
      if (!satisfied(compare, key)) return false;
    }
    return any || (compare.target != Compare::Target::kValue && satisfied(compare, KeyValue{}));
  }
  static bool satisfied(const Compare& compare, const KeyValue& key) {
    switch (compare.target) {
      case Compare::Target::kVersion: return related(compare, key.version);
      case Compare::Target::kCreateRevision: return related(compare, key.create_revision);
      case Compare::Target::kModRevision: return related(compare, key.mod_revision);
      case Compare::Target::kLease: return related(compare, key.lease);
      case Compare::Target::kValue: return related(compare, key.value);
    }
    return false;
  }
  template <class T>
  static bool related(const Compare& compare, const T& value) {
    const T& operand = std::get<T>(compare.operand);
    switch (compare.relation) {
      case Compare::Relation::kEqual: return value == operand;
      case Compare::Relation::kNotEqual: return value != operand;
      case Compare::Relation::kLess: return value < operand;
      case Compare::Relation::kGreater: return value > operand;
    }
    return false;
  }

  Revision history_;
  Revision revision_ = 1;
  Revision compacted_ = 0;
  LeaseId last_lease_ = 0;
  std::map<std::string, KeyValue> keys_;
  std::map<LeaseId, Term> leases_;
  std::map<std::pair<Revision, std::string>, KeyEvent> events_;
};

}  // namespace wardmote::store
