#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "judge/guest/instance_event.h"
#include "judge/guest/machine.h"
#include "judge/guest/maintenance.h"
#include "runtime/hypervisor.h"

namespace wardmote::act::notify {
struct MasakariOptions;
}
namespace wardmote::observe {
struct ProbeKind;
}

namespace wardmote::config {

struct Config;

/// When work is expected on some guests.
struct Maintenance {
  std::vector<std::string> guests;  ///< patterns of names and UUIDs
  judge::guest::Window window;
  friend bool operator==(const Maintenance&, const Maintenance&) = default;
};

/// The guests of one hypervisor, which are found at run time. The hypervisor is a check besides, of
/// this name.
struct Guests {
  std::string name = "guests";
  std::string uri = "qemu:///system";
  judge::guest::Policy policy;
  std::vector<std::string> ignore;  ///< patterns of names and UUIDs
  std::vector<Maintenance> maintenance;
  std::string masakari;  ///< the receiver by which Masakari is asked for maintenance; empty: none
  /// Patterns of the events of libvirt of which it is told: judge/guest/instance_event.h.
  std::vector<std::string> masakari_events = {"*"};
  /// Only the first channel with a source counts, and only if its path is like this pattern, as in
  /// Masakari's monitor; empty: the channel of the agent's name, wherever it stands.
  std::string channel_path;
  Duration response_timeout{};  ///< zero: libvirt's own stays
  bool optional = false;
  friend bool operator==(const Guests&, const Guests&) = default;
};

/// The kind of the hypervisor's check; as reporter_kind().
const observe::ProbeKind& guests_kind() noexcept;

/// What Masakari is told of an event of the hypervisor by itself. That a QEMU ended by itself is an
/// incident, which goes where routes lead it.
std::vector<judge::guest::InstanceEvent> events_for_masakari(const Config& config,
                                                             const runtime::HypervisorEvent& event);

/// How Masakari is asked whether the host is in maintenance; null: it is not.
const act::notify::MasakariOptions* maintenance_source(const Config& config) noexcept;

}  // namespace wardmote::config
