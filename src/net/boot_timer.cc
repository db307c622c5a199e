#include "net/boot_timer.h"

#include <time.h>

#include <chrono>
#include <ctime>

#include "base/time.h"

namespace wardmote::net {

TimePoint SystemBootClock::now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return TimePoint(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace wardmote::net
