#pragma once

#include <cstdint>

namespace wardmote::observe::guests {

/// What has happened to a guest (libvirt-domain.h: virDomainEventType).
enum LifecycleEvent : std::uint8_t {
  kUndefined = 1,
  kStarted = 2,
  kSuspended = 3,
  kResumed = 4,
  kStopped = 5,
  kShutdown = 6,
  kPmSuspended = 7,
  kCrashed = 8
};

}  // namespace wardmote::observe::guests
