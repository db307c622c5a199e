// What the manager of a pair does on a node (src/act/failover), by the same decisions.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "failover/standalone_world.h"
#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"
#include "judge/failover/duty.h"
#include "judge/failover/member.h"

namespace wardmote::failover {

using judge::failover::Candidacy;
using judge::failover::Duties;
using judge::failover::Duty;
using judge::failover::Epoch;
using judge::failover::Lock;
using judge::failover::Member;
using judge::failover::PairRecord;
using judge::failover::Relation;
using judge::failover::Source;
using judge::failover::SyncState;
using judge::failover::Trail;
using State = judge::failover::Copy;

namespace {

constexpr int kTtl = 60;  // tenths of a second
constexpr int kWork = kTtl * 2 / 3;
constexpr int kRenew = kTtl / 3;
constexpr int kUnfit = 300;
constexpr int kRest = 5;
constexpr int kPublishEvery = 10;
constexpr int kCatchUp = 50;
constexpr std::size_t kRing = 300;
constexpr std::size_t kPublished = 8;
constexpr std::size_t kTold = 128;

Trail newest(const Trail& ring, std::size_t most) {
  const std::size_t count = std::min(most, ring.size());
  return {ring.end() - static_cast<std::ptrdiff_t>(count), ring.end()};
}

}  // namespace

int StandaloneWorld::leader_in(const Store& store) const {
  return store.queue.empty() ? -1 : store.queue.begin()->second.first;
}

bool StandaloneWorld::leads(int node) const {
  const Lease& lease = nodes_[node].lease;
  const auto& queue = nodes_[node].view.queue;
  const bool first = !queue.empty() && queue.begin()->first == lease.revision;
  return lease.revision != 0 && first && now_ < lease.stop_at;
}

State StandaloneWorld::state(int node, int database, int active) const {
  const Server& server = nodes_[node].server[database];
  if (!server.up) return State::kDown;
  if (server.hung) return State::kHung;
  if (server.active) return State::kActive;
  if (server.source < 0) return State::kIsolated;
  if (server.source != active) return State::kStray;
  return server.synced ? State::kFollowing : State::kSearching;
}

Lock StandaloneWorld::lock(int node) const {
  const Node& one = nodes_[node];
  if (leads(node)) return Lock::kMine;
  const bool writable = one.server[0].active || one.server[1].active;
  if (writable && one.announced) return Lock::kReleased;
  if (now_ - one.confirmed > 2 * kTtl) return Lock::kUnknown;
  const PairRecord& record = one.view.record;
  const bool announced =
      !one.view.queue.empty() && record.token == one.view.queue.begin()->first && !record.released;
  return announced && leader_in(one.view) != node ? Lock::kOther : Lock::kNone;
}

Member StandaloneWorld::describe(int node) const {
  const Node& one = nodes_[node];
  Member own;
  own.name = name(node);
  const int active = lock(node) == Lock::kOther ? index(one.view.record.active) : -1;
  own.nb = state(node, 0, active);
  own.sb = state(node, 1, active);
  own.position.epoch = std::min(one.copy[0].epoch, one.copy[1].epoch);
  own.position.empty = !one.copy[0].has_row;
  own.position.sync = one.was_active ? SyncState::kWasActive : SyncState::kUnknown;
  const bool half = one.view.record.epoch > 0 && own.position.epoch == 0 &&
                    one.copy[0].has_row != one.copy[1].has_row;
  if (half) own.position.sync = SyncState::kHalf;
  own.position.size = one.copy[0].rows.size();
  own.trail = one.ring;
  if (now_ < one.unfit_until) own.unfit = "a promotion failed";
  return own;
}

std::vector<Member> StandaloneWorld::peers(int node, const Store& store) const {
  std::vector<Member> found;
  for (const auto& [other, member] : store.members) {
    if (other == node || without_ == Without::kPeers) continue;
    found.push_back(member.first);
  }
  return found;
}

Candidacy StandaloneWorld::candidacy(int node, const Store& store) const {
  const Member own = describe(node);
  PairRecord record = store.record;
  if (without_ == Without::kPublished) record.trail = own.trail;
  return judge_candidate(own, peers(node, store), record, {.members = {"n1", "n2", "n3"}});
}

void StandaloneWorld::observe_content(int node) {
  Node& one = nodes_[node];
  if (!one.server[0].up || one.server[0].hung) {
    if (!one.server[0].up) one.ring.clear();
    return;
  }
  if (!one.copy[0].has_row && one.copy[0].rows.empty()) one.ring.clear();
  const auto content = hash_of(one.copy[0]);
  if (one.ring.empty() || one.ring.back() != content) one.ring.push_back(content);
  if (one.ring.size() > kRing) one.ring.erase(one.ring.begin());
}

void StandaloneWorld::renew(int node) {
  Node& one = nodes_[node];
  Lease& lease = one.lease;
  if (lease.revision == 0) return;
  if (now_ >= lease.stop_at && one.address) {
    one.address = false;
    tell(name(node) + " lets go of the address: its lease is over");
  }
  if (!reaches_store(node)) {
    if (now_ >= lease.stop_at + kTtl - kWork) lease = {};
    return;
  }
  const auto own = store_.queue.find(lease.revision);
  if (own == store_.queue.end()) {
    lease = {};
    one.address = false;
  } else if (now_ >= lease.renew_at) {
    own->second.second = now_ + kTtl;
    lease.stop_at = now_ + kWork;
    lease.renew_at = now_ + kRenew;
  }
}

bool StandaloneWorld::write_record(int node, const PairRecord& record) {
  Node& one = nodes_[node];
  const bool held = reaches_store(node) && leads(node) && !store_.queue.empty() &&
                    store_.queue.begin()->first == one.lease.revision &&
                    store_.changed == one.view.changed;
  if (!held) return false;
  store_.record = record;
  store_.changed = ++revision_;
  one.view.record = record;
  one.view.changed = store_.changed;
  published_rows_ = record.trail.empty() ? std::vector<int>() : one.copy[0].rows;
  return true;
}

void StandaloneWorld::resign(int node) {
  Node& one = nodes_[node];
  one.address = false;
  // Without the store the lease ends by itself.
  if (reaches_store(node)) store_.queue.erase(one.lease.revision);
  one.lease = {};
  one.rest_until = now_ + kRest;
}

void StandaloneWorld::isolate(int node) {
  for (Server& server : nodes_[node].server) {
    if (!server.up || server.hung) continue;
    server = {.up = true};
  }
}

void StandaloneWorld::follow(int node) {
  Node& one = nodes_[node];
  const int active = index(one.view.record.active);
  const Relation relation = relate(one.ring, one.view.record.trail);
  const bool has_all = relation == Relation::kSame || relation == Relation::kBehind;
  if (!has_all && one.copy[0].has_row) {
    for (const int row : one.copy[0].rows) kept_.push_back(row);
    tell(name(node) + " sets its copy aside");
  }
  one.ring.clear();
  for (Server& server : one.server) server = {.up = true, .source = active};
  tell(name(node) + " follows " + name(active));
}

/// A phase in each step: power may be lost between any two.
void StandaloneWorld::promote_on(int node) {
  Node& one = nodes_[node];
  const auto fails = [&](const std::string& why, bool unfit) {
    tell(name(node) + " is not promoted: " + why);
    if (unfit) one.unfit_until = now_ + kUnfit;
    one.phase = 0;
    isolate(node);
  };
  PairRecord record = one.view.record;
  const bool servers =
      one.server[0].up && one.server[1].up && !one.server[0].hung && !one.server[1].hung;
  if (!servers) return fails("a server does not answer", true);
  switch (one.phase) {
    case 1: {
      if (!reaches_store(node)) return fails("the store does not answer", false);
      one.view = store_;
      if (candidacy(node, store_).verdict != Candidacy::Verdict::kGo)
        return fails(candidacy(node, store_).reason, false);
      record = store_.record;
      std::uint64_t highest = std::max({record.claimed, one.copy[0].epoch, one.copy[1].epoch});
      for (const Member& peer : peers(node, store_))
        highest = std::max(highest, peer.position.epoch);
      record.claimed = one.claimed = highest + 1;
      one.claimed = 0;
      check_choice(node);
      one.claimed = record.claimed;
      const std::vector<int> before = published_rows_;
      if (!write_record(node, record)) return fails("it does not lead any more", false);
      published_rows_ = before;
      break;
    }
    case 2:
      if (!leads(node)) return fails("it does not lead any more", false);
      one.server[0] = {.up = true, .active = true};
      break;
    case 3: one.server[1] = {.up = true, .active = true}; break;
    case 4:
      if (one.disk_full) return fails("its disk is full", true);
      for (Copy& copy : one.copy) {
        copy.epoch = one.claimed;
        copy.author = name(node);
        copy.has_row = true;
      }
      observe_content(node);
      break;
    default:
      record.epoch = one.claimed;
      record.active = name(node);
      record.token = one.lease.revision;
      record.released = false;
      record.heir.clear();
      record.trail = newest(one.ring, kPublished);
      record.published = describe(node).position;
      if (!write_record(node, record) || !leads(node)) return fails("it does not lead", false);
      one.announced = true;
      one.phase = 0;
      if (store_.order_to == node) store_.order_to = -1;
      tell(fmt::format("{} is promoted, epoch {}", name(node), record.epoch));
      return;
  }
  ++one.phase;
}

void StandaloneWorld::hand_over_on(int node) {
  Node& one = nodes_[node];
  PairRecord record = one.view.record;
  record.trail = newest(one.ring, kPublished);
  record.published = describe(node).position;
  const auto heir = one.view.members.find(one.heir);
  const Relation relation = heir == one.view.members.end()
                                ? Relation::kUnknown
                                : relate(heir->second.first.trail, record.trail);
  if (relation == Relation::kSame || relation == Relation::kAhead) {
    record.released = true;
    if (write_record(node, record)) tell(name(node) + " gave up for " + name(one.heir));
    one.heir = -1;
    resign(node);
  } else if (now_ >= one.heir_until || !leads(node)) {
    tell(name(node) + " takes it back");
    record.heir.clear();
    write_record(node, record);
    one.heir = -1;
  }
}

void StandaloneWorld::carry_out(int node, Duty duty) {
  Node& one = nodes_[node];
  switch (duty) {
    case Duty::kAddressOff:
      one.address = false;
      tell(name(node) + " lets go of the address");
      break;
    case Duty::kStepDown:
    case Duty::kIsolate:
      if (one.view.record.epoch == 0 && (one.server[0].active || one.server[1].active))
        one.was_active = true;
      isolate(node);
      one.announced = false;
      tell(name(node) + " isolates itself");
      break;
    case Duty::kFollow: follow(node); break;
    case Duty::kStand:
      if (!reaches_store(node)) break;
      one.lease = {.revision = ++revision_, .stop_at = now_ + kWork, .renew_at = now_ + kRenew};
      store_.queue[one.lease.revision] = {node, now_ + kTtl};
      one.view.queue = store_.queue;
      break;
    case Duty::kResign: resign(node); break;
    case Duty::kPromote: one.phase = 1; break;
    case Duty::kAddressOn:
      if (one.lease.stop_at - now_ < 10) break;
      one.address = true;
      one.address_until = now_ + (one.lease.stop_at - now_) / 10 * 10;
      tell(name(node) + " has the address");
      break;
    case Duty::kNone:
    case Duty::kWait: break;
  }
}

void StandaloneWorld::step(int node) {
  Node& one = nodes_[node];
  if (!one.power || !one.agent) return;
  if (one.agent_stopped) return;
  renew(node);
  observe_content(node);
  // News of the store come late.
  if (reaches_store(node) && chance(60)) {
    one.view = store_;
    one.confirmed = now_;
  }
  const Member own = describe(node);
  if (reaches_store(node)) {
    Member told = own;
    const bool heir = one.view.record.heir == own.name;
    told.trail = newest(one.ring, told.settled() ? kTold : heir ? 16 : 0);
    store_.members[node] = {std::move(told), now_ + kTtl};
  }
  const bool lead = leads(node);
  if (one.address && lead && one.lease.stop_at - now_ >= 10)
    one.address_until = now_ + (one.lease.stop_at - now_) / 10 * 10;
  if (one.phase > 0) return promote_on(node);
  if (one.heir >= 0) return hand_over_on(node);
  Duties now;
  now.nb = own.nb;
  now.sb = own.sb;
  now.lock = lock(node);
  const PairRecord& record = one.view.record;
  const auto epoch = judge::failover::counted_epoch(own.position.epoch, record);
  if (record.epoch > 0 && epoch)
    now.epoch = *epoch < record.epoch ? Epoch::kOlder : Epoch::kCurrent;
  const bool follows = own.nb == State::kFollowing && own.sb == State::kFollowing;
  if (now.lock == Lock::kOther && !follows) {
    const int active = index(record.active);
    const Node& source = nodes_[active];
    const bool answers = reaches(node, active) && source.server[0].up && source.server[1].up &&
                         !source.server[0].hung && !source.server[1].hung;
    if (answers) {
      const bool older = source.copy[0].epoch < record.epoch || source.copy[1].epoch < record.epoch;
      now.source = !source.copy[0].has_row ? Source::kEmpty
                   : older                 ? Source::kOlder
                                           : Source::kGood;
    }
  }
  now.candidacy = candidacy(node, one.view).verdict;
  now.address = one.address;
  now.announced = lead && one.announced && record.token == one.lease.revision && !record.released;
  now.standing = one.lease.revision != 0;
  Duty duty = judge::failover::next_duty(table_, now).duty;
  if (duty == Duty::kStand && now_ < one.rest_until) duty = Duty::kWait;
  if (follows) one.was_active = one.announced = false;
  if (duty != Duty::kNone || !lead || !now.announced) return carry_out(node, duty);
  if (now_ >= one.publish_at) {
    PairRecord next = record;
    next.trail = newest(one.ring, kPublished);
    next.published = own.position;
    if (one.ring.back() == hash_of(one.copy[0])) write_record(node, next);
    one.publish_at = now_ + kPublishEvery;
  }
  const int to = one.view.order_to;
  if (to < 0 || to == node) return;
  store_.order_to = one.view.order_to = -1;
  const auto heir = one.view.members.find(to);
  const bool fit = heir != one.view.members.end() && heir->second.first.unfit.empty() &&
                   heir->second.first.nb == State::kFollowing &&
                   heir->second.first.sb == State::kFollowing;
  if (!fit) return;
  tell(fmt::format("{} hands over to {}", name(node), name(to)));
  one.address = false;
  isolate(node);
  one.announced = false;
  PairRecord next = record;
  next.trail = newest(one.ring, kPublished);
  next.published = describe(node).position;
  next.heir = name(to);
  if (!write_record(node, next)) return;
  one.heir = to;
  one.heir_until = now_ + kCatchUp;
}

}  // namespace wardmote::failover
