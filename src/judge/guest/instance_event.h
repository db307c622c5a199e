#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace wardmote::judge::guest {

/// What Masakari's instance monitor tells of an event of libvirt, in its words.
struct InstanceEvent {
  std::string_view event;             ///< `LIFECYCLE`, `REBOOT`, …
  std::string_view vir_domain_event;  ///< `SUSPENDED_IOERROR`, …, or `UNKNOWN`
  /// How one chooses it: by the second word, if that says anything.
  [[nodiscard]] std::string_view name() const noexcept;
  friend bool operator==(const InstanceEvent&, const InstanceEvent&) = default;
};

/// What libvirt tells of a guest, as far as that monitor listens. The first three are lifecycle
/// events.
enum class Happened : std::uint8_t {
  kSuspended,
  kStopped,
  kShutdown,
  kReboot,
  kWatchdog,
  kIoError,
  kIoErrorReason,
  kControlError,
};

/// That monitor's filter (masakari-monitors, instancemonitor/libvirt_handler/eventfilter_table.py);
/// nothing: it drops the event. `detail` is libvirt's number of the detail or the action.
std::optional<InstanceEvent> instance_event(Happened what, int detail) noexcept;

/// The names of all that pass the filter.
std::vector<std::string_view> instance_event_names();

}  // namespace wardmote::judge::guest
