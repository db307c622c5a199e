#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "runtime/datagrams.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/files.h"
#include "runtime/process.h"
#include "runtime/shared_resources.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::runtime {

/// Access to the world: time, random numbers, connections, programs and files. Production:
/// net::AsioRuntime. Tests: sim::SimRuntime (virtual time, seeded random numbers, a network in
/// memory). Thread: the core loop only.
class Runtime {
 public:
  Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  virtual ~Runtime() = default;

  [[nodiscard]] virtual TimePoint now() const noexcept = 0;
  [[nodiscard]] virtual WallTime wall_now() const noexcept = 0;
  /// Which start of the machine now() belongs to: two processes that have the same one share its
  /// times. Empty: not known.
  [[nodiscard]] virtual std::string_view boot() const noexcept = 0;
  /// Where tasks run.
  [[nodiscard]] virtual Executor executor() noexcept = 0;
  /// Uniform over all 64 bits.
  virtual std::uint64_t random() noexcept = 0;
  /// Returns at or after `at`; never earlier.
  virtual Task<void> sleep_until(TimePoint at) = 0;
  /// kRefused, kMissing (no socket file), kDenied, kUnreachable, kTimeout, kExhausted; with TLS
  /// also the errors of TlsLayer::connect().
  virtual Task<Result<std::unique_ptr<Stream>>> connect(Endpoint to, Deadline deadline) = 0;
  /// Whether a server accepts connections there: connects and closes at once, without sending
  /// anything. Errors are those of connect().
  virtual Task<Result<void>> knock(Endpoint to, Deadline deadline);
  /// Port 0 is not an endpoint: pick a port first. An old unix socket file without a listener is
  /// replaced.
  virtual Result<std::unique_ptr<Listener>> listen(Endpoint at) = 0;
  /// kMissing when the name does not exist, kUnreachable, kDenied (kPing: see icmp(7),
  /// ping_group_range), kTimeout, kExhausted.
  virtual Task<Result<std::unique_ptr<Datagrams>>> open_datagrams(DatagramTarget to,
                                                                  Deadline deadline) = 0;
  virtual Processes& processes() noexcept = 0;
  virtual Files& files() noexcept = 0;

  /// Objects that the users of this runtime share.
  SharedResources& shared() noexcept { return shared_; }

  [[nodiscard]] Deadline deadline_in(Duration timeout) const noexcept { return {now() + timeout}; }

 private:
  SharedResources shared_;
};

}  // namespace wardmote::runtime
