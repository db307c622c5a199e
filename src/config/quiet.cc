#include "config/quiet.h"

#include <algorithm>

#include "base/time.h"
#include "config/config.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;

constexpr Duration kShortestQuiet = 10s;
constexpr Duration kLongestQuiet = 1min;
/// The first look at everything begins within this time.
constexpr Duration kFirstLooks = 1s;

}  // namespace

Duration quiet_after_start(const config::Config& config) noexcept {
  Duration longest{};
  const auto regard = [&](const config::Schedule& schedule) {
    const Duration looks = schedule.every * (schedule.policy.fall - 1) + schedule.timeout;
    longest = std::max(longest, looks);
  };
  for (const config::Check& check : config.checks) regard(check.schedule);
  return std::clamp(longest + kFirstLooks, kShortestQuiet, kLongestQuiet);
}

}  // namespace wardmote::config
