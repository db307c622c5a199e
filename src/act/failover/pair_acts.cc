// What the manager of a pair does to this node. Whatever makes it safer is done at once, and
// journaled after; everything else is journaled first (pair_promotion.cc).
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/act_log.h"
#include "act/acts.h"
#include "act/failover/pair_leader.h"  // IWYU pragma: keep
#include "act/failover/pair_manager.h"
#include "act/failover/replica.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"
#include "judge/failover/duty.h"
#include "judge/failover/member.h"
#include "judge/journal_entry.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/election.h"

namespace wardmote::act::failover {

using judge::failover::Copy;
using judge::failover::Duty;
using judge::failover::Member;
using judge::failover::NextDuty;
using judge::failover::Relation;
using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kRole = 2s;
constexpr Duration kFollow = 10s;
constexpr Duration kTryAgain = 200ms;
/// Between two times in the election.
constexpr Duration kRest = 500ms;
constexpr std::int64_t kProbe = 60'000;  // ms: ovsdb-server's own for a backup
constexpr int kAnnouncements = 4;
/// After so long without the address another node is better.
constexpr Duration kAddressless = 3s;
/// A server that cannot follow says so within a second.
constexpr Duration kSoonAfter = 10s;
/// Doubled each time, up to four minutes.
constexpr Duration kFollowAgain = 1s;
constexpr int kMostRelapses = 8;
constexpr Duration kAnnounceEvery = 300ms;
constexpr std::string_view kNbPort = "6641";
constexpr std::string_view kSbPort = "6642";

std::string nobody(std::string_view port) {
  return fmt::format("tcp:{}:{}", kNobody, port);
}

}  // namespace

Task<bool> PairManager::carry_out(NextDuty next) {
  bool again = false;
  complaint_.reset();
  if (next.duty == Duty::kAddressOff) {
    drop_address(next.reason);
    again = !links_.has(options_.address.address);
  } else if (next.duty == Duty::kAddressOn) {
    const Result<void> taken = take_address();
    again = taken.has_value();
    if (taken) {
      addressless_.reset();
      note("address", "result", "this node has the address " + options_.address.address);
    } else {
      co_await go_without_address(taken.error().describe());
    }
  } else if (next.duty == Duty::kStepDown || next.duty == Duty::kIsolate) {
    again = co_await step_down(next.duty == Duty::kStepDown, next.reason);
  } else if (next.duty == Duty::kFollow) {
    again = co_await follow_active();
  } else if (next.duty == Duty::kStand) {
    stand();
  } else if (next.duty == Duty::kResign) {
    log(LogLevel::kInfo, "failover_resigns",
        {{"pair", options_.name}, {"reason", candidacy_.reason}});
    co_await resign();
  } else if (next.duty == Duty::kPromote) {
    again = co_await promote();
  } else if (next.duty == Duty::kNone && leads() && promoted_here()) {
    co_await publish_position();
    co_await serve_order();
  }
  if (complaint_) {
    // Not at once again, whatever woke it.
    co_await runtime_.sleep_until(runtime_.now() + kTryAgain);
  }
  co_return again && !complaint_;
}

void PairManager::drop_address(std::string_view why) {
  holds_address_ = false;
  const Result<void> dropped = links_.drop(options_.address);
  if (dropped) {
    address_complaint_.reset();
    note("address", "result", fmt::format("this node let go of the address: {}", why));
    return;
  }
  address_complaint_ = dropped.error().describe();
  log(LogLevel::kError, "address_not_dropped",
      {{"pair", options_.name}, {"reason", *address_complaint_}});
}

/// Clients do not come here: where that lasts, another node takes over.
Task<void> PairManager::go_without_address(std::string why) {
  complaint_ = why;
  if (!addressless_) addressless_ = runtime_.now();
  if (!leads() || !promoted_here() || runtime_.now() - *addressless_ < kAddressless) co_return;
  be_unfit(std::move(why));
  co_await give_way();
}

/// For as long as the lease lasts without another renewal, in whole seconds.
Result<void> PairManager::take_address() {
  const Duration left = election_ ? election_->work_until() - runtime_.now() : Duration::zero();
  const auto valid = std::chrono::floor<std::chrono::seconds>(left);
  if (!leads() || valid < 1s) {
    // It has what it was given last.
    if (holds_address_) return {};
    return fail(Errc::kTimeout, "take {}: the lease is nearly over", options_.address.address);
  }
  Result<void> held = links_.hold(options_.address, valid);
  if (!held) return held;
  if (!std::exchange(holds_address_, true)) writes_.spawn("failover announce", announce_address());
  return {};
}

Task<void> PairManager::announce_address() {
  for (int i = 0; i < kAnnouncements && holds_address_; ++i) {
    const Result<void> told = links_.announce(options_.address);
    if (!told)
      log(LogLevel::kWarning, "address_not_announced",
          {{"pair", options_.name}, {"reason", told.error().describe()}});
    co_await runtime_.sleep_until(runtime_.now() + kAnnounceEvery);
  }
}

