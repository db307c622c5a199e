#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/failover/replica.h"
#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/ocf/agent.h"
#include "cli/ocf/code.h"
#include "cli/ocf/notification.h"
#include "cli/ocf/parameters.h"
#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::cli::ocf {

using judge::failover::Action;
using judge::failover::ClusterRecord;
using judge::failover::Decision;
using judge::failover::Peer;
using judge::failover::Position;
using judge::failover::ScoreRules;
using judge::failover::Situation;
using judge::failover::Standing;
using judge::failover::SyncState;
using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

bool contains(const std::vector<std::string>& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

Task<void> keep_record(Task<Result<ClusterRecord>> work, Result<ClusterRecord>* into) {
  Result<ClusterRecord> found = co_await std::move(work);
  *into = std::move(found);
}

Task<void> keep_peers(Task<std::vector<Peer>> work, std::vector<Peer>* into) {
  std::vector<Peer> found = co_await std::move(work);
  *into = std::move(found);
}

Task<void> keep_result(Task<Result<void>> work, Result<void>* into) {
  Result<void> done = co_await std::move(work);
  *into = std::move(done);
}

}  // namespace

Task<Code> Agent::refuse(Decision decision, std::string better) {
  std::string text = fmt::format("not promoted: {}", decision.reason);
  if (!better.empty()) text += fmt::format("; {} has more", better);
  text += "; stale_policy=promote promotes it all the same";
  reason(text);
  co_await demand(-1);
  co_return Code::kGeneric;
}

/// A node that gives up being the active one in this transition is not to become it again.
bool Agent::is_leaving(std::string_view node) const {
  return contains(notification_.demoting, node) || contains(notification_.stopping, node);
}

/// Signs may be wrong, so whoever is asked again becomes active.
Task<Code> Agent::yield_to(std::string better) {
  reason(fmt::format("not promoted: {} seems to have more; asked again, this node is promoted",
                     better));
  state_.yielded = true;
  co_await demand(1);
  co_return Code::kGeneric;
}

Task<Code> Agent::promote() {
  co_await know_node();
  Pair pair = co_await look();
  if (!pair.nb.answers() || !pair.sb.answers()) {
    const Code code = code_of_unanswered(pair);
    reason(fmt::format("not promoted: {}", pair.nb.answers() ? pair.sb.detail : pair.nb.detail));
    // Only monitor may say that it is promoted or degraded.
    co_return code == Code::kNotRunning || code == Code::kPermission ? code : Code::kGeneric;
  }
  Result<ClusterRecord> record;
  std::vector<Peer> peers;
  std::vector<Task<void>> questions;
  questions.push_back(keep_record(cluster_.record(deadline_), &record));
  questions.push_back(keep_peers(cluster_.peers(deadline_), &peers));
  Task<void> all = runtime::run_all(runtime_.executor(), std::move(questions));
  co_await std::move(all);
  if (!record) log("WARNING", record.error().describe());
  const ClusterRecord known = record ? *record : ClusterRecord{};
  const Position own = co_await position(pair, true);
  const Standing standing = judge::failover::stand(own, peers, known);
  Situation now = situation(pair, Lock::kMine);
  now.epoch = standing.epoch;
  now.freshness = standing.freshness;
  Decision decision = judge::failover::decide(now);
  const bool quarantined = !state_.quarantine.empty();
  if (quarantined && decision.action == Action::kPromote)
    decision = {Action::kRefuse, "this copy was writable without a right to it"};
  const bool forced = parameters_.stale_policy == "promote";
  if (decision.action == Action::kNone && promoted_by_us(pair)) {
    co_await announce_promotion(own.epoch);
    co_await tell(pair, true);
    co_return Code::kSuccess;
  }
  const bool barred = decision.action == Action::kRefuse || decision.action == Action::kStepDown;
  if (barred && !forced) {
    if (pair.any_active()) co_await step_down(std::string(decision.reason));
    std::string better = standing.better;
    const Code code = co_await refuse(decision, std::move(better));
    co_return code;
  }
  std::uint64_t epoch = std::max(own.epoch, known.epoch);
  for (const Peer& peer : peers) epoch = std::max(epoch, peer.position.epoch);
  std::erase_if(peers, [&](const Peer& peer) { return is_leaving(peer.name); });
  std::string better = judge::failover::has_more(own, peers, known);
  const bool newest = barred || forced || state_.yielded || better.empty();
  if (!newest) {
    const Code code = co_await yield_to(std::move(better));
    co_return code;
  }
  if (barred) log("WARNING", fmt::format("promoted by stale_policy, although {}", decision.reason));
  const Code code = co_await become_active(epoch + 1);
  co_return code;
}

