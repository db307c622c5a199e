#include "observe/endpoint/flood_brake.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::observe {
namespace {

constexpr std::size_t kAtOnce = 100;
constexpr Duration kRest = std::chrono::milliseconds(5);

}  // namespace

runtime::Task<void> FloodBrake::ignored(runtime::Deadline until) {
  if (++count_ % kAtOnce != 0) co_return;
  const TimePoint end = std::min(until.at, runtime_->now() + kRest);
  co_await runtime_->sleep_until(end);
}

}  // namespace wardmote::observe
