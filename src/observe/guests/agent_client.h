#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "runtime/hypervisor.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::guests {

/// What is known of the hypervisor when a ping had no answer in time.
struct Silence {
  bool anew = false;   ///< it took the whole timeout, so the agent was asked
  bool early = false;  ///< the hypervisor answered others early enough
  bool alive = false;  ///< it answers now
};

struct PingOrder {
  std::string uuid;
  Duration timeout{};
  Duration interval{};  ///< how often this guest is pinged
  runtime::Hypervisor::Lane lane = runtime::Hypervisor::Lane::kFast;
};

/// What became of a ping. Neither: the hypervisor failed.
struct PingAnswer {
  std::optional<runtime::AgentAnswer::Kind> kind;
  std::optional<Silence> silence;  ///< nobody answered in time
};

/// Asks the agents of guests, and the hypervisor that they are asked through. Its timeout does not
/// bound what libvirt does, so a ping without an answer says something of the guest only when the
/// hypervisor itself answered meanwhile. Life cycle: outlives what it is asked. Thread: the core
/// loop.
class AgentClient {
 public:
  explicit AgentClient(runtime::Runtime& runtime) : runtime_(runtime) {}

  runtime::Task<PingAnswer> ping(std::shared_ptr<runtime::Hypervisor> hypervisor, PingOrder order);
  /// Whether a ping is under way.
  [[nodiscard]] bool asking() const noexcept { return asking_ > 0; }
  /// Asks the hypervisor itself, and remembers when it answered.
  runtime::Task<void> prove(std::shared_ptr<runtime::Hypervisor> hypervisor);
  /// The counters of a guest; those of its disks only from a QEMU that is seen to run, since
  /// `cpu_before` was counted.
  runtime::Task<Result<runtime::GuestCounts>> counts(
      std::shared_ptr<runtime::Hypervisor> hypervisor, std::string uuid,
      std::optional<Duration> cpu_before);

 private:
  runtime::Task<bool> answers(std::shared_ptr<runtime::Hypervisor> hypervisor);
  [[nodiscard]] bool answered_between(TimePoint from, TimePoint to) const;

  runtime::Runtime& runtime_;
  /// When the hypervisor answered what it was asked while pings were under way: begin and end.
  std::deque<std::pair<TimePoint, TimePoint>> proofs_;
  std::size_t asking_ = 0;  ///< pings under way
};

}  // namespace wardmote::observe::guests
