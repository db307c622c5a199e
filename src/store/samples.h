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

/// What is measured at each probe.
enum class Measure : std::uint8_t {
  kTook,         ///< `took_us`: how long a probe took
  kGood,         ///< `good`: 1 when the probe was good, 0 when it failed; nothing when unknown
  kLogEntries,   ///< `log_entries`: the entries in a raft member's log since the last snapshot
  kUncommitted,  ///< `uncommitted`: entries in its log that are not yet committed
  kUnapplied,    ///< `unapplied`: entries in its log that are not yet applied
};
inline constexpr std::size_t kMeasures = 5;

std::string_view to_string(Measure measure) noexcept;

using Measured = std::pair<Measure, std::int64_t>;

/// All values of one measure in one span of time.
struct Sample {
  WallTime at;         ///< when the span begins
  std::int64_t count;  ///< number of values; at least 1
  std::int64_t sum;
  std::int64_t least;
  std::int64_t most;
  friend bool operator==(const Sample&, const Sample&) = default;
};

struct SampleSeries {
  std::string measure;
  std::vector<Sample> samples;  ///< oldest first; spans without values are left out
};

struct SampleAnswer {
  Duration step{};  ///< the length of every span
  std::vector<SampleSeries> series;
};

/// One span of one subject in a heat map. `looks` 0: nothing was seen in it.
struct HeatCell {
  std::int64_t looks = 0;  ///< those of which it is known how they went
  std::int64_t good = 0;
  std::int64_t took_us = 0;       ///< on average
  std::int64_t most_took_us = 0;  ///< the longest
  friend bool operator==(const HeatCell&, const HeatCell&) = default;
};

/// How the probes of many subjects went, side by side.
struct HeatMap {
  struct Row {
    std::string subject;
    std::vector<HeatCell> cells;  ///< one a span, oldest first
  };
  WallTime from;    ///< when the first span begins
  Duration step{};  ///< the length of every span
  std::vector<Row> rows;
  bool complete = true;  ///< false: there are more rows
};

struct SampleLimits {
  /// Spans get longer with age: a minute, ten minutes after a day, an hour after a week.
  struct Tier {
    Duration step;
    /// samples of this age move to the next tier; those of the last tier are removed
    Duration until;
    std::size_t rows = 500'000;  ///< with more than this, the oldest move to the next tier earlier
  };
  std::array<Tier, 3> tiers{{{std::chrono::minutes(1), std::chrono::days(1)},
                             {std::chrono::minutes(10), std::chrono::days(7)},
                             {std::chrono::hours(1), std::chrono::days(30)}}};
  std::size_t subjects = 20'000;  ///< how many things are measured in one span; others are not
  /// how many samples may wait for the disk; beyond that, the oldest are dropped
  std::size_t unwritten = 50'000;
};

/// Measures of probes, one sample a minute, in the database; older samples are coarser. Without a
/// database nothing is measured. While the disk fails, samples wait; dropped ones are counted. Life
/// cycle: open(), stop() before destruction; what it borrows outlives it. Thread: the core loop.
class Samples {
 public:
  /// `database` may be null.
  Samples(runtime::Runtime& runtime, runtime::Database* database, SampleLimits limits = {});

  /// Creates the tables, and begins to write. On a full disk it creates them as soon as there is
  /// room.
  runtime::Task<Result<void>> open();
  /// Tries a last time to write what is not stored.
  runtime::Task<void> stop();

  /// Values below 0 and above 2^40 are limited to these.
  void add(std::string_view subject, std::span<const Measured> values);

  /// How many callers may ask at the same time; the next one gets kLimit. Viewers must not fill the
  /// queue of the database, in which the journal waits too.
  static constexpr int kReaders = 8;

  /// The things that have samples, sorted.
  runtime::Task<Result<std::vector<std::string>>> subjects();
  /// The samples of `subject` since then, in spans long enough for at most 400 of each measure.
  /// Values that are not stored yet (one minute) are not included.
  runtime::Task<Result<SampleAnswer>> find(std::string subject, WallTime since);
  /// The subjects whose names begin so, sorted, in at most 60 spans since then.
  runtime::Task<Result<HeatMap>> heat(std::string prefix, WallTime since);
  [[nodiscard]] bool stored() const noexcept { return database_ != nullptr; }
  /// Why nothing can be written now.
  [[nodiscard]] const std::optional<std::string>& complaint() const noexcept { return complaint_; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  [[nodiscard]] std::size_t unwritten() const noexcept { return unwritten_.size(); }

 private:
  struct Row {
    std::string subject;
    Measure measure;
    Sample sample;
  };
  using Tally = std::array<Sample, kMeasures>;  ///< count 0: no value yet

  /// In seconds of the wall clock; `step` is so long that it has at most so many spans, more or
  /// less.
  struct Window {
    std::int64_t now;
    std::int64_t since;
    std::int64_t step;
  };
  [[nodiscard]] Window window(WallTime since, std::int64_t most) const;
  runtime::Task<Result<void>> make_tables();
  runtime::Task<void> keep_writing();
  runtime::Task<void> write(bool and_thin);
  runtime::Task<Result<void>> write_out(runtime::Deadline deadline);
  runtime::Task<Result<std::vector<runtime::SqlRow>>> ask(runtime::SqlStatement question);
  runtime::Task<Result<void>> thin();
  runtime::Task<Result<void>> thin(std::size_t tier);
  void close_span();
  void note(const Result<void>& written);
  [[nodiscard]] WallTime span_of(WallTime at) const;

  runtime::Runtime& runtime_;
  runtime::Database* database_;
  const SampleLimits limits_;
  std::map<std::string, Tally, std::less<>> tallies_;  ///< the values of this span
  WallTime span_;                                      ///< when the span began
  std::deque<Row> unwritten_;
  std::uint64_t dropped_ = 0;
  int readers_ = 0;
  bool made_ = false;  ///< the tables exist
  std::optional<std::string> complaint_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::store
