#include "store/samples.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "runtime/database.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::store {

using runtime::Deadline;
using runtime::SqlRow;
using runtime::SqlStatement;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kPatience = 30s;
constexpr Duration kLastPatience = 1s;
constexpr Duration kAnswerPatience = 5s;
constexpr Duration kTryAgain = 5s;
/// So few that building the statements delays no probe.
constexpr std::size_t kMostOfOneWrite = 250;
/// In spans of the first tier.
constexpr std::uint64_t kThinEvery = 10;
constexpr std::int64_t kMostSpans = 400;
constexpr std::int64_t kMostHeatSpans = 60;
/// Two measures of 2,000 subjects.
constexpr std::int64_t kMostHeatCells = std::int64_t{2} * 2000 * kMostHeatSpans;

/// A peer may report any number; thirty days of this limit can still be added up.
constexpr std::int64_t kLargest = std::int64_t{1} << 40;

constexpr std::array<std::string_view, kMeasures> kNames{"took_us", "good", "log_entries",
                                                         "uncommitted", "unapplied"};

std::int64_t seconds_of(WallTime at) {
  return std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
}

std::int64_t seconds_of(Duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

std::vector<SqlStatement> schema() {
  return {
      {"CREATE TABLE IF NOT EXISTS sample_series (id INTEGER PRIMARY KEY, subject TEXT NOT NULL, "
       "measure TEXT NOT NULL, UNIQUE (subject, measure)) STRICT",
       {}},
      {"CREATE TABLE IF NOT EXISTS sample (series INTEGER NOT NULL, step_s INTEGER NOT NULL, "
       "at_s INTEGER NOT NULL, n INTEGER NOT NULL, total INTEGER NOT NULL, least INTEGER NOT NULL, "
       "most INTEGER NOT NULL, PRIMARY KEY (series, step_s, at_s)) STRICT, WITHOUT ROWID",
       {}},
      {"CREATE INDEX IF NOT EXISTS sample_at ON sample (step_s, at_s)", {}},
      {"DELETE FROM sample_series WHERE NOT EXISTS (SELECT 1 FROM sample WHERE series = id)", {}},
  };
}

/// One span that two runs of the agent share, or that a clock set back repeats, becomes one row.
constexpr std::string_view kMerge =
    " ON CONFLICT (series, step_s, at_s) DO UPDATE SET n = n + excluded.n, "
    "total = total + excluded.total, least = min(least, excluded.least), "
    "most = max(most, excluded.most)";

SqlStatement insert(const std::string& subject, Measure measure, std::int64_t step_s,
                    const Sample& sample) {
  return {
      "INSERT INTO sample SELECT id, ?, ?, ?, ?, ?, ? FROM sample_series "
      "WHERE subject = ? AND measure = ?" +
          std::string(kMerge),
      {step_s, seconds_of(sample.at), sample.count, sample.sum, sample.least, sample.most, subject,
       std::string(to_string(measure))}};
}

/// The shortest span that divides a tier's span into whole ones, or is made of whole ones, and is
/// long enough.
std::int64_t step_for(std::int64_t window_s, std::int64_t shortest_s, std::int64_t most) {
  std::int64_t step = shortest_s;
  for (const std::int64_t factor : {10, 6, 6, 4}) {
    if (window_s / step <= most) break;
    step *= factor;
  }
  return step;
}

struct Found {
  std::string measure;
  Sample sample;
};

/// Nothing when the row is malformed.
std::optional<Found> found_in(const SqlRow& row) {
  const std::string* const measure = row.text(0);
  std::array<std::int64_t, 5> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto value = row.integer(i + 1);
    if (!value) return std::nullopt;
    numbers.at(i) = *value;
  }
  if (measure == nullptr || numbers[1] < 1) return std::nullopt;
  const WallTime at{std::chrono::seconds(numbers[0])};
  return Found{*measure, {at, numbers[1], numbers[2], numbers[3], numbers[4]}};
}

}  // namespace

std::string_view to_string(Measure measure) noexcept {
  return kNames.at(static_cast<std::size_t>(measure));
}

