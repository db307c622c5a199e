#include "incidents/record_writer.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "control/written.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/written_hold.h"
#include "store/records.h"
#include "store/store.h"

namespace wardmote::incidents {

using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kFirstRetry = 1s;
constexpr Duration kLongestRetry = 60s;
constexpr Duration kPauseStep = 200ms;
constexpr Duration kPatience = 30s;
/// With a disk of its own: people wait for messages, and for the answers to their orders.
constexpr Duration kDiskPatience = 10s;

}  // namespace

Task<Result<std::map<std::string, std::string>>> RecordWriter::load(std::string prefix) {
  std::map<std::string, std::string> records;
  if (store_ == nullptr) co_return records;
  store::KeyRange keys = store::KeyRange::prefix(prefix);
  auto found = co_await store_->list(std::move(keys), runtime_.deadline_in(kPatience));
  if (!found) co_return std::unexpected(found.error());
  for (store::KeyValue& key : found->keys) records[std::move(key.key)] = std::move(key.value);
  co_return records;
}

Task<void> RecordWriter::stop() {
  co_await tasks_.stop();
  if (unwritten_.empty()) co_return;
  const Result<void> written = co_await write_out();
  if (written) co_return;
  log(LogLevel::kError, "records_not_written", {{"reason", written.error().describe()}});
}

void RecordWriter::put(std::string key, std::optional<std::string> value) {
  if (store_ == nullptr || !may_write()) return;
  unwritten_[std::move(key)] = std::move(value);
  ++puts_;
  start();
}

void RecordWriter::after_writing(std::function<void()> then) {
  waiting_.push_back(std::move(then));
  hurry_ = true;
  start();
}

std::shared_ptr<runtime::HttpHold> RecordWriter::hold() {
  if (store_ == nullptr) return nullptr;
  auto written = std::make_shared<control::Written>(runtime_.executor());
  holds_.emplace_back([this, written, drops = drops_, puts = puts_] {
    if (drops == drops_) return written->done(complaint_);
    if (torn_ > drops && torn_puts_ >= puts)
      return written->unsure(
          "this agent stopped leading while it was written down; look whether "
          "it is there before you give it again");
    written->lost("this agent stopped leading before it was written down; give it again");
  });
  hurry_ = true;
  start();
  return serve::hold_until(std::move(written));
}

Task<Result<void>> RecordWriter::settle() {
  while (under_way_ > 0) co_await settled_.wait();
  if (!writer_) co_return Result<void>();
  Result<void> settled = co_await writer_->settle(runtime_.deadline_in(kPatience));
  co_return settled;
}

void RecordWriter::drop() {
  unwritten_.clear();
  waiting_.clear();
  ++drops_;
  if (under_way_ > 0) {
    torn_ = drops_;
    torn_puts_ = sent_puts_;
  }
  refused_ = false;
}

void RecordWriter::start() {
  if (writing_) return;
  writing_ = true;
  tasks_.spawn("write records", keep_writing());
}

Task<void> RecordWriter::keep_writing() {
  // However this ends, the next record starts it anew.
  struct Done {
    RecordWriter* records;
    ~Done() { records->writing_ = false; }
  } const done{this};
  Duration pause{};
  while (!unwritten_.empty() || !waiting_.empty() || !holds_.empty()) {
    // Even without a pause the loop turns here, and the rest of what belongs together is put.
    co_await rest(pause);
    hurry_ = false;
    std::vector<std::function<void()>> waiting = std::exchange(waiting_, {});
    const std::vector<std::function<void()>> holds = std::exchange(holds_, {});
    const std::uint64_t drops = drops_;
    const Result<void> written = co_await write_out();
    if (drops != drops_) waiting.clear();
    if (!written && waits_for_store_ && written.error().code != Errc::kExhausted) {
      waiting_.insert(waiting_.begin(), waiting.begin(), waiting.end());
      waiting.clear();
    }
    pause = written ? Duration::zero()
                    : std::clamp(pause * 2, Duration(kFirstRetry), Duration(kLongestRetry));
    if (!written && !complaint_) {
      log(LogLevel::kError, "records_not_written", {{"reason", written.error().describe()}});
    }
    complaint_ = written ? std::nullopt : std::optional(written.error().describe());
    for (const auto& then : holds) then();
    for (const auto& then : waiting) then();
  }
}

/// Who waits must not wait for a disk that fails, also who comes meanwhile.
Task<void> RecordWriter::rest(Duration pause) {
  const TimePoint end = runtime_.now() + pause;
  do {
    const Duration step = hurry_ ? Duration::zero() : kPauseStep;
    co_await runtime_.sleep_until(std::min(end, runtime_.now() + step));
  } while (!hurry_ && runtime_.now() < end);
}

Task<Result<void>> RecordWriter::write_out() {
  // A store may take only so many changes at once. What comes first in the order of the keys
  // (incidents) is there before what follows from it (who is to be told).
  while (!unwritten_.empty()) {
    const Result<void> written = co_await write_some();
    if (!written) co_return written;
  }
  co_return Result<void>();
}

Task<Result<void>> RecordWriter::write(store::RecordChanges changes) {
  while (writer_ && !changes.empty()) {
    store::RecordChanges some = take_some(changes);
    Result<void> written =
        co_await writer_->write(std::move(some), runtime_.deadline_in(kPatience));
    if (!written) co_return written;
  }
  co_return Result<void>();
}

store::RecordChanges RecordWriter::take_some(store::RecordChanges& changes) const {
  store::RecordChanges some;
  std::size_t bytes = 0;
  const store::TransactionLimits most = store_->limits();
  // One change is the writer's own.
  while (!changes.empty() && some.size() + 1 < most.changes && bytes < most.bytes) {
    auto next = changes.extract(changes.begin());
    bytes += next.key().size() + next.mapped().value_or("").size();
    some.insert(std::move(next));
  }
  return some;
}

Task<Result<void>> RecordWriter::write_some() {
  if (!may_write()) co_return fail(Errc::kRejected, "another agent leads");
  store::RecordChanges some = take_some(unwritten_);
  // Unless it is written for sure it is put back, also when the task is cancelled; what was put
  // meanwhile is newer.
  struct PutBack {
    RecordWriter* records;
    store::RecordChanges changes;
    std::uint64_t drops;
    // What another agent may have written meanwhile is not to be written over.
    ~PutBack() {
      if (--records->under_way_ == 0) records->settled_.notify();
      if (drops == records->drops_) records->unwritten_.merge(changes);
    }
  } kept{this, std::move(some), drops_};
  ++under_way_;
  sent_puts_ = puts_;
  store::RecordChanges changes = kept.changes;
  const Duration patience = waits_for_store_ ? kPatience : kDiskPatience;
  Result<void> written =
      co_await writer_->write(std::move(changes), runtime_.deadline_in(patience));
  const bool refused = !written && written.error().code == Errc::kRejected;
  if (!written && !refused) co_return written;
  kept.changes.clear();
  // Of an earlier lead it says nothing.
  if (kept.drops == drops_) refused_ = refused;
  co_return written;
}

}  // namespace wardmote::incidents
