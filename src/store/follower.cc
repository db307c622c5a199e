#include "store/follower.h"

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/seen_revision.h"
#include "store/store.h"

namespace wardmote::store {

using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kListPatience = 10s;
constexpr Duration kWatchPatience = 10s;
constexpr Duration kTryAgain = 1s;
constexpr Duration kReadAgain = 100ms;

}  // namespace

Follower::Follower(runtime::Runtime& runtime, Store& store, std::string prefix,
                   std::function<void(const Records&)> changed)
    : runtime_(runtime),
      store_(store),
      prefix_(std::move(prefix)),
      changed_(std::move(changed)),
      tasks_(runtime.executor()) {}

void Follower::start() {
  tasks_.spawn("follow " + prefix_, run());
}

Task<void> Follower::run() {
  for (;;) {
    const Result<void> followed = co_await follow();
    if (!followed) co_await runtime_.sleep_until(runtime_.now() + kTryAgain);
  }
}

Task<Result<void>> Follower::follow() {
  KeyRange keys = KeyRange::prefix(prefix_);
  const SeenRevision::Mark asked = store_.seen().mark();
  Result<Snapshot> found = co_await store_.list(keys, runtime_.deadline_in(kListPatience));
  if (!found) co_return std::unexpected(found.error());
  Records records;
  for (KeyValue& key : found->keys) records[std::move(key.key)] = std::move(key.value);
  store_.seen().answered(asked, found->revision, false);
  const bool first = !confirmed_;
  confirmed_ = runtime_.now();
  if (first || records != records_) {
    records_ = std::move(records);
    changed_(records_);
  }
  const std::unique_ptr<Watch> watch = store_.watch(std::move(keys), found->revision + 1);
  for (;;) {
    const Result<WatchBatch> batch = co_await watch->next(runtime_.deadline_in(kWatchPatience));
    if (watch->resumed()) co_return Result<void>();
    if (batch) {
      apply(*batch);
    } else if (batch.error().code == Errc::kTimeout) {
      confirmed_ = runtime_.now();
    } else if (batch.error().code == Errc::kMissing) {
      // A member that is behind may say so for a while.
      co_await runtime_.sleep_until(runtime_.now() + kReadAgain);
      co_return Result<void>();
    } else {
      // It may be another one when it is there again, or an older copy of it.
      co_await runtime_.sleep_until(runtime_.now() + kTryAgain);
      co_return Result<void>();
    }
  }
}

void Follower::apply(const WatchBatch& batch) {
  bool changed = false;
  for (const KeyEvent& event : batch.events) {
    if (event.removed) {
      changed = records_.erase(event.key.key) > 0 || changed;
      continue;
    }
    std::string& value = records_[event.key.key];
    changed = changed || value != event.key.value || event.key.version == 1;
    value = event.key.value;
  }
  confirmed_ = runtime_.now();
  store_.seen().see(batch.upto);
  if (changed) changed_(records_);
}

}  // namespace wardmote::store