Samples::Samples(runtime::Runtime& runtime, runtime::Database* database, SampleLimits limits)
    : runtime_(runtime), database_(database), limits_(limits), tasks_(runtime.executor()) {}

Task<Result<void>> Samples::open() {
  if (database_ == nullptr) co_return Result<void>();
  Result<void> opened = co_await make_tables();
  if (opened) opened = co_await thin();
  if (!opened && opened.error().code != Errc::kExhausted) co_return opened;
  note(opened);
  span_ = span_of(runtime_.wall_now());
  tasks_.spawn("write samples", keep_writing());
  co_return Result<void>();
}

Task<Result<void>> Samples::make_tables() {
  const Result<void> made = co_await database_->commit(schema(), runtime_.deadline_in(kPatience));
  made_ = made.has_value();
  if (!made) co_return with_context(made, "samples");
  co_return made;
}

Task<void> Samples::stop() {
  co_await tasks_.stop();
  if (database_ == nullptr) co_return;
  close_span();
  const Deadline deadline = runtime_.deadline_in(kLastPatience);
  const Result<void> written = co_await write_out(deadline);
  note(written);
}

void Samples::add(std::string_view subject, std::span<const Measured> values) {
  if (database_ == nullptr) return;
  auto tally = tallies_.find(subject);
  if (tally == tallies_.end()) {
    if (tallies_.size() >= limits_.subjects) return;
    tally = tallies_.emplace(std::string(subject), Tally{}).first;
  }
  for (const auto& [measure, raw] : values) {
    const std::int64_t value = std::clamp<std::int64_t>(raw, 0, kLargest);
    Sample& sample = tally->second.at(static_cast<std::size_t>(measure));
    const bool first = sample.count++ == 0;
    sample.sum += value;
    sample.least = first ? value : std::min(sample.least, value);
    sample.most = first ? value : std::max(sample.most, value);
  }
}

Task<Result<std::vector<SqlRow>>> Samples::ask(SqlStatement question) {
  if (readers_ >= kReaders) co_return fail(Errc::kLimit, "samples: too many ask at once");
  struct Leave {
    int* readers;
    ~Leave() { --*readers; }
  } const leave{&readers_};
  ++readers_;
  const Deadline deadline = runtime_.deadline_in(kAnswerPatience);
  auto rows = co_await database_->read(std::move(question), deadline);
  if (!rows) co_return with_context(rows, "samples");
  co_return rows;
}

Task<Result<std::vector<std::string>>> Samples::subjects() {
  std::vector<std::string> names;
  if (database_ == nullptr) co_return names;
  SqlStatement question{"SELECT DISTINCT subject FROM sample_series ORDER BY subject LIMIT ?",
                        {static_cast<std::int64_t>(limits_.subjects)}};
  const auto rows = co_await ask(std::move(question));
  if (!rows) co_return std::unexpected(rows.error());
  for (const SqlRow& row : *rows) {
    if (const std::string* const name = row.text(0)) names.push_back(*name);
  }
  co_return names;
}

Samples::Window Samples::window(WallTime since, std::int64_t most) const {
  const std::int64_t now_s = seconds_of(runtime_.wall_now());
  const std::int64_t since_s = std::clamp<std::int64_t>(seconds_of(since), 0, now_s);
  return {now_s, since_s, step_for(now_s - since_s, seconds_of(limits_.tiers[0].step), most)};
}