/// Both, whatever becomes of the other: one that hangs must not take the time of the other. It is
/// made read-only when it goes on.
Task<Result<void>> PairManager::isolate() {
  Result<void> nb;
  Result<void> sb;
  if (nb_state_.life != ReplicaState::Life::kHung && nb_state_.life != ReplicaState::Life::kDown)
    nb = co_await nb_.follow(nobody(kNbPort), kProbe, runtime_.deadline_in(kRole));
  if (sb_state_.life != ReplicaState::Life::kHung && sb_state_.life != ReplicaState::Life::kDown)
    sb = co_await sb_.follow(nobody(kSbPort), kProbe, runtime_.deadline_in(kRole));
  if (!nb) co_return nb;
  co_return sb;
}

/// `distrust`: the copy became writable by itself, so it may have rows that no client wrote, or
/// have lost some. One that was never seen as a backup was started like that.
Task<bool> PairManager::step_down(bool distrust, std::string_view why) {
  const bool writable = nb_state_.active() || sb_state_.active();
  if (distrust && writable && record().epoch == 0) was_active_ = true;
  const bool by_itself = (nb_state_.active() && nb_state_.process == backup_nb_) ||
                         (sb_state_.active() && sb_state_.process == backup_sb_);
  const auto content = content_.ring().newest(1);
  const bool changed = content.empty() || content.back() != backup_content_;
  if (distrust && by_itself && followed_at_ && runtime_.now() - *followed_at_ < kSoonAfter) {
    relapses_ = std::min(relapses_ + 1, kMostRelapses);
    follow_after_ = runtime_.now() + kFollowAgain * (1 << relapses_);
  }
  if (distrust && by_itself && changed && record().epoch > 0) {
    distrusted_ = true;
    unfit_ = "it became writable by itself, and has not followed the active node since";
    unfit_until_.reset();
  }
  std::string reason(why);
  const Result<void> done = co_await isolate();
  if (done) {
    promoted_token_ = 0;
    note("isolate", "result", "both databases are read-only: " + reason);
    co_return true;
  }
  complaint_ = done.error().describe();
  co_return false;
}

Task<bool> PairManager::follow_active() {
  const judge::failover::PairRecord known = record();
  std::string nb;
  std::string sb;
  for (const Member& peer : peers()) {
    if (peer.name != known.active) continue;
    nb = peer.nb_source;
    sb = peer.sb_source;
  }
  const Relation relation = relate(own_.trail, known.trail);
  const bool has_all = relation == Relation::kSame || relation == Relation::kBehind;
  const bool aside = !own_.position.empty && !has_all;
  const Result<void> room = enough_room(aside ? 2 : 1);
  if (!room) {
    complaint_ = room.error().describe();
    co_return false;
  }
  if (aside) {
    const Result<void> kept = co_await set_copies_aside();
    if (!kept) {
      complaint_ = kept.error().describe();
      co_return false;
    }
    // The copies took time: another may be the active one by now.
    if (find_lock() != judge::failover::Lock::kOther || record().active != known.active)
      co_return true;
  }
  content_.forget();
  sb_content_.forget();
  followed_at_ = runtime_.now();
  const Deadline deadline = runtime_.deadline_in(kFollow);
  std::string nb_source = nb;
  Result<void> done = co_await nb_.follow(std::move(nb_source), kProbe, deadline);
  if (done) {
    std::string sb_source = sb;
    done = co_await sb_.follow(std::move(sb_source), kProbe, deadline);
  }
  if (!done) {
    complaint_ = done.error().describe();
    co_return false;
  }
  note("follow", "result", fmt::format("both databases follow {}", known.active));
  co_return true;
}

void PairManager::stand() {
  election_ = std::make_unique<store::Election>(
      runtime_, store_,
      store::ElectionOptions{
          .name = keys_.election(), .candidate = options_.node, .ttl = options_.ttl});
  election_->listen([this](bool leads) {
    // At once, and not when whatever is awaited has ended.
    if (!leads && holds_address_) drop_address("the lease is lost");
    wake();
  });
  election_->start();
}

Task<void> PairManager::resign() {
  if (!election_) co_return;
  if (holds_address_) drop_address("this node gives up the lease");
  const std::unique_ptr<store::Election> leaving = std::move(election_);
  co_await leaving->stop();
  rest_until_ = runtime_.now() + kRest;
}

void PairManager::note(std::string_view step, std::string_view kind, std::string detail) {
  log(LogLevel::kInfo, "failover",
      {{"pair", options_.name}, {"step", std::string(step)}, {"detail", detail}});
  ActLog* const journal = journal_();
  if (journal == nullptr) return;
  ActRecord record;
  record.entry.kind = kind;
  record.entry.step = step;
  record.entry.cluster = options_.name;
  record.entry.subject = options_.node;
  record.entry.actor = "failover";
  record.entry.detail = std::move(detail);
  writes_.spawn("failover journal", write_note(journal, std::move(record)));
}

Task<void> PairManager::write_note(ActLog* journal, ActRecord record) {
  Acts acts(runtime_, *journal, *leader_);
  co_await acts.write_surely(std::move(record));
}

}  // namespace wardmote::act::failover
