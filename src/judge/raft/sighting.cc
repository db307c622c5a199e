#include "judge/raft/sighting.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {
namespace {

/// Such a server joined with a wrong address: one in a year is much.
constexpr std::size_t kMostBeside = 100;
/// Who answered at one address; a balancer leads to a few servers.
constexpr std::size_t kMostBefore = 32;
/// In the name of whoever looks at another database of the process.
constexpr std::string_view kNeighbour = ", which also has ";

/// Nobody notices for so long that an agent is away: the longest `store: ttl`.
constexpr Duration kToldLate = std::chrono::minutes(5);

/// Who is answered holds back more than who waits, and he more than who is refused.
bool holds_back_more(const Sighting& one, const Sighting& other) noexcept {
  return std::pair(one.still, !one.refused) > std::pair(other.still, !other.refused);
}

}  // namespace

std::optional<TimePoint> Sighting::alive(TimePoint now) const noexcept {
  if (!server.known() || beside) return std::nullopt;
  if (!told) return at;
  if (!still || !late) return std::nullopt;
  const TimePoint certain = now - *late - kToldLate;
  return still_since <= certain ? std::optional(certain) : std::nullopt;
}

void Sightings::expect(const std::string& by, std::string database, Duration late) {
  const auto [seen, added] =
      seen_.try_emplace(by, Looker{.last = {.by = by, .database = std::move(database)}});
  if (late > Duration::zero()) seen->second.last.late = late;
}

void Sightings::forget(const std::string& by) {
  const std::string neighbours = by + std::string(kNeighbour);
  std::erase_if(
      seen_, [&](const auto& one) { return one.first == by || one.first.starts_with(neighbours); });
}

void Sightings::hear(const std::string& by, const Opinion& opinion) {
  const MemberId server = opinion.server_id();
  Sighting heard{.server = server,
                 .cluster = opinion.cluster_id(),
                 .by = by,
                 .at = opinion.begun,
                 .still = server.full() && !server.zero(),
                 .refused = is_refusal(opinion)};
  // Whoever does not have that database has another one, under whatever name it is asked for.
  if (!opinion.knows_no_database()) heard.database = opinion.database;
  if (opinion.status) heard.address = opinion.status->address;
  take(by, std::move(heard));
  hear_neighbours(by, opinion);
}

void Sightings::take(const std::string& by, Sighting heard) {
  Looker& looker = seen_[by];
  Sighting& last = looker.last;
  if (!heard.still) {
    // Who does not answer is who it was.
    last.by = by;
    last.database = std::move(heard.database);
    last.still = false;
    last.refused = heard.refused;
    return;
  }
  const auto replaced = [&](const Sighting& earlier) {
    const bool at_its_address = !heard.address.empty() && earlier.address == heard.address;
    return earlier.server == heard.server || at_its_address;
  };
  std::erase_if(looker.before, replaced);
  // A name, an address or the path of a socket leads to whoever has it now, and nobody tells the
  // one who had it before.
  if (last.server.known() && !replaced(last)) {
    if (looker.before.size() == kMostBefore) looker.before.erase(looker.before.begin());
    last.still = last.refused = false;
    looker.before.push_back(last);
  }
  heard.late = last.late;
  if (heard.address.empty() && last.server == heard.server) heard.address = last.address;
  last = std::move(heard);
}

/// The process that answers is alive, so its other databases are, under whatever name they are
/// judged.
void Sightings::hear_neighbours(const std::string& by, const Opinion& opinion) {
  const std::string prefix = by + std::string(kNeighbour);
  for (auto& [name, looker] : seen_) {
    if (!name.starts_with(prefix)) continue;
    looker.last.still = false;
    looker.last.refused = is_refusal(opinion);
  }
  if (!opinion.neighbours) return;
  const auto is_there = [&](std::string_view database) {
    return std::ranges::find(*opinion.neighbours, database, &Neighbour::database) !=
           opinion.neighbours->end();
  };
  // That it does not have one any more says nothing of another process.
  if (!opinion.roams) {
    std::erase_if(seen_, [&](const auto& one) {
      return one.first.starts_with(prefix) && !is_there(one.first.substr(prefix.size()));
    });
  }
  for (const Neighbour& neighbour : *opinion.neighbours) {
    const std::string name = prefix + neighbour.database;
    take(name, {.server = neighbour.server_id,
                .cluster = neighbour.cluster_id,
                .by = name,
                .at = opinion.neighbours_at,
                .still = neighbour.server_id.full() && !neighbour.server_id.zero(),
                .database = neighbour.database,
                .address = neighbour.address});
  }
}

