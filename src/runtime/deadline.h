#pragma once

#include "base/time.h"

namespace wardmote::runtime {

/// The one absolute end of an operation. It covers connect, write, read and parse, and nothing
/// extends it.
struct Deadline {
  TimePoint at;

  [[nodiscard]] bool passed(TimePoint now) const noexcept { return now >= at; }
  /// Zero when passed.
  [[nodiscard]] Duration left(TimePoint now) const noexcept {
    return passed(now) ? Duration::zero() : at - now;
  }
  friend bool operator==(const Deadline&, const Deadline&) = default;
};

}  // namespace wardmote::runtime
