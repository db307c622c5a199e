#include "store/election.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/leadership.h"
#include "store/seen_revision.h"
#include "store/store.h"

namespace wardmote::store {

using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

/// After a renewal or a look that failed.
constexpr Duration kTryAgain = 200ms;
/// Before the next attempt to stand; random, so that not all come at once.
constexpr Duration kShortestPause = 100ms;
constexpr Duration kLongestPause = 1s;
constexpr Duration kResignPatience = 1s;
/// A queue that was not confirmed for so long, and for the time of a lease, may be another now.
constexpr Duration kQueueIsKnown = 10s;
/// Whoever had this key and is cut off has stopped by then, unless its lease is much longer than
/// ours.
constexpr Duration kOrphanStays = 30s;
/// No key was created at it.
constexpr Revision kNoRevision = -1;

}  // namespace

Election::Election(runtime::Runtime& runtime, Store& store, ElectionOptions options)
    : runtime_(runtime),
      store_(store),
      options_(std::move(options)),
      prefix_(options_.name + "/"),
      fence_(Compare::created_at(prefix_, kNoRevision)),
      tasks_(runtime.executor()) {}

void Election::start() {
  tasks_.spawn("election", run());
}

Task<void> Election::stop() {
  co_await tasks_.stop();
  lose();
  watch_.reset();
  if (lease_ == 0) co_return;
  const LeaseId lease = std::exchange(lease_, 0);
  static_cast<void>(co_await store_.revoke(lease, runtime_.deadline_in(kResignPatience)));
}

bool Election::leads() const noexcept {
  return leads_ && runtime_.now() < stop_at_;
}

bool Election::is_led() const {
  const Duration known = std::max(kQueueIsKnown, options_.ttl);
  const KeyValue* const first = head();
  return first != nullptr && first->lease != 0 && confirmed_ &&
         runtime_.now() - *confirmed_ <= known;
}

void Election::give_up(const Error& why) {
  if (leads_) gave_up_ = why;
}

std::string Election::another_leads() const {
  if (!is_led()) return "no agent is known to lead";
  const std::vector<Candidate> queue = candidates();
  if (queue.empty() || queue.front().key == key_) return Leadership::another_leads();
  return fmt::format("another agent leads: {}", escape_control(queue.front().name));
}

void Election::listen(std::function<void(bool leads)> changed) {
  listeners_.push_back(std::move(changed));
}

std::vector<Election::Candidate> Election::candidates() const {
  std::vector<Candidate> candidates;
  candidates.reserve(queue_.size());
  for (const auto& [name, key] : queue_)
    candidates.push_back({key.value, key.key, key.create_revision, key.lease != 0});
  std::ranges::sort(candidates, {}, &Candidate::create_revision);
  return candidates;
}

Task<void> Election::run() {
  for (;;) {
    const Error why = co_await stand();
    const bool led = leads_;
    lose();
    complaint_ = why.describe();
    log(led ? LogLevel::kWarning : LogLevel::kInfo, "election_left", {{"reason", *complaint_}});
    watch_.reset();
    key_.clear();
    if (const LeaseId lease = std::exchange(lease_, 0); lease != 0) {
      // Whoever stands behind us need not wait for its end.
      static_cast<void>(co_await store_.revoke(lease, runtime_.deadline_in(kResignPatience)));
    }
    const auto spread = static_cast<std::uint64_t>((kLongestPause - kShortestPause).count());
    const Duration pause = kShortestPause + Duration(runtime_.random() % spread);
    co_await runtime_.sleep_until(runtime_.now() + pause);
  }
}

Task<Error> Election::stand() {
  gave_up_.reset();
  Result<void> done = co_await enter();
  // Who may not stand can be allowed to see who leads.
  const bool denied = !done && done.error().code == Errc::kDenied;
  if (denied) static_cast<void>(co_await look(runtime_.deadline_in(options_.ttl)));
  if (done) done = co_await look(Deadline{std::max(renew_at_, expires_)});
  if (done) complaint_.reset();
  while (done) {
    done = co_await take_turn();
    if (!done) break;
    if (runtime_.now() < renew_at_) {
      done = co_await follow();
    } else {
      done = co_await renew();
    }
  }
  co_return done.error();
}

