#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/finding.h"

namespace wardmote::judge {

/// A condition that one round of probes shows, with the finding that it becomes after its window.
struct Condition {
  Finding finding;  ///< the tracker fills in `since`
  /// The thing within its code: a member's name, a listed server, "" for the whole.
  std::string key;
  TimePoint shown;                 ///< when the observation that shows it began
  std::optional<TimePoint> since;  ///< set if the evidence itself shows that the condition is older
  Window window;
  std::optional<Window> critical_after;
  bool certain = true;  ///< false: this round can neither start nor clear the condition
};

using Conditions = std::vector<Condition>;

/// A condition that is observed and is not a finding yet, because its window has not passed: no
/// reason to act or to notify.
struct Observed {
  Code code{};
  std::string subject;  ///< the first name of the thing
  TimePoint since;
  TimePoint due;  ///< when it becomes a finding, if it lasts
  friend bool operator==(const Observed&, const Observed&) = default;
};

/// Ends the summary of a finding that the last round could neither confirm nor clear, so that a
/// remembered finding does not look like an observed one.
inline constexpr std::string_view kUnconfirmed = " (as last seen; not confirmed since)";

/// A condition with severity and windows of its catalogue row.
Condition condition(Code code, std::string key, TimePoint shown);
/// A condition of a round that can neither start nor clear it. While it is no finding, it
/// suppresses nothing, is not shown after its window, and is forgotten after a minute. What is
/// known better than when it was last seen may be put into its summary and advice.
Condition uncertain(Code code, std::string key);

}  // namespace wardmote::judge
