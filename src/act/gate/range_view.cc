#include "act/gate/range_view.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/seen_revision.h"
#include "store/store.h"

namespace wardmote::act::gate {

using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kListPatience = 5s;
constexpr Duration kWatchPatience = 5s;
constexpr Duration kTryAgain = 500ms;
/// A member of etcd that is behind may send us back for a while.
constexpr Duration kReadAgain = 100ms;

}  // namespace

RangeView::RangeView(runtime::Runtime& runtime, store::Store& store, std::string prefix,
                     std::function<void()> changed)
    : runtime_(runtime),
      store_(store),
      prefix_(std::move(prefix)),
      changed_(std::move(changed)),
      tasks_(runtime.executor()) {}

void RangeView::start() {
  tasks_.spawn("gate " + prefix_, run());
}

std::optional<store::KeyValue> RangeView::find(const std::string& key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? std::nullopt : std::optional(found->second);
}

Task<void> RangeView::run() {
  for (;;) {
    const Result<void> followed = co_await follow();
    if (!followed) {
      complaint_ = followed.error().describe();
      changed_();
    }
    co_await runtime_.sleep_until(runtime_.now() + (followed ? kReadAgain : kTryAgain));
  }
}

Task<Result<void>> RangeView::follow() {
  store::KeyRange keys = store::KeyRange::prefix(prefix_);
  Result<store::Snapshot> found = co_await store_.list(keys, runtime_.deadline_in(kListPatience));
  if (!found) co_return with_context(found, "the gate's keys");
  // Also one of an earlier revision: then the store's history has begun anew.
  ++gaps_;
  const store::Revision from = found->revision + 1;
  replace(*std::move(found));
  const std::unique_ptr<store::Watch> watch = store_.watch(std::move(keys), from);
  for (;;) {
    const Result<store::WatchBatch> batch =
        co_await watch->next(runtime_.deadline_in(kWatchPatience));
    // It may be an older copy in which so much was written that no revision shows it.
    if (watch->resumed()) co_return Result<void>();
    if (batch) {
      apply(*batch);
    } else if (batch.error().code == Errc::kTimeout) {
      confirm();
    } else if (batch.error().code == Errc::kMissing) {
      co_return Result<void>();
    } else {
      // The watch goes on where it was when the store is there again.
      complaint_ = batch.error().describe();
      changed_();
      co_await runtime_.sleep_until(runtime_.now() + kTryAgain);
    }
  }
}

Task<Result<void>> RangeView::read(Deadline deadline) {
  store::KeyRange keys = store::KeyRange::prefix(prefix_);
  Result<store::Snapshot> found = co_await store_.list(std::move(keys), deadline);
  if (!found) co_return with_context(found, "the gate's keys");
  if (found->revision < revision_)
    co_return fail(Errc::kRejected, "the gate's keys: read revision {}, known is {}",
                   found->revision, revision_);
  replace(*std::move(found));
  co_return Result<void>();
}

void RangeView::replace(store::Snapshot snapshot) {
  keys_.clear();
  for (store::KeyValue& key : snapshot.keys) {
    std::string name = key.key;
    keys_.insert_or_assign(std::move(name), std::move(key));
  }
  revision_ = snapshot.revision;
  confirm();
}

void RangeView::apply(const store::WatchBatch& batch) {
  for (const store::KeyEvent& event : batch.events) {
    // read() may have been ahead of the watch.
    if (event.key.mod_revision <= revision_) continue;
    if (event.removed) {
      keys_.erase(event.key.key);
    } else {
      keys_.insert_or_assign(event.key.key, event.key);
    }
  }
  revision_ = std::max(revision_, batch.upto);
  confirm();
}

void RangeView::confirm() {
  confirmed_ = runtime_.now();
  complaint_.reset();
  changed_();
}

}  // namespace wardmote::act::gate