Task<Code> Agent::become_active(std::uint64_t epoch) {
  // Before the first write: whatever happens from here on, this copy may have rows of its own.
  state_.sync = SyncState::kWasActive;
  state_.diverged = true;
  save();
  const Result<void> active = co_await make_active();
  if (!active) {
    reason(active.error().describe());
    co_return Code::kGeneric;
  }
  // A write proves what the word "active" does not: that the disk takes it.
  Result<void> nb;
  Result<void> sb;
  std::vector<Task<void>> writes;
  const Deadline soon{std::min(deadline_.at, runtime_.now() + 10s)};
  writes.push_back(keep_result(nb_.stamp(epoch, parameters_.node, soon), &nb));
  writes.push_back(keep_result(sb_.stamp(epoch, parameters_.node, soon), &sb));
  Task<void> both = runtime::run_all(runtime_.executor(), std::move(writes));
  co_await std::move(both);
  Result<void> open;
  if (nb && sb) open = co_await let_clients_in();
  const Pair pair = co_await look();
  if (!nb || !sb || !open || !pair.both_active()) {
    reason(fmt::format("not promoted: {}", !nb     ? nb.error().describe()
                                           : !sb   ? sb.error().describe()
                                           : !open ? open.error().describe()
                                                   : "a database did not stay writable"));
    const Result<void> back = co_await isolate();
    if (!back) log("ERROR", back.error().describe());
    co_return Code::kGeneric;
  }
  state_.promoted_nb = pair.nb.process;
  state_.promoted_sb = pair.sb.process;
  state_.epoch = epoch;
  state_.quarantine.clear();
  state_.matched = state_.yielded = false;
  save();
  if (parameters_.manages_northd()) {
    const Result<void> northd = co_await start_northd();
    if (!northd) log("ERROR", northd.error().describe());
  }
  std::vector<Task<void>> news;
  news.push_back(announce_promotion(epoch));
  news.push_back(tell(pair, true));
  Task<void> told = runtime::run_all(runtime_.executor(), std::move(news));
  co_await std::move(told);
  log("INFO", fmt::format("promoted, epoch {}", epoch));
  co_return Code::kSuccess;
}

Task<Code> Agent::demote() {
  co_await know_node();
  Pair pair = co_await look();
  // Nothing is writable that does not run.
  if (pair.down()) {
    forget_promotion();
    save();
    co_return Code::kSuccess;
  }
  if (parameters_.manages_northd()) {
    const Result<void> stopped = co_await stop_northd();
    if (!stopped) log("WARNING", stopped.error().describe());
  }
  const Situation now = situation(pair, Lock::kReleased);
  if (judge::failover::decide(now).action != Action::kNone) {
    const Result<void> done = co_await isolate();
    if (!done) {
      reason(done.error().describe());
      co_return Code::kGeneric;
    }
  }
  forget_promotion();
  save();
  std::string active = active_node(notification_, {});
  if (!active.empty() && active != parameters_.node) co_await follow(std::move(active), 3s, true);
  pair = co_await look();
  if (pair.any_active()) {
    reason("a database is still writable");
    co_return Code::kGeneric;
  }
  if (pair.backups()) static_cast<void>(code_of_backups(pair));
  save();
  co_await tell(pair, true);
  co_return Code::kSuccess;
}

}  // namespace wardmote::cli::ocf
