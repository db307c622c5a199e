#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "act/failover/replica.h"
#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/ocf/agent.h"
#include "cli/ocf/code.h"
#include "cli/ocf/host.h"
#include "cli/ocf/parameters.h"
#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"

namespace wardmote::cli::ocf {

using act::failover::ReplicaState;
using judge::failover::Action;
using judge::failover::ClusterRecord;
using judge::failover::Copy;
using judge::failover::Decision;
using judge::failover::Freshness;
using judge::failover::Position;
using judge::failover::Situation;
using judge::failover::SyncState;
using runtime::Deadline;
using runtime::Task;
using Life = ReplicaState::Life;
using namespace std::chrono_literals;

/// Of a pair of which at least one server does not answer.
Code Agent::code_of_unanswered(const Pair& pair) const {
  const auto is = [&](Life life) { return pair.nb.life == life || pair.sb.life == life; };
  if (pair.down()) return Code::kNotRunning;
  const bool promoted = pair.any_active() || parameters_.promoted_role || promoted_by_us(pair);
  if (is(Life::kDenied)) return Code::kPermission;
  // It is what it was: a server that computes will answer again.
  const bool only_busy = is(Life::kBusy) && !is(Life::kDown) && !is(Life::kHung);
  if (only_busy) return promoted ? Code::kPromoted : Code::kSuccess;
  return promoted ? Code::kFailedPromoted : Code::kGeneric;
}

/// What two backups are, and what the node remembers of it.
Code Agent::code_of_backups(const Pair& pair) {
  const Situation seen = situation(pair, Lock::kNone);
  const bool following = seen.nb == Copy::kFollowing && seen.sb == Copy::kFollowing;
  const bool searching = !following && seen.nb != Copy::kIsolated && seen.sb != Copy::kIsolated;
  if (following) {
    state_.sync = SyncState::kSynced;
    state_.diverged = state_.matched = state_.yielded = false;
    state_.quarantine.clear();
  } else if (state_.sync == SyncState::kSynced && searching) {
    state_.sync = SyncState::kLost;
  }
  const bool good = state_.quarantine.empty() && unfollowed_.empty();
  return good ? Code::kSuccess : Code::kDegraded;
}

/// Puts right what can be put right in place, and says what the pair is then.
Task<Code> Agent::judge_pair(Pair pair, Lock lock, Position own) {
  Situation now = situation(pair, lock);
  const bool answers = pair.nb.answers() && pair.sb.answers();
  if (pair.any_active() && answers && own.sync == SyncState::kHalf)
    now.freshness = Freshness::kHalfSynced;
  const Decision decision = judge::failover::decide(now);
  if (decision.action == Action::kStepDown) {
    co_await step_down(std::string(decision.reason));
    co_return Code::kDegraded;
  }
  if (decision.action == Action::kIsolate) {
    log("WARNING", decision.reason);
    const Result<void> done = co_await isolate();
    co_return done ? Code::kSuccess : Code::kGeneric;
  }
  if (!answers) {
    const Code code = code_of_unanswered(pair);
    const std::string& detail = pair.nb.answers() ? pair.sb.detail : pair.nb.detail;
    if (code != Code::kNotRunning)
      reason(fmt::format("{} database: {}", pair.nb.answers() ? "southbound" : "northbound",
                         detail.empty() ? "it is down" : detail));
    co_return code;
  }
  if (decision.action == Action::kPromote) {
    log("WARNING", decision.reason);
    const Result<void> done = co_await make_active();
    if (!done) {
      reason(done.error().describe());
      co_return Code::kFailedPromoted;
    }
    co_return Code::kPromoted;
  }
  if (pair.both_active()) co_return Code::kPromoted;
  if (pair.any_active()) {
    reason("one database is writable, and the other is not");
    co_return Code::kFailedPromoted;
  }
  co_return code_of_backups(pair);
}

/// What an active node needs besides its role.
Task<Code> Agent::check_active(Code code) {
  const Result<void> open = co_await let_clients_in();
  if (!open) {
    reason(open.error().describe());
    co_return Code::kFailedPromoted;
  }
  if (parameters_.manages_northd() && !northd_runs()) {
    reason("ovn-northd does not run");
    co_return Code::kFailedPromoted;
  }
  constexpr int kWrites = 10;
  if (parameters_.check_level >= kWrites) {
    const Deadline soon{std::min(deadline_.at, runtime_.now() + 5s)};
    const Result<void> nb = co_await nb_.check_write(soon);
    const Result<void> sb = co_await sb_.check_write(soon);
    if (!nb || !sb) {
      reason(nb ? sb.error().describe() : nb.error().describe());
      co_return Code::kFailedPromoted;
    }
  }
  // ovsdb-server answers "active" and "status: ok" on a full disk.
  std::string full = short_of_room(database_file(parameters_, nb_.files().database));
  if (full.empty()) full = short_of_room(database_file(parameters_, sb_.files().database));
  if (full.empty()) co_return code;
  reason(full);
  co_return Code::kDegradedPromoted;
}

Task<void> Agent::stamp_again() {
  const Deadline soon{std::min(deadline_.at, runtime_.now() + 5s)};
  std::string node = parameters_.node;
  const Result<void> nb = co_await nb_.stamp(state_.epoch, std::move(node), soon);
  node = parameters_.node;
  const Result<void> sb = co_await sb_.stamp(state_.epoch, std::move(node), soon);
  log("WARNING", !nb   ? nb.error().describe()
                 : !sb ? sb.error().describe()
                       : fmt::format("epoch {} was removed, and is written again", state_.epoch));
}

Task<Code> Agent::monitor() {
  Pair pair = co_await look();
  if (pair.down()) co_return Code::kNotRunning;
  co_await know_node();
  const Lock lock = co_await find_lock(pair);
  if (pair.both_active() && lock == Lock::kMine && !promoted_by_us(pair)) {
    state_.promoted_nb = pair.nb.process;
    state_.promoted_sb = pair.sb.process;
    state_.sync = SyncState::kWasActive;
    state_.diverged = true;
    save();
  }
  if (lock == Lock::kOther && pair.backups() && !parameters_.probe) {
    // At least one follows nobody, and somebody is active: the notification came before the
    // address.
    const Result<ClusterRecord> record = co_await cluster_.record(deadline_);
    if (record) {
      std::string holder = record->active;
      co_await follow(std::move(holder), 1s, false);
      pair = co_await look();
    }
  }
  const State before = state_;
  Lock judged = lock;
  // Whoever it was, follow() has decided about the source.
  if (lock == Lock::kOther && pair.backups()) judged = Lock::kNone;
  Position own = co_await position(pair, false);
  acted_ = false;
  Code code = co_await judge_pair(pair, judged, own);
  if (acted_) {
    pair = co_await look();
    own = co_await position(pair, false);
  }
  const bool whole = pair.backups() && state_.sync == SyncState::kSynced && !own.empty;
  if (whole) state_.epoch = own.epoch;
  if (state_ != before) save();
  if (code == Code::kPromoted) code = co_await check_active(code);
  if (pair.backups()) co_await set_listeners(!settled(pair));
  // A client may have replaced the row's values; without the epoch nobody could be promoted next.
  const bool forgotten = pair.both_active() && promoted_by_us(pair) && own.epoch < state_.epoch;
  if (forgotten && lock == Lock::kMine) co_await stamp_again();
  if (pair.both_active() && state_.unannounced) co_await announce_promotion(state_.epoch);
  co_await tell(pair, parameters_.probe);
  co_return code;
}

}  // namespace wardmote::cli::ocf
