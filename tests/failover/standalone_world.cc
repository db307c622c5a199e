#include "failover/standalone_world.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/format.h"
#include "judge/failover/decision.h"
#include "judge/failover/digest_ring.h"
#include "judge/failover/member.h"

namespace wardmote::failover {
namespace {

constexpr int kFaultsBegin = 200;  // tenths of a second
constexpr int kFaultsEnd = 1500;
constexpr int kEnd = 2600;
constexpr int kQuiet = 150;  // in the end, so that all copies can be compared
/// The kernel looks at the lives of addresses about once a second.
constexpr int kKernelLate = 12;
/// Two leases, the candidates' looks at each other, and the promotion, several times over.
constexpr int kLongestOutage = 400;
constexpr int kLongestWithoutRight = 30;
constexpr int kLastStart = 100;
constexpr std::size_t kLongestStory = 30'000;

bool holds(const std::vector<int>& rows, int row) {
  return std::ranges::find(rows, row) != rows.end();
}

/// The rows of `some` that `all` does not have.
std::vector<int> missing(const std::vector<int>& some, const std::vector<int>& all) {
  std::vector<int> found;
  for (const int row : some) {
    if (!holds(all, row)) found.push_back(row);
  }
  return found;
}

}  // namespace

StandaloneWorld::StandaloneWorld(std::uint64_t seed,
                                 std::span<const judge::failover::DutyRow> table)
    : random_(seed), table_(table) {
  for (Node& node : nodes_) {
    for (Server& server : node.server) server = {.up = true};
    node.agent = false;
  }
  for (int& at : starts_at_) at = static_cast<int>(random_.below(kLastStart));
  if (!chance(40)) return;
  // Somebody had these databases before there was a manager.
  Node& first = nodes_[random_.below(3)];
  first.copy[0].rows.push_back(++next_row_);
  for (Copy& copy : first.copy) copy.has_row = true;
  for (Server& server : first.server) server.active = true;
}

void StandaloneWorld::tell(const std::string& what) {
  if (story_.size() < kLongestStory)
    story_ += fmt::format("{:6.1f} {}\n", static_cast<double>(now_) / 10, what);
}

void StandaloneWorld::wrong(const std::string& what) {
  if (!wrong_) wrong_ = fmt::format("{:.1f} s: {}", static_cast<double>(now_) / 10, what);
}

bool StandaloneWorld::reaches(int a, int b) const {
  return nodes_[a].power && nodes_[b].power && !nodes_[a].cut && !nodes_[b].cut;
}

bool StandaloneWorld::reaches_store(int node) const {
  return store_up_ && nodes_[node].power && !nodes_[node].cut && !nodes_[node].cut_store;
}

bool StandaloneWorld::serves(int node) const {
  const Node& one = nodes_[node];
  const Server& nb = one.server[0];
  return one.power && one.address && nb.up && !nb.hung && nb.active;
}

/// Independent of order, as the codec's sum is. Two copies of which one only has the row of its
/// epoch differ too.
judge::failover::ContentHash StandaloneWorld::hash_of(const Copy& copy) {
  judge::failover::ContentHash sum{copy.epoch * 0x9e3779b97f4a7c15, copy.has_row ? 1U : 0U};
  for (const int row : copy.rows) {
    runtime::Random random(static_cast<std::uint64_t>(row));
    sum.high += random.next();
    sum.low += random.next();
  }
  return sum;
}

void StandaloneWorld::agent_ends(int node) {
  Node& one = nodes_[node];
  one.agent = false;
  one.agent_stopped = false;
  one.lease = {};
  one.ring.clear();
  one.announced = one.was_active = false;
  one.phase = 0;
  one.heir = -1;
  one.unfit_until = 0;
  one.view = {};
  one.confirmed = -1000;
}

void StandaloneWorld::power_off(int node) {
  Node& one = nodes_[node];
  tell(name(node) + " loses power");
  one.power = one.address = false;
  agent_ends(node);
  for (Server& server : one.server) server = {};
}

void StandaloneWorld::fault() {
  const int node = static_cast<int>(random_.below(3));
  Node& one = nodes_[node];
  const auto turn = [&](bool& what, const std::string& on, const std::string& off) {
    what = !what;
    tell(name(node) + " " + (what ? on : off));
  };
  switch (random_.below(13)) {
    case 0:
    case 1:
      if (one.power) {
        power_off(node);
        break;
      }
      tell(name(node) + " boots");
      one.power = one.agent = true;
      // Some unit files start them as backups, and some as they come: writable.
      for (Server& server : one.server) server = {.up = true, .active = chance(30)};
      break;
    case 2:
      if (!one.power) break;
      if (one.agent) {
        tell("the agent of " + name(node) + " is killed");
        agent_ends(node);
      } else {
        tell("the agent of " + name(node) + " starts");
        one.agent = true;
      }
      break;
    case 3:
    case 4:
      if (one.agent) turn(one.agent_stopped, "'s agent is stopped", "'s agent goes on");
      break;
    case 5: turn(one.cut, "is cut off", "is connected"); break;
    case 6: turn(one.cut_store, "is cut off from the store", "reaches the store"); break;
    case 7:
      store_up_ = !store_up_;
      tell(store_up_ ? "the store answers" : "the store is away");
      break;
    case 8: turn(one.disk_full, "has a full disk", "has room again"); break;
    case 9: {
      Server& server = one.server[random_.below(2)];
      server.hung = server.up && !server.hung;
      tell(fmt::format("a server of {} {}", name(node), server.hung ? "hangs" : "goes on"));
      break;
    }
    case 10: {
      Server& server = one.server[random_.below(2)];
      if (!one.power) break;
      tell("a server of " + name(node) + " is killed and started again");
      server = {.up = true, .active = chance(50)};
      break;
    }
    case 11: {
      // As after any error of replication.
      Server& server = one.server[random_.below(2)];
      if (!server.up || server.hung) break;
      tell("a server of " + name(node) + " becomes writable by itself");
      server = {.up = true, .active = true};
      break;
    }
    default:
      if (chance(50)) {
        one.lags = !one.lags;
        tell(name(node) + (one.lags ? " lags behind" : " hears its source"));
      } else {
        store_.order_to = node;
        tell("somebody wants " + name(node) + " to be active");
      }
      break;
  }
}

void StandaloneWorld::heal_all() {
  tell("all is healed");
  store_up_ = true;
  for (Node& one : nodes_) {
    one.cut = one.cut_store = one.disk_full = one.lags = one.agent_stopped = false;
    if (!one.power) {
      for (Server& server : one.server) server = {.up = true};
    }
    one.power = one.agent = true;
    for (Server& server : one.server) server.hung = false;
  }
}

void StandaloneWorld::write() {
  for (int node = 0; node < 3; ++node) {
    Node& one = nodes_[node];
    if (!serves(node) || one.cut || one.disk_full) continue;
    one.copy[0].rows.push_back(++next_row_);
    one.copy[0].has_row = true;
  }
}

void StandaloneWorld::replicate(int node, int database) {
  Node& one = nodes_[node];
  Server& server = one.server[database];
  if (!one.power || !server.up || server.hung || server.active || server.source < 0) return;
  const int from = server.source;
  const Server& source = nodes_[from].server[database];
  if (!reaches(node, from) || !source.up || source.hung) {
    server.session = -1;
    return;
  }
  Copy& own = one.copy[database];
  const Copy& other = nodes_[from].copy[database];
  if (server.session != from) {
    if (!chance(40)) return;
    server.session = from;
    if (database == 0) {
      // Whatever a backup has, its source had too, and may have set aside.
      // Nor is a row lost that yet another has: its source may be copying anew itself.
      std::vector<int> lost = missing(missing(own.rows, other.rows), kept_);
      for (const Node& peer : nodes_) {
        if (&peer != &one) lost = missing(lost, peer.copy[0].rows);
      }
      if (!lost.empty())
        wrong(fmt::format("{} loses row {} to {}, and no copy of it was kept", name(node),
                          lost.front(), name(from)));
      // An agent that was stopped, or hears nothing, cannot let go of a source that lost its rows.
      const bool awake = one.agent && !one.agent_stopped && now_ - one.confirmed < 20;
      if (awake && own.has_row && !other.has_row)
        wrong(fmt::format("{} is emptied by {}", name(node), name(from)));
    }
    own = {};
    server.synced = false;
    if (one.disk_full) {
      tell(name(node) + " has no room for the copy, and becomes writable and empty");
      server = {.up = true, .active = true};
    }
    return;
  }
  if (one.lags || chance(20) || (one.disk_full && server.synced)) return;
  own = other;
  server.synced = true;
}

void StandaloneWorld::expire() {
  if (store_up_) {
    std::erase_if(store_.queue, [&](const auto& one) { return one.second.second <= now_; });
    std::erase_if(store_.members, [&](const auto& one) { return one.second.second <= now_; });
  }
  if (without_ == Without::kKernelTimer) return;
  for (int node = 0; node < 3; ++node) {
    Node& one = nodes_[node];
    if (!one.address || now_ < one.address_until + static_cast<int>(random_.below(kKernelLate)))
      continue;
    one.address = false;
    tell("the kernel takes the address from " + name(node));
  }
}

void StandaloneWorld::check_split() {
  int count = 0;
  for (int node = 0; node < 3; ++node) count += serves(node) ? 1 : 0;
  if (count > 1) wrong("two nodes are writable and have the address");
}

/// When it claims an epoch: nobody who says in the store that he is there has a row of clients that
/// this copy does not have.
void StandaloneWorld::check_choice(int node) {
  const Node& one = nodes_[node];
  for (const auto& [other, member] : store_.members) {
    const Node& peer = nodes_[other];
    const bool counts = other != node && member.first.settled() && !member.first.position.empty &&
                        std::min(peer.copy[0].epoch, peer.copy[1].epoch) >= store_.record.epoch;
    if (!counts || store_.record.epoch == 0) continue;
    const std::vector<int> lost = missing(peer.copy[0].rows, one.copy[0].rows);
    if (!lost.empty())
      wrong(
          fmt::format("{} is promoted, and {} has row {}", name(node), name(other), lost.front()));
  }
  for (const Node& peer : nodes_) {
    if (store_.record.epoch > 0) break;
    const std::vector<int> lost = missing(peer.copy[0].rows, one.copy[0].rows);
    if (!lost.empty())
      wrong(fmt::format("{} is promoted first, and another has row {}", name(node), lost.front()));
  }
  const std::vector<int> lost = missing(published_rows_, one.copy[0].rows);
  if (!lost.empty())
    wrong(fmt::format("{} is promoted, and row {} was published", name(node), lost.front()));
  if (std::min(one.copy[0].epoch, one.copy[1].epoch) < store_.record.epoch && one.claimed == 0)
    wrong(fmt::format("{} of epoch {} is promoted in epoch {}", name(node), one.copy[0].epoch,
                      store_.record.epoch));
}

/// It is well, has all that anybody who is there has or that was published, and can show that.
bool StandaloneWorld::could_serve(int node) const {
  const Node& one = nodes_[node];
  const bool awake = one.power && one.agent && !one.agent_stopped && reaches_store(node);
  const bool well = awake && !one.disk_full && now_ >= one.unfit_until && one.copy[0].has_row;
  if (!well || store_.record.epoch == 0) return false;
  for (const Server& server : one.server) {
    if (!server.up || server.hung) return false;
  }
  for (const Copy& copy : one.copy) {
    if (copy.epoch != store_.record.epoch) return false;
  }
  const auto shows = [&](const judge::failover::Trail& other) {
    const auto relation = relate(one.ring, other);
    return relation == judge::failover::Relation::kSame ||
           relation == judge::failover::Relation::kAhead;
  };
  if (!shows(store_.record.trail)) return false;
  for (const auto& [other, member] : store_.members) {
    const Copy& theirs = nodes_[other].copy[0];
    const bool older = theirs.epoch < store_.record.epoch;
    const bool is_same = theirs.epoch == store_.record.epoch && shows({hash_of(theirs)});
    if (other != node && !older && !is_same) return false;
  }
  return true;
}

/// Somebody who could serve does so, or another does, before long.
void StandaloneWorld::check_life() {
  bool served = false;
  for (int node = 0; node < 3; ++node) served = served || serves(node);
  for (int node = 0; node < 3; ++node) {
    int& since = could_since_[node];
    if (served || !could_serve(node)) since = now_;
    if (now_ - since >= kLongestOutage)
      wrong(fmt::format("nobody serves, and {} could", name(node)));
  }
}

/// An agent that is awake does not leave a copy writable that is not its to write.
void StandaloneWorld::check_writable() {
  for (int node = 0; node < 3; ++node) {
    const Node& one = nodes_[node];
    const bool awake = one.power && one.agent && !one.agent_stopped;
    const auto writes = [](const Server& server) {
      return server.up && !server.hung && server.active;
    };
    int& since = no_right_since_[node];
    if (!awake || leads(node) || std::ranges::none_of(one.server, writes)) since = now_;
    if (now_ - since >= kLongestWithoutRight)
      wrong(name(node) + " stays writable, and does not lead");
  }
}

void StandaloneWorld::check_end() {
  int active = -1;
  for (int node = 0; node < 3; ++node) {
    if (serves(node)) active = node;
  }
  if (active < 0) {
    wrong("nobody is active in the end");
    return;
  }
  for (int node = 0; node < 3; ++node) {
    if (node == active) continue;
    if (nodes_[node].server[0].active || nodes_[node].server[1].active)
      wrong(name(node) + " is writable in the end");
    if (nodes_[node].copy[0].rows != nodes_[active].copy[0].rows)
      wrong(fmt::format("{} does not have the content of {} in the end", name(node), name(active)));
  }
}

std::optional<std::string> StandaloneWorld::play() {
  for (now_ = 0; now_ < kEnd && !wrong_; ++now_) {
    for (int node = 0; node < 3; ++node) {
      if (now_ == starts_at_[node]) nodes_[node].agent = true;
    }
    if (now_ > kFaultsBegin && now_ < kFaultsEnd && chance(2)) fault();
    if (now_ == kFaultsEnd) heal_all();
    calm_ = now_ >= kFaultsEnd;
    expire();
    if (now_ % 3 == 0 && now_ < kEnd - kQuiet) write();
    for (int node = 0; node < 3; ++node) {
      replicate(node, 0);
      replicate(node, 1);
    }
    const int first = static_cast<int>(random_.below(3));
    for (int i = 0; i < 3; ++i) step((first + i) % 3);
    check_split();
    check_life();
    check_writable();
  }
  if (!wrong_) check_end();
  return wrong_;
}

}  // namespace wardmote::failover
