#pragma once
// What one member of an etcd cluster says of its disk and its proposals, at its /metrics.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/time.h"
#include "judge/outcome.h"

namespace wardmote::judge::etcd {

/// How long something took, since the member began: a cumulative histogram.
struct Durations {
  struct Bucket {
    double seconds = 0;       ///< the last one: infinity
    std::uint64_t count = 0;  ///< of all that took so long or less
    friend bool operator==(const Bucket&, const Bucket&) = default;
  };
  std::vector<Bucket> buckets;  ///< ascending

  [[nodiscard]] std::uint64_t count() const noexcept {
    return buckets.empty() ? 0 : buckets.back().count;
  }
  friend bool operator==(const Durations&, const Durations&) = default;
};

/// A member of an unusual version may lack some of it.
struct Metrics {
  std::optional<Durations> wal_fsync;       ///< etcd_disk_wal_fsync_duration_seconds
  std::optional<Durations> backend_commit;  ///< etcd_disk_backend_commit_duration_seconds
  std::optional<std::uint64_t> pending;     ///< etcd_server_proposals_pending
  std::optional<std::uint64_t> committed;   ///< etcd_server_proposals_committed_total
  std::optional<std::uint64_t> applied;     ///< etcd_server_proposals_applied_total
  std::optional<std::uint64_t> failed;      ///< etcd_server_proposals_failed_total
  std::optional<double> process_start;      ///< process_start_time_seconds
  friend bool operator==(const Metrics&, const Metrics&) = default;
};

/// What came of the last time that they were asked for, which is not at each look.
struct MetricsReport {
  TimePoint taken;  ///< when that ended
  std::optional<Metrics> metrics;
  Reason reason;  ///< why there are none
};

/// So many must have been measured before a percentile says anything: of fewer than 100 one alone
/// decides where the 99th percentile is.
inline constexpr std::uint64_t kLeastMeasured = 100;

struct Percentile {
  double p99 = 0;  ///< seconds; interpolated within its bucket, as histogram_quantile() does
  std::uint64_t count = 0;
  Duration span{};  ///< in which they were measured
};

/// What a member's metrics say about the last time, as far as they say it.
struct MemberLoad {
  std::optional<Percentile> wal_fsync;
  std::optional<Percentile> backend_commit;
  std::optional<std::uint64_t> pending;  ///< now
  std::optional<std::uint64_t> behind;   ///< committed and not applied, now
  /// Never less in all of the window; nothing while that is too short.
  std::optional<std::uint64_t> least_pending;
  std::optional<std::uint64_t> least_behind;
  std::optional<std::uint64_t> failed;  ///< in the window; nothing while that is too short
  Duration span{};                      ///< of the window
};

/// The reports of one member over the last 40 seconds, and the last one before that. A value. A
/// restart of the member begins it anew.
class MetricsWindow {
 public:
  /// A report that was noted before changes nothing.
  void note(const MetricsReport& report);
  /// As of the last report; all of it is unknown when that had none.
  [[nodiscard]] MemberLoad load() const;

 private:
  struct Entry {
    TimePoint taken;
    Metrics metrics;
  };
  std::deque<Entry> entries_;
  std::optional<TimePoint> noted_;
  bool blind_ = true;  ///< the last report had no metrics
};

}  // namespace wardmote::judge::etcd
