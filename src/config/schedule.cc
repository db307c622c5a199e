#include <algorithm>

#include "base/format.h"
#include "base/time.h"
#include "config/config.h"
#include "config/reader.h"
#include "config/sections.h"
#include "config/yaml.h"
#include "judge/check_machine.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLeastEvery = 100ms;
constexpr Duration kLeastTimeout = 10ms;
constexpr Duration kLongest = 24h;
constexpr Duration kDefaultTimeout = 2s;
constexpr int kMostInARow = 1000;

}  // namespace

Schedule read_schedule(MapReader& map, const ScheduleDefaults& defaults) {
  Schedule schedule;
  schedule.every = map.read_duration_in("every", kLeastEvery, kLongest, defaults.every);
  // A look that may take all of the interval would always run into the next one.
  const Duration default_timeout = std::min<Duration>(kDefaultTimeout, schedule.every * 9 / 10);
  schedule.timeout = map.read_duration_in("timeout", kLeastTimeout, kLongest, default_timeout);
  const YamlNode* const timeout = map.find("timeout");
  if (timeout != nullptr && schedule.timeout > schedule.every) {
    map.problems().add(timeout->at, fmt::format("timeout {}", spell_duration(schedule.timeout)),
                       fmt::format("longer than every ({})", spell_duration(schedule.every)),
                       fmt::format("write at most {}", spell_duration(schedule.every)));
  }

  judge::CheckPolicy& policy = schedule.policy;
  policy.fall = static_cast<int>(map.read_integer_in("fall", 1, kMostInARow, defaults.fall));
  policy.rise = static_cast<int>(map.read_integer_in("rise", 1, kMostInARow, defaults.rise));
  policy.unknown_limit =
      map.read_duration_in("unknown_limit", kLeastEvery, kLongest, policy.unknown_limit);
  policy.start_period =
      map.read_duration_in("start_period", Duration::zero(), kLongest, policy.start_period);
  schedule.optional = map.read("optional", read_flag).value_or(false);
  return schedule;
}

}  // namespace wardmote::config
