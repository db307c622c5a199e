#include "store/shared_end.h"

#include <boost/json/object.hpp>
#include <chrono>
#include <optional>

#include "base/epoch_ms.h"
#include "base/time.h"
#include "store/clock_pair.h"
#include "store/json_fields.h"

namespace wardmote::store {

void put_end(boost::json::object& record, TimePoint end, const ClockPair& clock) {
  record["until"] = epoch_ms(clock.wall(end));  // for people
  record["lasts_ms"] = to_ms(end - clock.now);
  record["boot"] = clock.boot;
  record["ends_ms"] = to_ms(end.time_since_epoch());
}

std::optional<TimePoint> end_in(const boost::json::object& record, const ClockPair& clock) {
  const auto ends = integer_in(record, "ends_ms");
  const bool same_boot = !clock.boot.empty() && text_in(record, "boot") == clock.boot;
  if (ends && same_boot) return TimePoint(std::chrono::milliseconds(*ends));
  if (const auto lasts = integer_in(record, "lasts_ms"))
    return clock.now + std::chrono::milliseconds(*lasts);
  // An earlier version has written it.
  if (const auto until = wall_in(record, "until")) return clock.boot_time(*until);
  return std::nullopt;
}

}  // namespace wardmote::store
