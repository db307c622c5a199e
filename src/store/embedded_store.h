#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/database.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/store.h"

namespace wardmote::store {

struct EmbeddedLimits {
  /// How many revisions a watch may be behind.
  Revision history = 1000;
  /// How soon a watch sees a change by another process.
  Duration look_every = std::chrono::milliseconds(100);
};

/// The store in an SQLite file that several processes of one host may share. No process serves the
/// file: each access first removes what has expired, so no read ever returns a key whose lease
/// ended before. Leases use the host's clock since boot, and none outlives the boot in which it was
/// granted. Life cycle: open() first; the database outlives it. Thread: the core loop. A watch asks
/// for new revisions every `look_every`. Other ways to notice another process are no better:
/// inotify reports the pages of a transaction long before its commit, and never an expired lease;
/// `PRAGMA data_version` costs as much as this query and says less.
class EmbeddedStore final : public Store {
 public:
  /// `boot` identifies the boot of the host (/proc/sys/kernel/random/boot_id).
  EmbeddedStore(runtime::Runtime& runtime, runtime::Database& database, std::string boot,
                EmbeddedLimits limits = {})
      : runtime_(runtime), database_(database), boot_(std::move(boot)), limits_(limits) {}

  /// Creates the tables. When that fails, list() and put_if() try it again.
  runtime::Task<Result<void>> open();

  runtime::Task<Result<Found>> get(std::string key, runtime::Deadline deadline) override;
  runtime::Task<Result<Snapshot>> list(KeyRange keys, runtime::Deadline deadline) override;
  runtime::Task<Result<Committed>> put_if(Transaction transaction,
                                          runtime::Deadline deadline) override;
  std::unique_ptr<Watch> watch(KeyRange keys, Revision from) override;
  runtime::Task<Result<Lease>> grant(Duration ttl, runtime::Deadline deadline) override;
  runtime::Task<Result<Lease>> keep_alive(LeaseId lease, runtime::Deadline deadline) override;
  runtime::Task<Result<void>> revoke(LeaseId lease, runtime::Deadline deadline) override;

 private:
  friend class EmbeddedWatch;
  [[nodiscard]] std::vector<runtime::SqlStatement> expiry() const;
  runtime::Task<Result<void>> expire(runtime::Deadline deadline);

  runtime::Runtime& runtime_;
  runtime::Database& database_;
  const std::string boot_;
  const EmbeddedLimits limits_;
  bool opened_ = false;
};

}  // namespace wardmote::store
