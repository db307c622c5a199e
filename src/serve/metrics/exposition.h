#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace wardmote::serve {

enum class MetricType : std::uint8_t { kGauge, kCounter, kHistogram };

/// One row of a table of metrics; the table is the only place that knows these facts.
struct MetricInfo {
  std::string_view name;
  MetricType type;
  std::string_view labels;  ///< names in order, comma-separated
  std::string_view help;
};

/// A metric as its row in a table.
using Metric = const MetricInfo*;

/// The row of `name`; a name that is in no row does not compile.
consteval Metric row_of(std::span<const MetricInfo> table, std::string_view name) {
  for (const MetricInfo& row : table) {
    if (row.name == name) return &row;
  }
  throw "no such metric";
}

/// Writes the Prometheus text format 0.0.4: samples may come in any order and are written by
/// metric, in the order of the tables. Label values may be text from outside: they are capped and
/// escaped.
class Exposition {
 public:
  using Tables = std::vector<std::span<const MetricInfo>>;
  /// The tables outlive it.
  explicit Exposition(Tables tables);

  /// As many `values` as the metric has labels. A second sample with the same values is dropped,
  /// because Prometheus would refuse the whole answer, and names from outside may collide.
  void add(Metric metric, std::span<const std::string_view> values, double value);
  /// A histogram: `counts` has one more element than `bounds` (the last counts values above all
  /// bounds), not cumulated.
  void add_histogram(Metric metric, std::span<const std::string_view> values,
                     std::span<const double> bounds, std::span<const std::uint64_t> counts,
                     double sum);

  /// When all samples are there: frees part of what only add() needs, because freeing all at once
  /// takes milliseconds. False when nothing is left.
  bool forget_some();
  /// Then, and once: moves all of it to the end of `text`.
  void move_to(std::string& text);

 private:
  /// The labels of a sample, where they stand among the lines of its metric.
  struct Claim {
    const std::string* lines;
    std::size_t begin;
    std::size_t size;
    [[nodiscard]] std::string_view text() const noexcept {
      return std::string_view(*lines).substr(begin, size);
    }
    friend bool operator==(const Claim& a, const Claim& b) noexcept {
      return a.lines == b.lines && a.text() == b.text();
    }
  };
  struct ClaimHash {
    std::size_t operator()(const Claim& claim) const noexcept {
      return std::hash<std::string_view>()(claim.text());
    }
  };

  std::string& lines_of(Metric metric);
  /// False when a sample with these labels was there before.
  bool claim(const std::string& lines, std::size_t begin, std::size_t size);

  const Tables tables_;
  std::map<Metric, std::string> lines_;
  std::unordered_set<Claim, ClaimHash> claimed_;
};

}  // namespace wardmote::serve
