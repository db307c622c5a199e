#include "observe/etcd/metrics_client.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "codec/http_answer.h"
#include "codec/prometheus_text.h"
#include "codec/url.h"
#include "judge/etcd/metrics.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::observe::etcd {

using codec::PrometheusSample;
using judge::etcd::Durations;
using judge::etcd::Metrics;
using judge::etcd::MetricsReport;
using runtime::Deadline;
using runtime::Stream;
using runtime::Task;

namespace {

using namespace std::chrono_literals;
using Samples = std::span<const PrometheusSample>;

constexpr Duration kEvery = 5s;
constexpr std::size_t kChunk = 16 << 10;
/// Those of a real member of three are 150 KB.
constexpr std::size_t kMostBody = 1 << 20;

constexpr std::string_view kWalFsync = "etcd_disk_wal_fsync_duration_seconds";
constexpr std::string_view kBackendCommit = "etcd_disk_backend_commit_duration_seconds";
constexpr std::string_view kPending = "etcd_server_proposals_pending";
constexpr std::string_view kCommitted = "etcd_server_proposals_committed_total";
constexpr std::string_view kApplied = "etcd_server_proposals_applied_total";
constexpr std::string_view kFailed = "etcd_server_proposals_failed_total";
constexpr std::string_view kProcessStart = "process_start_time_seconds";
constexpr auto kWanted = std::to_array<std::string_view>({
    "etcd_disk_wal_fsync_duration_seconds_bucket",
    "etcd_disk_wal_fsync_duration_seconds_sum",
    "etcd_disk_wal_fsync_duration_seconds_count",
    "etcd_disk_backend_commit_duration_seconds_bucket",
    "etcd_disk_backend_commit_duration_seconds_sum",
    "etcd_disk_backend_commit_duration_seconds_count",
    kPending,
    kCommitted,
    kApplied,
    kFailed,
    kProcessStart,
});

Result<std::optional<Durations>> durations(Samples samples, std::string_view name) {
  const auto histogram = codec::prometheus_histogram(samples, name);
  if (!histogram) return std::unexpected(histogram.error());
  if (!*histogram) return std::nullopt;
  Durations durations;
  for (const codec::PrometheusHistogram::Bucket& bucket : (*histogram)->buckets)
    durations.buckets.push_back({bucket.up_to, bucket.count});
  return durations;
}

Result<std::optional<std::uint64_t>> number(Samples samples, std::string_view name) {
  const std::optional<double> value = codec::prometheus_value(samples, name);
  if (!value) return std::nullopt;
  const std::optional<std::uint64_t> count = codec::prometheus_count(*value);
  if (!count) return fail(Errc::kProtocol, "{}: {} is no number of proposals", name, *value);
  return count;
}

bool is_empty(const Metrics& metrics) {
  return !metrics.wal_fsync && !metrics.backend_commit && !metrics.pending && !metrics.committed &&
         !metrics.applied && !metrics.failed;
}

/// Ends before the look does, so that a member whose metrics hang is seen by all others in time.
Deadline sooner(Deadline deadline, TimePoint now) noexcept {
  return {deadline.at - deadline.left(now) / 4};
}

}  // namespace

Result<Metrics> to_metrics(std::string_view text) {
  const auto samples = codec::read_prometheus_text(text, kWanted, {.text_bytes = kMostBody});
  if (!samples) return std::unexpected(samples.error());
  Metrics metrics;
  auto wal_fsync = durations(*samples, kWalFsync);
  if (!wal_fsync) return std::unexpected(wal_fsync.error());
  metrics.wal_fsync = *std::move(wal_fsync);
  auto backend_commit = durations(*samples, kBackendCommit);
  if (!backend_commit) return std::unexpected(backend_commit.error());
  metrics.backend_commit = *std::move(backend_commit);
  const std::pair<std::string_view, std::optional<std::uint64_t>*> numbers[] = {
      {kPending, &metrics.pending},
      {kCommitted, &metrics.committed},
      {kApplied, &metrics.applied},
      {kFailed, &metrics.failed}};
  for (const auto& [name, into] : numbers) {
    const auto count = number(*samples, name);
    if (!count) return std::unexpected(count.error());
    *into = *count;
  }
  metrics.process_start = codec::prometheus_value(*samples, kProcessStart);
  if (metrics.process_start && !std::isfinite(*metrics.process_start))
    metrics.process_start.reset();
  if (is_empty(metrics)) return fail(Errc::kProtocol, "no metrics of etcd");
  return metrics;
}

Task<MetricsReport> MetricsClient::look(Deadline deadline) {
  cost_ = {};
  if (last_ && runtime_.now() - last_->taken < kEvery) co_return *last_;
  MetricsReport report;
  const Deadline until = sooner(deadline, runtime_.now());
  Result<Metrics> metrics = co_await ask(until);
  report.taken = runtime_.now();
  if (metrics)
    report.metrics = *std::move(metrics);
  else
    report.reason = reason_of(metrics.error());
  last_ = report;
  co_return report;
}

Task<Result<Metrics>> MetricsClient::ask(Deadline deadline) {
  cost_.fresh_connection = true;
  const Result<std::unique_ptr<Stream>> stream = co_await runtime_.connect(target_.at, deadline);
  if (!stream) {
    const Error error = connect_failure(target_.at, stream.error());
    co_return with_context(Result<void>(std::unexpected(error)), "{}", to_string(target_.url));
  }
  Result<Metrics> metrics = co_await read(stream->get(), deadline);
  if (!metrics) co_return with_context(metrics, "{}", to_string(target_.url));
  co_return metrics;
}

Task<Result<Metrics>> MetricsClient::read(Stream* stream, Deadline deadline) {
  const std::string request =
      codec::format_http_request("GET", target_.url.target, host_header(target_.url), false, {});
  const Result<void> sent = co_await stream->write(request, deadline);
  if (!sent) co_return std::unexpected(sent.error());
  cost_.bytes_out += request.size();
  codec::HttpAnswerReader reader(false, {.body_bytes = kMostBody});
  std::vector<char> chunk(kChunk);
  while (!reader.complete()) {
    const Result<std::size_t> got = co_await stream->read_some(chunk, deadline);
    if (!got && got.error().code != Errc::kClosed) co_return std::unexpected(got.error());
    if (got) cost_.bytes_in += *got;
    const Result<void> taken =
        got ? reader.take(std::string_view(chunk.data(), *got)) : reader.closed();
    if (!taken) co_return std::unexpected(taken.error());
  }
  const codec::HttpAnswer& answer = reader.answer();
  if (answer.status == 401 || answer.status == 403)
    co_return fail(Errc::kDenied, "status {}", answer.status);
  if (answer.status != 200) co_return fail(Errc::kRejected, "status {}", answer.status);
  if (answer.cut) co_return fail(Errc::kLimit, "metrics of more than {} bytes", kMostBody);
  co_return to_metrics(answer.body);
}

}  // namespace wardmote::observe::etcd
