#include "judge/etcd/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace wardmote::judge::etcd {
namespace {

using namespace std::chrono_literals;
using Count = std::optional<std::uint64_t>;

/// Shorter than the windows of the findings, so that what is over before that becomes none.
constexpr Duration kSpan = 40s;
/// What a number stays above must have been seen for so long.
constexpr Duration kLeastSpan = 30s;
/// Reports are not kept more densely, however often one comes.
constexpr Duration kLeastApart = 3s;
/// The start of a process is computed from the clock, which may be adjusted meanwhile.
constexpr double kSameStart = 1.0;
constexpr double kShare = 0.99;

bool fell(const Count& before, const Count& after) noexcept {
  return before && after && *after < *before;
}

/// Counts begin anew, or the histogram is another one.
bool fell(const std::optional<Durations>& before, const std::optional<Durations>& after) {
  if (!before || !after) return before.has_value() != after.has_value();
  if (before->buckets.size() != after->buckets.size()) return true;
  for (std::size_t i = 0; i < before->buckets.size(); ++i) {
    const Durations::Bucket& old = before->buckets[i];
    const Durations::Bucket& now = after->buckets[i];
    if (old.seconds != now.seconds || now.count < old.count) return true;
  }
  return false;
}

bool restarted(const Metrics& before, const Metrics& after) {
  if (before.process_start && after.process_start &&
      std::abs(*after.process_start - *before.process_start) > kSameStart)
    return true;
  return fell(before.wal_fsync, after.wal_fsync) ||
         fell(before.backend_commit, after.backend_commit) ||
         fell(before.committed, after.committed) || fell(before.applied, after.applied) ||
         fell(before.failed, after.failed);
}

Count behind(const Metrics& metrics) noexcept {
  if (!metrics.committed || !metrics.applied) return std::nullopt;
  // Two counters that are not read at one moment.
  return *metrics.committed - std::min(*metrics.applied, *metrics.committed);
}

/// Both have the same buckets, and no count fell.
std::optional<Percentile> percentile(const std::optional<Durations>& from,
                                     const std::optional<Durations>& to, Duration span) {
  if (!from || !to) return std::nullopt;
  const std::uint64_t count = to->count() - from->count();
  if (count < kLeastMeasured) return std::nullopt;
  const double rank = kShare * static_cast<double>(count);
  double lower = 0;
  double below = 0;
  for (std::size_t i = 0; i < to->buckets.size(); ++i) {
    const double upper = to->buckets[i].seconds;
    const auto up_to_here =
        static_cast<double>(to->buckets[i].count) - static_cast<double>(from->buckets[i].count);
    if (up_to_here >= rank && std::isinf(upper)) break;  // longer than any bound: at least that
    if (up_to_here >= rank) {
      lower += (upper - lower) * (rank - below) / (up_to_here - below);
      break;
    }
    lower = upper;
    below = up_to_here;
  }
  return Percentile{lower, count, span};
}

}  // namespace

void MetricsWindow::note(const MetricsReport& report) {
  if (noted_ && *noted_ == report.taken) return;
  noted_ = report.taken;
  blind_ = !report.metrics;
  if (blind_) return;
  if (!entries_.empty() && restarted(entries_.back().metrics, *report.metrics)) entries_.clear();
  // The last one is always the newest; the one before it gives way if it is too near to its own
  // predecessor.
  const std::size_t size = entries_.size();
  if (size >= 2 && entries_[size - 1].taken - entries_[size - 2].taken < kLeastApart)
    entries_.pop_back();
  entries_.push_back({report.taken, *report.metrics});
  while (entries_.size() > 2 && report.taken - entries_[1].taken >= kSpan) entries_.pop_front();
}

MemberLoad MetricsWindow::load() const {
  MemberLoad load;
  if (blind_ || entries_.empty()) return load;
  const Entry& first = entries_.front();
  const Entry& last = entries_.back();
  load.span = last.taken - first.taken;
  load.pending = last.metrics.pending;
  load.behind = behind(last.metrics);
  load.wal_fsync = percentile(first.metrics.wal_fsync, last.metrics.wal_fsync, load.span);
  load.backend_commit =
      percentile(first.metrics.backend_commit, last.metrics.backend_commit, load.span);
  if (load.span < kLeastSpan) return load;
  load.least_pending = load.pending;
  load.least_behind = load.behind;
  for (const Entry& entry : entries_) {
    load.least_pending = std::min(load.least_pending, entry.metrics.pending);
    load.least_behind = std::min(load.least_behind, behind(entry.metrics));
  }
  if (first.metrics.failed && last.metrics.failed)
    load.failed = *last.metrics.failed - *first.metrics.failed;
  return load;
}

}  // namespace wardmote::judge::etcd
