#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "judge/condition/condition.h"
#include "judge/failover/assess.h"
#include "judge/failover/report.h"
#include "judge/finding.h"
#include "judge/verdict.h"
#include "serve/metrics/exposition.h"
#include "serve/thing_view.h"

namespace wardmote::serve {

inline constexpr MetricInfo kPairMetrics[] = {
    {"wardmote_failover_verdict", MetricType::kGauge, "pair",
     "0 ok, 1 warning, 2 critical, 3 unknown."},
    {"wardmote_failover_active", MetricType::kGauge, "pair,node",
     "Whether the node is the active one, for each node of the pair."},
    {"wardmote_failover_following", MetricType::kGauge, "pair,node",
     "Whether both databases of the node copy from the active one."},
    {"wardmote_failover_behind_commits", MetricType::kGauge, "pair,node",
     "How many commits the northbound copy is behind what was published, where that is known."},
    {"wardmote_failover_serves", MetricType::kGauge, "pair",
     "Whether this node is active and has the address."},
    {"wardmote_failover_epoch", MetricType::kGauge, "pair", "The number of the last promotion."},
    {"wardmote_failover_finding", MetricType::kGauge, "pair,code,severity",
     "Present findings of a pair, by code and severity."},
};
inline constexpr Family kPairFamily{judge::failover::kPairKind, "failover", "/api/v1/failover",
                                    "/api/v1/failover/{name}", kPairMetrics};

/// As an order about it is answered: what this node's manager of the pair reports.
boost::json::object pair_json(const judge::failover::PairReport& report);

/// One pair of databases in active/backup mode, as judged last. Its JSON is that of pair_json() and
/// {"at", "verdict", "findings", "observed"}.
class PairView final : public ThingView {
 public:
  explicit PairView(std::string name) : ThingView({judge::failover::kPairKind, std::move(name)}) {}

  judge::failover::PairReport report;
  judge::failover::Assessment assessment;

  [[nodiscard]] std::span<const judge::Finding> findings() const noexcept override {
    return assessment.findings;
  }
  [[nodiscard]] std::span<const judge::Observed> observed() const noexcept override {
    return assessment.observed;
  }
  [[nodiscard]] std::optional<judge::Verdict> verdict() const noexcept override {
    return assessment.verdict;
  }
  [[nodiscard]] std::string owner() const override;
  [[nodiscard]] std::string component_of(const judge::Finding& finding) const override;
  [[nodiscard]] boost::json::object names() const override;
  [[nodiscard]] boost::json::object to_json(Moment at) const override;
  void measure(Exposition& out, Moment at) const override;
};

/// The name of a pair in the graph of incidents.
std::string pair_node(std::string_view pair);

}  // namespace wardmote::serve