std::vector<Sighting> Sightings::besides(const std::string& cluster, const MemberId& id,
                                         TimePoint away_after) const {
  std::vector<Sighting> others;
  const auto may_be_of_it = [&](const Sighting& sighting) {
    return !id.known() || !sighting.cluster.known() || compatible(sighting.cluster, id);
  };
  const std::string own = member(cluster, "");
  for (const auto& [by, looker] : seen_) {
    const bool its_own = by.starts_with(own);
    if (!its_own && may_be_of_it(looker.last)) others.push_back(looker.last);
    std::ranges::copy_if(looker.before, std::back_inserter(others), may_be_of_it);
  }
  for (const auto& [node, agent] : agents_) {
    if (agent.away_since && *agent.away_since < away_after) continue;
    std::ranges::copy_if(agent.seen, std::back_inserter(others), may_be_of_it);
  }
  std::ranges::copy_if(beside_, std::back_inserter(others), may_be_of_it);
  if (!unheard_.empty()) others.push_back({.by = unheard_});
  return others;
}

std::vector<Sighting> Sightings::here() const {
  std::map<MemberId, Sighting> servers;
  std::map<std::string, Sighting> nameless;  // by database
  const auto add = [&](const Sighting& sighting) {
    if (!sighting.server.known()) {
      const auto [known, added] = nameless.emplace(sighting.database, sighting);
      if (!added && !sighting.refused) known->second = sighting;
      return;
    }
    const auto [known, added] = servers.emplace(sighting.server, sighting);
    if (added) return;
    const TimePoint latest = std::max(sighting.at, known->second.at);
    if (holds_back_more(sighting, known->second)) known->second = sighting;
    known->second.at = latest;
  };
  for (const auto& [by, looker] : seen_) {
    add(looker.last);
    std::ranges::for_each(looker.before, add);
  }
  std::vector<Sighting> list;
  list.reserve(servers.size() + nameless.size());
  // Of a list that is cut off the end matters least.
  for (const bool still : {true, false}) {
    for (const auto& [server, sighting] : servers) {
      if (sighting.still == still) list.push_back(sighting);
    }
    if (still) std::ranges::copy(beside_, std::back_inserter(list));
  }
  for (auto& [database, sighting] : nameless) list.push_back(std::move(sighting));
  return list;
}

void Sightings::hear_beside(const std::vector<Sighting>& seen) {
  for (const Sighting& sighting : seen) {
    if (sighting.beside) saw_beside(sighting.cluster, sighting.server, sighting.address);
  }
}

void Sightings::hear_agent(const std::string& node, std::vector<Sighting> seen) {
  hear_beside(seen);
  std::erase_if(seen, [](const Sighting& sighting) { return sighting.beside; });
  Agent& agent = agents_[node];
  for (Sighting& sighting : seen) {
    sighting.told = true;
    sighting.still_since = sighting.at;
    // That it still answers, or is still silent, is nothing new.
    const auto before = std::ranges::find_if(agent.seen, [&](const Sighting& old) {
      return old.still == sighting.still && old.server == sighting.server &&
             old.cluster == sighting.cluster;
    });
    if (before == agent.seen.end()) continue;
    (sighting.still ? sighting.still_since : sighting.at) =
        sighting.still ? before->still_since : before->at;
  }
  agent = {std::move(seen), std::nullopt};
}

void Sightings::saw_beside(const MemberId& cluster, const MemberId& server, std::string address) {
  const auto known = std::ranges::find_if(beside_, [&](const Sighting& sighting) {
    return sighting.cluster == cluster && compatible(sighting.server, server) &&
           sighting.address == address;
  });
  if (known != beside_.end()) {
    if (server.digits > known->server.digits) known->server = server;
    return;
  }
  if (beside_.size() == kMostBeside) beside_.erase(beside_.begin());
  beside_.push_back(
      {.server = server, .cluster = cluster, .beside = true, .address = std::move(address)});
}

void Sightings::lose_agent(const std::string& node, TimePoint now) {
  const auto agent = agents_.find(node);
  if (agent == agents_.end() || agent->second.away_since) return;
  agent->second.away_since = now;
  for (Sighting& sighting : agent->second.seen) sighting.still = false;
}

}  // namespace wardmote::judge::raft
