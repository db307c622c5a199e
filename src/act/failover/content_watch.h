#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "codec/content_digest.h"
#include "codec/json_rpc.h"
#include "judge/failover/digest_ring.h"
#include "runtime/deadline.h"
#include "runtime/event.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::act::failover {

/// What a database of this host contains, after each of its commits, from a monitor of all its
/// tables. Writes nothing. A database that sends more than kLargest at once is not followed, and
/// then its content is not known. Life cycle: start(), then stop() before destruction; `runtime`
/// outlives it. Thread: the core loop.
class ContentWatch {
 public:
  static constexpr std::size_t kLargest = std::size_t{32} << 20;

  /// `changed` is called after each change of what is known.
  ContentWatch(runtime::Runtime& runtime, std::string socket, std::string database,
               std::function<void()> changed);

  void start();
  runtime::Task<void> stop() { return tasks_.stop(); }

  /// Whether the server is followed now, so that the newest content is the present one.
  [[nodiscard]] bool follows() const noexcept { return follows_; }
  [[nodiscard]] const judge::failover::DigestRing& ring() const noexcept { return ring_; }
  [[nodiscard]] std::size_t rows() const noexcept { return tracker_.rows(); }
  /// Returns when all is known that the server had committed when this was called. It answers an
  /// `echo` after the updates of all earlier commits (ovsdb/jsonrpc-server.c
  /// ovsdb_jsonrpc_session_run). kClosed: the server is not followed.
  runtime::Task<Result<void>> catch_up(runtime::Deadline deadline);
  /// The copy is to be replaced: what it was before says nothing of what it will be.
  void forget() noexcept;
  /// Why the content is not known; nothing: it is.
  [[nodiscard]] const std::optional<std::string>& complaint() const noexcept { return complaint_; }

 private:
  runtime::Task<void> run();
  /// From a connection to its end.
  runtime::Task<Error> follow();
  runtime::Task<Result<void>> take(const codec::RpcMessage* message);
  runtime::Task<Result<void>> send(std::string bytes, runtime::Deadline deadline);
  void push();

  runtime::Runtime& runtime_;
  const std::string socket_;
  const std::string database_;
  std::function<void()> changed_;
  codec::ContentTracker tracker_;
  judge::failover::DigestRing ring_;
  bool follows_ = false;
  std::shared_ptr<runtime::Stream> stream_;  ///< null: not connected
  bool writing_ = false;
  std::uint64_t asked_;  ///< the id of the last echo of catch_up()
  std::uint64_t answered_ = 0;
  runtime::Event written_;  ///< a write has ended
  std::optional<std::string> complaint_ = "it was not read yet";
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::act::failover
