// What the resource agent does with a node's two databases (src/cli/ocf), by the same decisions.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/format.h"
#include "failover/world.h"
#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"

namespace wardmote::failover {

using judge::failover::Action;
using judge::failover::ClusterRecord;
using judge::failover::Epoch;
using judge::failover::Freshness;
using judge::failover::Lock;
using judge::failover::Peer;
using judge::failover::Position;
using judge::failover::Situation;
using judge::failover::Source;
using judge::failover::Standing;
using judge::failover::SyncState;
using State = judge::failover::Copy;

State World::state(int node, int database) const {
  const Server& server = nodes_[node].server[database];
  if (!server.up) return State::kDown;
  if (server.hung) return State::kHung;
  if (server.active) return State::kActive;
  if (!server.to_address) return State::kIsolated;
  return server.synced ? State::kFollowing : State::kSearching;
}

Situation World::situation(int node, Lock lock) const {
  Situation found;
  found.nb = state(node, 0);
  found.sb = state(node, 1);
  found.lock = lock;
  return found;
}

World::Decision World::decide(const Situation& now) const {
  return judge::failover::decide(table_, now);
}

Position World::position(int node) const {
  const Node& one = nodes_[node];
  Position found;
  found.epoch = std::min(one.copy[0].epoch, one.copy[1].epoch);
  const bool behind = one.copy[1].epoch < one.copy[0].epoch;
  found.author = one.copy[behind ? 1 : 0].author;
  found.sync = judge::failover::remembered(one.sync, found.author, fmt::format("n{}", node + 1));
  const bool lost = one.epoch > 0 && (!one.copy[0].has_row || !one.copy[1].has_row);
  found.empty = !one.copy[0].has_row || lost;
  if (lost) found.sync = SyncState::kHalf;
  found.size = static_cast<std::uint64_t>(one.copy[0].content);
  return found;
}

std::vector<Peer> World::peers(int node) const {
  std::vector<Peer> found;
  for (int other = 0; other < 3; ++other) {
    if (other != node && reaches(node, other) && nodes_[other].published)
      found.push_back(*nodes_[other].published);
  }
  return found;
}

void World::remember(int node) {
  Node& one = nodes_[node];
  const Situation seen = situation(node, Lock::kNone);
  if (seen.nb == State::kFollowing && seen.sb == State::kFollowing) {
    one.sync = SyncState::kSynced;
    one.diverged = one.quarantine = one.matched = one.yielded = false;
    const Position own = position(node);
    if (!own.empty) one.epoch = own.epoch;
  } else if (one.sync == SyncState::kSynced && seen.nb != State::kIsolated) {
    one.sync = SyncState::kLost;
  }
}

void World::publish(int node, bool rank) {
  Node& one = nodes_[node];
  const Position own = position(node);
  const Situation seen = situation(node, Lock::kNone);
  const bool settled = seen.nb == State::kIsolated && seen.sb == State::kIsolated;
  one.published = Peer{fmt::format("n{}", node + 1), own, one.quarantine, settled};
  const bool following = seen.nb == State::kFollowing && seen.sb == State::kFollowing;
  if (seen.nb == State::kActive && seen.sb == State::kActive) {
    one.score = 10 + static_cast<int>(own.epoch);
    return;
  }
  const std::vector<Peer> others = rank ? peers(node) : std::vector<Peer>();
  const ClusterRecord record = rank ? one.record : ClusterRecord{};
  const int points = judge::failover::score({own, one.quarantine, following}, others, record, {});
  const bool compared = one.score > 0 && one.score < 10;
  one.score = !rank && !following && points > 0 && compared ? one.score : points;
}

/// Power is lost in the middle of an action.
bool World::crashes(int node) {
  if (calm_ || !chance(1)) return false;
  power_off(node);
  return true;
}

void World::isolate(int node) {
  for (Server& server : nodes_[node].server) {
    // What cannot be told to be read-only is killed.
    if (server.hung) server = {};
    if (!server.up) continue;
    server.active = server.to_address = server.synced = server.half = false;
    server.session = -1;
  }
  nodes_[node].mark = false;
}

void World::start(int node) {
  Node& one = nodes_[node];
  for (Server& server : one.server) {
    if (!server.up || server.hung) server = {.up = true};
  }
  isolate(node);
  one.started = true;
  one.next_monitor = now_ + 50;
  for (int other = 0; other < 3; ++other) {
    if (other != node && reaches(node, other) && nodes_[other].promoted) follow(node, other);
  }
  remember(node);
  publish(node, true);
}

void World::stop(int node) {
  Node& one = nodes_[node];
  for (Server& server : one.server) server = {};
  one.mark = one.started = one.promoted = false;
  one.score = -2;
}

void World::demote(int node) {
  Node& one = nodes_[node];
  one.promoted = false;
  const Situation now = situation(node, Lock::kReleased);
  if (decide(now).action != Action::kNone) isolate(node);
  one.mark = false;
  if (one.server[0].active || one.server[1].active)
    wrong(fmt::format("n{} is writable after it was demoted", node + 1));
  for (int other = 0; other < 3; ++other) {
    if (other != node && reaches(node, other) && nodes_[other].promoted) follow(node, other);
  }
  publish(node, true);
}

/// Nobody who is there and may be promoted has more of the same epoch. Signs may mislead, so
/// whoever was asked twice may be promoted all the same.
void World::check_choice(int node) {
  const Node& one = nodes_[node];
  const std::uint64_t epoch = judge::failover::heard(position(node), one.record).epoch;
  for (int other = 0; other < 3 && !one.yielded; ++other) {
    if (other == node || !reaches(node, other) || nodes_[other].quarantine) continue;
    const Position its = judge::failover::heard(position(other), one.record);
    const bool backup =
        state(other, 0) >= State::kFollowing && state(other, 1) >= State::kFollowing;
    const bool usable = backup && !its.empty && its.sync != SyncState::kHalf;
    if (usable && its.epoch == epoch && nodes_[other].copy[0].content > one.copy[0].content)
      wrong(fmt::format(
          "n{} is promoted with row {}, and n{} has row {}; it was {}, and its state {}", node + 1,
          one.copy[0].content, other + 1, nodes_[other].copy[0].content,
          to_string(position(node).sync), to_string(its.sync)));
  }
}

bool World::promote(int node) {
  Node& one = nodes_[node];
  const std::vector<Peer> others = peers(node);
  const Position own = position(node);
  const Standing standing = judge::failover::stand(own, others, one.record);
  Situation now = situation(node, Lock::kMine);
  now.epoch = standing.epoch;
  now.freshness = standing.freshness;
  const Decision decision = decide(now);
  const bool go = decision.action == Action::kPromote || decision.action == Action::kNone;
  if (!go || one.quarantine) {
    tell(fmt::format("n{} is not promoted: {}", node + 1, decision.reason));
    isolate(node);
    one.score = -1;
    return false;
  }
  if (std::string better = judge::failover::has_more(own, others, one.record);
      !better.empty() && !one.yielded) {
    tell(fmt::format("n{} leaves it to {}", node + 1, better));
    one.yielded = true;
    one.score = 1;
    return false;
  }
  check_choice(node);
  if (own.epoch < one.record.epoch) wrong(fmt::format("n{} is promoted, and is older", node + 1));
  if (own.empty && one.record.epoch > 0)
    wrong(fmt::format("n{} is promoted, and is empty", node + 1));
  for (Server& server : one.server) {
    if (crashes(node)) return false;
    if (!server.up || server.hung) {
      isolate(node);
      return false;
    }
    server = {.up = true, .active = true};
  }
  if (one.disk_full) {
    isolate(node);
    return false;
  }
  std::uint64_t epoch = std::max(own.epoch, one.record.epoch);
  for (const Peer& peer : others) epoch = std::max(epoch, peer.position.epoch);
  for (Copy& copy : one.copy) {
    if (crashes(node)) return false;
    copy.epoch = epoch + 1;
    copy.author = fmt::format("n{}", node + 1);
    copy.has_row = true;
  }
  one.epoch = epoch + 1;
  one.sync = SyncState::kWasActive;
  one.mark = one.diverged = true;
  one.quarantine = one.matched = one.yielded = false;
  if (crashes(node)) return false;
  for (int other = 0; other < 3; ++other) {
    if (!reaches(node, other)) continue;
    const std::string name = fmt::format("n{}", node + 1);
    nodes_[other].record = {epoch + 1, name, name};
    nodes_[other].version = now_;
  }
  publish(node, true);
  tell(fmt::format("n{} is promoted, epoch {}", node + 1, epoch + 1));
  return true;
}

Source World::judge_source(int node, int holder) const {
  if (nodes_[node].address) return Source::kSelf;
  Position own = position(node);
  // It stamped this epoch itself, and power was lost before anybody heard of it.
  const std::uint64_t announced = nodes_[node].record.epoch;
  if (own.sync == SyncState::kWasActive && announced > 0)
    own.epoch = std::min(own.epoch, announced);
  const bool there = holder_of_address(node) == holder && nodes_[holder].server[0].up &&
                     nodes_[holder].server[1].up;
  if (!there) {
    const auto& published = nodes_[holder].published;
    if (!published || !reaches(node, holder)) return Source::kUnknown;
    if (published->position.epoch < own.epoch) return Source::kOlder;
    return published->position.empty && !own.empty ? Source::kEmpty : Source::kGood;
  }
  for (int database = 0; database < 2; ++database) {
    if (nodes_[holder].copy[database].epoch < own.epoch) return Source::kOlder;
  }
  return !nodes_[holder].copy[0].has_row && !own.empty ? Source::kEmpty : Source::kGood;
}

void World::follow(int node, int active) {
  Node& one = nodes_[node];
  Situation now = situation(node, Lock::kOther);
  now.source = judge_source(node, active);
  const Action action = decide(now).action;
  if (action == Action::kIsolate || action == Action::kStepDown) isolate(node);
  if (action != Action::kFollow || one.disk_full) return;
  const std::uint64_t promoted =
      std::max(one.record.epoch,
               nodes_[active].published ? nodes_[active].published->position.epoch : UINT64_MAX);
  const bool keeps = one.diverged || one.quarantine || (promoted > one.epoch && !one.matched);
  if (keeps) one.kept = std::max(one.kept, one.copy[0].content);
  tell(fmt::format("n{} follows n{}{}", node + 1, active + 1, keeps ? ", and keeps its copy" : ""));
  for (Server& server : one.server) {
    if (server.up) server = {.up = true, .to_address = true, .chosen = active};
  }
}

void World::before_promotion(int node) {
  const Situation seen = situation(node, Lock::kNone);
  if (seen.nb == State::kActive || seen.sb == State::kActive) return;
  if (seen.nb >= State::kFollowing && seen.sb >= State::kFollowing) remember(node);
  isolate(node);
}

/// The second half: all have let go of their source by now.
void World::compare_all(int node) {
  Node& one = nodes_[node];
  const Situation seen = situation(node, Lock::kNone);
  if (seen.nb != State::kIsolated || seen.sb != State::kIsolated) return;
  const Position own = position(node);
  if (one.sync == SyncState::kSynced && !own.empty) one.epoch = own.epoch;
  one.published = Peer{fmt::format("n{}", node + 1), own, one.quarantine, true};
  std::vector<Peer> others = peers(node);
  one.matched = judge::failover::same_as_all(own, others);
  std::erase_if(others, [&](const Peer& peer) { return !peer.settled; });
  one.score = judge::failover::score({own, one.quarantine, false}, others, one.record, {});
}

void World::after_promotion(int node, int active) {
  Node& one = nodes_[node];
  if (one.server[0].active || one.server[1].active) {
    one.quarantine = one.diverged = true;
    isolate(node);
  }
  follow(node, active);
}

bool World::monitor(int node) {
  Node& one = nodes_[node];
  const Situation seen = situation(node, Lock::kNone);
  const bool active = seen.nb == State::kActive || seen.sb == State::kActive;
  if (seen.nb == State::kDown || seen.sb == State::kDown) return false;
  if (seen.nb == State::kHung || seen.sb == State::kHung) return false;
  const std::string name = fmt::format("n{}", node + 1);
  Lock lock = Lock::kNone;
  // Whoever was away may have missed a promotion: the node's own copy of the configuration says so.
  const bool newest = position(node).epoch >= one.record.epoch;
  if (active && one.mark && newest) {
    lock = Lock::kMine;
  } else if (active) {
    lock = one.record.active.empty()             ? Lock::kUnknown
           : one.record.active == name && newest ? Lock::kMine
                                                 : Lock::kOther;
  }
  const bool isolated = !active && (seen.nb == State::kIsolated || seen.sb == State::kIsolated);
  if (isolated && !one.record.active.empty() && one.record.active != name) {
    for (int other = 0; other < 3; ++other) {
      const bool holder = fmt::format("n{}", other + 1) == one.record.active;
      if (holder && holder_of_address(node) == other) follow(node, other);
    }
  }
  Situation now = situation(node, lock);
  if (active && position(node).sync == SyncState::kHalf) now.freshness = Freshness::kHalfSynced;
  if (!active && one.address) {
    // Its own address is its source.
    now.lock = Lock::kOther;
    now.source = Source::kSelf;
  }
  const Action action = decide(now).action;
  if (action == Action::kStepDown) {
    tell(fmt::format("n{} steps down", node + 1));
    one.quarantine = one.diverged = true;
    one.sync = SyncState::kUnknown;
    isolate(node);
  }
  if (action == Action::kIsolate) isolate(node);
  if (action == Action::kPromote) {
    for (Server& server : one.server) server = {.up = true, .active = true};
  }
  remember(node);
  publish(node, false);
  const Situation after = situation(node, lock);
  return (after.nb == State::kActive) == (after.sb == State::kActive);
}

}  // namespace wardmote::failover
