#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/failover/replica.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/ocf/agent.h"
#include "cli/ocf/host.h"
#include "cli/ocf/parameters.h"
#include "codec/ovn_global.h"
#include "codec/sync_status.h"
#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"
#include "net/local_addresses.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"

namespace wardmote::cli::ocf {

using act::failover::ReplicaState;
using act::failover::SourceFacts;
using judge::failover::ClusterRecord;
using judge::failover::Copy;
using judge::failover::Epoch;
using judge::failover::Freshness;
using judge::failover::Peer;
using judge::failover::Position;
using judge::failover::Situation;
using judge::failover::Source;
using judge::failover::SyncState;
using runtime::Deadline;
using runtime::Task;
using Life = ReplicaState::Life;
using Link = codec::SyncStatus::Link;
using namespace std::chrono_literals;

namespace {

constexpr Duration kAnswer = 1s;
constexpr Duration kSourceRetry = 100ms;
/// What a server that is there needs, with room to spare.
constexpr Duration kFirstAnswer = 200ms;

using Row = std::optional<codec::GlobalRow>;

}  // namespace

bool Pair::down() const noexcept {
  return nb.life == Life::kDown && sb.life == Life::kDown;
}

bool Pair::backups() const noexcept {
  return nb.answers() && sb.answers() && !any_active();
}

Task<Pair> Agent::look() {
  Pair pair;
  pair.nb = co_await nb_.look(deadline_);
  pair.sb = co_await sb_.look(deadline_);
  co_return pair;
}

Copy Agent::copy_of(const ReplicaState& state, const DatabaseParameters& database) const {
  if (state.life == Life::kDown) return Copy::kDown;
  if (state.life == Life::kHung) return Copy::kHung;
  if (!state.answers()) return Copy::kUnknown;
  if (state.sync.active) return Copy::kActive;
  if (state.sync.source.contains(act::failover::kNobody)) return Copy::kIsolated;
  if (state.sync.source != source_of(parameters_, database)) return Copy::kStray;
  return state.sync.link == Link::kReplicating ? Copy::kFollowing : Copy::kSearching;
}

Situation Agent::situation(const Pair& pair, Lock lock) const {
  Situation found;
  found.nb = copy_of(pair.nb, parameters_.nb);
  found.sb = copy_of(pair.sb, parameters_.sb);
  found.lock = lock;
  return found;
}

bool Agent::promoted_by_us(const Pair& pair) const noexcept {
  return state_.promoted_nb && state_.promoted_sb && state_.promoted_nb == pair.nb.process &&
         state_.promoted_sb == pair.sb.process;
}

Task<void> Agent::know_node() {
  if (!parameters_.node.empty()) co_return;
  parameters_.node = co_await cluster_.node_name(deadline_);
}

Task<Position> Agent::position(Pair pair, bool signs) {
  Position found;
  found.sync = state_.sync;
  found.epoch = state_.epoch;
  if (signs) {
    const auto nb_changed = changed_at(database_file(parameters_, nb_.files().database));
    const auto sb_changed = changed_at(database_file(parameters_, sb_.files().database));
    found.changed = std::max(nb_changed, sb_changed);
  }
  if (!pair.nb.answers() || !pair.sb.answers()) co_return found;
  const Deadline soon{std::min(deadline_.at, runtime_.now() + kAnswer)};
  const Result<Row> nb = co_await nb_.global(soon);
  const Result<Row> sb = co_await sb_.global(soon);
  if (!nb || !sb) co_return found;
  const std::uint64_t nb_epoch = *nb ? (*nb)->epoch : 0;
  const std::uint64_t sb_epoch = *sb ? (*sb)->epoch : 0;
  found.epoch = std::min(nb_epoch, sb_epoch);
  // Of the two the one that is behind; where they differ, nobody began that epoch with both.
  if (*nb && nb_epoch == found.epoch) found.author = (*nb)->node;
  if (*sb && sb_epoch == found.epoch && nb_epoch > sb_epoch) found.author = (*sb)->node;
  found.sync = judge::failover::remembered(state_.sync, found.author, parameters_.node);
  found.counter = *nb ? (*nb)->counter : 0;
  // A backup's rows are replaced in two transactions: one that removes all, one that brings the
  // new. So a database that had an epoch and has no row is one where the second is missing.
  const bool lost = state_.epoch > 0 && (!*nb || !*sb);
  found.empty = !*nb || lost;
  if (lost) found.sync = SyncState::kHalf;
  if (!signs) co_return found;
  const std::uint64_t nb_cells = co_await nb_.cells(soon);
  const std::uint64_t sb_cells = co_await sb_.cells(soon);
  found.size = nb_cells + sb_cells;
  co_return found;
}

/// Who may be writable, as far as this node has to ask: what was promoted here, by us, in these
/// processes needs no question.
Task<Agent::Lock> Agent::find_lock(Pair pair) {
  const bool ours = promoted_by_us(pair);
  // A node that was paused or cut off may have missed a promotion. What is on its disk says so for
  // nothing; where there is none, the cluster is asked once a minute.
  const std::optional<ClusterRecord> disk = cluster_.record_on_disk();
  const bool newer =
      disk ? disk->active != parameters_.node || disk->epoch > state_.epoch : told_long_ago();
  const bool missed = newer || state_.unannounced;
  if (pair.any_active() && ours && !parameters_.probe && !missed) co_return Lock::kMine;
  const bool isolated = pair.backups() && (copy_of(pair.nb, parameters_.nb) == Copy::kIsolated ||
                                           copy_of(pair.sb, parameters_.sb) == Copy::kIsolated);
  if (!pair.any_active() && !isolated) co_return Lock::kNone;
  const Result<ClusterRecord> record = co_await cluster_.record(deadline_);
  if (!record) co_return ours ? Lock::kMine : Lock::kUnknown;
  if (!pair.any_active())
    co_return record->active.empty() || record->active == parameters_.node ? Lock::kNone
                                                                           : Lock::kOther;
  if (ours && record->epoch < state_.epoch) {
    // Nobody was promoted since; the record did not reach the cluster.
    state_.unannounced = true;
    co_return Lock::kMine;
  }
  // Nobody was ever promoted: the databases of somebody who begins with Pacemaker.
  if (record->active.empty()) co_return ours ? Lock::kMine : Lock::kUnknown;
  if (record->active != parameters_.node) co_return Lock::kOther;
  const Position own = co_await position(pair, false);
  co_return own.epoch < record->epoch ? Lock::kOther : Lock::kMine;
}

/// One database of the active node, which is asked until it answers.
Task<Source> Agent::judge_database(act::failover::Replica* replica, Position own, TimePoint until) {
  const Deadline first{std::min(deadline_.at, runtime_.now() + kAnswer)};
  const Result<std::string> own_id = co_await replica->server_id(first);
  while (true) {
    runtime::Endpoint endpoint = endpoint_of(parameters_, database_of(replica));
    std::string name = replica->files().database;
    const TimePoint latest = std::max(until, runtime_.now() + kFirstAnswer);
    const Deadline next{std::min({deadline_.at, latest, runtime_.now() + kAnswer})};
    const Result<SourceFacts> facts =
        co_await act::failover::ask_source(&runtime_, std::move(endpoint), std::move(name), next);
    if (facts) {
      const std::uint64_t epoch = facts->global ? facts->global->epoch : 0;
      if (own_id && facts->server_id == *own_id) co_return Source::kSelf;
      if (epoch < own.epoch) co_return Source::kOlder;
      const bool empty = replica == &nb_ && !facts->global && !own.empty;
      co_return empty ? Source::kEmpty : Source::kGood;
    }
    if (runtime_.now() + kSourceRetry >= until) co_return Source::kUnknown;
    co_await runtime_.sleep_until(runtime_.now() + kSourceRetry);
  }
}

/// What the active node published of itself; a node with the stock agent publishes nothing.
Task<Source> Agent::judge_published(std::string holder, Position own) {
  const std::vector<Peer> peers = co_await cluster_.peers(deadline_);
  const auto peer = std::ranges::find(peers, holder, &Peer::name);
  if (peer == peers.end()) co_return Source::kUnknown;
  if (peer->position.epoch < own.epoch) co_return Source::kOlder;
  co_return peer->position.empty && !own.empty ? Source::kEmpty : Source::kGood;
}

/// Whether this node may copy from the active one. Both databases must be good.
Task<Source> Agent::judge_source(std::string holder, TimePoint until) {
  const bool own_address = net::is_own_address(parameters_.master_ip);
  if (holder == parameters_.node || own_address) co_return Source::kSelf;
  const Pair pair = co_await look();
  Position own = co_await position(pair, false);
  if (own.sync == SyncState::kWasActive) {
    // This node began the epoch itself, and may have died before anybody heard of it. Then no
    // client was sent to it, and its copy is kept aside.
    const Result<ClusterRecord> record = co_await cluster_.record(deadline_);
    // More than one epoch ahead is no such thing: the cluster has lost its record.
    const bool unheard = record && record->epoch > 0 && own.epoch <= record->epoch + 1;
    if (unheard) own.epoch = std::min(own.epoch, record->epoch);
  }
  Source source = co_await judge_database(&nb_, own, until);
  if (source == Source::kGood) source = co_await judge_database(&sb_, own, until);
  if (source != Source::kUnknown) co_return source;
  // The address may come later than the promotion.
  source = co_await judge_published(std::move(holder), own);
  co_return source;
}

}  // namespace wardmote::cli::ocf
