#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "advice/agent.h"
#include "advice/cluster.h"
#include "advice/view.h"
#include "advice/world.h"
#include "base/format.h"
#include "base/time.h"

// Servers that join in a way that matters, and what they leave behind. All chance is drawn from
// `rare_`, as in rare.cc.

namespace wardmote::advice {

using namespace std::chrono_literals;

/// A wiped member leaves a ghost behind, and from then on the leader has another join under way,
/// that of a server which does not get what the others have in time and asks again.
void World::join_slowly() {
  if (!can_lose(subject_)) return;
  tell(fmt::format("{} is wiped", cluster_.hosts()[subject_].name));
  cluster_.wipe(subject_);
  cluster_.join(subject_);
  busy_[subject_] = cluster_.now() + 10min;
  at(rarely_between(8, 20), [this] {
    const HostIndex slow = cluster_.add_host("ctl-slow", "tcp:10.0.2.1:6643");
    busy_[slow] = cluster_.now() + 10min;
    cluster_.catch_up = 1h;
    cluster_.join(slow);
  });
  at(10min, [this] { cluster_.catch_up = {}; });
}

/// A server of which no agent was told is wiped and leaves a ghost behind; then it is down for less
/// than any agent waits for it.
void World::leave_a_ghost_and_reboot() {
  if (!can_lose(subject_)) return;
  tell(fmt::format("{} is wiped", cluster_.hosts()[subject_].name));
  cluster_.wipe(subject_);
  cluster_.join(subject_);
  const Duration first = rarely_between(60, 180);
  const Duration time = rarely_between(60, 7 * 60);
  busy_[subject_] = cluster_.now() + first + time;
  at(first, [this, time] { reboot(subject_, time); });
}

/// Of a server that is set up later, in place of the subject.
void World::expect_a_newcomer() {
  const HostIndex newcomer = cluster_.add_host("ctl-newcomer", "tcp:10.0.3.1:6643");
  for (const auto& each : agents_) {
    std::vector<std::string>& expected = each->setup().expectation.addresses;
    expected.clear();
    for (HostIndex i = 0; i <= newcomer; ++i) {
      const bool meant = cluster_.hosts()[i].disk || i == newcomer;
      if (meant && i != subject_) expected.push_back(cluster_.hosts()[i].address);
    }
  }
}

/// It is cut from all others and goes on; who asks it is answered by the newcomer from then on, as
/// where one server is started with the sockets of another.
void World::take_its_path() {
  const HostIndex newcomer = cluster_.hosts().size() - 1;
  tell(fmt::format("{} is cut from all other servers", cluster_.hosts()[subject_].name));
  busy_[subject_] = busy_[newcomer] = cluster_.now() + 24min;
  cut_off(subject_, true);
  at(rarely_between(60, 240), [this, newcomer] {
    cluster_.join(newcomer);
    tell("the newcomer answers in its place");
    for (const auto& each : agents_) {
      if (Way* const way = each->way_to(subject_)) way->leads_to = newcomer;
    }
  });
  at(24min, [this] { cut_off(subject_, false); });
}

/// Whether those who stay can commit that another one joins.
bool World::can_do_without(HostIndex a, HostIndex b) const {
  const auto leader = cluster_.leader();
  if (!leader || !cluster_.active(b)) return false;
  std::vector<ServerIndex> config = cluster_.servers()[*leader].config;
  const std::size_t needed = (config.size() + 1) / 2 + 1;
  std::erase_if(config, [&](ServerIndex s) {
    return cluster_.servers()[s].host == a || cluster_.servers()[s].host == b;
  });
  return cluster_.acknowledging(*leader, config) + 1 >= needed;
}

/// It is down with all that it has. Another member, which is lost for good, is set up anew on
/// another host, by mistake with its address; agents that begin after that have seen nothing of it.
void World::steal_its_address() {
  const Host owner = cluster_.hosts()[subject_];
  const HostIndex lost = double_of_subject();
  tell(fmt::format("the server on {} stops", owner.name));
  cluster_.stop(subject_);
  lead_past(subject_);
  busy_[subject_] = cluster_.now() + 24min;
  lose(lost);
  at(5s, [this, owner, lost] {
    const HostIndex thief = cluster_.add_host(cluster_.hosts()[lost].name + "-new", owner.address);
    tell(fmt::format("{} is set up with the address of {}", cluster_.hosts()[thief].name,
                     owner.name));
    cluster_.join(thief);
    busy_[thief] = cluster_.now() + 24min;
    for (const auto& each : agents_) {
      if (Way* const way = each->way_to(lost)) way->host = thief;
    }
  });
  if (rare_.chance(0.7)) {
    at(rarely_between(10, 120), [this] {
      for (const auto& each : agents_) each->restart(false);
    });
  }
  at(24min, [this] { cluster_.start(subject_); });
}

/// A server of which no agent was told is lost for good and replaced at its address. Another one,
/// of which all that lists show is the same, reboots.
void World::replace_beside_a_double() {
  const HostIndex its_double = double_of_subject();
  if (!can_lose(subject_) || !cluster_.active(its_double)) return;
  lose(subject_);
  busy_[its_double] = cluster_.now() + 10min;
  at(rarely_between(60, 120), [this] { join_at_its_address(); });
  at(rarely_between(200, 300), [this, its_double] { reboot(its_double, rarely_between(20, 180)); });
}

}  // namespace wardmote::advice
