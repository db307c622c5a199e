#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "advice/cluster.h"
#include "base/format.h"
#include "base/time.h"

// How the servers of the simulated cluster elect, commit and change their list.

namespace wardmote::advice {

using namespace std::chrono_literals;

void Cluster::step() {
  now_ += kStep;
  update_dials();
  for (ServerIndex s = 0; s < servers_.size(); ++s) {
    if (running(s) && servers_[s].role == Role::kLeader) lead(s);
  }
  for (ServerIndex s = 0; s < servers_.size(); ++s) {
    const Server& server = servers_[s];
    const bool waits = server.standing == Standing::kMember && server.role != Role::kLeader;
    if (running(s) && waits && server.patience <= now_) campaign(s);
  }
  const std::optional<ServerIndex> serving = leader();
  if (!serving) {
    served_since_.reset();
  } else if (!served_since_) {
    served_since_ = now_;
  }
}

/// ovsdb-server keeps the time of the last RPC of everybody that it lists.
void Cluster::note_rpc(ServerIndex at, ServerIndex from) {
  const Server& server = servers_[at];
  if (!lists(at, from) && server.standing != Standing::kJoining &&
      !(server.change && server.change->server == from))
    return;
  auto& heard = servers_[at].heard[from];
  const TimePoint when = just_now();
  if (!heard || *heard < when) heard = when;
}

void Cluster::lead(ServerIndex l) {
  // A copy: to serve a follower may end the leadership.
  std::vector<ServerIndex> peers = servers_[l].config;
  if (servers_[l].change && servers_[l].change->adding && !lists(l, servers_[l].change->server))
    peers.push_back(servers_[l].change->server);
  for (const ServerIndex peer : peers) {
    if (servers_[l].role != Role::kLeader) return;
    if (peer != l) beat(l, peer);
  }
  Server& leader = servers_[l];
  leader.match[l] = leader.log;
  std::size_t heard = 0;
  for (const ServerIndex s : leader.config) {
    heard += s == l || (leader.heard[s] && now_ - *leader.heard[s] <= timer_) ? 1 : 0;
  }
  if (heard * 2 > leader.config.size()) leader.majority = now_;
  if (now_ - leader.majority > timer_) return step_down(l, leader.term);
  if (random_.chance(0.2) && !at_rest_) ++leader.log;
  commit(l);
  proceed(l);
  admit(l);
}

/// One heartbeat there and back.
void Cluster::beat(ServerIndex l, ServerIndex f) {
  if (!flows(l, f)) return;
  Server& leader = servers_[l];
  Server& follower = servers_[f];
  if (follower.term > leader.term) {
    if (flows(f, l)) step_down(l, follower.term);
    return;
  }
  if (follower.role == Role::kLeader && follower.term == leader.term) return;
  follower.term = leader.term;
  follower.role = Role::kFollower;
  follower.change.reset();
  follower.leader = l;
  follower.retrying = false;
  follower.patience = random_patience();
  if (!hosts_[follower.host].stalled) {
    follower.log = leader.log;
    follower.committed = std::min(leader.committed, leader.log);
    follower.config = leader.config;
  }
  note_rpc(f, l);
  if (!flows(f, l)) return;
  note_rpc(l, f);
  if (!hosts_[follower.host].stalled) leader.match[f] = leader.log;
}

void Cluster::step_down(ServerIndex l, std::uint64_t term) {
  Server& leader = servers_[l];
  leader.role = Role::kFollower;
  leader.leader.reset();
  leader.change.reset();
  leader.election_won.reset();
  leader.term = term;
  leader.patience = random_patience();
  news.push_back(fmt::format("{} leads no longer", name(l)));
}

void Cluster::campaign(ServerIndex c) {
  Server& candidate = servers_[c];
  candidate.patience = random_patience();
  candidate.leader.reset();
  // A vote for itself has to be written first.
  if (hosts_[candidate.host].stalled) return;
  candidate.retrying = candidate.role == Role::kCandidate;
  candidate.role = Role::kCandidate;
  candidate.election_started = now_;
  candidate.election_won.reset();
  // OVS 3.3 and later ask first whether they could win, and leave their term as it is.
  if (prevote_ && !poll(c, candidate.term + 1, true)) return;
  ++candidate.term;
  candidate.voted_for = c;
  if (poll(c, candidate.term, false)) win(c);
}

/// Whether a majority of its list would vote, or votes, for the candidate.
bool Cluster::poll(ServerIndex c, std::uint64_t term, bool trial) {
  const Server& candidate = servers_[c];
  std::size_t votes = 1;
  for (const ServerIndex voter : candidate.config) {
    if (voter == c || !flows(c, voter)) continue;
    note_rpc(voter, c);
    const bool granted = grants(voter, c, term, trial);
    if (!flows(voter, c)) continue;
    note_rpc(c, voter);
    votes += granted ? 1 : 0;
  }
  return votes * 2 > candidate.config.size();
}

bool Cluster::grants(ServerIndex v, ServerIndex c, std::uint64_t term, bool trial) {
  Server& voter = servers_[v];
  // Whoever leads, or has heard a leader of late, is not disturbed.
  if (voter.role == Role::kLeader || voter.standing != Standing::kMember) return false;
  if (hosts_[voter.host].stalled) return false;
  const bool follows =
      voter.leader && voter.heard[*voter.leader] && now_ - *voter.heard[*voter.leader] < timer_;
  if (follows) return false;
  if (voter.term > term) {
    servers_[c].term = std::max(servers_[c].term, voter.term);
    return false;
  }
  const bool elsewhere = voter.term == term && voter.voted_for && *voter.voted_for != c;
  const bool granted = !elsewhere && voter.log <= servers_[c].log;
  if (trial) return granted;
  if (term > voter.term) {
    voter.term = term;
    voter.voted_for.reset();
    voter.role = Role::kFollower;
    voter.leader.reset();
  }
  if (!granted) return false;
  voter.voted_for = c;
  voter.patience = random_patience();
  return true;
}

void Cluster::win(ServerIndex c) {
  Server& leader = servers_[c];
  leader.role = Role::kLeader;
  leader.leader = c;
  leader.retrying = false;
  leader.election_won = now_;
  leader.majority = now_;
  leader.change.reset();
  ++leader.log;
  std::ranges::fill(leader.match, 0);
  news.push_back(fmt::format("{} leads in term {}", name(c), leader.term));
}

void Cluster::commit(ServerIndex l) {
  Server& leader = servers_[l];
  std::vector<std::uint64_t> matched;
  for (const ServerIndex s : leader.config) matched.push_back(leader.match[s]);
  std::ranges::sort(matched);
  if (matched.empty()) return;
  leader.committed = std::max(leader.committed, matched[(matched.size() - 1) / 2]);
}

/// The change that is under way, if any.
void Cluster::proceed(ServerIndex l) {
  Server& leader = servers_[l];
  if (!leader.change) return;
  Change& change = *leader.change;
  const ServerIndex s = change.server;
  if (change.phase == Phase::kAddingCatchup) {
    if (now_ >= change.ends) {
      leader.change.reset();
    } else if (now_ >= change.next && flows(s, l) && flows(l, s)) {
      // An earlier leader may have added it without being able to commit that.
      if (!lists(l, s)) leader.config.push_back(s);
      ++leader.log;
      change.phase = Phase::kAddingCommitting;
      // A server that is new in the list has told nothing yet.
      leader.heard[s].reset();
    }
    return;
  }
  if (leader.committed < leader.log) return;
  if (change.adding) {
    servers_[s].standing = Standing::kMember;
    servers_[s].config = leader.config;
    servers_[s].patience = random_patience();
    news.push_back(fmt::format("{} is in the list", name(s)));
  } else {
    // A server that cannot be told goes on as before.
    if (flows(l, s)) servers_[s].standing = Standing::kLeft;
    news.push_back(fmt::format("{} is in the list no longer", name(s)));
  }
  leader.change.reset();
}

/// Somebody who asks is let in, one at a time.
void Cluster::admit(ServerIndex l) {
  Server& leader = servers_[l];
  if (leader.change) return;
  for (ServerIndex s = 0; s < servers_.size(); ++s) {
    if (servers_[s].standing != Standing::kJoining || !flows(s, l) || !flows(l, s)) continue;
    leader.change = Change{.adding = true,
                           .server = s,
                           .phase = Phase::kAddingCatchup,
                           .next = now_ + Milliseconds(500 + random_.below(5000)) + catch_up,
                           .ends = now_ + 30s};
    return;
  }
}

std::optional<ServerIndex> Cluster::leader() const {
  std::optional<ServerIndex> best;
  for (ServerIndex s = 0; s < servers_.size(); ++s) {
    if (!running(s) || servers_[s].role != Role::kLeader || servers_[s].alone) continue;
    if (acknowledging(s, servers_[s].config) * 2 <= servers_[s].config.size()) continue;
    if (!best || servers_[s].term > servers_[*best].term) best = s;
  }
  return best;
}

std::size_t Cluster::acknowledging(ServerIndex leader,
                                   const std::vector<ServerIndex>& config) const {
  return static_cast<std::size_t>(std::ranges::count_if(config, [&](ServerIndex s) {
    if (s == leader) return true;
    return flows(leader, s) && flows(s, leader) && !hosts_[servers_[s].host].stalled;
  }));
}

}  // namespace wardmote::advice
