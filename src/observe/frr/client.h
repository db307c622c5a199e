#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/frr.h"
#include "judge/observation.h"
#include "observe/shared_client.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::observe::frr {

/// What a bgpd said in one look.
struct Snapshot {
  codec::FrrSummary summary;
  std::vector<codec::FrrReset> resets;
};

/// One kept-open connection to the vty socket of a bgpd, which never leaves its view mode: it
/// cannot change anything there. After any failure the connection is dropped; when the daemon has
/// closed it since the last look, the same look starts anew. Every `fresh_every`th look connects
/// anew. Life cycle: `runtime` outlives it. Thread: the core loop; one look at a time.
class Client {
 public:
  using Snapshot = frr::Snapshot;
  static constexpr unsigned kFreshEvery = 10;

  Client(runtime::Runtime& runtime, runtime::Endpoint at, unsigned fresh_every = kFreshEvery);

  /// kMissing, kRefused, kDenied, kTimeout, kClosed, kProtocol, kLimit, kRejected with the words of
  /// the daemon, kExhausted.
  runtime::Task<Result<Snapshot>> look(runtime::Deadline deadline);

  /// The process that holds the socket of the last good look; 0 when that is not known.
  [[nodiscard]] std::uint32_t holder() const;
  void set_fresh_every(unsigned looks) noexcept { fresh_every_ = looks; }
  /// Lets the connection go, for example after a look that was cancelled.
  void drop() noexcept { stream_.reset(); }
  /// What the last look cost.
  [[nodiscard]] const judge::Cost& cost() const noexcept { return cost_; }

 private:
  runtime::Task<Result<Snapshot>> ask(runtime::Deadline deadline);
  runtime::Task<Result<codec::VtyReply>> run(std::string_view command, runtime::Deadline deadline);

  runtime::Runtime& runtime_;
  runtime::Endpoint at_;
  unsigned fresh_every_;
  std::uint64_t looks_ = 0;
  std::unique_ptr<runtime::Stream> stream_;
  codec::VtyReader reader_;
  judge::Cost cost_;
};

using SharedClient = observe::SharedClient<Client>;
/// The client of all checks on `runtime` that ask the same socket.
std::shared_ptr<SharedClient> share_client(runtime::Runtime& runtime, runtime::Endpoint at);

}  // namespace wardmote::observe::frr
