#include "serve/bgp/session_samples.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "judge/bgp/facts.h"
#include "judge/observation.h"
#include "serve/bgp/mesh_view.h"
#include "serve/metrics/exposition.h"
#include "serve/metrics/measurement.h"

namespace wardmote::serve {
namespace {

/// A route reflector may have thousands; the page and the API have them all.
constexpr std::size_t kMostSessions = 256;

consteval Metric session_metric(std::string_view name) {
  return row_of(kMeshMetrics, name);
}

void measure_session(const judge::bgp::Session& session, Measurements& into) {
  const std::vector<std::string> labels = {session.name, session.address};
  const auto with = [&](std::string_view more) {
    std::vector<std::string> all = labels;
    all.emplace_back(more);
    return all;
  };
  into.push_back(
      {session_metric("wardmote_bgp_session_up"), labels, session.established() ? 1.0 : 0.0});
  into.push_back(
      {session_metric("wardmote_bgp_session_state"), with(to_string(session.state)), 1.0});
  if (session.in_state) {
    into.push_back({session_metric("wardmote_bgp_session_state_seconds"), labels,
                    std::chrono::duration<double>(*session.in_state).count()});
  }
  if (session.routes) {
    const std::pair<std::string_view, std::uint64_t> counts[] = {
        {"imported", session.routes->imported}, {"exported", session.routes->exported}};
    for (const auto& [direction, count] : counts) {
      into.push_back({session_metric("wardmote_bgp_session_routes"), with(direction),
                      static_cast<double>(count)});
    }
  }
  into.push_back({session_metric("wardmote_bgp_session_flaps_total"), labels,
                  static_cast<double>(session.drops.value_or(session.flaps))});
}

}  // namespace

void measure_sessions(const judge::Observation& seen, Measurements& into) {
  const auto* const facts = std::get_if<judge::bgp::BgpFacts>(&seen.facts);
  if (facts == nullptr) return;
  const std::size_t count = std::min(facts->sessions.size(), kMostSessions);
  for (std::size_t i = 0; i < count; ++i) measure_session(facts->sessions[i], into);
}

}  // namespace wardmote::serve
