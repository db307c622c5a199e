#pragma once

#include <boost/system/error_code.hpp>
#include <functional>

#include "base/time.h"
#include "runtime/task.h"

namespace wardmote::sim {

class SimRuntime;

/// Where one coroutine of a host waits to be woken. Wakers do not say why, so the caller waits in a
/// loop on its own condition. A cancelled task leaves by asio's operation_aborted.
class Parking {
 public:
  explicit Parking(SimRuntime& host) : host_(&host) {}
  Parking(const Parking&) = delete;
  Parking& operator=(const Parking&) = delete;

  runtime::Task<void> wait();
  /// Until woken or until `at`.
  runtime::Task<void> wait_until(TimePoint at);
  /// Does nothing when nobody waits.
  void wake();

 private:
  void finish(boost::system::error_code with);

  SimRuntime* host_;
  std::move_only_function<void(boost::system::error_code)> waiter_;
};

}  // namespace wardmote::sim
