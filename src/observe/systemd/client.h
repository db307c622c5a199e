#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codec/dbus.h"
#include "judge/observation.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::observe::systemd {

/// The properties of a unit; `service` is empty for other kinds of units.
struct Snapshot {
  codec::DbusProperties unit;
  codec::DbusProperties service;
};

/// One open connection to a bus with systemd, or a new one for each probe of systemd's own socket.
/// It only reads properties. After any failure the connection is dropped. If the other side has
/// closed it since the last probe, the same probe connects again. Every `fresh_every`th probe opens
/// a new connection. Life cycle: `runtime` outlives it. Thread: the core loop; one probe at a time.
class Client {
 public:
  /// A socket whose file is called `private` is systemd's own, without a bus.
  Client(runtime::Runtime& runtime, runtime::Endpoint at, std::string unit,
         unsigned fresh_every = 10);

  /// kMissing (no socket), kRefused, kDenied (also by the policy of the bus), kTimeout, kClosed,
  /// kProtocol, kLimit, kRejected with the text of the other side, kExhausted.
  runtime::Task<Result<Snapshot>> look(runtime::Deadline deadline);

  /// What the last probe cost.
  [[nodiscard]] const judge::Cost& cost() const noexcept { return cost_; }

 private:
  runtime::Task<Result<Snapshot>> ask(runtime::Deadline deadline);
  runtime::Task<Result<void>> enter(runtime::Deadline deadline);
  runtime::Task<Result<codec::DbusProperties>> properties(std::uint32_t serial,
                                                          runtime::Deadline deadline);
  runtime::Task<Result<void>> read_more(runtime::Deadline deadline);
  runtime::Task<Result<codec::DbusMessage>> answer_to(std::uint32_t serial,
                                                      runtime::Deadline deadline);
  std::string call(std::string path, std::string interface, std::string member,
                   std::vector<std::string> arguments);

  runtime::Runtime& runtime_;
  runtime::Endpoint at_;
  std::string unit_;
  unsigned fresh_every_;
  bool through_bus_;
  std::uint64_t looks_ = 0;
  std::unique_ptr<runtime::Stream> stream_;
  codec::DbusReader reader_;
  std::uint32_t serial_ = 0;
  std::string object_;  ///< the object path of the unit, on this connection
  judge::Cost cost_;
};

}  // namespace wardmote::observe::systemd
