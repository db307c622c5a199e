// What operators want of a pair: orders, schedules, settings and pauses are records in the store,
// which the active node takes up, or the one that is named.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "act/failover/pair_leader.h"
#include "act/failover/pair_manager.h"
#include "base/epoch_ms.h"
#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "control/written.h"
#include "judge/failover/member.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/clock_pair.h"
#include "store/failover_record.h"
#include "store/store.h"

namespace wardmote::act::failover {

using judge::failover::Member;
using runtime::Task;
using store::Compare;
using namespace std::chrono_literals;

namespace {

constexpr Duration kStorePatience = 2s;
constexpr Duration kWritePatience = 5s;
constexpr Duration kCatchUp = 5s;
/// After a promotion the others begin to follow.
constexpr Duration kSettles = 10s;
/// After it gave way in vain, others come first.
constexpr Duration kRest = 30s;
/// A switchover whose time is over by this much does not happen.
constexpr Duration kScheduleHolds = 1min;

}  // namespace

Compare PairManager::as_seen(const std::string& key) const {
  const auto seen = view_.find(key);
  return seen ? Compare::unchanged_since(key, seen->mod_revision) : Compare::absent(key);
}

/// `otherwise`: what it means that a condition does not hold.
std::shared_ptr<control::Written> PairManager::write(store::Transaction transaction,
                                                     std::string otherwise) {
  auto written = std::make_shared<control::Written>(runtime_.executor());
  writes_.spawn("failover order",
                write_and_tell(std::move(transaction), std::move(otherwise), written));
  return written;
}

Task<void> PairManager::write_and_tell(store::Transaction transaction, std::string otherwise,
                                       std::shared_ptr<control::Written> written) {
  const auto put =
      co_await store_.put_if(std::move(transaction), runtime_.deadline_in(kWritePatience));
  if (!put) {
    // What was sent may have come there.
    const bool sent = put.error().code == Errc::kTimeout || put.error().code == Errc::kClosed;
    sent ? written->unsure(put.error().describe()) : written->lost(put.error().describe());
  } else if (!put->held) {
    written->refused(std::move(otherwise));
  } else {
    written->done(std::nullopt);
  }
}

/// Who has ordered something is not passed over by the next one, but for the order that is for an
/// emergency.
std::shared_ptr<control::Written> PairManager::order(const store::FailoverOrder& order) {
  const auto waits = open_order();
  if (waits && !order.forced && waits->until_ms > epoch_ms(runtime_.wall_now())) {
    auto written = std::make_shared<control::Written>(runtime_.executor());
    written->refused(fmt::format(
        "an order of {} waits already, for {}: wait until it is answered, at most a minute",
        waits->by, waits->to.empty() ? "another node" : waits->to));
    return written;
  }
  store::Transaction transaction;
  transaction.conditions.push_back(as_seen(keys_.order()));
  transaction.changes.emplace_back(store::Put{keys_.order(), encode(order)});
  return write(std::move(transaction), "another order came at the same moment: see status");
}

std::shared_ptr<control::Written> PairManager::pause(const store::FailoverPause& pause) {
  store::Transaction transaction;
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now(), runtime_.boot()};
  transaction.changes.emplace_back(store::Put{keys_.pause(), encode(pause, clock)});
  return write(std::move(transaction));
}

std::shared_ptr<control::Written> PairManager::resume() {
  store::Transaction transaction;
  transaction.changes.emplace_back(store::Erase{store::KeyRange::one(keys_.pause())});
  return write(std::move(transaction));
}

std::shared_ptr<control::Written> PairManager::schedule(const store::FailoverSchedule& schedule) {
  store::Transaction transaction;
  transaction.conditions.push_back(Compare::absent(keys_.schedule()));
  transaction.changes.emplace_back(store::Put{keys_.schedule(), encode(schedule)});
  return write(std::move(transaction),
               "a switchover is scheduled already: see status, and flush it first");
}

/// Either it is taken back, or it has begun.
std::shared_ptr<control::Written> PairManager::flush() {
  store::Transaction transaction;
  transaction.conditions.push_back(Compare::present(keys_.schedule()));
  transaction.changes.emplace_back(store::Erase{store::KeyRange::one(keys_.schedule())});
  return write(std::move(transaction),
               "no switchover waits for its time: see status for one that has begun");
}

/// On top of what is set already.
std::shared_ptr<control::Written> PairManager::edit(const store::FailoverEdit& edit) {
  const std::string name = keys_.settings(edit.node);
  const store::FailoverSettings settings = store::edited(settings_of(edit.node), edit);
  store::Transaction transaction;
  transaction.conditions.push_back(as_seen(name));
  if (settings.empty()) {
    transaction.changes.emplace_back(store::Erase{store::KeyRange::one(name)});
  } else {
    transaction.changes.emplace_back(store::Put{name, encode(settings)});
  }
  return write(std::move(transaction), "another edited this node at the same moment: try again");
}

/// One that cannot be read keeps the node from being promoted: somebody wanted something.
store::FailoverSettings PairManager::settings_of(std::string_view node) const {
  const auto key = view_.find(keys_.settings(node));
  if (!key) return {};
  const auto settings = store::decode_failover_settings(key->value);
  if (settings) return *settings;
  return {.nofailover = true, .by = "a record that cannot be read"};
}

