#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "codec/etcd/messages.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/beat.h"
#include "store/etcd/client.h"
#include "store/seen_revision.h"
#include "store/store.h"

namespace wardmote::store::etcd {

/// The store in an etcd cluster: every key has `prefix` in front of it there. Leases are of whole
/// seconds, and etcd makes the shortest ones longer. Life cycle: stop() after all that use it have
/// ended. Thread: the core loop.
class EtcdStore final : public Store {
 public:
  /// `beat_key`: where the agents that share the store keep their beat, behind `prefix`.
  EtcdStore(runtime::Runtime& runtime, ClientOptions options, std::string prefix,
            std::string beat_key = std::string(kBeatKey));

  runtime::Task<Result<Found>> get(std::string key, runtime::Deadline deadline) override;
  runtime::Task<Result<Snapshot>> list(KeyRange keys, runtime::Deadline deadline) override;
  runtime::Task<Result<Committed>> put_if(Transaction transaction,
                                          runtime::Deadline deadline) override;
  std::unique_ptr<Watch> watch(KeyRange keys, Revision from) override;
  runtime::Task<Result<Lease>> grant(Duration ttl, runtime::Deadline deadline) override;
  runtime::Task<Result<Lease>> keep_alive(LeaseId lease, runtime::Deadline deadline) override;
  runtime::Task<Result<void>> revoke(LeaseId lease, runtime::Deadline deadline) override;
  /// etcd takes 128 changes and 1.5 MiB by default.
  [[nodiscard]] TransactionLimits limits() const noexcept override { return {100, 512 << 10}; }

  runtime::Task<void> stop() { return client_.stop(); }
  [[nodiscard]] Client& client() noexcept { return client_; }

 private:
  [[nodiscard]] codec::etcd::Keys keys_of(const KeyRange& keys) const;
  runtime::Task<Result<void>> look_at_beat(SeenRevision::Mark asked, runtime::Deadline deadline);
  [[nodiscard]] codec::etcd::TxnRequest request_of(const Transaction& transaction) const;

  runtime::Runtime& runtime_;
  const std::string prefix_;
  const std::string beat_key_;
  Client client_;
};

}  // namespace wardmote::store::etcd
