// What Pacemaker notifies the nodes of, before and after a role changes.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/ocf/agent.h"
#include "cli/ocf/code.h"
#include "cli/ocf/notification.h"
#include "cli/ocf/parameters.h"
#include "cli/ocf/published.h"
#include "judge/failover/candidate.h"
#include "runtime/task.h"

namespace wardmote::cli::ocf {

using judge::failover::ClusterRecord;
using judge::failover::Peer;
using judge::failover::Position;
using judge::failover::ScoreRules;
using judge::failover::SyncState;
using runtime::Task;

/// Nothing changes this copy any more, and all are compared: those who have more get a higher
/// score, so that Pacemaker thinks again.
Task<void> Agent::prepare_promotion() {
  Pair pair = co_await look();
  if (pair.any_active() || pair.down()) co_return;
  if (pair.backups()) static_cast<void>(code_of_backups(pair));
  // The address of the next active node must not replace this copy before it was looked at.
  const Result<void> done = co_await isolate();
  if (!done) log("WARNING", done.error().describe());
  pair = co_await look();
  if (!settled(pair)) co_return;
  const Position own = co_await position(pair, true);
  if (state_.sync == SyncState::kSynced && !own.empty) state_.epoch = own.epoch;
  const bool quarantined = !state_.quarantine.empty();
  std::string published = publish(own, quarantined, true);
  std::vector<std::string> others = notification_.unpromoted;
  std::erase_if(others, [&](const std::string& node) { return is_leaving(node); });
  std::vector<Peer> peers =
      co_await cluster_.exchange(std::move(published), std::move(others), deadline_);
  state_.matched = judge::failover::same_as_all(own, peers);
  save();
  if (is_leaving(parameters_.node)) co_return;
  std::erase_if(peers, [&](const Peer& peer) { return !peer.settled || is_leaving(peer.name); });
  // Whoever is promoted asks the cluster itself.
  const std::optional<ClusterRecord> record = cluster_.record_on_disk();
  const ScoreRules rules{parameters_.slave_score, parameters_.master_score};
  const int points = judge::failover::score({own, quarantined, false}, peers,
                                            record ? *record : ClusterRecord{}, rules);
  std::string_view last = state_.told;
  // A new score makes Pacemaker think again, so it is worth the time only if somebody is compared.
  const bool news = !peers.empty() && take_until(last, ' ') != std::to_string(points);
  if (news && parameters_.stale_policy != "promote") co_await demand(points);
  if (news) state_.told = told_of(points, own, true);
  save();
}

/// After this node was promoted: where clients find it.
Task<void> Agent::see_own_promotion() {
  const Pair pair = co_await look();
  if (!pair.both_active()) co_return;
  if (parameters_.manages_northd() && !northd_runs()) {
    const Result<void> northd = co_await start_northd();
    if (!northd) log("ERROR", northd.error().describe());
  }
  const std::int64_t probe = parse_number<std::int64_t>(parameters_.inactive_probe).value_or(5000);
  std::string nb_target = listener_of(parameters_, parameters_.nb);
  std::string sb_target = listener_of(parameters_, parameters_.sb);
  const Result<void> nb = co_await nb_.listen(std::move(nb_target), probe, deadline_);
  if (!nb) log("ERROR", nb.error().describe());
  const Result<void> sb = co_await sb_.listen(std::move(sb_target), probe, deadline_);
  if (!sb) log("ERROR", sb.error().describe());
}

Task<void> Agent::see_other_promotion(std::string active) {
  if (parameters_.manages_northd() && northd_runs()) {
    const Result<void> stopped = co_await stop_northd();
    if (!stopped) log("WARNING", stopped.error().describe());
  }
  const Pair pair = co_await look();
  if (pair.any_active()) {
    std::string why = fmt::format("{} was promoted while this node was writable", active);
    co_await step_down(std::move(why));
  }
}

/// A node that was paused or cut off may come back as an active one, and Pacemaker may even prefer
/// it until it knows the others' scores again. What the node has on its disk says at the first
/// notification that another was promoted since.
Task<void> Agent::check_right() {
  const std::optional<ClusterRecord> disk = cluster_.record_on_disk();
  // Each half of a cluster without quorum may have begun the same epoch.
  const bool newer = disk && disk->active != parameters_.node && disk->epoch >= state_.epoch;
  if (!newer || !state_.promoted_nb) co_return;
  Pair pair = co_await look();
  if (!pair.any_active()) co_return;
  const Lock lock = co_await find_lock(pair);
  if (lock != Lock::kOther) co_return;
  co_await step_down(fmt::format("{} was promoted while this node was away", disk->active));
  pair = co_await look();
  co_await tell(pair, false);
}

Task<Code> Agent::notify() {
  co_await know_node();
  co_await check_right();
  const bool promoted = notification_.is("post", "promote");
  const bool prepares = notification_.is("pre", "promote");
  if (!promoted && !prepares && !notification_.is("post", "demote")) co_return Code::kSuccess;
  if (prepares) {
    co_await prepare_promotion();
    co_return Code::kSuccess;
  }
  std::string active = active_node(notification_, {});
  if (promoted && std::ranges::find(notification_.promoting, parameters_.node) !=
                      notification_.promoting.end()) {
    co_await see_own_promotion();
    co_return Code::kSuccess;
  }
  if (promoted && !notification_.promoting.empty()) active = notification_.promoting.front();
  if (active.empty() || active == parameters_.node) co_return Code::kSuccess;
  if (promoted) {
    std::string node = active;
    co_await see_other_promotion(std::move(node));
  }
  Pair pair = co_await look();
  if (pair.any_active()) co_return Code::kSuccess;
  // Pacemaker does not bring the address before all nodes have answered, so nobody waits for it.
  co_await follow(std::move(active), Duration::zero(), true);
  pair = co_await look();
  if (pair.backups()) static_cast<void>(code_of_backups(pair));
  save();
  co_await tell(pair, false);
  co_return Code::kSuccess;
}

}  // namespace wardmote::cli::ocf