/// Takes a lease, and a place at the end of the queue.
Task<Result<void>> Election::enter() {
  const TimePoint begun = runtime_.now();
  const Result<Lease> lease =
      co_await store_.grant(options_.ttl, runtime_.deadline_in(options_.ttl));
  if (!lease) co_return with_context(lease, "election");
  lease_ = lease->id;
  key_ = fmt::format("{}{:x}", prefix_, static_cast<std::uint64_t>(lease->id));
  extend(begun, lease->ttl);
  Transaction transaction;
  transaction.conditions.push_back(Compare::absent(key_));
  transaction.changes.emplace_back(Put{key_, options_.candidate, lease_});
  const Result<Committed> put = co_await store_.put_if(std::move(transaction), Deadline{expires_});
  if (put && put->held) {
    revision_ = put->revision;
    co_return Result<void>();
  }
  // Nobody else makes this key: if it is there, the put was made although no answer came.
  std::string key = key_;
  const Result<Found> found = co_await store_.get(std::move(key), Deadline{expires_});
  if (found && found->key) {
    revision_ = found->key->create_revision;
    co_return Result<void>();
  }
  if (!put) co_return with_context(put, "election");
  co_return fail(Errc::kRejected, "election: our key was taken away");
}

Task<Result<void>> Election::look(Deadline deadline) {
  KeyRange keys = KeyRange::prefix(prefix_);
  Result<Snapshot> found = co_await store_.list(keys, deadline);
  if (!found) co_return with_context(found, "election");
  queue_.clear();
  for (KeyValue& key : found->keys) {
    std::string name = key.key;
    queue_[std::move(name)] = std::move(key);
  }
  confirmed_ = runtime_.now();
  watch_ = store_.watch(std::move(keys), found->revision + 1);
  co_return Result<void>();
}

Task<Result<void>> Election::follow() {
  const Result<WatchBatch> batch = co_await watch_->next(Deadline{renew_at_});
  if (watch_->resumed()) {
    const Result<void> looked = co_await look(Deadline{std::max(renew_at_, expires_)});
    // The lease says when it is over.
    if (!looked) co_await complain(looked.error());
    co_return Result<void>();
  }
  if (batch) {
    apply(*batch);
    co_return Result<void>();
  }
  if (batch.error().code == Errc::kTimeout) co_return Result<void>();
  if (batch.error().code == Errc::kMissing) {
    co_await runtime_.sleep_until(std::min(renew_at_, runtime_.now() + kTryAgain));
    const Result<void> looked = co_await look(Deadline{std::max(renew_at_, expires_)});
    if (looked) co_return looked;
  }
  co_await complain(batch.error());
  co_return Result<void>();
}

Task<void> Election::complain(Error why) {
  complaint_ = why.describe();
  co_await runtime_.sleep_until(std::min(renew_at_, runtime_.now() + kTryAgain));
}

void Election::apply(const WatchBatch& batch) {
  for (const KeyEvent& event : batch.events) {
    if (event.removed) {
      queue_.erase(event.key.key);
    } else {
      queue_[event.key.key] = event.key;
    }
  }
  confirmed_ = runtime_.now();
}

Task<Result<void>> Election::renew() {
  const TimePoint begun = runtime_.now();
  const Duration third = options_.ttl / 3;
  const Result<Lease> kept =
      co_await store_.keep_alive(lease_, Deadline{std::min(begun + third, expires_)});
  if (kept) {
    // One that comes too late begins a new time: others may have led, for all that we know.
    if (runtime_.now() >= stop_at_) lose();
    extend(begun, kept->ttl);
    confirmed_ = runtime_.now();
    complaint_.reset();
    co_return Result<void>();
  }
  if (kept.error().code == Errc::kMissing)
    co_return with_context(kept, "election: the lease is gone");
  if (runtime_.now() >= expires_) co_return with_context(kept, "election: the lease has expired");
  complaint_ = kept.error().describe();
  renew_at_ = runtime_.now() + kTryAgain;
  co_return Result<void>();
}

