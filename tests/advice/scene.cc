#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advice/agent.h"
#include "advice/cluster.h"
#include "advice/view.h"
#include "advice/world.h"
#include "base/format.h"
#include "base/time.h"
#include "judge/plan/plan.h"
#include "judge/raft/member_id.h"
#include "judge/raft/repair/repair_plan.h"

// What chance alone brings about too seldom: a server of which no agent was told and that only some
// of the others hear, ids that begin alike, old disks that are put back, and members that come back
// while an act against them is being written down.

namespace wardmote::advice {
namespace {

using namespace std::chrono_literals;

/// A server that nobody was told of is believed lost after ten minutes of silence.
constexpr std::int64_t kBelievedLost = 10 * 60;

}  // namespace

void World::choose_stranger() {
  if (cluster_.hosts().size() < 3 || !random_.chance(0.2)) return;
  // The first one leads at the beginning.
  stranger_ = 1 + random_.below(cluster_.hosts().size() - 1);
  tell(fmt::format("no agent is told of {}", cluster_.hosts()[*stranger_].name));
}

/// An agent that is not told of the stranger, and may not hear what the others say of it.
void World::hide_stranger(AgentSetup& setup) {
  if (setup.home == stranger_) setup.home.reset();
  std::erase_if(setup.ways, [&](const Way& way) { return way.host == stranger_; });
  for (Way& way : setup.ways) way.unix_socket = setup.home == way.host;
  // As on the leader's host, with sockets of this one alone.
  if (!random_.chance(0.3)) return;
  const bool others = random_.chance(0.5);
  if (!others) std::erase_if(setup.ways, [](const Way& way) { return way.host != 0; });
  for (Way& way : setup.ways) {
    way.status = way.host == 0;
    way.local = true;
  }
}

/// What happens to the stranger, and for how long the world has to go on then.
Duration World::stage() {
  const auto leader = cluster_.leader();
  if (!leader) return {};
  const HostIndex leads = cluster_.servers()[*leader].host;
  if (leads == *stranger_) return {};
  const std::uint64_t dice = random_.below(5);
  if (dice == 0) {
    lose_stranger(leads);
    return 18min;
  }
  if (dice == 4) {
    lose_stranger_at_rest(leads);
    return 20min;
  }
  if (dice == 1 && cluster_.servers()[*leader].config.size() > 3) {
    expel_beside_stranger(leads);
    return 10min;
  }
  // The followers hear it; or it cannot write, asks nobody for votes, and is only connected.
  const Duration time = between(kBelievedLost + 60, kBelievedLost + 10 * 60);
  if (random_.chance(0.5)) stall(*stranger_, time);
  cut(leads, *stranger_, false, time);
  return time;
}

/// When it is believed lost, so many others acknowledge nothing that its kick cannot be committed.
void World::lose_stranger(HostIndex leads) {
  lose(*stranger_);
  std::vector<HostIndex> others;
  for (HostIndex i = 0; i < cluster_.hosts().size(); ++i) {
    if (i != leads && i != *stranger_ && cluster_.active(i)) others.push_back(i);
  }
  others.resize(std::min(others.size(), (others.size() + 2) / 2));
  at(between(4 * 60, 7 * 60), [this, others] {
    for (const HostIndex host : others) stall(host, between(13 * 60, 16 * 60));
  });
}

/// Before it is lost, so many others acknowledge nothing that the cluster commits by its help; and
/// from then on nobody writes, so that no entry waits for a commit.
void World::lose_stranger_at_rest(HostIndex leads) {
  const std::size_t voters = cluster_.servers()[*cluster_.leader()].config.size();
  std::size_t stalled = voters - (voters / 2 + 1);
  for (HostIndex i = 0; i < cluster_.hosts().size() && stalled > 0; ++i) {
    if (i == leads || i == *stranger_ || !cluster_.active(i)) continue;
    stall(i, 25min);
    --stalled;
  }
  at(between(150, 240), [this] {
    tell("nobody writes any more");
    cluster_.set_at_rest(true);
    lose(*stranger_);
  });
}

/// A member is taken out and stopped, and no agent remembers it. Then the stranger is the one
/// server of the list that is silent, and that member the one member.
void World::expel_beside_stranger(HostIndex leads) {
  HostIndex out = random_.below(cluster_.hosts().size());
  while (out == leads || out == *stranger_ || !cluster_.active(out))
    out = (out + 1) % cluster_.hosts().size();
  const ServerIndex server = *cluster_.active(out);
  tell(fmt::format("somebody takes {} out and stops it", cluster_.name(server)));
  if (cluster_.kick(server)) return;
  busy_[out] = cluster_.now() + 24h;
  // Whoever saw it live while the member was silent knows that it is another one.
  const bool unseen = random_.chance(0.5);
  at(unseen ? 2s : 8s, [this] { reboot(*stranger_, between(5 * 60, 8 * 60)); });
  at(5s, [this, out] {
    cluster_.stop(out);
    for (const auto& agent : agents_) agent->restart(false);
  });
}

/// Somebody puts the old disk back: the new server is the one that is lost.
void World::restore(HostIndex host) {
  const Host& there = cluster_.hosts()[host];
  const auto leader = cluster_.leader();
  if (!leader || !there.shelf || !there.disk || !there.up || there.gone) return;
  if (!cluster_.lists(*leader, *there.shelf) || !cluster_.lists(*leader, *there.disk)) return;
  cluster_.swap_disks(host);
  cluster_.start(host);
  tell(fmt::format("{} runs again: its old disk is put back", cluster_.name(*there.disk)));
}

/// Reboots a server whose four digits are those of a listed one that is dead.
bool World::reboot_double() {
  const auto leader = cluster_.leader();
  if (!leader || !random_.chance(0.5)) return false;
  const auto& servers = cluster_.servers();
  const std::vector<ServerIndex>& listed = servers[*leader].config;
  const auto is_double = [&](ServerIndex s) {
    return cluster_.active(servers[s].host) == s && is_spare(servers[s].host) &&
           std::ranges::any_of(listed, [&](ServerIndex dead) {
             return !cluster_.lives(dead) &&
                    short_name(servers[dead].id) == short_name(servers[s].id);
           });
  };
  const auto found = std::ranges::find_if(listed, is_double);
  if (found == listed.end()) return false;
  // Who has seen them live knows their whole ids.
  if (random_.chance(0.7)) {
    for (const auto& agent : agents_) agent->restart(false);
  }
  reboot(servers[*found].host, between(20, 180));
  return true;
}

/// An act is decided, and what it rests on changes before it is done.
void World::meet_delay(const Agent& agent, const RepairPlan& plan, Duration time) {
  if (healed_ || time < 5s) return;
  if (rarity_ != Rarity::kReturn && !random_.chance(0.5)) return;
  if (plan.work == Work::kRebuildMember) {
    come_back(agent, plan.member);
  } else {
    swap_back(plan.server);
  }
}

void World::come_back(const Agent& agent, const std::string& member) {
  const auto way = std::ranges::find(agent.setup().ways, member, &Way::member);
  if (way == agent.setup().ways.end()) return;
  Host& host = cluster_.host(way->host);
  if (!host.disk || host.gone || host.damaged || cluster_.active(way->host)) return;
  if (cluster_.servers()[*host.disk].standing == Standing::kLeft) return;
  tell(fmt::format("{} comes back", host.name));
  host.up = true;
  cluster_.start(way->host);
  if (rarity_ == Rarity::kReturn) return come_back_unheard(way->host);
  if (random_.chance(0.5)) return wall_in(agent, way->host);
  if (random_.chance(0.3)) at(between(2, 4), [this, at = way->host] { hang(at); });
}

/// Nobody hears its server, a firewall answers for it, and the agent stands still meanwhile: only
/// the host knows that it runs.
void World::wall_in(const Agent& agent, HostIndex host) {
  cluster_.host(host).walled = true;
  isolate(host);
  for (const auto& each : agents_) {
    if (Way* const way = each->way_to(host)) {
      way->cut = false;
      way->shut = true;
    }
  }
  const Duration time = between(20, 90);
  for (const auto& each : agents_) {
    if (each.get() == &agent) each->freeze(time);
  }
  at(time + 60s, [this, host] {
    cluster_.host(host).walled = false;
    for (const auto& each : agents_) {
      if (Way* const way = each->way_to(host)) way->shut = false;
    }
  });
}

/// The disk of the server that is to be kicked is put in again, and it boots.
void World::swap_back(const judge::raft::MemberId& server) {
  for (HostIndex i = 0; i < cluster_.hosts().size(); ++i) {
    const Host& host = cluster_.hosts()[i];
    if (!host.shelf || !host.up || host.gone) continue;
    if (!compatible(cluster_.servers()[*host.shelf].id, server)) continue;
    cluster_.swap_disks(i);
    tell(fmt::format("the disk of {} is put back, and it boots", cluster_.name(*host.disk)));
    const Duration boots = between(20, 60);
    busy_[i] = cluster_.now() + boots;
    at(boots, [this, i] { cluster_.start(i); });
    return;
  }
}

}  // namespace wardmote::advice
