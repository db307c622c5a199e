#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "judge/guest/facts.h"
#include "observe/guests/turns.h"
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
  bool yields = false;  ///< nothing new is expected of it
};

/// What became of a ping. Neither: the hypervisor failed, or too many are asked at once.
struct PingAnswer {
  std::optional<runtime::AgentAnswer::Kind> kind;
  std::optional<Silence> silence;  ///< nobody answered in time
  TimePoint asked;                 ///< when the hypervisor was; before it nobody could answer
};

/// What an agent's answer says of its guest.
judge::guest::Ping ping_of(runtime::AgentAnswer::Kind kind) noexcept;

/// Asks the agents of guests, and the hypervisor that they are asked through. Its timeout does not
/// bound what libvirt does, so a ping without an answer says something of the guest only when the
/// hypervisor itself answered meanwhile. Life cycle: outlives what it is asked. Thread: the core
/// loop.
class AgentClient {
 public:
  explicit AgentClient(runtime::Runtime& runtime) : runtime_(runtime) {}

  runtime::Task<PingAnswer> ping(std::shared_ptr<runtime::Hypervisor> hypervisor, PingOrder order);
  /// Asks something else, if there is a place for that now; else kLimit.
  runtime::Task<Result<runtime::AgentAnswer>> inquire(
      std::shared_ptr<runtime::Hypervisor> hypervisor, runtime::AgentOrder order);
  /// Whether a ping is under way, or the hypervisor still has one that nobody waits for.
  [[nodiscard]] bool asking() const noexcept {
    return asking_ > 0 || (turns_ != nullptr && turns_->any());
  }
  /// Asks the hypervisor itself, and remembers when it answered. Call it often while asking().
  runtime::Task<void> prove(std::shared_ptr<runtime::Hypervisor> hypervisor);
  /// The counters of a guest; those of its disks only from a QEMU that is seen to run, since
  /// `cpu_before` was counted.
  runtime::Task<Result<runtime::GuestCounts>> counts(
      std::shared_ptr<runtime::Hypervisor> hypervisor, std::string uuid,
      std::optional<Duration> cpu_before);

 private:
  /// Those of this hypervisor; another one has other places.
  std::shared_ptr<Turns> turns_of(const std::shared_ptr<runtime::Hypervisor>& hypervisor);
  runtime::Task<std::optional<Turns::Lane>> turn(std::shared_ptr<Turns> turns, Turns::Claim claim,
                                                 TimePoint until);
  runtime::Task<PingAnswer> still_asked(std::shared_ptr<runtime::Hypervisor> hypervisor,
                                        PingOrder order);
  runtime::Task<bool> answers(std::shared_ptr<runtime::Hypervisor> hypervisor);
  [[nodiscard]] bool answered_between(TimePoint from, TimePoint to) const;

  runtime::Runtime& runtime_;
  /// When the hypervisor answered what it was asked while pings were under way: begin and end.
  std::deque<std::pair<TimePoint, TimePoint>> proofs_;
  std::size_t asking_ = 0;  ///< pings under way
  std::weak_ptr<runtime::Hypervisor> served_;
  std::shared_ptr<Turns> turns_;  ///< of it
};

}  // namespace wardmote::observe::guests
