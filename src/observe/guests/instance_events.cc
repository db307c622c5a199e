#include "observe/guests/instance_events.h"

#include <utility>
#include <variant>
#include <vector>

#include "judge/guest/instance_event.h"
#include "observe/guests/lifecycle.h"
#include "runtime/hypervisor.h"

namespace wardmote::observe::guests {
namespace {

using judge::guest::Happened;
using runtime::HypervisorEvent;
using Happenings = std::vector<std::pair<Happened, int>>;

struct Teller {
  Happenings operator()(const HypervisorEvent::Lifecycle& told) const {
    if (told.event == kSuspended) return {{Happened::kSuspended, told.detail}};
    if (told.event == kStopped) return {{Happened::kStopped, told.detail}};
    if (told.event == kShutdown) return {{Happened::kShutdown, told.detail}};
    return {};
  }
  Happenings operator()(const HypervisorEvent::Reboot&) const { return {{Happened::kReboot, 0}}; }
  Happenings operator()(const HypervisorEvent::Watchdog& told) const {
    return {{Happened::kWatchdog, told.action}};
  }
  Happenings operator()(const HypervisorEvent::IoError& told) const {
    return {{Happened::kIoError, told.action}, {Happened::kIoErrorReason, told.action}};
  }
  Happenings operator()(const HypervisorEvent::ControlError&) const {
    return {{Happened::kControlError, 0}};
  }
  template <class Other>
  Happenings operator()(const Other&) const {
    return {};
  }
};

}  // namespace

std::vector<judge::guest::InstanceEvent> instance_events(const HypervisorEvent& event) {
  std::vector<judge::guest::InstanceEvent> events;
  for (const auto& [what, detail] : std::visit(Teller(), event.what)) {
    if (const auto told = judge::guest::instance_event(what, detail)) events.push_back(*told);
  }
  return events;
}

}  // namespace wardmote::observe::guests
