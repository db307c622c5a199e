#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "advice/agent.h"
#include "advice/cluster.h"
#include "advice/view.h"
#include "advice/world.h"
#include "base/format.h"
#include "base/time.h"

// A snapshot of the machines is put back under all servers but one, which hangs or is down then: it
// alone has what was committed since, and nobody may be sent to stop or to empty it.

namespace wardmote::advice {

using namespace std::chrono_literals;

/// Whether every agent is told how far the log of another server goes.
bool World::all_see_logs_of_others(HostIndex host) {
  return std::ranges::all_of(agents_, [&](const std::unique_ptr<Agent>& agent) {
    return std::ranges::any_of(agent->setup().ways, [&](const Way& way) {
      return way.host != host && way.status && !way.crossed && cluster_.active(way.host);
    });
  });
}

/// A new host, of which every agent is told, joins.
HostIndex World::join_beside(HostIndex host) {
  const HostIndex fresh = cluster_.add_host(cluster_.hosts()[host].name + "-new",
                                            fmt::format("tcp:10.0.1.{}:6643", host + 1));
  tell(fmt::format("{} is set up", cluster_.hosts()[fresh].name));
  cluster_.join(fresh);
  for (const auto& each : agents_) {
    AgentSetup& setup = each->setup();
    setup.ways.push_back({.member = cluster_.hosts()[fresh].name, .host = fresh});
    setup.rebuildable.push_back(cluster_.hosts()[fresh].name);
    each->restart(true);
  }
  return fresh;
}

/// The one that keeps its disk was there when the snapshot was taken, or it joined later.
void World::put_disks_back() {
  std::vector<std::pair<HostIndex, Server>> copies;
  for (HostIndex i = 0; i < cluster_.hosts().size(); ++i) {
    if (!cluster_.active(i)) continue;
    copies.emplace_back(i, cluster_.servers()[*cluster_.hosts()[i].disk]);
    busy_[i] = cluster_.now() + 24min;
  }
  const bool joins = rare_.chance(0.6);
  const HostIndex keeper = joins ? join_beside(subject_) : subject_;
  busy_[keeper] = cluster_.now() + 24min;
  std::erase_if(copies, [keeper](const auto& copy) { return copy.first == keeper; });
  tell("a snapshot of the other machines is taken");
  const Duration age = rarely_between(90, 240);
  const Duration back = age + rarely_between(1, 40);
  const bool hangs = rare_.chance(0.5);
  at(age, [this, keeper, hangs, copies] {
    tell(fmt::format("{} {}, and the others are put back to their snapshot",
                     cluster_.hosts()[keeper].name, hangs ? "hangs" : "stops"));
    hangs ? cluster_.hang(keeper, true) : cluster_.stop(keeper);
    cluster_.loss = Loss{.keeper = *cluster_.hosts()[keeper].disk};
    for (const auto& [host, copy] : copies) cluster_.put_back(host, copy);
  });
  for (const auto& copy : copies)
    at(back + rarely_between(0, 5), [this, host = copy.first] { cluster_.start(host); });
  const Duration time = rare_.chance(0.5) ? rarely_between(30, 300) : 20min;
  at(back + time,
     [this, keeper, hangs] { hangs ? cluster_.hang(keeper, false) : cluster_.start(keeper); });
}

}  // namespace wardmote::advice
