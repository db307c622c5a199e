#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "store/seen_revision.h"

namespace wardmote::store {

// The data that agents share, with the names and meanings of etcd (etcd.io: API reference, v3), so
// that etcd can implement this interface too.

/// 0: none.
using LeaseId = std::int64_t;

struct KeyValue {
  std::string key;
  std::string value;
  /// the revision that created the key; a key that was removed and created again is another key
  Revision create_revision = 0;
  Revision mod_revision = 0;  ///< the revision of the last change
  std::int64_t version = 0;   ///< 1 at first; each change adds 1
  LeaseId lease = 0;          ///< the lease of the key
  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};

/// Keys from `begin` to before `end`, in the order of their bytes. No end: all keys from `begin`
/// on.
struct KeyRange {
  std::string begin;
  std::string end;

  static KeyRange one(std::string_view key);
  /// All keys that begin with `prefix`; an empty one is all there are.
  static KeyRange prefix(std::string_view prefix);
  [[nodiscard]] bool holds(std::string_view key) const noexcept;
};

/// A condition of a transaction: it must hold for each key of the range. For a key that does not
/// exist, numbers are 0, and no condition on a value holds.
struct Compare {
  enum class Target : std::uint8_t { kVersion, kCreateRevision, kModRevision, kLease, kValue };
  enum class Relation : std::uint8_t { kEqual, kNotEqual, kLess, kGreater };
  KeyRange keys;
  Target target = Target::kVersion;
  Relation relation = Relation::kEqual;
  std::variant<std::int64_t, std::string> operand;  ///< a text for kValue, else a number

  /// That the key does not exist.
  static Compare absent(std::string_view key);
  static Compare present(std::string_view key);
  /// That the key is the one that this revision created: the fence of everything that only its
  /// owner may write.
  static Compare created_at(std::string_view key, Revision revision);
  static Compare unchanged_since(std::string_view key, Revision mod_revision);
};

struct Put {
  std::string key;
  std::string value;
  LeaseId lease = 0;
};
struct Erase {
  KeyRange keys;
};
using StoreChange = std::variant<Put, Erase>;

/// All changes if all conditions hold, else none. A key must not be put twice, nor put and erased.
/// (etcd accepts 128 changes and 1.5 MiB by default; the file has no such limit.)
struct Transaction {
  std::vector<Compare> conditions;
  std::vector<StoreChange> changes;
};

/// How many changes, and how many bytes of keys and values before the last change.
struct TransactionLimits {
  std::size_t changes = std::numeric_limits<std::size_t>::max();
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
};

/// kInvalid: a transaction that contradicts itself, or puts a key without a name.
Result<void> check_sense(const Transaction& transaction);

struct Committed {
  bool held = false;      ///< all conditions held
  Revision revision = 0;  ///< the revision of the store afterwards; if `held`, that of the changes
};

/// Some keys at one moment, in order.
struct Snapshot {
  Revision revision = 0;
  std::vector<KeyValue> keys;
};

struct Found {
  Revision revision = 0;
  std::optional<KeyValue> key;
};

struct KeyEvent {
  bool removed = false;  ///< then `key` has only the name and the revision
  KeyValue key;
  friend bool operator==(const KeyEvent&, const KeyEvent&) = default;
};

/// The events of some keys: whole revisions, in order, all of them up to `upto` (which may be
/// behind the store's own revision: a reader that has handled `upto` has missed nothing). Continue
/// with `upto` + 1.
struct WatchBatch {
  Revision upto = 0;
  std::vector<KeyEvent> events;
};

struct Lease {
  LeaseId id = 0;
  Duration ttl{};  ///< may be more than was asked for
};

/// Reports the events of some keys. One call at a time; its store outlives it.
class Watch {
 public:
  Watch() = default;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  virtual ~Watch() = default;

  /// Waits for the next events. kTimeout: there were none, ask again. kMissing: the store does not
  /// have what comes next, because it has forgotten that, or because its history began anew behind
  /// it (it was restored or is another); list the keys, and watch from there. Others as for Store.
  virtual runtime::Task<Result<WatchBatch>> next(runtime::Deadline deadline) = 0;
  /// Whether the store was away meanwhile, and has answered since. It may be another one, in which
  /// so much was written that nothing shows it: whoever must not miss anything lists the keys anew.
  [[nodiscard]] virtual bool resumed() const noexcept { return false; }
};

/// Coordination: keys with revisions, transactions, leases, watches. Production: EmbeddedStore, and
/// etcd::EtcdStore.
/// Thread: the core loop. Errors: those of runtime::Database. After kTimeout, kClosed or kInternal
/// of a change, it is not known whether the change was made: read, and compare. kInvalid: a
/// transaction that contradicts itself.
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  virtual runtime::Task<Result<Found>> get(std::string key, runtime::Deadline deadline) = 0;
  virtual runtime::Task<Result<Snapshot>> list(KeyRange keys, runtime::Deadline deadline) = 0;
  /// kRejected: the lease of a key is gone.
  virtual runtime::Task<Result<Committed>> put_if(Transaction transaction,
                                                  runtime::Deadline deadline) = 0;
  /// The events from revision `from` on, inclusive: `from` = snapshot.revision + 1 continues after
  /// a list.
  virtual std::unique_ptr<Watch> watch(KeyRange keys, Revision from) = 0;

  /// Leases use a clock that runs during suspend. A lease that is not kept alive for its `ttl`
  /// expires, and its keys are removed: one revision.
  virtual runtime::Task<Result<Lease>> grant(Duration ttl, runtime::Deadline deadline) = 0;
  /// Extends the lease from the moment of this call. kMissing: it has expired or was revoked.
  virtual runtime::Task<Result<Lease>> keep_alive(LeaseId lease, runtime::Deadline deadline) = 0;
  /// Ends the lease at once. kMissing as above.
  virtual runtime::Task<Result<void>> revoke(LeaseId lease, runtime::Deadline deadline) = 0;

  /// How large a transaction may be.
  [[nodiscard]] virtual TransactionLimits limits() const noexcept { return {}; }

  [[nodiscard]] SeenRevision& seen() noexcept { return seen_; }

 private:
  SeenRevision seen_;
};

}  // namespace wardmote::store
