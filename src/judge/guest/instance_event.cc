#include "judge/guest/instance_event.h"

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace wardmote::judge::guest {
namespace {

constexpr int kAny = -1;
constexpr std::string_view kUnknown = "UNKNOWN";

struct Row {
  Happened what;
  int detail;  ///< libvirt-domain.h: virDomainEventSuspendedDetailType and others
  InstanceEvent told;
};

constexpr auto kFilter = std::to_array<Row>({
    {Happened::kSuspended, 2, {"LIFECYCLE", "SUSPENDED_IOERROR"}},
    {Happened::kSuspended, 3, {"LIFECYCLE", "SUSPENDED_WATCHDOG"}},
    {Happened::kSuspended, 6, {"LIFECYCLE", "SUSPENDED_API_ERROR"}},
    {Happened::kStopped, 0, {"LIFECYCLE", "STOPPED_SHUTDOWN"}},
    {Happened::kStopped, 1, {"LIFECYCLE", "STOPPED_DESTROYED"}},
    {Happened::kStopped, 5, {"LIFECYCLE", "STOPPED_FAILED"}},
    {Happened::kShutdown, 0, {"LIFECYCLE", "SHUTDOWN_FINISHED"}},
    {Happened::kReboot, kAny, {"REBOOT", kUnknown}},
    {Happened::kWatchdog, 0, {"WATCHDOG", "WATCHDOG_NONE"}},
    {Happened::kWatchdog, 1, {"WATCHDOG", "WATCHDOG_PAUSE"}},
    {Happened::kWatchdog, 2, {"WATCHDOG", "WATCHDOG_RESET"}},
    {Happened::kWatchdog, 3, {"WATCHDOG", "WATCHDOG_POWEROFF"}},
    {Happened::kWatchdog, 4, {"WATCHDOG", "WATCHDOG_SHUTDOWN"}},
    {Happened::kWatchdog, 5, {"WATCHDOG", "WATCHDOG_DEBUG"}},
    {Happened::kIoError, 0, {"IO_ERROR", "IO_ERROR_NONE"}},
    {Happened::kIoError, 1, {"IO_ERROR", "IO_ERROR_PAUSE"}},
    {Happened::kIoError, 2, {"IO_ERROR", "IO_ERROR_REPORT"}},
    {Happened::kIoErrorReason, kAny, {"IO_ERROR_REASON", kUnknown}},
    {Happened::kControlError, kAny, {"CONTROL_ERROR", kUnknown}},
});

}  // namespace

std::string_view InstanceEvent::name() const noexcept {
  return vir_domain_event == kUnknown ? event : vir_domain_event;
}

std::optional<InstanceEvent> instance_event(Happened what, int detail) noexcept {
  for (const Row& row : kFilter) {
    if (row.what == what && (row.detail == kAny || row.detail == detail)) return row.told;
  }
  return std::nullopt;
}

std::vector<std::string_view> instance_event_names() {
  std::vector<std::string_view> names;
  names.reserve(kFilter.size());
  for (const Row& row : kFilter) names.push_back(row.told.name());
  return names;
}

}  // namespace wardmote::judge::guest
