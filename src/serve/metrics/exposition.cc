#include "serve/metrics/exposition.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
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

/// `check="c1",kind="tcp"`
std::string labels_of(Metric metric, std::span<const std::string_view> values) {
  std::string_view names = metric->labels;
  std::string text;
  for (const std::string_view value : values) {
    const std::string_view name = take_until(names, ',');
    check(!name.empty(), "a metric got more values than it has labels");
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, label_value(value));
  }
  check(names.empty(), "a metric got fewer values than it has labels");
  return text;
}

void add_line(std::string& lines, std::string_view name, std::string_view labels, double value) {
  lines += name;
  if (!labels.empty()) lines += fmt::format("{{{}}}", labels);
  lines += ' ';
  lines += number(value);
  lines += '\n';
}

}  // namespace

Exposition::Exposition(Tables tables) : tables_(std::move(tables)) {
  for (const auto table : tables_) {
    for (const MetricInfo& row : table) lines_[&row];
  }
}

std::string& Exposition::lines_of(Metric metric) {
  const auto found = lines_.find(metric);
  check(found != lines_.end(), "a metric that is in no table");
  return found->second;
}

bool Exposition::claim(const std::string& lines, std::size_t begin, std::size_t size) {
  return claimed_.insert({&lines, begin, size}).second;
}

void Exposition::add(Metric metric, std::span<const std::string_view> values, double value) {
  std::string& lines = lines_of(metric);
  const std::size_t before = lines.size();
  const std::string labels = labels_of(metric, values);
  add_line(lines, metric->name, labels, value);
  const std::size_t brace = labels.empty() ? 0 : 1;
  if (!claim(lines, before + metric->name.size() + brace, labels.size())) lines.resize(before);
}

void Exposition::add_histogram(Metric metric, std::span<const std::string_view> values,
                               std::span<const double> bounds,
                               std::span<const std::uint64_t> counts, double sum) {
  check(counts.size() == bounds.size() + 1, "a histogram has one count more than bounds");
  std::string& lines = lines_of(metric);
  const std::size_t before = lines.size();
  const std::string labels = labels_of(metric, values);
  const std::string_view comma = labels.empty() ? "" : ",";
  const std::string bucket = fmt::format("{}_bucket", metric->name);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    const std::string bound = i < bounds.size() ? number(bounds[i]) : "+Inf";
    add_line(lines, bucket, fmt::format("{}{}le=\"{}\"", labels, comma, bound),
             static_cast<double>(total));
  }
  add_line(lines, fmt::format("{}_sum", metric->name), labels, sum);
  add_line(lines, fmt::format("{}_count", metric->name), labels, static_cast<double>(total));
  if (!claim(lines, before + bucket.size() + 1, labels.size())) lines.resize(before);
}

bool Exposition::forget_some() {
  constexpr std::size_t kSome = 256;
  auto end = claimed_.begin();
  for (std::size_t i = 0; i < kSome && end != claimed_.end(); ++i) ++end;
  claimed_.erase(claimed_.begin(), end);
  return !claimed_.empty();
}

void Exposition::move_to(std::string& text) {
  // They refer to the lines.
  claimed_.clear();
  constexpr std::size_t kHeaders = 32;  // without the names and the help
  std::size_t size = text.size();
  for (const auto& [row, lines] : lines_)
    size += lines.size() + 2 * row->name.size() + row->help.size() + kHeaders;
  text.reserve(size);
  for (const auto table : tables_) {
    for (const MetricInfo& row : table) {
      const std::string lines = std::exchange(lines_.at(&row), {});
      if (lines.empty()) continue;
      text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", row.name, row.help, row.name,
                          type_name(row.type));
      text += lines;
    }
  }
}

}  // namespace wardmote::serve
