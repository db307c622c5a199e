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
  /// Revisions that a watch may be behind.
  Revision history = 1000;
  /// How soon a watch sees what another process did.
  Duration look_every = std::chrono::milliseconds(100);
};

/// The store in an SQLite file that several processes of one host may share. Nobody serves it:
/// whoever touches it first removes what has lapsed, so that no read ever shows a key of a lease
/// that ended before. Leases are counted by the host's clock since its start, and none outlives the
/// start that it was granted in. Life cycle: open() first; the database outlives it. Thread: the
/// core loop.
///
/// A watch asks for new revisions every `look_every`. The other ways to hear of another process
/// would not spare that: inotify shows the pages that a transaction writes long before it is
/// committed and not that a lease lapsed, and `PRAGMA data_version` costs as much as this query and
/// says less.
class EmbeddedStore final : public Store {
 public:
  /// `boot` names the start of the host (/proc/sys/kernel/random/boot_id).
  EmbeddedStore(runtime::Runtime& runtime, runtime::Database& database, std::string boot,
                EmbeddedLimits limits = {})
      : runtime_(runtime), database_(database), boot_(std::move(boot)), limits_(limits) {}

  /// Makes the tables.
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
};

}  // namespace wardmote::store
