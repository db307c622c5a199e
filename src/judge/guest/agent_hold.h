#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace wardmote::judge::guest {

/// Whether somebody else's command holds the agent of a guest, as a backup that freezes its file
/// systems. Our pings wait for their turn then, which says nothing of the guest. libvirt gives an
/// agent that hangs 5 s (guest-sync), so what is under way for longer waits for somebody else; it
/// ends such a wait itself after half a minute (QEMU_JOB_WAIT_TIME), and whoever is asked anew then
/// waits again.
class AgentHold {
 public:
  /// Of libvirt with an agent that hangs, before it looks at the timeout of a command.
  static constexpr Duration kPatience = std::chrono::seconds(5);
  /// Whoever holds it for longer than anybody should is no excuse any more.
  static constexpr Duration kLongest = std::chrono::minutes(2);

  enum class State : std::uint8_t { kFree, kHeld, kTooLong };

  /// A ping was handed to libvirt at that time, and had no answer in time; `alive`: libvirt itself
  /// answered meanwhile.
  void asked(TimePoint at, bool alive) noexcept;
  /// libvirt still has that ping, whose answer was due within `timeout`.
  void still_asked(TimePoint now, Duration timeout) noexcept;
  /// A connection was lost, and perhaps the ping with it: how it ended says nothing.
  void lost() noexcept { behind_ = false; }
  /// Somebody answered for the guest.
  void end() noexcept { *this = AgentHold(); }

  [[nodiscard]] bool held() const noexcept { return since_.has_value(); }
  [[nodiscard]] State state(TimePoint now) const noexcept;

 private:
  std::optional<TimePoint> asked_;  ///< the last ping without an answer in time
  std::optional<TimePoint> since_;  ///< it was held at least from then on
  bool behind_ = false;             ///< the last ping was handed over after a longer wait
};

}  // namespace wardmote::judge::guest
