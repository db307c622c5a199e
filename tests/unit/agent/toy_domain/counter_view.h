#pragma once
// The room serve/ of the made-up domain.

#include <boost/json/object.hpp>
#include <span>
#include <string>
#include <utility>

#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "serve/metrics/exposition.h"
#include "serve/thing_view.h"
#include "unit/agent/toy_domain/counter.h"

namespace wardmote::serve::toy {

inline constexpr MetricInfo kCounterMetrics[] = {
    {"wardmote_counter_count", MetricType::kGauge, "counter", "Failed looks in a row."},
};
inline constexpr Family kCounterFamily{judge::toy::kCounterKind, "counters", "/api/v1/counters",
                                       "/api/v1/counters/{name}", kCounterMetrics};

/// {"counter", "of", "count", "most", "findings", "observed"}
class CounterView final : public ThingView {
 public:
  explicit CounterView(std::string name) : ThingView({judge::toy::kCounterKind, std::move(name)}) {}

  judge::toy::Counter counter;
  judge::toy::CounterAssessment assessment;

  [[nodiscard]] std::span<const judge::Finding> findings() const noexcept override {
    return assessment.findings;
  }
  [[nodiscard]] std::span<const judge::Observed> observed() const noexcept override {
    return assessment.observed;
  }
  [[nodiscard]] std::string owner() const override;
  [[nodiscard]] std::string component_of(const judge::Finding&) const override { return owner(); }
  [[nodiscard]] boost::json::object names() const override;
  [[nodiscard]] boost::json::object to_json(Moment at) const override;
  void measure(Exposition& out, Moment at) const override;
};

}  // namespace wardmote::serve::toy
