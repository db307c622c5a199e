#include "serve/metrics/exposition.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"

namespace wardmote::serve {
namespace {

constexpr std::size_t kLabelCap = 128;

std::string_view type_name(MetricType type) {
  switch (type) {
    case MetricType::kGauge: return "gauge";
    case MetricType::kCounter: return "counter";
    case MetricType::kHistogram: return "histogram";
  }
  return "untyped";
}

/// escape_control() has removed control characters; these two have a meaning in the format.
std::string label_value(std::string_view raw) {
  std::string value;
  for (const char c : escape_control(raw, kLabelCap)) {
    if (c == '\\' || c == '"') value += '\\';
    value += c;
  }
  return value;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  // Indexes and counts are whole numbers: prints them so, up to the largest that a double holds
  // exactly.
  if (value == std::floor(value) && std::fabs(value) < 9e15) {
    return fmt::format("{}", static_cast<std::int64_t>(value));
  }
  return fmt::format("{}", value);
}

}  // namespace

Exposition::Exposition(Tables tables) : tables_(std::move(tables)) {
  for (const auto table : tables_) {
    for (const MetricInfo& row : table) samples_[&row];
  }
}

std::optional<std::string> Exposition::claim_labels(Metric metric,
                                                    std::span<const std::string_view> values) {
  std::string_view names = metric->labels;
  std::string text;
  for (const std::string_view value : values) {
    const std::string_view name = take_until(names, ',');
    check(!name.empty(), "a metric got more values than it has labels");
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, label_value(value));
  }
  check(names.empty(), "a metric got fewer values than it has labels");
  const bool first = claimed_.emplace(metric, text).second;
  return first ? std::optional(std::move(text)) : std::nullopt;
}

void Exposition::sample(Metric metric, std::string_view suffix, std::string_view labels,
                        double value) {
  const auto found = samples_.find(metric);
  check(found != samples_.end(), "a metric that is in no table");
  std::string& lines = found->second;
  lines += metric->name;
  lines += suffix;
  if (!labels.empty()) lines += fmt::format("{{{}}}", labels);
  lines += ' ';
  lines += number(value);
  lines += '\n';
}

void Exposition::add(Metric metric, std::span<const std::string_view> values, double value) {
  if (const auto labels = claim_labels(metric, values)) sample(metric, "", *labels, value);
}

void Exposition::add_histogram(Metric metric, std::span<const std::string_view> values,
                               std::span<const double> bounds,
                               std::span<const std::uint64_t> counts, double sum) {
  check(counts.size() == bounds.size() + 1, "a histogram has one count more than bounds");
  const auto own = claim_labels(metric, values);
  if (!own) return;
  const std::string_view comma = own->empty() ? "" : ",";
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    const std::string bound = i < bounds.size() ? number(bounds[i]) : "+Inf";
    sample(metric, "_bucket", fmt::format("{}{}le=\"{}\"", *own, comma, bound),
           static_cast<double>(total));
  }
  sample(metric, "_sum", *own, sum);
  sample(metric, "_count", *own, static_cast<double>(total));
}

std::string Exposition::text() const {
  std::string text;
  for (const auto table : tables_) {
    for (const MetricInfo& row : table) {
      const std::string& samples = samples_.at(&row);
      if (samples.empty()) continue;
      text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", row.name, row.help, row.name,
                          type_name(row.type));
      text += samples;
    }
  }
  return text;
}

bool Exposition::forget_some() {
  constexpr std::size_t kSome = 256;
  auto end = claimed_.begin();
  for (std::size_t i = 0; i < kSome && end != claimed_.end(); ++i) ++end;
  claimed_.erase(claimed_.begin(), end);
  return !claimed_.empty();
}

}  // namespace wardmote::serve
