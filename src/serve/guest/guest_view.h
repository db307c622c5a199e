#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/time.h"
#include "judge/check_machine.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/guest/assess.h"
#include "judge/guest/facts.h"
#include "serve/metrics/exposition.h"
#include "serve/thing_view.h"

namespace wardmote::serve {

inline constexpr MetricInfo kGuestMetrics[] = {
    {"wardmote_guest_verdict", MetricType::kGauge, "guest,uuid,verdict",
     "1 for what is the matter with a guest: HEALTHY, AGENT_DOWN, GUEST_SPINNING and others."},
    {"wardmote_guest_failures", MetricType::kGauge, "guest,uuid",
     "Pings in a row that the agent of a guest did not answer."},
    {"wardmote_guest_ping_seconds", MetricType::kGauge, "guest,uuid",
     "How long the agent of a guest took for its last answer."},
    {"wardmote_guest_finding", MetricType::kGauge, "guest,uuid,code,severity",
     "Present findings of a guest, by code and severity."},
};
inline constexpr Family kGuestFamily{judge::guest::kGuestKind, "guests", "/api/v1/guests",
                                     "/api/v1/guests/{name}", kGuestMetrics};

/// The name of a guest in the graph of incidents.
std::string guest_node(std::string_view name);
/// Of what is wrong inside a guest that lives.
std::string guest_inside_node(std::string_view name);

/// One guest, as judged last. Its JSON:
///
/// {"guest", "uuid", "instance", "flavor", "project", "at", "state": as of checks, "verdict",
///  "run": libvirt's word, "channel", "failures", "threshold", "booting", "since",
///  "last_answer": time|null, "ping_ms", "findings", "observed"}
class GuestView final : public ThingView {
 public:
  explicit GuestView(std::string name) : ThingView({judge::guest::kGuestKind, std::move(name)}) {}

  std::string uuid;
  std::string instance;  ///< what Nova wrote; may be empty, as the next two
  std::string flavor;
  std::string project;
  judge::State state{};
  judge::guest::Run run{};
  judge::guest::Channel channel{};
  int failures = 0;
  int threshold = 0;
  bool booting = false;
  TimePoint since;
  std::optional<TimePoint> last_answer;
  std::optional<Duration> ping;  ///< how long the last answer took
  judge::guest::Assessment assessment;

  /// Whether another view says the same, apart from times that pass.
  [[nodiscard]] bool says_as(const GuestView& other) const;

  [[nodiscard]] std::span<const judge::Finding> findings() const noexcept override {
    return assessment.findings;
  }
  [[nodiscard]] std::span<const judge::Observed> observed() const noexcept override {
    return assessment.observed;
  }
  [[nodiscard]] std::string owner() const override { return guest_node(id.name); }
  [[nodiscard]] std::string component_of(const judge::Finding& finding) const override;
  [[nodiscard]] boost::json::object names() const override;
  [[nodiscard]] boost::json::object to_json(Moment at) const override;
  void measure(Exposition& out, Moment at) const override;
};

}  // namespace wardmote::serve
