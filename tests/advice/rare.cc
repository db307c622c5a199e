#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "advice/agent.h"
#include "advice/cluster.h"
#include "advice/view.h"
#include "advice/world.h"
#include "base/format.h"
#include "base/time.h"
#include "judge/raft/member_id.h"

// Situations that need several things to meet, each in one world of about thirty. All chance here
// is drawn from `rare_`, so that the other worlds are what they were before these were added.

namespace wardmote::advice {

using namespace std::chrono_literals;

Duration World::rarely_between(std::int64_t low_s, std::int64_t high_s) {
  const auto span = static_cast<std::uint64_t>((high_s - low_s) * 1000 + 1);
  return std::chrono::seconds(low_s) + Milliseconds(rare_.below(span));
}

void World::choose_rarity() {
  const std::uint64_t dice = rare_.below(32);
  if (cluster_.hosts().size() < 3 || dice > 20) return;
  rarity_ = static_cast<Rarity>(dice);
  // The first one leads at the beginning.
  subject_ = 1 + rare_.below(cluster_.hosts().size() - 1);
  const bool unknown = rarity_ == Rarity::kOneConnection || rarity_ == Rarity::kTakenAddress ||
                       rarity_ == Rarity::kCalledByStrangers ||
                       rarity_ == Rarity::kGhostOfStranger || rarity_ == Rarity::kExpelledBeside ||
                       rarity_ == Rarity::kDoubleOfGhost;
  if (unknown || is_checked()) stranger_ = subject_;
}

/// Whether the agents look at the subject, and not as at a member.
bool World::is_checked() const {
  return rarity_ == Rarity::kSeenElsewhere || rarity_ == Rarity::kStoppedElsewhere ||
         rarity_ == Rarity::kMovedAddress;
}

/// What the agents have to be told differently for it.
void World::prepare_rarity() {
  if (!rarity_) return;
  if (rarity_ == Rarity::kTakenPath) expect_a_newcomer();
  if (rarity_ == Rarity::kDoubleOfGhost) cluster_.share_four_digits(subject_, double_of_subject());
  for (const auto& each : agents_) {
    AgentSetup& setup = each->setup();
    if (rarity_ == Rarity::kExpelledBeside) {
      // Else something else is in the way mostly.
      setup.rebuildable.clear();
      for (Way& way : setup.ways) {
        way.status = true;
        setup.rebuildable.push_back(way.member);
      }
    }
    if (is_checked())
      setup.checks = {{.member = cluster_.hosts()[subject_].name, .host = subject_}};
    Way* const way = each->way_to(subject_);
    if (way == nullptr) continue;
    if (rarity_ == Rarity::kServedElsewhere) {
      setup.rebuildable = {way->member};
    } else if (rarity_ == Rarity::kReturn) {
      setup.rebuildable = {way->member};
      if (rare_.chance(0.5)) ask_others_by_tcp(setup);
    } else if (rarity_ == Rarity::kCopiedLine && !way->unix_socket) {
      way->crossed = 0;
      setup.expectation.addresses.clear();
    }
  }
}

/// Of those that neither lead nor are in question, the agent learns only what OVSDB tells.
void World::ask_others_by_tcp(AgentSetup& setup) {
  for (Way& way : setup.ways) {
    if (way.host == 0 || way.host == subject_) continue;
    way.status = false;
    way.local = true;
  }
}

/// For how long the world has to go on then.
Duration World::stage_rarity() {
  const auto leader = cluster_.leader();
  if (!rarity_ || !leader) return {};
  const HostIndex leads = cluster_.servers()[*leader].host;
  if (leads == subject_ || !cluster_.active(subject_)) return {};
  const bool stops = rarity_ == Rarity::kReturn || rarity_ == Rarity::kCopiedLine ||
                     rarity_ == Rarity::kServedElsewhere;
  // For longer than any agent would wait for a server of which it was not told.
  if (stops && !all_know(subject_)) return {};
  switch (*rarity_) {
    case Rarity::kReturn: stop_for_long(); break;
    case Rarity::kCopiedLine: stop_behind_a_copied_line(); break;
    case Rarity::kOneConnection: tie_by_one_connection(leads); break;
    case Rarity::kSeenElsewhere: cut_off_from_servers_only(); break;
    case Rarity::kStoppedElsewhere: stop_where_only_a_check_looks(); break;
    case Rarity::kTakenAddress: take_its_address(); break;
    case Rarity::kMovedAddress: move_its_address(); break;
    case Rarity::kMovedDisk: move_its_disk(); break;
    case Rarity::kServedElsewhere: serve_elsewhere(); break;
    case Rarity::kCalledByStrangers: join_where_strangers_call(); break;
    case Rarity::kPassedUnseen: pass_unseen(); break;
    case Rarity::kPutBack:
      // Whoever sees no log of theirs cannot know that it went back.
      if (!all_see_logs_of_others(subject_)) return {};
      put_disks_back();
      break;
    case Rarity::kLeadsAlone:
      if (!can_lose(subject_) || !all_know(subject_) || shares_four_digits(subject_)) return {};
      lead_alone();
      break;
    case Rarity::kRemovalUndone:
      if (!all_know(subject_)) return {};
      undo_removal(leads);
      break;
    case Rarity::kSlowJoin: join_slowly(); break;
    case Rarity::kGhostOfStranger: leave_a_ghost_and_reboot(); break;
    case Rarity::kExpelledBeside:
      if (cluster_.servers()[*leader].config.size() < 4) return {};
      expel_beside_stranger(leads);
      break;
    case Rarity::kDoubleOfGhost: replace_beside_a_double(); break;
    case Rarity::kTakenPath:
      // Whoever does not ask it has never seen it.
      if (std::ranges::any_of(agents_, [&](const auto& each) { return !each->way_to(subject_); }))
        return {};
      take_its_path();
      break;
    case Rarity::kStolenAddress:
      if (!all_know(subject_) || !can_do_without(subject_, double_of_subject())) return {};
      steal_its_address();
      break;
    case Rarity::kStalledGhost: leave_a_ghost_and_stall(leads); break;
  }
  return 25min;
}

/// Its rebuild is begun, and it may come back before that is done.
void World::stop_for_long() {
  tell(fmt::format("the server on {} stops for long", cluster_.hosts()[subject_].name));
  cluster_.stop(subject_);
  busy_[subject_] = cluster_.now() + 24min;
  at(24min, [this] { cluster_.start(subject_); });
}

/// No other server hears it for longer than any agent would wait, and it answers checks.
void World::cut_off_from_servers_only() {
  tell(fmt::format("{} is cut from all other servers", cluster_.hosts()[subject_].name));
  busy_[subject_] = cluster_.now() + 24min;
  const std::uint64_t dice = rare_.below(3);
  if (dice == 0) let_checks_lead_elsewhere();
  for (const auto& each : agents_) {
    for (Way& check : each->setup().checks) check.by_neighbour = dice == 1;
  }
  cut_off(subject_, true);
  at(24min, [this] { cut_off(subject_, false); });
}

/// The name of the checks leads to another server after a while, and back again for a moment.
void World::let_checks_lead_elsewhere() {
  const auto lead = [this](HostIndex host) {
    tell(fmt::format("checks lead to {}", cluster_.hosts()[host].name));
    for (const auto& each : agents_) {
      for (Way& check : each->setup().checks) check.leads_to = host;
    }
  };
  const bool roams = rare_.chance(0.5);
  for (const auto& each : agents_) {
    for (Way& check : each->setup().checks) check.roams = roams;
  }
  const Duration first = rarely_between(70, 600);
  at(first, [lead] { lead(0); });
  if (rare_.chance(0.5)) return;
  at(first + 60s, [this, lead] { lead(subject_); });
  at(first + 80s, [lead] { lead(0); });
}

/// From all other servers, or no more.
void World::cut_off(HostIndex host, bool cut) {
  for (HostIndex i = 0; i < cluster_.hosts().size(); ++i)
    cluster_.path(host, i).cut = cluster_.path(i, host).cut = cut;
}

/// It is down for longer than any agent would wait, and some agents begin meanwhile.
void World::stop_where_only_a_check_looks() {
  tell(fmt::format("the server on {} stops for long", cluster_.hosts()[subject_].name));
  busy_[subject_] = cluster_.now() + 24min;
  cluster_.stop(subject_);
  if (rare_.chance(0.5)) {
    at(20s, [this] {
      for (const auto& each : agents_) each->restart(false);
    });
  }
  at(24min, [this] { cluster_.start(subject_); });
}

/// Another server is set up with the address of the subject, and every agent is told of that one.
HostIndex World::join_at_its_address() {
  const Host owner = cluster_.hosts()[subject_];
  const HostIndex other = cluster_.add_host(owner.name + "-other", owner.address);
  tell(
      fmt::format("{} is set up with the address of {}", cluster_.hosts()[other].name, owner.name));
  cluster_.join(other);
  busy_[other] = cluster_.now() + 24min;
  for (const auto& each : agents_) {
    each->setup().ways.push_back({.member = cluster_.hosts()[other].name, .host = other});
    each->restart(true);
  }
  return other;
}

/// Who connects to the address of the host reaches the other one that has it.
void World::lead_past(HostIndex host) {
  for (HostIndex i = 0; i < cluster_.hosts().size(); ++i) cluster_.path(i, host).blocked = true;
}

/// Its server goes on elsewhere, and nobody listens in its place, which may be all that the agents
/// have ever seen of it. Later it is cut off, and another may join in its place.
void World::serve_elsewhere() {
  const Host owner = cluster_.hosts()[subject_];
  const HostIndex other = cluster_.add_host(owner.name + "-elsewhere", owner.address);
  tell(fmt::format("the server on {} goes on on {}", owner.name, cluster_.hosts()[other].name));
  cluster_.move_disk(subject_, other);
  cluster_.start(other);
  busy_[subject_] = busy_[other] = cluster_.now() + 24min;
  if (rare_.chance(0.5)) {
    at(1s, [this] {
      for (const auto& each : agents_) each->restart(false);
    });
  }
  at(rarely_between(60, 180), [this, other] {
    tell(fmt::format("{} is cut off", cluster_.hosts()[other].name));
    cut_off(other, true);
  });
  if (rare_.chance(0.4)) at(rarely_between(200, 400), [this] { cluster_.join(subject_); });
  at(24min, [this, other] { cut_off(other, false); });
}

/// Its server goes on elsewhere and a new one joins in its place while no agent looks. Just before
/// they look again, and may remember nothing, the first one stands still for a while.
void World::pass_unseen() {
  const Host owner = cluster_.hosts()[subject_];
  const HostIndex other = cluster_.add_host(owner.name + "-elsewhere", owner.address);
  const Duration seen_again = rarely_between(60, 180);
  const bool remember = rare_.chance(0.5);
  tell(fmt::format("no agent looks while the server on {} goes on on {}", owner.name,
                   cluster_.hosts()[other].name));
  for (const auto& each : agents_) each->freeze(remember ? seen_again : 1h);
  lead_past(other);
  cluster_.move_disk(subject_, other);
  cluster_.start(other);
  cluster_.join(subject_);
  busy_[subject_] = busy_[other] = cluster_.now() + 24min;
  at(seen_again - rarely_between(1, 8), [this, other] {
    tell(fmt::format("the server on {} hangs", cluster_.hosts()[other].name));
    cluster_.hang(other, true);
  });
  at(seen_again, [this, remember] {
    tell("the agents look again");
    if (remember) return;
    for (const auto& each : agents_) each->restart(false);
  });
  at(seen_again + rarely_between(30, 7 * 60), [this, other] { cluster_.hang(other, false); });
}

/// What others say of it may be meant for another one.
bool World::shares_four_digits(HostIndex host) const {
  const ServerIndex own = *cluster_.hosts()[host].disk;
  const std::vector<Server>& all = cluster_.servers();
  return std::ranges::any_of(all, [&](const Server& other) {
    return &other != &all[own] && short_name(other.id) == short_name(all[own].id);
  });
}

/// A server that was made anew of its own copy, as by a script that ran twice: its list is itself,
/// and it leads in a higher term than the others, which go on without it.
void World::lead_alone() {
  tell(fmt::format("{} leads alone", cluster_.hosts()[subject_].name));
  cluster_.lead_alone(subject_);
  // Nobody can know what no look could show.
  for (HostIndex i = 0; i < cluster_.hosts().size(); ++i) busy_[i] = cluster_.now() + 1min;
  busy_[subject_] = cluster_.now() + 24h;
}

/// It is down and is kicked, which the leader cannot commit before it is down itself: the others go
/// on with the list that they had.
void World::undo_removal(HostIndex leads) {
  tell(fmt::format("the server on {} stops", cluster_.hosts()[subject_].name));
  cluster_.stop(subject_);
  busy_[subject_] = cluster_.now() + 24min;
  const Duration kicked = rarely_between(5, 60);
  const Duration undone = kicked + rarely_between(10, 200);
  at(kicked, [this, leads, undone, kicked] {
    tell("somebody kicks it, and nobody acknowledges that");
    const auto leader = cluster_.leader();
    if (!leader || cluster_.servers()[*leader].host != leads) return;
    cluster_.kick(*cluster_.hosts()[subject_].disk);
    for (HostIndex i = 0; i < cluster_.hosts().size(); ++i) {
      if (i != leads && cluster_.active(i)) stall(i, undone - kicked + 1s);
    }
  });
  at(undone, [this, leads] {
    tell(fmt::format("the server on {} stops", cluster_.hosts()[leads].name));
    cluster_.stop(leads);
    busy_[leads] = cluster_.now() + 24min;
  });
  at(undone + rarely_between(30, 300), [this, leads] { cluster_.start(leads); });
  at(undone + rarely_between(30, 300), [this] { cluster_.start(subject_); });
}

/// It is down, or hangs so that its kernel still accepts connections, and another joins with its
/// address, which only strangers reach there.
void World::join_where_strangers_call() {
  const Duration time = rarely_between(120, 7 * 60);
  const bool hangs = rare_.chance(0.5);
  tell(fmt::format("the server on {} {} for {}", cluster_.hosts()[subject_].name,
                   hangs ? "hangs" : "stops", spell_duration(time)));
  hangs ? cluster_.hang(subject_, true) : cluster_.stop(subject_);
  busy_[subject_] = cluster_.now() + time;
  const HostIndex other = join_at_its_address();
  cluster_.host(other).callers = cluster_.hosts().size();
  lead_past(other);
  at(time, [this, hangs] { hangs ? cluster_.hang(subject_, false) : cluster_.start(subject_); });
}

/// Both live, until the first one is down, perhaps for longer than any agent waits for a server of
/// which it was not told; the agents may begin anew meanwhile.
void World::take_its_address() {
  join_at_its_address();
  const Duration time = rarely_between(120, 20 * 60);
  busy_[subject_] = cluster_.now() + 60s + time;
  at(60s, [this] {
    tell(fmt::format("the server on {} stops", cluster_.hosts()[subject_].name));
    cluster_.stop(subject_);
    lead_past(subject_);
  });
  if (rare_.chance(0.7)) {
    at(75s, [this] {
      for (const auto& each : agents_) each->restart(false);
    });
  }
  at(60s + time, [this] { cluster_.start(subject_); });
}

/// It hangs where only a check looks, and another begins at its address.
void World::move_its_address() {
  tell(fmt::format("the server on {} hangs for long", cluster_.hosts()[subject_].name));
  busy_[subject_] = cluster_.now() + 24min;
  at(90s, [this] { cluster_.hang(subject_, true); });
  at(120s, [this] {
    join_at_its_address();
    lead_past(subject_);
  });
  if (rare_.chance(0.5)) {
    at(180s, [this] {
      for (const auto& each : agents_) each->restart(false);
    });
  }
  at(24min, [this] { cluster_.hang(subject_, false); });
}

/// Its server goes on elsewhere, of which no agent is told; in its place a new one asks to join,
/// and reaches nobody. All can see that both live, until the first one hangs, and the way of the
/// other is open again or its process ends.
void World::move_its_disk() {
  const Host owner = cluster_.hosts()[subject_];
  const HostIndex other = cluster_.add_host(owner.name + "-elsewhere", owner.address);
  tell(fmt::format("the server on {} goes on on {}", owner.name, cluster_.hosts()[other].name));
  lead_past(other);
  cluster_.move_disk(subject_, other);
  cluster_.start(other);
  cluster_.join(subject_);
  const Duration both = rarely_between(60, 240);
  busy_[subject_] = busy_[other] = cluster_.now() + 24min;
  cut_off(subject_, true);
  at(both, [this, other] {
    tell(fmt::format("the server on {} hangs", cluster_.hosts()[other].name));
    cluster_.hang(other, true);
  });
  if (rare_.chance(0.3)) {
    at(both + 5s, [this] {
      for (const auto& each : agents_) each->restart(false);
    });
  }
  const bool ends = rare_.chance(0.3);
  at(both + rarely_between(10, 120), [this, ends, name = owner.name] {
    tell(fmt::format("the new server on {} {}", name, ends ? "ends" : "is reached again"));
    if (ends) cluster_.stop(subject_);
    cut_off(subject_, false);
  });
  // Whoever is told of nothing at that address believes it lost one day.
  const Duration hangs = all_know(subject_) ? 24min - both : 7min;
  at(both + hangs, [this, other] { cluster_.hang(other, false); });
}

/// It comes back, and all that could say so is cut from it or asked in vain: whoever hears its host
/// only, or nobody at all.
void World::come_back_unheard(HostIndex host) {
  const auto leader = cluster_.leader();
  if (!leader) return;
  const bool shut = rare_.chance(0.5);
  const HostIndex leads = cluster_.servers()[*leader].host;
  const Duration time = rarely_between(60, 300);
  tell(fmt::format(
      "{} for {}",
      shut ? "its leader does not hear it, and it takes no clients" : "nobody reaches it",
      spell_duration(time)));
  const auto set = [this, host, leads, shut](bool bad) {
    for (HostIndex i = 0; i < cluster_.hosts().size(); ++i) {
      if (!shut || i == leads) cluster_.path(host, i).cut = cluster_.path(i, host).cut = bad;
    }
    for (const auto& each : agents_) {
      if (Way* const way = each->way_to(host)) (shut ? way->shut : way->cut) = bad;
    }
  };
  set(true);
  busy_[host] = cluster_.now() + time;
  at(time, [set] { set(false); });
}

/// The agents know the server by a line that leads to another one, and it is down when they start.
void World::stop_behind_a_copied_line() {
  const Duration time = rarely_between(12 * 60, 24 * 60);
  tell(fmt::format("{} goes down for {}, which agents believe to be {}",
                   cluster_.hosts()[subject_].name, spell_duration(time),
                   cluster_.hosts()[0].name));
  cluster_.host(subject_).up = false;
  cluster_.stop(subject_);
  busy_[subject_] = cluster_.now() + time;
  at(5s, [this] {
    for (const auto& each : agents_) each->restart(false);
  });
  at(time, [this] {
    cluster_.host(subject_).up = true;
    cluster_.start(subject_);
  });
}

/// The stranger is cut from all but one follower and asks nobody for votes. The one that it is
/// connected with restarts, and for a moment the two are not connected.
void World::tie_by_one_connection(HostIndex leads) {
  HostIndex last = rare_.below(cluster_.hosts().size());
  while (last == leads || last == subject_ || !cluster_.active(last))
    last = (last + 1) % cluster_.hosts().size();
  tell(fmt::format("{} is connected with {} alone", cluster_.hosts()[subject_].name,
                   cluster_.hosts()[last].name));
  stall(subject_, 25min);
  busy_[last] = cluster_.now() + 25min;
  for (HostIndex i = 0; i < cluster_.hosts().size(); ++i) {
    if (i != last) cluster_.path(subject_, i).cut = cluster_.path(i, subject_).cut = true;
  }
  const auto block = [this, last](bool blocked) {
    cluster_.path(last, subject_).blocked = cluster_.path(subject_, last).blocked = blocked;
  };
  for (const std::int64_t minute : {12, 16, 20}) {
    at(std::chrono::minutes(minute), [this, last, block] {
      tell(fmt::format("the server on {} is started anew", cluster_.hosts()[last].name));
      block(true);
      cluster_.stop(last);
      at(Cluster::kStep, [this, last] { cluster_.start(last); });
      at(rarely_between(10, 40), [block] { block(false); });
    });
  }
  at(24min, [this] {
    for (HostIndex i = 0; i < cluster_.hosts().size(); ++i)
      cluster_.path(subject_, i).cut = cluster_.path(i, subject_).cut = false;
  });
}

/// A wiped member leaves its old self in the list while no agent looks. When they look again, and
/// remember nothing, no follower's disk takes writes: all are heard, and nothing is committed.
void World::leave_a_ghost_and_stall(HostIndex leads) {
  if (!can_lose(subject_)) return;
  tell(fmt::format("no agent looks while {} is wiped", cluster_.hosts()[subject_].name));
  for (const auto& each : agents_) each->freeze(1h);
  cluster_.wipe(subject_);
  cluster_.join(subject_);
  busy_[subject_] = cluster_.now() + 24min;
  at(90s, [this, leads] {
    for (HostIndex i = 0; i < cluster_.hosts().size(); ++i) {
      if (i != leads && cluster_.active(i)) stall(i, 20min);
    }
  });
  at(90s + rarely_between(150, 400), [this] {
    for (const auto& each : agents_) {
      tell(fmt::format("{} is restarted and remembers nothing", each->setup().name));
      each->restart(false);
    }
  });
}

}  // namespace wardmote::advice
