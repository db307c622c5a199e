#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/database.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::store {

/// What is measured of a subject, time and again.
enum class Measure : std::uint8_t {
  kTook,         ///< `took_us`: how long a look took
  kGood,         ///< `good`: 1 when a look found it good, 0 when not; nothing when nobody knows
  kLogEntries,   ///< `log_entries`: what a raft member keeps in its log since the last snapshot
  kUncommitted,  ///< `uncommitted`: entries of its log that are not yet committed
  kUnapplied,    ///< `unapplied`: entries of its log that it has yet to apply
};
inline constexpr std::size_t kMeasures = 5;

std::string_view to_string(Measure measure) noexcept;

using Measured = std::pair<Measure, std::int64_t>;

/// All values of one measure in one span of time.
struct Sample {
  WallTime at;         ///< when the span begins
  std::int64_t count;  ///< of values; at least 1
  std::int64_t sum;
  std::int64_t least;
  std::int64_t most;
  friend bool operator==(const Sample&, const Sample&) = default;
};

struct SampleSeries {
  std::string measure;
  std::vector<Sample> samples;  ///< oldest first; spans without a value are left out
};

struct SampleAnswer {
  Duration step{};  ///< the length of every span
  std::vector<SampleSeries> series;
};

struct SampleLimits {
  /// Spans get longer with age: a minute, ten minutes after a day, an hour after a week.
  struct Tier {
    Duration step;
    Duration until;              ///< this old, and the next tier takes it; the last: it goes
    std::size_t rows = 500'000;  ///< more, and the oldest leave the tier earlier
  };
  std::array<Tier, 3> tiers{{{std::chrono::minutes(1), std::chrono::days(1)},
                             {std::chrono::minutes(10), std::chrono::days(7)},
                             {std::chrono::hours(1), std::chrono::days(30)}}};
  std::size_t subjects = 20'000;   ///< measured in one span; further ones are not
  std::size_t unwritten = 50'000;  ///< samples that wait for a disk; more, and the oldest go
};

/// Measures of looks, one sample a minute, in the database; the older, the coarser. Without a
/// database nothing is measured. A failing disk is waited for; what had to be dropped is counted.
/// Life cycle: open(), stop() before destruction; what it borrows outlives it. Thread: the core
/// loop.
class Samples {
 public:
  /// `database` may be null.
  Samples(runtime::Runtime& runtime, runtime::Database* database, SampleLimits limits = {});

  /// Makes the tables, and begins to write.
  runtime::Task<Result<void>> open();
  /// Tries a last time to write what is not written.
  runtime::Task<void> stop();

  /// Values below 0 and above 2^40 count as these.
  void add(std::string_view subject, std::span<const Measured> values);

  /// Of whom there are samples, sorted.
  runtime::Task<Result<std::vector<std::string>>> subjects();
  /// What is stored of `subject` since then, in spans that are long enough for at most 400 of each
  /// measure. What is not written yet, a minute's worth, is not in it.
  runtime::Task<Result<SampleAnswer>> find(std::string subject, WallTime since);
  [[nodiscard]] bool stored() const noexcept { return database_ != nullptr; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  [[nodiscard]] std::size_t unwritten() const noexcept { return unwritten_.size(); }

 private:
  struct Row {
    std::string subject;
    Measure measure;
    Sample sample;
  };
  using Tally = std::array<Sample, kMeasures>;  ///< count 0: no value yet

  runtime::Task<void> keep_writing();
  runtime::Task<Result<void>> write_out(runtime::Deadline deadline);
  runtime::Task<Result<void>> thin();
  runtime::Task<Result<void>> thin(std::size_t tier);
  void close_span();
  void note(const Result<void>& written);
  [[nodiscard]] WallTime span_of(WallTime at) const;

  runtime::Runtime& runtime_;
  runtime::Database* database_;
  const SampleLimits limits_;
  std::map<std::string, Tally, std::less<>> tallies_;  ///< of this span
  WallTime span_;                                      ///< when it began
  std::deque<Row> unwritten_;
  std::uint64_t dropped_ = 0;
  bool complained_ = false;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::store