std::optional<store::FailoverSchedule> PairManager::scheduled() const {
  const auto key = view_.find(keys_.schedule());
  if (!key) return std::nullopt;
  auto schedule = store::decode_failover_schedule(key->value);
  if (!schedule) return std::nullopt;
  return *std::move(schedule);
}

/// What is due becomes an order, once: by the active node, under its fence, when no other order
/// waits.
Task<void> PairManager::begin_scheduled() {
  const auto key = view_.find(keys_.schedule());
  const auto due = scheduled();
  const WallTime now = runtime_.wall_now();
  std::optional<Compare> fence = leader_->fence();
  if (!key || !due || now < due->at || !fence || open_order()) co_return;
  store::FailoverOrder order{.to = due->to,
                             .by = fmt::format("{}, for {}", due->by, format_utc(due->at)),
                             .until_ms = epoch_ms(due->at + kScheduleHolds)};
  if (order.until_ms <= epoch_ms(now))
    order.answer = "its time was over by more than a minute when the active node looked";
  store::Transaction transaction;
  transaction.conditions.push_back(*std::move(fence));
  transaction.conditions.push_back(Compare::unchanged_since(key->key, key->mod_revision));
  transaction.conditions.push_back(as_seen(keys_.order()));
  transaction.changes.emplace_back(store::Erase{store::KeyRange::one(key->key)});
  transaction.changes.emplace_back(store::Put{keys_.order(), encode(order)});
  static_cast<void>(
      co_await store_.put_if(std::move(transaction), runtime_.deadline_in(kStorePatience)));
}

/// Empty: there is none, and `refusal` says why.
std::string PairManager::heir_for(const store::FailoverOrder& order, std::string* refusal) const {
  std::string best;
  int priority = 0;
  *refusal = order.to.empty() ? "no other node has everything and may be promoted"
                              : order.to + " is not there";
  for (const Member& peer : peers()) {
    if (!order.to.empty() && peer.name != order.to) continue;
    const std::string why = judge::failover::heir_hindrance(peer);
    if (!why.empty()) {
      if (!order.to.empty()) *refusal = fmt::format("{}: {}", peer.name, why);
      continue;
    }
    if (!best.empty() && peer.priority <= priority) continue;
    best = peer.name;
    priority = peer.priority;
  }
  return best;
}

/// Clients cannot write here any more: another node takes over, if there is one.
Task<void> PairManager::give_way() {
  std::string refusal;
  std::string heir = heir_for({}, &refusal);
  if (heir.empty() || paused() || runtime_.now() < gave_way_at_ + kRest) co_return;
  gave_way_at_ = runtime_.now();
  note("hand over", "intent", fmt::format("{} is to become the active node: {}", heir, own_.unfit));
  const Result<void> gave = co_await hand_over(heir, kCatchUp);
  note("hand over", "result",
       gave ? heir + " has everything, and may be promoted"
            : "taken back: " + gave.error().describe());
  if (gave) co_await resign();
}

Task<void> PairManager::serve_order() {
  if (leads() && !full_.empty()) co_await give_way();
  if (leads()) co_await begin_scheduled();
  const auto order = open_order();
  if (!order || !leads()) co_return;
  std::string refusal;
  std::string heir;
  if (order->until_ms <= epoch_ms(runtime_.wall_now())) {
    refusal = fmt::format("its minute was over by the clock of {}", options_.node);
  } else if (order->to == options_.node) {
    refusal = options_.node + " is the active node";
  } else if (paused()) {
    refusal = "failover is paused";
  } else {
    heir = heir_for(*order, &refusal);
    // Those who are to follow it may not have said yet that they do.
    if (heir.empty() && runtime_.now() < promoted_at_ + kSettles) co_return;
  }
  if (heir.empty()) {
    co_await answer_order(std::move(refusal));
    co_return;
  }
  note("hand over", "intent", fmt::format("{} is to become the active node: {}", heir, order->by));
  const Result<void> gave = co_await hand_over(heir, kCatchUp);
  if (gave) {
    note("hand over", "result", heir + " has everything, and may be promoted");
    co_await resign();
    co_return;
  }
  // This node still leads, so it is promoted again.
  note("hand over", "result", "taken back: " + gave.error().describe());
  co_await answer_order("taken back: " + gave.error().describe());
}

Task<void> PairManager::answer_order(std::string answer) {
  const auto key = view_.find(keys_.order());
  auto order = open_order();
  std::optional<Compare> fence = leader_->fence();
  if (!key || !order || !fence) co_return;
  order->answer = std::move(answer);
  store::Transaction transaction;
  transaction.conditions.push_back(*std::move(fence));
  transaction.conditions.push_back(Compare::unchanged_since(key->key, key->mod_revision));
  transaction.changes.emplace_back(store::Put{keys_.order(), encode(*order)});
  static_cast<void>(
      co_await store_.put_if(std::move(transaction), runtime_.deadline_in(kStorePatience)));
}

}  // namespace wardmote::act::failover
