#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "codec/etcd/messages.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/etcd/channel.h"
#include "store/etcd/client.h"
#include "store/seen_revision.h"
#include "store/store.h"

namespace wardmote::store::etcd {

/// A watch of etcd that survives its connection: after a break it continues with the revision
/// behind the last event that it returned. A server from which nothing comes is asked whether it is
/// there. Life cycle: `client` and `seen` outlive it. Thread: the core loop.
class EtcdWatch final : public Watch {
 public:
  /// `prefix` is cut off the names of keys.
  EtcdWatch(runtime::Runtime& runtime, Client& client, SeenRevision& seen, codec::etcd::Keys keys,
            std::string prefix, Revision from);

  /// kClosed and other errors of Client when the server did not answer until the deadline.
  runtime::Task<Result<WatchBatch>> next(runtime::Deadline deadline) override;
  [[nodiscard]] bool resumed() const noexcept override { return resumed_; }

 private:
  runtime::Task<Result<void>> open(runtime::Deadline deadline);
  /// The next response; an error breaks the stream.
  runtime::Task<Result<codec::etcd::WatchResponse>> receive(runtime::Deadline deadline);
  /// kTimeout: no batch came of it. kMissing: compacted, or set back.
  Result<WatchBatch> digest(codec::etcd::WatchResponse response);
  /// kMissing: the store was set back since this watch began. Its revisions may be beyond `next_`
  /// by now, and what was changed up to there is missing.
  Result<void> same_history();
  void break_off(const Error& why);

  runtime::Runtime& runtime_;
  Client& client_;
  SeenRevision& seen_;
  const codec::etcd::Keys keys_;
  const std::string prefix_;
  const std::uint64_t history_;  ///< SeenRevision::Mark
  Revision next_;
  std::unique_ptr<Channel::Call> call_;
  TimePoint heard_;            ///< when something came last
  SeenRevision::Mark opened_;  ///< what was known when the stream was opened
  bool live_ = false;          ///< the server has answered on this stream
  bool answered_ = false;      ///< and on any
  bool resumed_ = false;       ///< on another one than the first that it answered on
  bool news_ = false;          ///< it has just resumed
  bool asked_ = false;         ///< whether the server is there; since then nothing came
  WatchBatch fragments_;       ///< of a response that is not complete yet
  Error broken_;               ///< why there is no stream
  Duration pause_{};           ///< before the next attempt
};

}  // namespace wardmote::store::etcd
