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

/// The VRF of sessions without a VRF.
inline constexpr std::string_view kDefaultVrf = "default";

/// What a bgpd reported in one probe.
struct Snapshot {
  codec::FrrSummary summary;
  std::vector<codec::FrrReset> resets;
};

/// One open connection to the vty socket of a bgpd. It never leaves the view mode, in which it
/// cannot change anything. After any failure the connection is dropped. If the daemon has closed it
/// since the last probe, the same probe connects again. Every `fresh_every`th probe opens a new
/// connection. Life cycle: `runtime` outlives it. Thread: the core loop; one probe at a time.
class Client {
 public:
  using Snapshot = frr::Snapshot;
  static constexpr unsigned kFreshEvery = 10;

  /// `vrf`: its name, or `all`.
  Client(runtime::Runtime& runtime, runtime::Endpoint at, const std::string& vrf,
         unsigned fresh_every = kFreshEvery);

  /// kMissing, kRefused, kDenied, kTimeout, kClosed, kProtocol, kLimit, kRejected with the text of
  /// the daemon, kExhausted.
  runtime::Task<Result<Snapshot>> look(runtime::Deadline deadline);

  /// The process that holds the socket of the last good probe; 0 when unknown.
  [[nodiscard]] std::uint32_t holder() const;
  void set_fresh_every(unsigned looks) noexcept { fresh_every_ = looks; }
  /// Drops the connection, for example after a probe was cancelled.
  void drop() noexcept { stream_.reset(); }
  /// What the last probe cost.
  [[nodiscard]] const judge::Cost& cost() const noexcept { return cost_; }

 private:
  runtime::Task<Result<Snapshot>> ask(runtime::Deadline deadline);
  runtime::Task<Result<codec::VtyReply>> run(std::string_view command, runtime::Deadline deadline);

  runtime::Runtime& runtime_;
  runtime::Endpoint at_;
  std::string summary_;  ///< the commands
  std::string failed_;
  bool all_vrfs_;
  unsigned fresh_every_;
  std::uint64_t looks_ = 0;
  std::unique_ptr<runtime::Stream> stream_;
  codec::VtyReader reader_;
  judge::Cost cost_;
};

using SharedClient = observe::SharedClient<Client>;
/// The client of all checks on `runtime` that ask the same socket about the same VRFs.
std::shared_ptr<SharedClient> share_client(runtime::Runtime& runtime, runtime::Endpoint at,
                                           std::string vrf);

}  // namespace wardmote::observe::frr
