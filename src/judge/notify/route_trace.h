#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/notify/matcher.h"
#include "judge/notify/router.h"

namespace wardmote::judge::notify {

/// What one route does with an incident.
struct RouteTrace {
  enum class Fate : std::uint8_t {
    kTakes,       ///< its receiver gets the incident
    kNoMatch,     ///< `missed` does not match
    kNotReached,  ///< a route before it took the incident and has no `continue`
  };

  std::size_t number = 0;  ///< from 1 on
  Fate fate = Fate::kNoMatch;
  std::optional<Matcher> missed = std::nullopt;
  std::string group = {};  ///< of kTakes: the labels by which the receiver's notices are grouped
  /// Of kTakes: when the route is active again; nothing: it is.
  std::optional<WallTime> rests_until = std::nullopt;
};

/// What each route does with an incident that has these labels; as Router::hear() does it.
std::vector<RouteTrace> trace_routes(std::span<const Route> routes, const Labels& labels,
                                     WallTime now);

}  // namespace wardmote::judge::notify
