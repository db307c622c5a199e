#include "failover/world.h"

#include <algorithm>
#include <string>

#include "base/format.h"

namespace wardmote::failover {
namespace {

constexpr int kFaultsEnd = 1200;  // tenths of a second
constexpr int kEnd = 3600;
/// Without fencing, a node that was cut off or paused stops being writable after this time.
constexpr int kLongestSplit = 150;
constexpr std::size_t kLongestStory = 20'000;

}  // namespace

World::World(std::uint64_t seed, std::span<const judge::failover::Row> table)
    : random_(seed), table_(table), fencing_(random_.below(2) == 0) {}

void World::tell(const std::string& what) {
  if (story_.size() < kLongestStory)
    story_ += fmt::format("{:6.1f} {}\n", static_cast<double>(now_) / 10, what);
}

void World::wrong(const std::string& what) {
  if (!wrong_) wrong_ = fmt::format("{:.1f} s: {}", static_cast<double>(now_) / 10, what);
}

bool World::runs(int node) const {
  return nodes_[node].power && !nodes_[node].paused;
}

bool World::reaches(int from, int to) const {
  return runs(from) && runs(to) && nodes_[from].side == nodes_[to].side;
}

int World::holder_of_address(int seen_from) const {
  for (int node = 0; node < 3; ++node) {
    if (nodes_[node].address && reaches(seen_from, node)) return node;
  }
  return -1;
}

void World::power_off(int node) {
  Node& one = nodes_[node];
  tell(fmt::format("n{} loses power", node + 1));
  one.power = one.paused = one.address = one.started = one.promoted = one.mark = false;
  one.published.reset();
  one.score = -2;
  // A disk keeps what it has, a removal whose rows did not come included.
  for (Server& server : one.server) server = {};
}

void World::boot(int node) {
  tell(fmt::format("n{} boots", node + 1));
  nodes_[node].power = true;
  nodes_[node].side = 0;
}

void World::fault() {
  const int node = static_cast<int>(random_.below(3));
  Node& one = nodes_[node];
  switch (random_.below(11)) {
    case 0:
    case 1:
      if (one.power) {
        power_off(node);
      } else {
        boot(node);
      }
      break;
    case 2:
      if (!one.power) break;
      one.paused = !one.paused;
      tell(fmt::format("n{} {}", node + 1, one.paused ? "is paused" : "goes on"));
      break;
    case 3:
      one.side = one.side == 0 ? 1 : 0;
      tell(fmt::format("n{} is {}", node + 1, one.side == 0 ? "connected" : "cut off"));
      break;
    case 4:
      one.disk_full = !one.disk_full;
      tell(fmt::format("the disk of n{} is {}", node + 1, one.disk_full ? "full" : "empty enough"));
      break;
    case 5: {
      Server& server = one.server[random_.below(2)];
      if (!server.up) break;
      tell(fmt::format("a server of n{} is killed", node + 1));
      server = {};
      break;
    }
    case 6: {
      Server& server = one.server[random_.below(2)];
      server.hung = server.up;
      if (server.hung) tell(fmt::format("a server of n{} hangs", node + 1));
      break;
    }
    case 7: {
      Server& server = one.server[random_.below(2)];
      if (!server.up || server.hung) break;
      tell(fmt::format("somebody turns the role of a server of n{}", node + 1));
      server.active = !server.active;
      server.to_address = server.synced = server.half = false;
      server.session = -1;
      break;
    }
    case 8: {
      if (one.power || !chance(30)) break;
      tell(fmt::format("n{} gets a new disk", node + 1));
      one.copy = {};
      one.epoch = 0;
      one.sync = judge::failover::SyncState::kUnknown;
      one.diverged = one.quarantine = false;
      break;
    }
    case 9:
      one.lags = !one.lags;
      tell(fmt::format("n{} {}", node + 1, one.lags ? "lags behind" : "hears its source"));
      break;
    default: {
      if (!chance(20)) break;
      for (int other = 0; other < 3; ++other) {
        if (nodes_[other].power) power_off(other);
      }
      break;
    }
  }
}

void World::heal_all() {
  tell("all is healed");
  for (int node = 0; node < 3; ++node) {
    Node& one = nodes_[node];
    one.paused = one.disk_full = one.lags = false;
    one.side = 0;
    if (!one.power) boot(node);
    for (Server& server : one.server) server.hung = false;
  }
}

/// A client on side 0, through the address.
void World::write() {
  for (Node& one : nodes_) {
    const bool there = one.address && one.power && !one.paused && one.side == 0;
    const Server& nb = one.server[0];
    if (!there || !nb.up || nb.hung || !nb.active || one.disk_full) continue;
    one.copy[0].content = ++next_row_;
    one.copy[0].has_row = true;
    const Server& sb = one.server[1];
    if (sb.up && !sb.hung && sb.active) {
      one.copy[1].content = next_row_;
      one.copy[1].has_row = true;
    }
    return;
  }
}

/// The first of the two transactions in which a backup takes its source's content.
void World::reset(int node, int database, int source) {
  Node& one = nodes_[node];
  Copy& own = one.copy[database];
  const Copy& other = nodes_[source].copy[database];
  // ovsdb-server connects again by itself. Without fencing, a node that was away may be writable
  // and have the address again; only what the agent chose is the agent's doing. A promotion that
  // ended between its two writes, or before anybody heard of it, was none.
  const std::uint64_t epoch = std::min({one.copy[0].epoch, one.copy[1].epoch, one.record.epoch});
  const bool ours = fencing_ || one.server[database].chosen == source;
  if (ours && other.epoch < epoch)
    wrong(fmt::format("n{} of epoch {} is replaced by n{} of epoch {}{}", node + 1, epoch,
                      source + 1, other.epoch, fencing_ ? ", with fencing" : ""));
  if (ours && database == 0 && own.has_row && !other.has_row)
    wrong(fmt::format("n{} is emptied by n{}", node + 1, source + 1));
  // Without fencing two may write in one epoch.
  if (fencing_ && database == 0 && own.content > other.content && own.content > one.kept)
    wrong(fmt::format("n{} loses row {}, and no copy of it was kept", node + 1, own.content));
  own = {};
}

void World::replicate(int node, int database) {
  Node& one = nodes_[node];
  Server& server = one.server[database];
  if (!runs(node) || !server.up || server.hung || server.active || !server.to_address) return;
  const int holder = holder_of_address(node);
  if (holder == node) {
    tell(fmt::format("n{} copies from itself, and becomes writable", node + 1));
    server = {.up = true, .active = true};
    return;
  }
  // Who follows nobody listens to nobody.
  const Server* const source = holder < 0 ? nullptr : &nodes_[holder].server[database];
  const bool listens =
      source != nullptr && source->up && !source->hung && (source->active || source->to_address);
  if (!listens) {
    server.session = -1;
    return;
  }
  if (server.session != holder) {
    if (!chance(40)) return;
    server.session = holder;
    reset(node, database, holder);
    if (server.chosen != holder) server.chosen = -1;
    server.half = true;
    if (!one.disk_full) return;
    tell(fmt::format("n{} has no room for the copy, and becomes writable", node + 1));
    server = {.up = true, .active = true};
    return;
  }
  if (one.lags || chance(20) || (one.disk_full && !server.half)) return;
  one.copy[database] = nodes_[holder].copy[database];
  server.half = false;
  server.synced = true;
}

void World::check_split() {
  int writable = 0;
  for (const Node& one : nodes_) {
    const bool serves = one.power && !one.paused && one.address && one.server[0].up &&
                        !one.server[0].hung && one.server[0].active;
    writable += serves ? 1 : 0;
  }
  split_ = writable > 1 ? split_ + 1 : 0;
  if (split_ > (fencing_ ? 0 : kLongestSplit)) wrong("two nodes are writable and have the address");
}

void World::check_end() {
  int active = -1;
  std::uint64_t highest = 0;
  bool usable = false;
  for (int node = 0; node < 3; ++node) highest = std::max(highest, nodes_[node].record.epoch);
  for (int node = 0; node < 3; ++node) {
    const Node& one = nodes_[node];
    const bool writable = one.server[0].active && one.server[1].active;
    if (writable && one.address && one.promoted) active = node;
    const bool whole = one.copy[0].has_row && one.copy[1].has_row;
    const bool newest = judge::failover::heard(position(node), one.record).epoch >= highest;
    usable = usable || ((whole || highest == 0) && newest && !one.quarantine);
  }
  if (active < 0 && usable) wrong("nobody is active, though a copy may be promoted");
  if (active < 0) return;
  for (int node = 0; node < 3; ++node) {
    const Node& one = nodes_[node];
    if (node == active) continue;
    for (int database = 0; database < 2; ++database) {
      if (one.server[database].active) wrong(fmt::format("n{} is writable in the end", node + 1));
      if (one.copy[database].content != nodes_[active].copy[database].content && !one.quarantine)
        wrong(fmt::format("n{} does not have the content of n{} in the end: it is {} and {}",
                          node + 1, active + 1, to_string(state(node, 0)),
                          to_string(state(node, 1))));
    }
  }
}

std::optional<std::string> World::play() {
  for (now_ = 0; now_ < kEnd && !wrong_; ++now_) {
    if (now_ > 150 && now_ < kFaultsEnd && chance(2)) fault();
    if (now_ == kFaultsEnd) heal_all();
    calm_ = now_ >= kFaultsEnd;
    // The client pauses in the end, so that all copies can be compared.
    if (now_ % 5 == 0 && now_ < kEnd - 100) write();
    for (int node = 0; node < 3; ++node) {
      replicate(node, 0);
      replicate(node, 1);
    }
    manage();
    check_split();
  }
  if (!wrong_) check_end();
  return wrong_;
}

}  // namespace wardmote::failover