Task<Result<SampleAnswer>> Samples::find(std::string subject, WallTime since) {
  SampleAnswer answer;
  const auto [now_s, since_s, step_s] = window(since, kMostSpans);
  answer.step = std::chrono::seconds(step_s);
  if (database_ == nullptr) co_return answer;
  // Coarser samples already begin at the start of their span.
  SqlStatement question{
      "SELECT measure, at_s - at_s % ? AS begun, sum(n), sum(total), min(least), max(most) "
      "FROM sample JOIN sample_series ON id = series "
      "WHERE subject = ? AND at_s + step_s > ? GROUP BY measure, begun ORDER BY measure, begun",
      {step_s, std::move(subject), since_s}};
  const auto rows = co_await ask(std::move(question));
  if (!rows) co_return std::unexpected(rows.error());
  for (const SqlRow& row : *rows) {
    auto found = found_in(row);
    if (!found) co_return fail(Errc::kProtocol, "samples: a row that is not a sample");
    if (answer.series.empty() || answer.series.back().measure != found->measure) {
      answer.series.push_back({std::move(found->measure), {}});
    }
    answer.series.back().samples.push_back(found->sample);
  }
  co_return answer;
}

Task<Result<HeatMap>> Samples::heat(std::string prefix, WallTime since) {
  HeatMap map;
  const auto [now_s, since_s, step_s] = window(since, kMostHeatSpans);
  const std::int64_t from_s = since_s - since_s % step_s;
  const auto spans = static_cast<std::size_t>((now_s - from_s) / step_s + 1);
  map.step = std::chrono::seconds(step_s);
  map.from = WallTime(std::chrono::seconds(from_s));
  if (database_ == nullptr) co_return map;
  SqlStatement question{
      "SELECT measure, at_s - at_s % ? AS begun, sum(n), sum(total), min(least), max(most), "
      "subject FROM sample JOIN sample_series ON id = series "
      "WHERE substr(subject, 1, length(?)) = ? AND measure IN (?, ?) AND begun >= ? "
      "GROUP BY subject, measure, begun ORDER BY subject LIMIT ?",
      {step_s, prefix, prefix, std::string(to_string(Measure::kGood)),
       std::string(to_string(Measure::kTook)), from_s, kMostHeatCells + 1}};
  auto rows = co_await ask(std::move(question));
  if (!rows) co_return std::unexpected(rows.error());
  map.complete = std::ssize(*rows) <= kMostHeatCells;
  for (const SqlRow& row : *rows) {
    const auto found = found_in(row);
    const std::string* const subject = row.text(6);
    if (!found || subject == nullptr)
      co_return fail(Errc::kProtocol, "samples: a row that is not a sample");
    if (map.rows.empty() || map.rows.back().subject != *subject)
      map.rows.push_back({*subject, std::vector<HeatCell>(spans)});
    const Sample& sample = found->sample;
    const std::int64_t span = (seconds_of(sample.at) - from_s) / step_s;
    if (span < 0 || std::cmp_greater_equal(span, spans)) continue;
    HeatCell& cell = map.rows.back().cells.at(static_cast<std::size_t>(span));
    if (found->measure == to_string(Measure::kGood)) {
      cell.looks = sample.count;
      cell.good = sample.sum;
    } else {
      cell.took_us = sample.sum / sample.count;
      cell.most_took_us = sample.most;
    }
  }
  // The last one may lack some of its cells.
  if (!map.complete) map.rows.pop_back();
  co_return map;
}

WallTime Samples::span_of(WallTime at) const {
  const std::int64_t step_s = seconds_of(limits_.tiers[0].step);
  const std::int64_t at_s = seconds_of(at);
  return WallTime(std::chrono::seconds(at_s - at_s % step_s));
}

Task<void> Samples::keep_writing() {
  const Duration step = limits_.tiers[0].step;
  for (std::uint64_t spans = 1;; ++spans) {
    const Duration passed = runtime_.wall_now() - span_of(runtime_.wall_now());
    const TimePoint end = runtime_.now() + step - passed;
    // Nobody is told for the rest of the span that the disk takes nothing when it does again.
    while (complaint_ && runtime_.now() + kTryAgain < end) {
      co_await runtime_.sleep_until(runtime_.now() + kTryAgain);
      co_await write(true);
    }
    co_await runtime_.sleep_until(end);
    close_span();
    co_await write(spans % kThinEvery == 0);
  }
}

Task<void> Samples::write(bool and_thin) {
  Result<void> written = co_await write_out(runtime_.deadline_in(kPatience));
  if (written && and_thin) written = co_await thin();
  note(written);
}

