#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/time.h"

namespace wardmote {

/// What clocks on the wall show somewhere.
using LocalTime = std::chrono::local_time<Duration>;

/// How far the clocks of a place are ahead of UTC. A value: who makes one knows the changes, and
/// after the last of them nothing changes any more.
struct TimeZone {
  struct Change {
    WallTime at;
    std::chrono::seconds ahead{};  ///< from then on
    friend bool operator==(const Change&, const Change&) = default;
  };

  std::string name = "UTC";
  std::chrono::seconds ahead{};  ///< before the first change
  std::vector<Change> changes;   ///< in their order, days apart

  [[nodiscard]] LocalTime local(WallTime at) const noexcept;
  /// When its clocks show this time for the first time. A time that they leave out, when they are
  /// put forward, is the moment at which that happens.
  [[nodiscard]] WallTime moment(LocalTime shown) const noexcept;
  friend bool operator==(const TimeZone&, const TimeZone&) = default;
};

}  // namespace wardmote
