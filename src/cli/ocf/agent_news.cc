// What the cluster is told of this node.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/ocf/agent.h"
#include "cli/ocf/parameters.h"
#include "cli/ocf/published.h"
#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::cli::ocf {

using judge::failover::Candidate;
using judge::failover::ClusterRecord;
using judge::failover::Peer;
using judge::failover::Position;
using judge::failover::ScoreRules;
using judge::failover::Situation;
using runtime::Task;

namespace {

/// The score is repeated after so many seconds, in case that somebody removed it.
constexpr std::int64_t kRepeat = 60;
constexpr std::uint64_t kHighestBonus = 100'000;

std::int64_t seconds(TimePoint at) {
  return std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count();
}

Task<void> keep(Task<Result<void>> work, Result<void>* into) {
  Result<void> done = co_await std::move(work);
  *into = std::move(done);
}

Task<void> ignore(Task<Result<void>> work) {
  const Result<void> done = co_await std::move(work);
  static_cast<void>(done);
}

}  // namespace

bool Agent::told_long_ago() const noexcept {
  return seconds(runtime_.now()) - state_.told_at >= kRepeat;
}

bool Agent::settled(const Pair& pair) const {
  const Situation seen = situation(pair, Lock::kNone);
  return seen.nb == judge::failover::Copy::kIsolated && seen.sb == judge::failover::Copy::kIsolated;
}

/// What the cluster was told, as the node remembers it.
std::string Agent::told_of(int points, const Position& own, bool settled) const {
  return fmt::format("{} {} {} {} {}", points, own.epoch, to_string(own.sync),
                     state_.quarantine.empty() ? "good" : "quarantined",
                     settled ? "settled" : "copies");
}

/// What an unpromoted copy is worth; with `compare` among what the others publish.
Task<int> Agent::score_backup(Pair pair, Position own, bool compare) {
  const Situation seen = situation(pair, Lock::kNone);
  const bool following =
      seen.nb == judge::failover::Copy::kFollowing && seen.sb == judge::failover::Copy::kFollowing;
  ClusterRecord record;
  std::vector<Peer> peers;
  if (compare) {
    // In this order, or two nodes that start together would not see each other.
    std::string mine = publish(own, !state_.quarantine.empty(), settled(pair));
    std::vector<std::string> nobody;
    peers = co_await cluster_.exchange(std::move(mine), std::move(nobody), deadline_);
    const Result<ClusterRecord> known = co_await cluster_.record(deadline_);
    if (known) record = *known;
  }
  const Candidate candidate{own, !state_.quarantine.empty(), following};
  const ScoreRules rules{parameters_.slave_score, parameters_.master_score};
  int points = judge::failover::score(candidate, peers, record, rules);
  if (compare) log("INFO", fmt::format("score {} among {} others", points, peers.size()));
  // A backup that lost its source, or has none, keeps what it was worth when all were compared.
  std::string_view last = state_.told;
  const int before = parse_number<int>(take_until(last, ' ')).value_or(points);
  const bool compared = before < parameters_.master_score;
  if (!compare && !following && points > 0 && compared) points = before;
  if (parameters_.stale_policy == "promote") points = std::max(points, 1);
  co_return points;
}

/// Tells the cluster what this copy is worth: only what changed, or always.
Task<void> Agent::tell(Pair pair, bool always) {
  if (!pair.nb.answers() || !pair.sb.answers()) co_return;
  // Who follows nobody is compared again now and then: the others may have come or gone.
  always = always || (settled(pair) && told_long_ago());
  Position own = co_await position(pair, always);
  const bool active = pair.both_active();
  int points = parameters_.master_score + static_cast<int>(std::min(own.epoch, kHighestBonus));
  if (!active) points = co_await score_backup(pair, own, always);
  const bool is_settled = settled(pair);
  const std::string kept = told_of(points, own, is_settled);
  const std::int64_t now = seconds(runtime_.now());
  const bool changed = kept != state_.told;
  if (!always && !changed && !told_long_ago()) co_return;
  if (!always && changed) own = co_await position(pair, true);
  const std::string published = publish(own, !state_.quarantine.empty(), is_settled);
  std::vector<Task<void>> work;
  work.push_back(ignore(cluster_.set_score(points, deadline_)));
  if (active ? always || changed : !always && changed)
    work.push_back(ignore(cluster_.publish(published, deadline_)));
  Task<void> all = runtime::run_all(runtime_.executor(), std::move(work));
  co_await std::move(all);
  state_.told = kept;
  state_.told_at = now;
  save();
}

Task<void> Agent::announce_promotion(std::uint64_t epoch) {
  Result<void> active;
  Result<void> counted;
  std::vector<Task<void>> work;
  work.push_back(keep(cluster_.record_active(parameters_.node, deadline_), &active));
  work.push_back(keep(cluster_.record_epoch(epoch, parameters_.node, deadline_), &counted));
  Task<void> all = runtime::run_all(runtime_.executor(), std::move(work));
  co_await std::move(all);
  // Then the next monitor asks the cluster, and tries again.
  state_.unannounced = !active || !counted;
  if (!active) log("WARNING", active.error().describe());
  if (!counted) log("WARNING", counted.error().describe());
  // Not left to what runs beside it, which may end and save before.
  save();
}

/// A score of which the cluster has heard nothing yet.
Task<void> Agent::demand(int points) {
  const Result<void> told = co_await cluster_.set_score(points, deadline_);
  if (!told) log("WARNING", told.error().describe());
  // In these words nothing else is remembered, so that the rest is told again.
  state_.told = fmt::format("{} ", points);
  save();
}

}  // namespace wardmote::cli::ocf
