#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/endpoint/ping.h"
#include "judge/observation.h"
#include "observe/endpoint/flood_brake.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/datagrams.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe {

struct PingTarget {
  std::string host;
  runtime::DatagramTarget::Family family = runtime::DatagramTarget::Family::kAny;
  std::size_t count = 3;
  Duration interval = std::chrono::milliseconds(100);
  judge::PingPolicy policy;
};

/// Sends ICMP echo requests to a host, without privileges.
class PingProbe final : public Probe {
 public:
  PingProbe(runtime::Runtime& runtime, std::string subject, PingTarget target)
      : runtime_(runtime), subject_(std::move(subject)), target_(std::move(target)) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  /// The state of one probe.
  struct Round {
    explicit Round(runtime::Runtime& runtime) : brake(runtime) {}

    std::unique_ptr<runtime::Datagrams> socket;
    bool ipv6 = false;
    std::string payload;
    std::vector<TimePoint> sent{};
    std::vector<bool> answered{};
    std::vector<Duration> times{};
    judge::Cost cost{};
    FloodBrake brake;
  };

  runtime::Task<Result<judge::PingFacts>> ping(judge::Cost* cost, runtime::Deadline deadline);
  runtime::Task<Result<void>> collect(Round* round, runtime::Deadline until);

  runtime::Runtime& runtime_;
  std::string subject_;
  PingTarget target_;
};

/// Parameters of the kind `ping` (observe/kinds.h).
std::span<const ParamSpec> ping_params() noexcept;
Result<std::unique_ptr<Probe>> make_ping_probe(runtime::Runtime& runtime, std::string subject,
                                               const Params& params);

}  // namespace wardmote::observe
