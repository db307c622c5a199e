#include "judge/notify/route_trace.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/notify/matcher.h"
#include "judge/notify/router.h"

namespace wardmote::judge::notify {

std::vector<RouteTrace> trace_routes(std::span<const Route> routes, const Labels& labels,
                                     WallTime now) {
  std::vector<RouteTrace> traces;
  bool taken = false;
  for (const Route& route : routes) {
    RouteTrace trace{.number = traces.size() + 1};
    const auto missed = std::ranges::find_if(
        route.match, [&](const Matcher& matcher) { return !match(matcher, labels); });
    if (taken) {
      trace.fate = RouteTrace::Fate::kNotReached;
    } else if (missed != route.match.end()) {
      trace.missed = *missed;
    } else {
      trace.fate = RouteTrace::Fate::kTakes;
      trace.group = group_name(route, labels);
      trace.rests_until = route.rests_until(now);
      taken = !route.go_on;
    }
    traces.push_back(std::move(trace));
  }
  return traces;
}

}  // namespace wardmote::judge::notify
