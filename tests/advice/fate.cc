#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advice/agent.h"
#include "advice/cluster.h"
#include "advice/world.h"
#include "base/format.h"
#include "base/time.h"

// What happens in a world. A server that goes down, hangs or crashes is back within eight minutes,
// or it is lost for good; one at an address that every agent was told of may take longer.

namespace wardmote::advice {
namespace {

using namespace std::chrono_literals;

/// No fault of a host lasts longer, unless it is for good.
constexpr std::int64_t kLongestFault = 8 * 60;
/// A host is well for so long between two faults.
constexpr Duration kRespite = 60s;

}  // namespace

Duration World::between(std::int64_t low_s, std::int64_t high_s) {
  const auto span = static_cast<std::uint64_t>((high_s - low_s) * 1000 + 1);
  return std::chrono::seconds(low_s) + Milliseconds(random_.below(span));
}

/// Mostly short.
Duration World::some_time() {
  if (random_.chance(0.4)) return between(3, 30);
  return random_.chance(0.6) ? between(30, 120) : between(120, kLongestFault);
}

Duration World::any_time() {
  return random_.chance(0.3) ? between(11 * 60, 25 * 60) : some_time();
}

/// Whether every agent has been told of this address, so that it never believes it lost.
bool World::all_know(HostIndex host) const {
  const std::string& address = cluster_.hosts()[host].address;
  return std::ranges::all_of(agents_, [&](const std::unique_ptr<Agent>& agent) {
    const auto& setup = agent->setup();
    const auto here = [&](const Way& way) { return way.host == host; };
    return std::ranges::any_of(setup.ways, here) ||
           std::ranges::find(setup.expectation.addresses, address) !=
               setup.expectation.addresses.end();
  });
}

Duration World::some_time(HostIndex host) {
  return all_know(host) ? any_time() : some_time();
}

/// Whether the cluster has a majority without it.
bool World::is_spare(HostIndex host) const {
  const auto leader = cluster_.leader();
  if (!leader) return false;
  std::vector<ServerIndex> config = cluster_.servers()[*leader].config;
  const std::size_t needed = config.size() / 2 + 1;
  std::erase_if(config, [&](ServerIndex s) { return cluster_.servers()[s].host == host; });
  return cluster_.acknowledging(*leader, config) >= needed;
}

/// Whether enough servers live without it for ever.
bool World::can_lose(HostIndex host) const {
  const auto leader = cluster_.leader();
  if (!leader) return false;
  const std::vector<ServerIndex>& config = cluster_.servers()[*leader].config;
  const auto living = std::ranges::count_if(config, [&](ServerIndex s) {
    return cluster_.servers()[s].host != host && cluster_.lives(s);
  });
  return static_cast<std::size_t>(living) * 2 > config.size();
}

/// A host with a server to which nothing happens now; mostly one that the quorum can do without.
std::optional<HostIndex> World::pick_well() {
  for (int tries = 0; tries < 8; ++tries) {
    const HostIndex host = random_.below(cluster_.hosts().size());
    const auto busy = busy_.find(host);
    if (busy != busy_.end() && busy->second + kRespite > cluster_.now()) continue;
    if (!cluster_.active(host) || cluster_.hosts()[host].gone) continue;
    if (!is_spare(host) && !random_.chance(0.2)) continue;
    return host;
  }
  return std::nullopt;
}

void World::happen() {
  const std::uint64_t dice = random_.below(100);
  if (dice < 60) return happen_to_a_host();
  if (dice < 82) return happen_to_the_network();
  if (dice < 95) return happen_to_an_agent();
  if (dice < 96) return fail_power();
  return kick_the_dead();
}

void World::happen_to_a_host() {
  if (reboot_double()) return;
  const std::optional<HostIndex> picked = pick_well();
  if (!picked) return;
  const HostIndex host = *picked;
  // So that an agent may have forgotten, or not seen, what comes next.
  if (random_.chance(0.15)) restart(some_agent());
  switch (random_.below(16)) {
    case 0:
    case 1:
    case 2: return reboot(host, some_time(host));
    case 3: return restart(host);
    case 4: return hang(host);
    case 5: return crash_loop(host);
    case 6:
    case 7:
    case 8: return wipe(host);
    case 9:
    case 10: return replace(host);
    case 11: return lose(host);
    case 12: return damage(host);
    case 13: return detach(host);
    case 14: return stall(host, any_time());
    default: return decommission(host);
  }
}

void World::reboot(HostIndex host, Duration time) {
  tell(fmt::format("{} goes down for {}", cluster_.hosts()[host].name, spell_duration(time)));
  cluster_.host(host).up = false;
  cluster_.stop(host);
  busy_[host] = cluster_.now() + time;
  at(time, [this, host] {
    if (cluster_.hosts()[host].gone) return;
    cluster_.host(host).up = true;
    cluster_.start(host);
    tell(fmt::format("{} is up again", cluster_.hosts()[host].name));
    for (const auto& agent : agents_) {
      if (agent->setup().home == host) restart(*agent);
    }
  });
}

void World::restart(HostIndex host) {
  const Duration time = random_.chance(0.7) ? between(0, 15) : some_time(host);
  tell(fmt::format("the server on {} stops for {}", cluster_.hosts()[host].name,
                   spell_duration(time)));
  cluster_.stop(host);
  busy_[host] = cluster_.now() + time;
  at(time, [this, host] { cluster_.start(host); });
}

void World::hang(HostIndex host) {
  const Duration time = some_time();
  tell(fmt::format("the server on {} hangs for {}", cluster_.hosts()[host].name,
                   spell_duration(time)));
  cluster_.hang(host, true);
  busy_[host] = cluster_.now() + time;
  at(time, [this, host] { cluster_.hang(host, false); });
}

void World::crash_loop(HostIndex host) {
  const Duration time = between(30, kLongestFault - 20);
  tell(fmt::format("the server on {} crashes again and again for {}", cluster_.hosts()[host].name,
                   spell_duration(time)));
  busy_[host] = cluster_.now() + time + 20s;
  for (Duration when{}; when < time; when += between(4, 40)) {
    at(when, [this, host] { cluster_.stop(host); });
    at(when + between(1, 20), [this, host] { cluster_.start(host); });
  }
  at(time + 20s, [this, host] { cluster_.start(host); });
}

void World::wipe(HostIndex host) {
  if (!can_lose(host)) return;
  const Duration time = between(2, 90);
  tell(fmt::format("the disk of {} is lost; it joins anew in {}", cluster_.hosts()[host].name,
                   spell_duration(time)));
  const bool kept = random_.chance(0.3);
  if (kept) cluster_.host(host).shelf = cluster_.hosts()[host].disk;
  cluster_.wipe(host);
  if (random_.chance(0.5)) {
    cluster_.host(host).up = false;
    at(time, [this, host] { cluster_.host(host).up = true; });
  }
  const Duration settled = time + between(10, 90);
  busy_[host] = cluster_.now() + settled;
  at(time, [this, host] {
    cluster_.host(host).up = true;
    cluster_.join(host);
  });
  Agent& agent = some_agent();
  if (random_.chance(0.4)) hide(agent, host, settled + between(0, 120));
  if (random_.chance(0.2)) agent.freeze(settled + between(0, 30));
  if (kept && random_.chance(0.7)) {
    busy_[host] += 60s;
    at(settled + between(0, 60), [this, host] { restore(host); });
  } else if (random_.chance(0.5)) {
    const Duration away = some_time(host);
    busy_[host] += away;
    at(settled, [this, host, away] { reboot(host, away); });
  }
}

void World::replace(HostIndex host) {
  if (!can_lose(host)) return;
  lose(host);
  const HostIndex fresh = cluster_.add_host(cluster_.hosts()[host].name + "-new",
                                            fmt::format("tcp:10.0.1.{}:6643", host + 1));
  const Duration time = between(5, 90);
  tell(fmt::format("{} replaces it in {}", cluster_.hosts()[fresh].name, spell_duration(time)));
  at(time, [this, fresh] { cluster_.join(fresh); });
  const Duration settled = time + between(20, 120);
  busy_[fresh] = cluster_.now() + settled;
  for (const auto& agent : agents_) {
    Way* const way = agent->way_to(host);
    if (way == nullptr || !random_.chance(0.6)) continue;
    // Its name leads to the new address now.
    way->host = fresh;
    if (random_.chance(0.5)) hide(*agent, fresh, settled + some_time());
  }
  if (random_.chance(0.6)) at(settled, [this] { kick_the_dead(); });
  if (random_.chance(0.6)) {
    const Duration away = some_time(fresh);
    busy_[fresh] += 10s + away;
    at(settled + 10s, [this, fresh, away] { reboot(fresh, away); });
  }
}

void World::lose(HostIndex host) {
  if (!can_lose(host)) return;
  tell(fmt::format("{} is gone for good", cluster_.hosts()[host].name));
  cluster_.stop(host);
  cluster_.host(host).up = false;
  cluster_.host(host).gone = true;
}

void World::damage(HostIndex host) {
  if (!can_lose(host)) return;
  tell(fmt::format("the database on {} is damaged: its server does not start again",
                   cluster_.hosts()[host].name));
  cluster_.stop(host);
  cluster_.host(host).damaged = true;
}

/// Somebody who means it removes a server that lives.
void World::decommission(HostIndex host) {
  const auto server = cluster_.active(host);
  if (!server || !can_lose(host) || cluster_.servers()[*server].config.size() < 3) return;
  tell(fmt::format("somebody takes {} out", cluster_.name(*server)));
  // Whom the cluster does not let go stays in service.
  if (cluster_.kick(*server)) return;
  busy_[host] = cluster_.now() + 24h;
  if (random_.chance(0.5)) at(10s, [this, host] { cluster_.stop(host); });
}

void World::detach(HostIndex host) {
  const Duration time = all_know(host) ? any_time() : between(20, kLongestFault);
  tell(fmt::format("the server on {} runs without the database for {}", cluster_.hosts()[host].name,
                   spell_duration(time)));
  cluster_.host(host).attached = false;
  busy_[host] = cluster_.now() + time;
  at(time, [this, host] { cluster_.start(host); });
}

void World::stall(HostIndex host, Duration time) {
  // A leader that cannot write fails; here none does. One without a majority leads too.
  const auto server = cluster_.active(host);
  if (server && cluster_.servers()[*server].role == Role::kLeader) return;
  tell(fmt::format("the disk of {} takes no writes for {}", cluster_.hosts()[host].name,
                   spell_duration(time)));
  cluster_.host(host).stalled = true;
  cluster_.host(host).stalled_since = cluster_.now();
  busy_[host] = cluster_.now() + time;
  at(time, [this, host] { cluster_.host(host).stalled = false; });
}

void World::kick_the_dead() {
  const auto leader = cluster_.leader();
  if (!leader) return;
  for (const ServerIndex s : cluster_.servers()[*leader].config) {
    if (cluster_.lives(s)) continue;
    tell(fmt::format("somebody kicks {}, which is dead", cluster_.name(s)));
    cluster_.kick(s);
    return;
  }
}

void World::happen_to_the_network() {
  const auto leader = cluster_.leader();
  std::optional<HostIndex> host = pick_well();
  // Whom an agent does not ask is the harder case.
  for (int tries = 0; tries < 3 && host && some_agent().way_to(*host) != nullptr; ++tries)
    host = pick_well();
  if (!host || !leader) return;
  const HostIndex leads = cluster_.servers()[*leader].host;
  switch (random_.below(6)) {
    case 0:
    case 1:
      // One that cannot write either does not even ask for votes.
      if (random_.chance(0.4)) stall(*host, any_time());
      return cut(leads, *host, random_.chance(0.3), any_time());
    case 2:
      return cut(random_.below(cluster_.hosts().size()), *host, random_.chance(0.5), any_time());
    case 3: return isolate(*host);
    case 4: return shut_out(*host);
    default: tell("the leader gives way"); return cluster_.transfer();
  }
}

bool World::is_cut_somewhere(HostIndex host) {
  for (HostIndex i = 0; i < cluster_.hosts().size(); ++i)
    if (cluster_.path(host, i).cut || cluster_.path(i, host).cut) return true;
  return false;
}

void World::cut(HostIndex a, HostIndex b, bool one_way, Duration time) {
  if (a == b) return;
  // A second cut may part it from everybody, and then it is as silent as if it were down.
  if (is_cut_somewhere(a) || is_cut_somewhere(b))
    time = std::min<Duration>(time, std::chrono::seconds(kLongestFault));
  const bool blocked = one_way && random_.chance(0.5);
  const std::string& from = cluster_.hosts()[a].name;
  const std::string& to = cluster_.hosts()[b].name;
  tell(fmt::format("{} {} {} {} for {}", from, one_way ? "to" : "and", to,
                   blocked ? "take no new connections" : "are cut", spell_duration(time)));
  const auto set = [this, a, b, one_way, blocked](bool bad) {
    (blocked ? cluster_.path(a, b).blocked : cluster_.path(a, b).cut) = bad;
    if (!one_way) cluster_.path(b, a).cut = bad;
  };
  set(true);
  at(time, [set] { set(false); });
  if (one_way) return;
  for (const auto& agent : agents_) {
    if (agent->setup().home == a) hide(*agent, b, time);
    if (agent->setup().home == b) hide(*agent, a, time);
  }
}

/// Its raft goes on, and nobody who is no member can ask it.
void World::shut_out(HostIndex host) {
  const Duration time = any_time();
  tell(fmt::format("the server on {} takes no clients for {}", cluster_.hosts()[host].name,
                   spell_duration(time)));
  const auto set = [this, host](bool shut) {
    for (const auto& agent : agents_) {
      if (Way* const way = agent->way_to(host)) way->shut = shut;
    }
  };
  set(true);
  at(time, [set] { set(false); });
}

/// All go down at once, and come back one by one.
void World::fail_power() {
  tell("the power fails");
  for (HostIndex host = 0; host < cluster_.hosts().size(); ++host) {
    if (!cluster_.active(host) || cluster_.hosts()[host].gone) continue;
    reboot(host, between(30, 180));
  }
}

void World::isolate(HostIndex host) {
  const Duration time = some_time();
  tell(fmt::format("{} is cut from all others for {}", cluster_.hosts()[host].name,
                   spell_duration(time)));
  const auto set = [this, host](bool bad) {
    for (HostIndex i = 0; i < cluster_.hosts().size(); ++i)
      cluster_.path(host, i).cut = cluster_.path(i, host).cut = bad;
  };
  set(true);
  busy_[host] = cluster_.now() + time;
  at(time, [set] { set(false); });
  for (const auto& agent : agents_) {
    if (agent->setup().home == host) {
      for (Way& way : agent->setup().ways) hide(*agent, way.host, time);
    } else if (random_.chance(0.5)) {
      hide(*agent, host, time);
    }
  }
}

void World::hide(Agent& agent, HostIndex host, Duration time) {
  Way* const way = agent.way_to(host);
  if (way == nullptr || way->unix_socket) return;
  tell(fmt::format("{} does not reach {} for {}", agent.setup().name, cluster_.hosts()[host].name,
                   spell_duration(time)));
  way->cut = true;
  at(time, [&agent, host] {
    if (Way* const hidden = agent.way_to(host)) hidden->cut = false;
  });
}

void World::restart(Agent& agent) {
  const bool remembers = random_.chance(0.4);
  tell(fmt::format("{} is restarted{}", agent.setup().name,
                   remembers ? "" : " and remembers nothing"));
  agent.restart(remembers);
}

void World::happen_to_an_agent() {
  Agent& agent = some_agent();
  switch (random_.below(6)) {
    case 0:
      tell(fmt::format("{} is restarted and remembers nothing", agent.setup().name));
      return agent.restart(false);
    case 1: tell(fmt::format("{} is restarted", agent.setup().name)); return agent.restart(true);
    case 2: {
      const Duration time = between(5, 180);
      tell(fmt::format("{} stands still for {}", agent.setup().name, spell_duration(time)));
      return agent.freeze(time);
    }
    case 3:
      if (agent.setup().ways.empty()) return;
      return hide(agent, agent.setup().ways[random_.below(agent.setup().ways.size())].host,
                  some_time());
    case 4: {
      const Duration time = some_time();
      for (Way& way : agent.setup().ways) hide(agent, way.host, time);
      return;
    }
    default:
      if (agent.setup().ways.empty()) return;
      const std::size_t which = random_.below(agent.setup().ways.size());
      const HostIndex host = agent.setup().ways[which].host;
      tell(fmt::format("{} is too starved to look at {}", agent.setup().name,
                       cluster_.hosts()[host].name));
      agent.setup().ways[which].starved = true;
      at(between(5, 60), [&agent, host] {
        if (Way* const way = agent.way_to(host)) way->starved = false;
      });
  }
}

}  // namespace wardmote::advice
