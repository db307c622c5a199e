// A cluster manager as Pacemaker is one, as far as the resource agent sees it.
#include <algorithm>
#include <string>
#include <vector>

#include "base/format.h"
#include "failover/world.h"

namespace wardmote::failover {
namespace {

constexpr int kToken = 15;        // until a member that is gone is noticed
constexpr int kStopWithout = 40;  // until a node without quorum has stopped what it runs

}  // namespace

/// The members of the side with a majority; empty when there is none.
std::vector<int> World::quorum() {
  for (int side = 0; side < 2; ++side) {
    std::vector<int> members;
    for (int node = 0; node < 3; ++node) {
      if (runs(node) && nodes_[node].side == side) members.push_back(node);
    }
    if (members.size() >= 2) return members;
  }
  return {};
}

/// Those who join take the newest configuration.
void World::join(const std::vector<int>& members) {
  const int newest =
      *std::ranges::max_element(members, {}, [&](int node) { return nodes_[node].version; });
  for (const int node : members) {
    nodes_[node].record = nodes_[newest].record;
    nodes_[node].version = nodes_[newest].version;
  }
}

void World::leave_without_quorum(const std::vector<int>& members) {
  for (int node = 0; node < 3; ++node) {
    Node& one = nodes_[node];
    const bool alone = runs(node) && std::ranges::find(members, node) == members.end();
    one.alone = alone ? one.alone + 1 : 0;
    if (one.alone != kStopWithout || !one.started) continue;
    one.published.reset();
    one.address = false;
    if (one.promoted) demote(node);
    stop(node);
  }
}

/// Whoever left and may still be writable is switched off first. True while that takes its time.
bool World::fence(const std::vector<int>& members) {
  if (!fencing_) return false;
  for (int node = 0; node < 3; ++node) {
    const bool gone = std::ranges::find(members, node) == members.end();
    if (!gone || !nodes_[node].power || !nodes_[node].started) continue;
    tell(fmt::format("n{} is fenced", node + 1));
    power_off(node);
    busy_until_ = now_ + 5;
    return true;
  }
  return false;
}

void World::recover(int node) {
  Node& one = nodes_[node];
  tell(fmt::format("n{} is recovered", node + 1));
  one.address = false;
  if (one.promoted) demote(node);
  one.promoted = false;
  if (!one.power) return;
  stop(node);
  busy_until_ = now_ + 10;
}

void World::run_monitor(int node) {
  Node& one = nodes_[node];
  const bool promoted = one.promoted;
  if (!monitor(node)) {
    if (one.power) recover(node);
  } else if (promoted && one.power && !(one.server[0].active && one.server[1].active)) {
    // The result says "unpromoted" of what should be promoted.
    recover(node);
  }
}

int World::choose(const std::vector<int>& members) {
  int best = -1;
  for (const int node : members) {
    if (nodes_[node].score < 0) continue;
    const bool better = best < 0 || nodes_[node].score > nodes_[best].score;
    const bool tie = best >= 0 && nodes_[node].score == nodes_[best].score && chance(50);
    if (better || tie) best = node;
  }
  return best;
}

void World::elect(const std::vector<int>& members) {
  int best = choose(members);
  if (best < 0) return;
  for (const int node : members) before_promotion(node);
  for (const int node : members) publish(node, true);
  for (const int node : members) compare_all(node);
  // New scores begin a new transition, mostly in time.
  if (chance(70)) best = choose(members);
  if (best < 0) return;
  const bool address_first = chance(30);
  for (int node = 0; node < 3; ++node) {
    if (reaches(best, node)) nodes_[node].address = false;
  }
  if (address_first) nodes_[best].address = true;
  busy_until_ = now_ + 2 + static_cast<int>(random_.below(8));
  if (!nodes_[best].power) return;
  if (!promote(best)) {
    if (nodes_[best].power) recover(best);
    return;
  }
  nodes_[best].promoted = true;
  const bool late = chance(50);
  if (!late) nodes_[best].address = true;
  for (const int node : members) {
    if (node != best && nodes_[node].power) after_promotion(node, best);
  }
  nodes_[best].address = true;
}

void World::manage() {
  const std::vector<int> members = quorum();
  int seen = 0;
  for (const int node : members) seen |= 1 << node;
  if (seen != members_) {
    members_ = seen;
    last_change_ = now_;
  }
  leave_without_quorum(members);
  if (members.empty() || now_ - last_change_ < kToken || now_ < busy_until_) return;
  join(members);
  if (fence(members)) return;
  std::vector<int> promoted;
  for (const int node : members) {
    if (nodes_[node].promoted) promoted.push_back(node);
  }
  if (promoted.size() > 1) {
    const int loser =
        *std::ranges::min_element(promoted, {}, [&](int node) { return nodes_[node].score; });
    nodes_[loser].address = false;
    demote(loser);
    busy_until_ = now_ + 5;
    return;
  }
  for (const int node : members) {
    Node& one = nodes_[node];
    if (one.started && now_ >= one.next_monitor) {
      one.next_monitor = now_ + (one.promoted ? 100 : 300);
      run_monitor(node);
      return;
    }
  }
  for (const int node : members) {
    if (nodes_[node].started) continue;
    start(node);
    busy_until_ = now_ + 5;
    return;
  }
  if (promoted.empty()) {
    elect(members);
  } else if (!nodes_[promoted.front()].address) {
    nodes_[promoted.front()].address = true;
  }
}

}  // namespace wardmote::failover
