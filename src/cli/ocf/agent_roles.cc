#include <algorithm>
#include <array>
#include <cstdint>
#include <expected>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/failover/replica.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/ocf/agent.h"
#include "cli/ocf/host.h"
#include "cli/ocf/parameters.h"
#include "cli/ocf/state_file.h"
#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"
#include "runtime/deadline.h"
#include "runtime/process.h"
#include "runtime/runtime.h"

namespace wardmote::cli::ocf {

using act::failover::Replica;
using act::failover::ReplicaState;
using judge::failover::Action;
using judge::failover::Candidate;
using judge::failover::ClusterRecord;
using judge::failover::Decision;
using judge::failover::Peer;
using judge::failover::Position;
using judge::failover::ScoreRules;
using judge::failover::Situation;
using judge::failover::SyncState;
using runtime::Deadline;
using runtime::Task;
using Life = ReplicaState::Life;
using namespace std::chrono_literals;

namespace {

constexpr Duration kSynced = 2s;
constexpr Duration kNextLook = 20ms;

std::int64_t probe_of(const Parameters& parameters) {
  return parse_number<std::int64_t>(parameters.inactive_probe_to_master).value_or(60'000);
}

}  // namespace

void Agent::save() {
  const Result<void> saved = save_state(parameters_, state_);
  if (!saved) log("WARNING", saved.error().describe());
}

void Agent::forget_promotion() {
  state_.unannounced = false;
  state_.promoted_nb.reset();
  state_.promoted_sb.reset();
}

/// Clients of the network find the active node at its address. A backup listens there too, as the
/// shell script has it, so that the script can take over from this agent at any time.
Task<Result<void>> Agent::let_clients_in() {
  const std::vector<Replica*> replicas = {&nb_, &sb_};
  for (Replica* replica : replicas) {
    const DatabaseParameters& database = database_of(replica);
    const bool nb = replica == &nb_;
    std::vector<std::string> remotes;
    remotes.push_back(fmt::format("db:{},{},connections", replica->files().database,
                                  nb ? "NB_Global" : "SB_Global"));
    if (database.protocol == "tcp") remotes.push_back(listener_of(parameters_, database));
    Result<void> open = co_await replica->open(std::move(remotes), deadline_);
    if (!open) co_return open;
  }
  co_return Result<void>();
}

/// A copy that follows nobody may be any: if it has the address by mistake, nobody may copy it.
Task<void> Agent::keep_clients_out() {
  const std::vector<Replica*> replicas = {&nb_, &sb_};
  for (Replica* replica : replicas) {
    std::string port = database_of(replica).port;
    const Deadline soon{std::min(deadline_.at, runtime_.now() + 5s)};
    const Result<void> closed = co_await replica->close(std::move(port), soon);
    if (!closed) log("WARNING", closed.error().describe());
  }
}

/// Both are read-only when this returns without an error: each one says so, or is dead.
Task<Result<void>> Agent::isolate() {
  acted_ = true;
  std::string failed;
  const std::vector<Replica*> replicas = {&nb_, &sb_};
  for (Replica* replica : replicas) {
    const std::string to = nobody(database_of(replica));
    const ReplicaState before = co_await replica->look(deadline_);
    if (before.life == Life::kDown) continue;
    if (before.answers()) {
      std::string source = to;
      const std::int64_t probe = probe_of(parameters_);
      const Deadline soon{std::min(deadline_.at, runtime_.now() + 5s)};
      const Result<void> done = co_await replica->follow(std::move(source), probe, soon);
      if (done) {
        write_active_conf(parameters_, replica->files().database, to);
        continue;
      }
      failed = done.error().describe();
    } else {
      failed = fmt::format("{}: {}", replica->files().database, before.detail);
    }
    // What cannot be told to be read-only must not live on.
    if (before.process) kill_server(*before.process);
    log("WARNING", fmt::format("killed, because it could not be made read-only: {}", failed));
  }
  co_await keep_clients_out();
  forget_promotion();
  save();
  co_return Result<void>();
}

/// Both, or none.
Task<Result<void>> Agent::make_active() {
  acted_ = true;
  const std::vector<Replica*> replicas = {&nb_, &sb_};
  for (Replica* replica : replicas) {
    remove_active_conf(parameters_, replica->files().database);
    const Deadline soon{std::min(deadline_.at, runtime_.now() + 5s)};
    Result<void> done = co_await replica->promote(soon);
    if (done) continue;
    const Result<void> back = co_await isolate();
    static_cast<void>(back);
    co_return done;
  }
  co_return Result<void>();
}

Task<Result<void>> Agent::make_backup() {
  acted_ = true;
  const std::vector<Replica*> replicas = {&nb_, &sb_};
  for (Replica* replica : replicas) {
    const std::string to = source_of(parameters_, database_of(replica));
    write_active_conf(parameters_, replica->files().database, to);
    std::string source = to;
    const std::int64_t probe = probe_of(parameters_);
    const Deadline soon{std::min(deadline_.at, runtime_.now() + 5s)};
    Result<void> done = co_await replica->follow(std::move(source), probe, soon);
    if (done) continue;
    const Result<void> back = co_await isolate();
    static_cast<void>(back);
    co_return done;
  }
  co_await set_listeners(true);
  co_return Result<void>();
}

/// Of a backup.
Task<void> Agent::set_listeners(bool follows) {
  // A load balancer finds the active node by its listener.
  if (!follows || !parameters_.listens_on_address()) {
    co_await keep_clients_out();
    co_return;
  }
  const Result<void> open = co_await let_clients_in();
  if (!open) log("WARNING", open.error().describe());
}

Result<void> Agent::set_copies_aside() {
  const std::array<std::string, 2> databases = {nb_.files().database, sb_.files().database};
  for (const std::string& database : databases) {
    const Result<std::string> copy =
        copy_aside(database_file(parameters_, database), runtime_.wall_now());
    if (!copy) return std::unexpected(copy.error());
    log("INFO", fmt::format("{} may have rows that the active node does not have: copied to {}",
                            database, *copy));
  }
  return {};
}

/// Whether this copy may have what the active node's does not have: a promotion that this node has
/// not seen may have left it out. The stock agent counts no promotions.
Task<bool> Agent::may_have_more(std::string active) {
  if (state_.diverged || !state_.quarantine.empty()) co_return true;
  if (state_.matched) co_return false;
  const std::vector<Peer> peers = co_await cluster_.peers(deadline_);
  const Result<ClusterRecord> record = co_await cluster_.record(deadline_);
  const auto peer = std::ranges::find(peers, active, &Peer::name);
  if (peer == peers.end() || !record) co_return true;
  co_return std::max(peer->position.epoch, record->epoch) > state_.epoch;
}

/// Room for what will come, and a copy of what may be lost by it.
Task<Result<void>> Agent::prepare_copy(Pair pair, std::string active) {
  const Position own = co_await position(pair, false);
  const bool more = co_await may_have_more(std::move(active));
  const bool keeps = more && !own.empty;
  const std::array<std::string, 2> databases = {nb_.files().database, sb_.files().database};
  Result<void> ready;
  for (const std::string& database : databases) {
    if (ready) ready = enough_room(database_file(parameters_, database), keeps ? 2 : 1);
  }
  if (ready && keeps) ready = set_copies_aside();
  co_return ready;
}

/// Copies from the active node, if that is safe; else stays as it is, or lets go of it.
Task<void> Agent::follow(std::string holder, Duration patience, bool sight_unseen) {
  const TimePoint until = std::min(deadline_.at - 2s, runtime_.now() + patience);
  std::string name = holder;
  const judge::failover::Source source = co_await judge_source(std::move(name), until);
  Pair pair = co_await look();
  Situation now = situation(pair, Lock::kOther);
  now.source = source;
  // After a promotion the address may still be on its way, and a stock agent's node published
  // nothing: it is followed as the stock agent does it.
  if (sight_unseen && now.source == judge::failover::Source::kUnknown)
    now.source = judge::failover::Source::kGood;
  const Decision decision = judge::failover::decide(now);
  if (decision.action == Action::kIsolate || decision.action == Action::kStepDown) {
    unfollowed_ = fmt::format("{} is not followed: {}", holder, decision.reason);
    reason(unfollowed_);
    const Result<void> done = co_await isolate();
    if (!done) log("ERROR", done.error().describe());
    co_return;
  }
  if (decision.action == Action::kNone && source != judge::failover::Source::kGood) {
    unfollowed_ = fmt::format("{} is not followed: {}", holder, decision.reason);
    reason(unfollowed_);
  }
  if (decision.action != Action::kFollow) co_return;
  std::string active = holder;
  const Result<void> ready = co_await prepare_copy(pair, std::move(active));
  if (!ready) {
    unfollowed_ = fmt::format("not enough room to copy {}: {}", holder, ready.error().describe());
    reason(unfollowed_);
    co_return;
  }
  const Result<void> done = co_await make_backup();
  if (!done) {
    reason(done.error().describe());
    co_return;
  }
  // Nothing to wait for: Pacemaker brings the address when all nodes have answered.
  const bool there = source == judge::failover::Source::kGood && patience > Duration::zero();
  const TimePoint synced_by =
      std::min(deadline_.at, runtime_.now() + (there ? kSynced : Duration::zero()));
  while (runtime_.now() < synced_by) {
    pair = co_await look();
    const Situation seen = situation(pair, Lock::kOther);
    const bool both = seen.nb == judge::failover::Copy::kFollowing &&
                      seen.sb == judge::failover::Copy::kFollowing;
    if (both || pair.any_active()) break;
    co_await runtime_.sleep_until(runtime_.now() + kNextLook);
  }
  // ovsdb-server becomes writable when its replication fails.
  if (pair.any_active()) co_await step_down("replication from the active node failed");
}

Task<void> Agent::step_down(std::string why) {
  log("ERROR", fmt::format("steps down: {}", why));
  state_.quarantine = why;
  state_.diverged = true;
  state_.sync = SyncState::kUnknown;
  const Result<void> done = co_await isolate();
  if (!done) log("ERROR", done.error().describe());
  reason(why);
}

void Agent::end_servers(const Pair& pair) {
  if (pair.nb.process) kill_server(*pair.nb.process);
  if (pair.sb.process) kill_server(*pair.sb.process);
}

Task<Result<void>> Agent::run_ovn_ctl(std::vector<std::string> arguments) {
  runtime::ProcessSpec spec;
  spec.argv.push_back(parameters_.ovn_ctl);
  std::ranges::move(arguments, std::back_inserter(spec.argv));
  const std::string verb = spec.argv.back();
  const Result<runtime::ProcessExit> ended =
      co_await runtime_.processes().run(std::move(spec), deadline_);
  if (!ended) co_return with_context(ended, "ovn-ctl {}", verb);
  if (ended->status != 0) {
    co_return fail(Errc::kRejected, "ovn-ctl {} exited with {}: {}", verb, ended->status,
                   escape_control(trim(ended->standard_error)));
  }
  co_return Result<void>();
}

Task<Result<void>> Agent::start_northd() {
  std::vector<std::string> arguments = {"--ovn-manage-ovsdb=no", "start_northd"};
  Result<void> done = co_await run_ovn_ctl(std::move(arguments));
  co_return done;
}

Task<Result<void>> Agent::stop_northd() {
  std::vector<std::string> arguments = {"--ovn-manage-ovsdb=no", "stop_northd"};
  Result<void> done = co_await run_ovn_ctl(std::move(arguments));
  co_return done;
}

bool Agent::northd_runs() const {
  return runs(parameters_.run_dir + "/ovn-northd.pid", "ovn-northd");
}

}  // namespace wardmote::cli::ocf
