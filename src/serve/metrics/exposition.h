#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wardmote::serve {

enum class MetricType : std::uint8_t { kGauge, kCounter, kHistogram };

/// One row of a table of metrics; the table is the only place that knows these facts.
struct MetricInfo {
  std::string_view name;
  MetricType type;
  std::string_view labels;  ///< names in their order, comma-separated
  std::string_view help;
};

/// A metric as its row in the table.
using Metric = std::size_t;

/// Writes the Prometheus text format 0.0.4: samples may come in any order and are written by
/// metric, in the order of the table. Label values may be text from outside: they are capped and
/// escaped.
class Exposition {
 public:
  /// `table` outlives it.
  explicit Exposition(std::span<const MetricInfo> table);

  /// `values` as many as the metric has labels. A second sample with the same values is dropped:
  /// one would make Prometheus refuse everything, and names from outside may collide.
  void add(Metric metric, std::span<const std::string_view> values, double value);
  /// A histogram: `counts` has one more than `bounds` (the last is what exceeds them all), not
  /// cumulated.
  void add_histogram(Metric metric, std::span<const std::string_view> values,
                     std::span<const double> bounds, std::span<const std::uint64_t> counts,
                     double sum);

  [[nodiscard]] std::string text() const;

 private:
  /// Nothing when there is a sample with these values already.
  [[nodiscard]] std::optional<std::string> claim_labels(Metric metric,
                                                        std::span<const std::string_view> values);
  void sample(Metric metric, std::string_view suffix, std::string_view labels, double value);

  std::span<const MetricInfo> table_;
  std::vector<std::string> samples_;  ///< by metric
  std::set<std::pair<Metric, std::string>> claimed_;
};

}  // namespace wardmote::serve
