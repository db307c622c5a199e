#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/wait_traits.hpp>

#include "base/time.h"

namespace wardmote::net {

/// CLOCK_BOOTTIME for Asio's timers. Asio sleeps on CLOCK_MONOTONIC, so after a suspend a timer
/// fires when the loop next wakes for any other timer; the agent's heartbeat bounds that to a
/// fraction of a second.
struct SystemBootClock {
  using rep = BootClock::rep;
  using period = BootClock::period;
  using duration = Duration;
  using time_point = TimePoint;
  static constexpr bool is_steady = true;
  static TimePoint now() noexcept;
};

using BootTimer =
    boost::asio::basic_waitable_timer<SystemBootClock, boost::asio::wait_traits<SystemBootClock>,
                                      boost::asio::io_context::executor_type>;

}  // namespace wardmote::net