/// From now on these values wait for the disk.
void Samples::close_span() {
  for (auto& [subject, tally] : tallies_) {
    for (std::size_t i = 0; i < kMeasures; ++i) {
      Sample& sample = tally.at(i);
      if (sample.count == 0) continue;
      sample.at = span_;
      unwritten_.push_back({subject, static_cast<Measure>(i), sample});
    }
  }
  tallies_.clear();
  span_ = span_of(runtime_.wall_now());
  while (unwritten_.size() > limits_.unwritten) {
    unwritten_.pop_front();
    ++dropped_;
  }
}

Task<Result<void>> Samples::write_out(Deadline deadline) {
  const std::int64_t step_s = seconds_of(limits_.tiers[0].step);
  if (!made_) {
    const Result<void> made = co_await make_tables();
    if (!made) co_return made;
  }
  while (!unwritten_.empty()) {
    const std::size_t count = std::min(unwritten_.size(), kMostOfOneWrite);
    std::vector<SqlStatement> statements;
    statements.reserve(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
      const Row& row = unwritten_[i];
      statements.push_back({"INSERT OR IGNORE INTO sample_series (subject, measure) VALUES (?, ?)",
                            {row.subject, std::string(to_string(row.measure))}});
      statements.push_back(insert(row.subject, row.measure, step_s, row.sample));
    }
    const Result<void> written = co_await database_->commit(std::move(statements), deadline);
    if (!written) co_return with_context(written, "samples");
    unwritten_.erase(unwritten_.begin(), unwritten_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  co_return Result<void>();
}

Task<Result<void>> Samples::thin() {
  for (std::size_t tier = 0; tier < limits_.tiers.size(); ++tier) {
    const Result<void> thinned = co_await thin(tier);
    if (!thinned) co_return with_context(thinned, "samples: thin");
  }
  co_return Result<void>();
}

/// Moves samples that are too old or too many for `tier` to the next tier.
Task<Result<void>> Samples::thin(std::size_t tier) {
  const SampleLimits::Tier& from = limits_.tiers.at(tier);
  const bool last = tier + 1 == limits_.tiers.size();
  const std::int64_t step_s = seconds_of(from.step);
  const std::int64_t next_s = last ? step_s : seconds_of(limits_.tiers.at(tier + 1).step);
  SqlStatement too_many{
      "SELECT at_s FROM sample WHERE step_s = ? ORDER BY at_s DESC LIMIT 1 OFFSET ?",
      {step_s, static_cast<std::int64_t>(from.rows)}};
  const Deadline deadline = runtime_.deadline_in(kPatience);
  const auto rows = co_await database_->read(std::move(too_many), deadline);
  if (!rows) co_return std::unexpected(rows.error());
  std::int64_t cut_s = seconds_of(runtime_.wall_now() - from.until);
  if (!rows->empty()) cut_s = std::max(cut_s, rows->front().integer(0).value_or(cut_s) + step_s);
  // Whole spans of the next tier only.
  cut_s -= cut_s % next_s;
  std::vector<SqlStatement> statements;
  if (!last) {
    statements.push_back(
        {"INSERT INTO sample SELECT series, ?, at_s - at_s % ?, sum(n), sum(total), min(least), "
         "max(most) FROM sample WHERE step_s = ? AND at_s < ? GROUP BY series, at_s - at_s % ?" +
             std::string(kMerge),
         {next_s, next_s, step_s, cut_s, next_s}});
  }
  statements.push_back({"DELETE FROM sample WHERE step_s = ? AND at_s < ?", {step_s, cut_s}});
  const Result<void> thinned = co_await database_->commit(std::move(statements), deadline);
  co_return thinned;
}

void Samples::note(const Result<void>& written) {
  if (!written && !complaint_)
    log(LogLevel::kError, "samples_not_written", {{"reason", written.error().describe()}});
  if (written && complaint_) log(LogLevel::kInfo, "samples_written_again");
  complaint_ = written ? std::nullopt : std::optional(written.error().describe());
}

}  // namespace wardmote::store