const KeyValue* Election::head() const {
  const auto created = [](const auto& each) { return each.second.create_revision; };
  const auto first = std::ranges::min_element(queue_, {}, created);
  return first == queue_.end() ? nullptr : &first->second;
}

bool Election::is_first() const {
  const KeyValue* const first = head();
  return first != nullptr && first->create_revision >= revision_;
}

Task<void> Election::remove_orphan() {
  const KeyValue* const first = head();
  if (first == nullptr || first->lease != 0) {
    orphan_.reset();
    co_return;
  }
  if (!orphan_ || orphan_->mod_revision != first->mod_revision)
    orphan_ = Orphan{first->mod_revision, runtime_.now()};
  if (runtime_.now() - orphan_->seen < std::max<Duration>(kOrphanStays, options_.ttl * 2))
    co_return;
  log(LogLevel::kWarning, "candidate_removed",
      {{"key", escape_control(first->key)}, {"reason", "it has no lease"}});
  co_await remove(*first);
}

Task<void> Election::remove(KeyValue key) {
  Transaction removal;
  removal.conditions.push_back(Compare::unchanged_since(key.key, key.mod_revision));
  removal.changes.emplace_back(Erase{KeyRange::one(key.key)});
  static_cast<void>(
      co_await store_.put_if(std::move(removal), runtime_.deadline_in(kResignPatience)));
}

Task<Result<void>> Election::take_turn() {
  const auto own = queue_.find(key_);
  if (own == queue_.end() || own->second.create_revision != revision_)
    co_return fail(Errc::kRejected, "election: our key was taken away");
  if (own->second.lease != lease_) {
    co_await remove(own->second);
    co_return fail(Errc::kRejected, "election: our key was written over");
  }
  co_await remove_orphan();
  if (gave_up_) co_return fail(gave_up_->code, "election: given up: {}", gave_up_->context);
  if (leads_ || !is_first() || runtime_.now() >= stop_at_) co_return Result<void>();
  // What the watch said may be old: ours may have gone with a lease that nobody renewed.
  std::string key = key_;
  const Result<Found> found = co_await store_.get(std::move(key), Deadline{stop_at_});
  if (!found) {
    complaint_ = found.error().describe();
    co_await runtime_.sleep_until(std::min(stop_at_, runtime_.now() + kTryAgain));
    co_return Result<void>();
  }
  if (!found->key || found->key->create_revision != revision_)
    co_return fail(Errc::kRejected, "election: our key was taken away");
  if (runtime_.now() < stop_at_) begin_to_lead();
  co_return Result<void>();
}

void Election::extend(TimePoint from, Duration ttl) {
  stop_at_ = from + ttl * 2 / 3;
  expires_ = from + ttl;
  renew_at_ = from + ttl / 3;
}

void Election::begin_to_lead() {
  leads_ = true;
  complaint_.reset();
  fence_ = Compare::created_at(key_, revision_);
  log(LogLevel::kInfo, "leads", {{"key", key_}, {"token", std::to_string(revision_)}});
  tasks_.spawn("election clock", watch_clock(++term_));
  for (const auto& changed : listeners_) changed(true);
}

void Election::lose() {
  if (!std::exchange(leads_, false)) return;
  log(LogLevel::kWarning, "leads_no_more", {{"key", key_}});
  for (const auto& changed : listeners_) changed(false);
}

/// Tells the listeners when the time to work is over, also while a renewal hangs.
Task<void> Election::watch_clock(std::uint64_t term) {
  while (leads_ && term == term_) {
    if (runtime_.now() >= stop_at_) {
      lose();
    } else {
      co_await runtime_.sleep_until(stop_at_);
    }
  }
}

}  // namespace wardmote::store
