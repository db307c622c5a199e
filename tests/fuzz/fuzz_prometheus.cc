// The metrics of another program: no crash, bounded work, and histograms that are in order.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "codec/prometheus_text.h"
#include "fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wardmote;
  constexpr std::string_view kName = "etcd_disk_wal_fsync_duration_seconds";
  constexpr std::string_view kWanted[] = {
      "etcd_disk_wal_fsync_duration_seconds_bucket", "etcd_disk_wal_fsync_duration_seconds_sum",
      "etcd_disk_wal_fsync_duration_seconds_count", "etcd_server_proposals_pending", "a"};
  const codec::PrometheusLimits limits{
      .text_bytes = 64 << 10, .line_bytes = 256, .samples = 32, .labels = 3};
  const auto samples = codec::read_prometheus_text(fuzz::text(data, size), kWanted, limits);
  if (!samples) return 0;
  FUZZ_CHECK(samples->size() <= limits.samples);
  for (const codec::PrometheusSample& sample : *samples) {
    FUZZ_CHECK(sample.labels.size() <= limits.labels);
    const auto count = codec::prometheus_count(sample.value);
    if (count) FUZZ_CHECK(static_cast<double>(*count) == sample.value);
  }
  const auto histogram = codec::prometheus_histogram(*samples, kName);
  if (!histogram || !*histogram) return 0;
  const auto& buckets = (*histogram)->buckets;
  FUZZ_CHECK(!buckets.empty());
  for (std::size_t i = 1; i < buckets.size(); ++i) {
    FUZZ_CHECK(buckets[i - 1].up_to < buckets[i].up_to);
    FUZZ_CHECK(buckets[i - 1].count <= buckets[i].count);
  }
  return 0;
}
