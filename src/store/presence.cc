#include "store/presence.h"

#include <algorithm>
#include <expected>
#include <map>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/store.h"

namespace wardmote::store {

using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kTryAgain = 500ms;
constexpr Duration kPutPatience = 10s;
constexpr Duration kLeavePatience = 1s;
/// What comes within this time is one change.
constexpr Duration kGather = 100ms;

}  // namespace

Presence::Presence(runtime::Runtime& runtime, Store& store, std::string key, std::string value,
                   Duration ttl)
    : runtime_(runtime),
      store_(store),
      key_(std::move(key)),
      value_(std::move(value)),
      ttl_(ttl),
      put_(runtime.executor()),
      tasks_(runtime.executor()) {}

void Presence::start() {
  tasks_.spawn("presence", stay());
  tasks_.spawn("own records", write());
}

Task<void> Presence::stop() {
  co_await tasks_.stop();
  if (lease_ == 0) co_return;
  const LeaseId lease = std::exchange(lease_, 0);
  static_cast<void>(co_await store_.revoke(lease, runtime_.deadline_in(kLeavePatience)));
}

void Presence::put(std::string key, std::string value) {
  records_[key] = value;
  unwritten_[std::move(key)] = std::move(value);
  put_.notify();
}

void Presence::put_view(std::string key, std::string value) {
  views_.insert(key);
  put(std::move(key), std::move(value));
}

Presence::Records Presence::lost(const Records& stored) const {
  Records lost;
  const auto compare = [&](const std::string& key, const std::string& value) {
    const auto found = stored.find(key);
    if (found == stored.end() || found->second != value) lost[key] = value;
  };
  for (const auto& [key, value] : records_) compare(key, value);
  if (lease_ != 0) compare(key_, value_);
  return lost;
}

void Presence::write_again(const Records& stored) {
  for (auto& [key, value] : lost(stored)) unwritten_[key] = value;
  if (!unwritten_.empty()) put_.notify();
}

Task<void> Presence::stay() {
  for (;;) {
    const Result<void> ended = co_await be_there();
    lease_ = 0;
    if (!ended) unleased_why_ = ended.error().describe();
    co_await runtime_.sleep_until(runtime_.now() + kTryAgain);
  }
}

Task<Result<void>> Presence::be_there() {
  const Result<Lease> lease = co_await store_.grant(ttl_, runtime_.deadline_in(ttl_));
  if (!lease) co_return std::unexpected(lease.error());
  lease_ = lease->id;
  TimePoint expires = runtime_.now() + lease->ttl;
  Transaction here;
  here.changes.emplace_back(Put{key_, value_, lease_});
  const Result<Committed> put = co_await store_.put_if(std::move(here), Deadline{expires});
  if (!put) co_return std::unexpected(put.error());
  unleased_why_.reset();
  Duration pause = ttl_ / 3;
  while (runtime_.now() < expires) {
    co_await runtime_.sleep_until(runtime_.now() + pause);
    const TimePoint begun = runtime_.now();
    const Result<Lease> kept = co_await store_.keep_alive(lease_, Deadline{begun + ttl_ / 3});
    if (kept) {
      expires = begun + kept->ttl;
      unleased_why_.reset();
    } else {
      unleased_why_ = kept.error().describe();
      if (kept.error().code == Errc::kMissing) co_return Result<void>();
    }
    pause = kept ? ttl_ / 3 : std::min<Duration>(kTryAgain, ttl_ / 3);
  }
  co_return Result<void>();
}

Task<void> Presence::write() {
  for (;;) {
    if (unwritten_.empty()) {
      co_await put_.wait();
      co_await runtime_.sleep_until(runtime_.now() + kGather);
      continue;
    }
    // The same may be written twice when it is not known whether it was written.
    const Records records = unwritten_;
    Transaction change;
    for (const auto& [key, value] : records) {
      if (key == key_ && lease_ == 0) continue;  // it comes with the next lease
      change.changes.emplace_back(Put{key, value, key == key_ ? lease_ : 0});
    }
    const Result<Committed> put =
        co_await store_.put_if(std::move(change), runtime_.deadline_in(kPutPatience));
    if (!put) {
      unwritten_why_ = put.error().describe();
      full_ = put.error().code == Errc::kExhausted;
      if (full_) co_await remove_views(records);
      co_await runtime_.sleep_until(runtime_.now() + kTryAgain);
      continue;
    }
    full_ = false;
    unwritten_why_.reset();
    for (const auto& [key, value] : records) {
      const auto now = unwritten_.find(key);
      if (now != unwritten_.end() && now->second == value) unwritten_.erase(now);
    }
  }
}

/// A store that is full still removes. What was put meanwhile is not written yet.
Task<void> Presence::remove_views(Records records) {
  Transaction removal;
  for (const auto& [key, value] : records) {
    if (views_.contains(key)) removal.changes.emplace_back(Erase{KeyRange::one(key)});
  }
  if (removal.changes.empty()) co_return;
  static_cast<void>(co_await store_.put_if(std::move(removal), runtime_.deadline_in(kPutPatience)));
}

}  // namespace wardmote::store
