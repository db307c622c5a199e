#include <algorithm>
#include <string>

#include "base/format.h"
#include "version_gate/world.h"

namespace wardmote::version_gate {

void World::boot(int node, int release, Millis within) {
  Node& one = nodes_[node];
  const int life = one.life + 1;
  one = {};
  one.life = life;
  one.up = true;
  one.own = products_[release];
  one.enroll_at = now_ + (chance(30) ? static_cast<Millis>(random_.below(3000)) : 0);
  tell(fmt::format("{} starts with release {}, which needs objects of {} and nodes of {}",
                   name_of(node), to_string(one.own.release),
                   to_string(one.own.min_reconciler_release),
                   to_string(one.own.min_apiserver_release)));
  local(node, static_cast<Millis>(random_.below(within)), [this, node] { tick(node); });
}

void World::crash(int node) {
  Node& one = nodes_[node];
  if (!one.up) return;
  tell(fmt::format("{} crashes", name_of(node)));
  one.up = false;
  one.serves = false;
  ++one.life;
}

void World::fault() {
  if (calm_) return;
  at(now_ + 20 + static_cast<Millis>(random_.below(pace_)), [this] { fault(); });
  const int node = any();
  if (behind_ && chance(40)) {
    write_again_and_again(node);
    return;
  }
  Node& one = nodes_[node];
  const auto release = [&] { return static_cast<int>(random_.below(products_.size())); };
  const auto until = [&] { return now_ + 100 + static_cast<Millis>(random_.below(15'000)); };
  switch (random_.below(13)) {
    case 0: crash(node); return;
    case 1: boot(node, release()); return;
    case 2: {
      // As it was, or with the release after or before.
      crash(node);
      const int next = release();
      at(now_ + static_cast<Millis>(random_.below(8000)), [this, node, next] {
        if (!calm_ && !nodes_[node].up) boot(node, next);
      });
      return;
    }
    case 3:
      one.paused_until = until();
      tell(fmt::format("{} is paused until {}", name_of(node), one.paused_until));
      return;
    case 4:
      one.cut_until = until();
      tell(fmt::format("{} is cut off until {}", name_of(node), one.cut_until));
      return;
    case 5:
      // Scenario 29: a newer node for a moment.
      boot(node, static_cast<int>(products_.size()) - 1);
      at(now_ + static_cast<Millis>(random_.below(1500)), [this, node] {
        if (!calm_) crash(node);
      });
      return;
    case 6:
      for (Node& each : nodes_) each.cut_until = std::max(each.cut_until, now_ + 3000);
      tell("the store is away for 3 s");
      return;
    case 7:
      target_down_ = !target_down_;
      tell(target_down_ ? "the objects cannot be written" : "the objects can be written again");
      return;
    case 8:
      // Somebody else's hands: the objects have to be written again.
      objects_[random_.below(objects_.size())].content = "drifted";
      return;
    case 9: depose(); return;
    default: fault_of_store(); return;
  }
}

/// The leader loses its key and does not hear of it.
void World::depose() {
  if (store_.queue().empty()) return;
  const StoreModel::Candidate first = store_.queue().front();
  nodes_[first.node].cut_until = now_ + 500 + static_cast<Millis>(random_.below(8000));
  tell(fmt::format("{} is cut off until {}, and its lease is revoked", name_of(first.node),
                   nodes_[first.node].cut_until));
  store_.remove_candidate(first.token, now_);
}

/// While a leader claims or says that it is done, what others do counts most.
void World::fault_in_the_middle(int leader, bool checked) {
  if (calm_ || !chance(checked ? 50 : 15)) return;
  // Until the claim has arrived, or has become known.
  const Millis soon = now_ + static_cast<Millis>(random_.below(chance(50) ? 20 : 600));
  const std::uint64_t what = random_.below(6);
  int node = any();
  // Mostly one that is older.
  const auto newest = static_cast<std::uint64_t>(nodes_[leader].own.release.major);
  const int release = static_cast<int>(random_.below(chance(60) ? newest : products_.size()));
  if (node == leader) node = (node + 1) % static_cast<int>(nodes_.size());
  at(soon, [this, leader, node, what, release] {
    if (calm_) return;
    if (what == 0) {
      depose();
    } else if (what == 1) {
      crash(leader);
    } else {
      boot(node, release, 10);
    }
  });
}

void World::fault_of_store() {
  const int node = any();
  switch (random_.below(6)) {
    case 0:
      tell("the status is corrupt");
      store_.put_corrupt_status();
      return;
    case 1:
      tell("the status is removed");
      store_.remove_status();
      return;
    case 2:
      if (store_.registrations().contains(node)) {
        tell(fmt::format("the record of {} is corrupt", name_of(node)));
        store_.put_registration(node, {}, now_);
      }
      return;
    case 3: {
      // force-forget, seldom of a node that runs.
      Node& one = nodes_[node];
      if (one.up && !chance(20)) return;
      tell(fmt::format("{} is forgotten", name_of(node)));
      one.forgotten = one.up;
      store_.remove_registration(node);
      return;
    }
    case 4: {
      if (store_.queue().empty()) return;
      const auto& queue = store_.queue();
      const StoreModel::Candidate one = queue[random_.below(queue.size())];
      tell(fmt::format("the lease of {} is revoked", name_of(one.node)));
      store_.remove_candidate(one.token, now_);
      return;
    }
    default: write_again_and_again(node); return;
  }
}

/// Scenario 28: for two seconds, a hundred times a second.
void World::write_again_and_again(int node) {
  for (int i = 0; i < 200; ++i) {
    at(now_ + 10 * i, [this, node] {
      const auto found = store_.registrations().find(node);
      if (found != store_.registrations().end())
        store_.put_registration(node, found->second.release, now_);
    });
  }
}

/// From now on nothing fails. In most worlds all nodes get one release; some are started again.
void World::heal() {
  calm_ = true;
  target_down_ = false;
  tell("all is healed");
  const bool mixed = chance(30);
  const auto release = [&] { return static_cast<int>(random_.below(products_.size())); };
  const int same = release();
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) {
    Node& one = nodes_[node];
    one.cut_until = 0;
    one.paused_until = std::min(one.paused_until, now_);
    const int last = mixed ? release() : same;
    const bool runs = one.up && (mixed || one.own.release == products_[last].release);
    if (runs && chance(80)) continue;
    at(now_ + static_cast<Millis>(random_.below(5000)), [this, node, last] { boot(node, last); });
  }
}

}  // namespace wardmote::version_gate
