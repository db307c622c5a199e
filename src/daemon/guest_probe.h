#pragma once

#include <chrono>
#include <string>

#include "base/time.h"
#include "daemon/config_command.h"

namespace wardmote::daemon {

/// `wardmoted probe qga URI DOMAIN`.
struct GuestProbeOrder {
  std::string uri;
  std::string domain;  ///< a name or a UUID
  Duration timeout = std::chrono::seconds(2);
  bool json = false;
};

/// Asks the agent of one guest what the agent of this house asks: whether it is there, and what it
/// says of the inside. Needs no configuration and changes nothing. The exit code is 0 when it
/// answers, 2 when the guest or its agent does not, 3 when libvirt does not say or there is no such
/// guest.
ConfigAnswer run_guest_probe(const GuestProbeOrder& order);

}  // namespace wardmote::daemon
