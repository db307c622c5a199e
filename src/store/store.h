#pragma once

#include <cstdint>
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

namespace wardmote::store {

// What agents share, in etcd's words and with etcd's meanings (etcd.io: API reference, v3), so that
// etcd can take the place of the file. Beginning with 1, each transaction that changes something
// makes the next revision; a revision is never used twice.

using Revision = std::int64_t;
/// 0: none.
using LeaseId = std::int64_t;

struct KeyValue {
  std::string key;
  std::string value;
  Revision create_revision = 0;  ///< that made it; a key that was removed and came back is another
  Revision mod_revision = 0;     ///< that changed it last
  std::int64_t version = 0;      ///< 1, and one more with each change
  LeaseId lease = 0;             ///< that it goes with
  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};

/// Keys from `begin` up to, and without, `end`, in the order of their bytes. No end: all that come
/// after.
struct KeyRange {
  std::string begin;
  std::string end;

  static KeyRange one(std::string_view key);
  /// All keys that begin with `prefix`; an empty one is all there are.
  static KeyRange prefix(std::string_view prefix);
  [[nodiscard]] bool holds(std::string_view key) const noexcept;
};

/// A condition of a transaction: it must hold for each key of the range. Where there is none,
/// numbers are 0 and no condition on a value holds.
struct Compare {
  enum class Target : std::uint8_t { kVersion, kCreateRevision, kModRevision, kLease, kValue };
  enum class Relation : std::uint8_t { kEqual, kNotEqual, kLess, kGreater };
  KeyRange keys;
  Target target = Target::kVersion;
  Relation relation = Relation::kEqual;
  std::variant<std::int64_t, std::string> operand;  ///< a text for kValue, else a number

  /// That nobody has made the key.
  static Compare absent(std::string_view key);
  /// That the key is the one which that revision made: the fence of everything that only its owner
  /// may write.
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

/// All changes when all conditions hold, else none. No key is put twice, nor put and erased. (etcd
/// takes 128 changes and 1.5 MiB unless it is told otherwise; the file has no such limit.)
struct Transaction {
  std::vector<Compare> conditions;
  std::vector<StoreChange> changes;
};

struct Committed {
  bool held = false;      ///< the conditions did
  Revision revision = 0;  ///< of the store after it; where `held`, that of the changes if any
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
  bool removed = false;  ///< then `key` has the name and the revision only
  KeyValue key;
  friend bool operator==(const KeyEvent&, const KeyEvent&) = default;
};

/// What happened to some keys: whole revisions, in order, all of them up to `upto` (which may be
/// behind the store's own: who acts on `upto` has missed nothing). To go on later: `upto` + 1.
struct WatchBatch {
  Revision upto = 0;
  std::vector<KeyEvent> events;
};

struct Lease {
  LeaseId id = 0;
  Duration ttl{};  ///< may be longer than what was asked for
};

/// Tells what happens to some keys. One call at a time; outlived by its store.
class Watch {
 public:
  Watch() = default;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  virtual ~Watch() = default;

  /// Waits for the next events. kTimeout: there were none, ask again. kMissing: what happened next
  /// is forgotten already; list the keys, and watch from there. Others as for Store.
  virtual runtime::Task<Result<WatchBatch>> next(runtime::Deadline deadline) = 0;
};

/// Coordination: keys with revisions, transactions, leases, watches. Production: EmbeddedStore.
/// Thread: the core loop.
///
/// Errors: those of runtime::Database. After kTimeout, kClosed or kInternal of a change nobody
/// knows whether it was done: read, and compare. kInvalid: a transaction that makes no sense.
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  virtual runtime::Task<Result<Found>> get(std::string key, runtime::Deadline deadline) = 0;
  virtual runtime::Task<Result<Snapshot>> list(KeyRange keys, runtime::Deadline deadline) = 0;
  /// kRejected: a lease that a key should go with is gone.
  virtual runtime::Task<Result<Committed>> put_if(Transaction transaction,
                                                  runtime::Deadline deadline) = 0;
  /// What happens from revision `from` on, that one included: `from` = snapshot.revision + 1 goes
  /// on where a list ends.
  virtual std::unique_ptr<Watch> watch(KeyRange keys, Revision from) = 0;

  /// Time is counted by a clock that goes on while the machine sleeps. A lease that is not kept
  /// alive for its `ttl` lapses, and the keys that go with it are removed: one revision.
  virtual runtime::Task<Result<Lease>> grant(Duration ttl, runtime::Deadline deadline) = 0;
  /// Counts from the moment of this call. kMissing: it has lapsed or was revoked.
  virtual runtime::Task<Result<Lease>> keep_alive(LeaseId lease, runtime::Deadline deadline) = 0;
  /// Ends it at once. kMissing as above.
  virtual runtime::Task<Result<void>> revoke(LeaseId lease, runtime::Deadline deadline) = 0;
};

}  // namespace wardmote::store
