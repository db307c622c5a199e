#include "incidents/newer_records.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "runtime/task.h"
#include "store/incident_record.h"
#include "store/notify_record.h"
#include "store/records.h"

namespace wardmote::incidents {

using runtime::Task;

namespace {

constexpr Duration kOfUse = std::chrono::minutes(10);

/// The last history in which anybody led.
std::uint64_t led_in(const NewerRecords::Records& notifications) {
  const auto found = notifications.find(std::string(store::kNotifyHistoryKey));
  if (found == notifications.end()) return 0;
  return parse_number<std::uint64_t>(found->second).value_or(0);
}

std::optional<std::int64_t> number_of_incident(std::string_view key) {
  if (!consume_prefix(key, store::kIncidentPrefix)) return std::nullopt;
  return parse_number<std::int64_t>(key);
}

std::int64_t last_incident(const NewerRecords::Records& records) {
  std::int64_t last = 0;
  for (const auto& [key, value] : records)
    last = std::max(last, number_of_incident(key).value_or(0));
  return last;
}

}  // namespace

void NewerRecords::keep(Records before, std::uint64_t history, TimePoint now) {
  if (!kept_ || now - kept_->at > kOfUse)
    kept_ = Kept{.records = std::move(before), .history = history, .at = now};
  kept_->history = history;
}

bool NewerRecords::is_due(TimePoint now) const noexcept {
  return kept_ && now - kept_->at <= kOfUse;
}

void NewerRecords::see(const Records& notifications) {
  if (kept_ && led_in(notifications) >= kept_->history) kept_.reset();
}

Task<Result<void>> NewerRecords::put_back(std::uint64_t history, TimePoint now) {
  const auto notifications = co_await records_.load(std::string(store::kNotifyPrefix));
  if (!notifications) co_return std::unexpected(notifications.error());
  see(*notifications);
  if (!is_due(now)) kept_.reset();
  if (!kept_ && led_in(*notifications) >= history) co_return Result<void>();
  if (kept_) {
    history = std::max(history, kept_->history);
    Result<void> written = co_await write(*kept_, *notifications);
    if (!written) co_return written;
    log(LogLevel::kWarning, "incidents_written_anew", {});
  }
  // Last: who comes next does all of it again when this could not be written.
  store::RecordChanges mark{{std::string(store::kNotifyHistoryKey), std::to_string(history)}};
  Result<void> marked = co_await records_.write(std::move(mark));
  if (marked && kept_ && kept_->history <= history) kept_.reset();
  co_return marked;
}

Task<Result<void>> NewerRecords::write(Kept kept, Records notifications) {
  auto now = co_await records_.load(std::string(store::kIncidentPrefix));
  if (!now) co_return std::unexpected(now.error());
  now->merge(notifications);
  store::RecordChanges changes;
  const std::int64_t last = last_incident(kept.records);
  for (const auto& [key, value] : *now) {
    if (kept.records.contains(key)) continue;
    // What was told of since is told of no more. An incident that is not known is of before another
    // copy, unless it came since.
    if (key.starts_with(store::kGroupPrefix) || number_of_incident(key).value_or(last + 1) <= last)
      changes[key] = std::nullopt;
  }
  kept.records.erase(std::string(store::kNotifyHistoryKey));
  for (auto& [key, value] : kept.records) {
    const auto is = now->find(key);
    if (is == now->end() || is->second != value) changes[key] = std::move(value);
  }
  Result<void> written = co_await records_.write(std::move(changes));
  co_return written;
}

void NewerRecords::led_on(std::uint64_t history) {
  records_.put(std::string(store::kNotifyHistoryKey), std::to_string(history));
}

}  // namespace wardmote::incidents
