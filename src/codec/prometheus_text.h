#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

/// One line of the Prometheus text format 0.0.4.
struct PrometheusSample {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;  ///< sorted by name, each name once
  double value = 0;                                         ///< may be NaN or infinite
};

struct PrometheusLimits {
  std::size_t text_bytes = 1 << 20;
  std::size_t line_bytes = 16 << 10;
  std::size_t samples = 512;  ///< of the wanted metrics
  std::size_t labels = 16;    ///< of one sample
};

/// The samples of `wanted`, in the order of the text. Strict with these: a malformed line of a
/// wanted metric, or two lines for one sample, are kProtocol. Other lines are skipped unread. A
/// text that does not end in a line feed was cut off: kProtocol. kLimit over a limit.
Result<std::vector<PrometheusSample>> read_prometheus_text(std::string_view text,
                                                           std::span<const std::string_view> wanted,
                                                           const PrometheusLimits& limits = {});

/// A histogram, cumulative as Prometheus writes it.
struct PrometheusHistogram {
  struct Bucket {
    double up_to = 0;         ///< the last one: infinity
    std::uint64_t count = 0;  ///< of all values up to there
    friend bool operator==(const Bucket&, const Bucket&) = default;
  };
  std::vector<Bucket> buckets;  ///< ascending, at least one
  double sum = 0;
};

/// The histogram `name`, which has no labels but `le`, from samples of `name` with `_bucket`,
/// `_sum` and `_count`. Nothing when there are none of these. kProtocol when one is missing or they
/// contradict each other.
Result<std::optional<PrometheusHistogram>> prometheus_histogram(
    std::span<const PrometheusSample> samples, std::string_view name);

/// The value of the metric `name`, which has no labels, if it is there.
std::optional<double> prometheus_value(std::span<const PrometheusSample> samples,
                                       std::string_view name);

/// As a number of things: whole, not negative, and small enough to be exact.
std::optional<std::uint64_t> prometheus_count(double value) noexcept;

}  // namespace wardmote::codec
