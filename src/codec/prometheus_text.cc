#include "codec/prometheus_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"

namespace wardmote::codec {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargestExact = 9007199254740992.0;  // 2^53

void skip_blanks(std::string_view& rest) noexcept {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
}

bool is_name_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == ':';
}

std::string_view take_name(std::string_view& rest) noexcept {
  std::size_t size = 0;
  while (size < rest.size() && is_name_char(rest[size])) ++size;
  const std::string_view name = rest.substr(0, size);
  rest.remove_prefix(size);
  return name;
}

/// As Go's strconv.ParseFloat writes and reads it, of which the format uses `NaN`, `+Inf`, `-Inf`.
std::optional<double> parse_value(std::string_view text) noexcept {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "+Inf" || text == "Inf") return kInfinity;
  if (text == "-Inf") return -kInfinity;
  consume_prefix(text, "+");
  if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  double value = 0;
  const char* const begin = std::to_address(text.begin());
  const char* const end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

/// Takes `"…"` off the front.
std::optional<std::string> take_quoted(std::string_view& rest) {
  if (!consume_prefix(rest, "\"")) return std::nullopt;
  std::string value;
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '"') return value;
    if (c != '\\') {
      value += c;
      continue;
    }
    if (rest.empty()) return std::nullopt;
    const char escaped = rest.front();
    rest.remove_prefix(1);
    if (escaped != '\\' && escaped != '"' && escaped != 'n') return std::nullopt;
    value += escaped == 'n' ? '\n' : escaped;
  }
  return std::nullopt;
}

/// Takes `{a="b",c="d"}` off the front, which may be missing.
std::optional<Labels> take_labels(std::string_view& rest, std::size_t most) {
  Labels labels;
  if (!consume_prefix(rest, "{")) return labels;
  skip_blanks(rest);
  while (!consume_prefix(rest, "}")) {
    const std::string_view name = take_name(rest);
    skip_blanks(rest);
    if (name.empty() || !consume_prefix(rest, "=")) return std::nullopt;
    skip_blanks(rest);
    std::optional<std::string> value = take_quoted(rest);
    if (!value || labels.size() == most) return std::nullopt;
    labels.emplace_back(name, *std::move(value));
    skip_blanks(rest);
    if (!consume_prefix(rest, ",") && !rest.starts_with('}')) return std::nullopt;
    skip_blanks(rest);
  }
  std::ranges::sort(labels);
  const auto twice = std::ranges::adjacent_find(labels, {}, &Labels::value_type::first);
  if (twice != labels.end()) return std::nullopt;
  return labels;
}

/// What follows the name: labels, a value, and perhaps a time, which nobody needs here.
std::optional<PrometheusSample> read_sample(std::string_view name, std::string_view rest,
                                            std::size_t most_labels) {
  skip_blanks(rest);
  std::optional<Labels> labels = take_labels(rest, most_labels);
  if (!labels) return std::nullopt;
  rest = trim(rest);
  const std::string_view number = rest.substr(0, rest.find_first_of(" \t"));
  rest.remove_prefix(number.size());
  const std::optional<double> value = parse_value(number);
  rest = trim(rest);
  if (!value || (!rest.empty() && !parse_number<std::int64_t>(rest))) return std::nullopt;
  return PrometheusSample{std::string(name), *std::move(labels), *value};
}

std::optional<PrometheusHistogram::Bucket> to_bucket(const PrometheusSample& sample) {
  if (sample.labels.size() != 1 || sample.labels.front().first != "le") return std::nullopt;
  const std::optional<double> up_to = parse_value(sample.labels.front().second);
  const std::optional<std::uint64_t> count = prometheus_count(sample.value);
  if (!up_to || !count || std::isnan(*up_to)) return std::nullopt;
  return PrometheusHistogram::Bucket{*up_to, *count};
}

/// Whether the buckets say one thing: each bound once, each count at least that of the one before.
bool is_cumulative(std::span<const PrometheusHistogram::Bucket> buckets) {
  for (std::size_t i = 1; i < buckets.size(); ++i) {
    if (buckets[i - 1].up_to >= buckets[i].up_to || buckets[i - 1].count > buckets[i].count)
      return false;
  }
  return true;
}

}  // namespace

Result<std::vector<PrometheusSample>> read_prometheus_text(std::string_view text,
                                                           std::span<const std::string_view> wanted,
                                                           const PrometheusLimits& limits) {
  if (text.size() > limits.text_bytes)
    return fail(Errc::kLimit, "metrics of more than {} bytes", limits.text_bytes);
  if (!text.ends_with('\n')) return fail(Errc::kProtocol, "metrics that were cut off");
  std::vector<PrometheusSample> samples;
  std::set<std::pair<std::string, Labels>> seen;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = take_until(text, '\n');
    if (line.size() > limits.line_bytes)
      return fail(Errc::kLimit, "line {} of the metrics: over {} bytes", number, limits.line_bytes);
    skip_blanks(line);
    const std::string_view name = take_name(line);
    if (name.empty() || std::ranges::find(wanted, name) == wanted.end()) continue;
    std::optional<PrometheusSample> sample = read_sample(name, line, limits.labels);
    if (!sample)
      return fail(Errc::kProtocol, "line {} of the metrics: no sample of {}", number, name);
    if (!seen.emplace(sample->name, sample->labels).second)
      return fail(Errc::kProtocol, "line {} of the metrics: {} for the second time", number, name);
    if (samples.size() == limits.samples)
      return fail(Errc::kLimit, "more than {} samples", limits.samples);
    samples.push_back(*std::move(sample));
  }
  return samples;
}

Result<std::optional<PrometheusHistogram>> prometheus_histogram(
    std::span<const PrometheusSample> samples, std::string_view name) {
  const std::string bucket_name = fmt::format("{}_bucket", name);
  PrometheusHistogram histogram;
  for (const PrometheusSample& sample : samples) {
    if (sample.name != bucket_name) continue;
    const auto bucket = to_bucket(sample);
    if (!bucket) return fail(Errc::kProtocol, "{}: no bucket", bucket_name);
    histogram.buckets.push_back(*bucket);
  }
  std::ranges::sort(histogram.buckets, {}, &PrometheusHistogram::Bucket::up_to);
  const std::optional<double> sum = prometheus_value(samples, fmt::format("{}_sum", name));
  const std::optional<double> count = prometheus_value(samples, fmt::format("{}_count", name));
  if (histogram.buckets.empty() && !sum && !count) return std::nullopt;
  if (histogram.buckets.empty() || !sum || !count)
    return fail(Errc::kProtocol, "{}: a part of it is missing", name);
  const PrometheusHistogram::Bucket& all = histogram.buckets.back();
  if (all.up_to != kInfinity || prometheus_count(*count) != all.count || !std::isfinite(*sum) ||
      !is_cumulative(histogram.buckets))
    return fail(Errc::kProtocol, "{}: its parts contradict each other", name);
  histogram.sum = *sum;
  return histogram;
}

std::optional<double> prometheus_value(std::span<const PrometheusSample> samples,
                                       std::string_view name) {
  const auto is_it = [&](const PrometheusSample& sample) {
    return sample.name == name && sample.labels.empty();
  };
  const auto found = std::ranges::find_if(samples, is_it);
  if (found == samples.end()) return std::nullopt;
  return found->value;
}

std::optional<std::uint64_t> prometheus_count(double value) noexcept {
  const bool whole = value >= 0 && value <= kLargestExact && std::floor(value) == value;
  if (!whole) return std::nullopt;  // NaN too
  return static_cast<std::uint64_t>(value);
}

}  // namespace wardmote::codec
