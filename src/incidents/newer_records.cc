#include "incidents/newer_records.h"

#include <algorithm>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "runtime/task.h"
#include "store/incident_record.h"
#include "store/notify_record.h"
#include "store/records.h"

namespace wardmote::incidents {

using runtime::Task;

namespace {

/// The last history in which anybody led.
std::uint64_t led_in(const NewerRecords::Records& notifications) {
  const auto found = notifications.find(std::string(store::kNotifyHistoryKey));
  if (found == notifications.end()) return 0;
  return parse_number<std::uint64_t>(found->second).value_or(0);
}

}  // namespace

void NewerRecords::keep(Records before, std::uint64_t history) {
  if (!kept_) kept_ = Kept{.records = std::move(before), .history = history};
  kept_->history = history;
}

void NewerRecords::see(const Records& notifications) {
  if (kept_ && led_in(notifications) >= kept_->history) kept_.reset();
}

Task<Result<void>> NewerRecords::put_back(std::uint64_t history) {
  const auto notifications = co_await records_.load(std::string(store::kNotifyPrefix));
  if (!notifications) co_return std::unexpected(notifications.error());
  see(*notifications);
  if (!kept_ && led_in(*notifications) >= history) co_return Result<void>();
  if (kept_) {
    history = std::max(history, kept_->history);
    Result<void> written = co_await write(*kept_, *notifications);
    if (!written) co_return written;
    log(LogLevel::kWarning, "incidents_written_anew", {});
  }
  // Last: who comes next does all of it again when this could not be written.
  Result<void> marked =
      co_await records_.write({{std::string(store::kNotifyHistoryKey), std::to_string(history)}});
  if (marked && kept_ && kept_->history <= history) kept_.reset();
  co_return marked;
}

Task<Result<void>> NewerRecords::write(Kept kept, Records notifications) {
  const auto incidents = co_await records_.load(std::string(store::kIncidentPrefix));
  if (!incidents) co_return std::unexpected(incidents.error());
  store::RecordChanges changes;
  // What was told of since is told of no more.
  for (const auto& [key, value] : notifications) {
    if (key.starts_with(store::kGroupPrefix)) changes[key] = std::nullopt;
  }
  for (auto& [key, value] : kept.records) changes[key] = std::move(value);
  changes.erase(std::string(store::kNotifyHistoryKey));
  const auto is_so = [&](const auto& change) {
    for (const Records* const now : {&*incidents, &std::as_const(notifications)}) {
      const auto found = now->find(change.first);
      if (found != now->end() && change.second == found->second) return true;
    }
    return false;
  };
  std::erase_if(changes, is_so);
  Result<void> written = co_await records_.write(std::move(changes));
  co_return written;
}

void NewerRecords::led_on(std::uint64_t history) {
  records_.put(std::string(store::kNotifyHistoryKey), std::to_string(history));
}

}  // namespace wardmote::incidents
