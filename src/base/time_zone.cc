#include "base/time_zone.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "base/time.h"

namespace wardmote {

LocalTime TimeZone::local(WallTime at) const noexcept {
  const auto next = std::ranges::upper_bound(changes, at, {}, &Change::at);
  return LocalTime(at.time_since_epoch() +
                   (next == changes.begin() ? ahead : std::prev(next)->ahead));
}

WallTime TimeZone::moment(LocalTime shown) const noexcept {
  std::chrono::seconds before = ahead;
  const auto wall = [&] { return WallTime(shown.time_since_epoch() - before); };
  WallTime begin = WallTime::min();
  for (const Change& change : changes) {
    if (wall() < change.at) break;
    before = change.ahead;
    begin = change.at;
  }
  return std::max(wall(), begin);
}

}  // namespace wardmote
