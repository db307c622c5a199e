#include "advice/view.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "advice/cluster.h"
#include "base/time.h"
#include "judge/outcome.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"

namespace wardmote::advice {
namespace {

using namespace std::chrono_literals;
using judge::ReasonCode;
using judge::raft::Link;
using judge::raft::Local;
using judge::raft::Mode;
using judge::raft::Opinion;
using judge::raft::PeerName;
using judge::raft::Status;

/// Until then the kernel takes connections for a process that takes none.
constexpr Duration kQueueFills = 10s;

MemberId four_digits_of(const MemberId& id) {
  constexpr std::uint64_t kFour = 0xffffULL << 48;
  return {.high = id.high & kFour, .low = 0, .digits = 4};
}

Milliseconds age(const Cluster& cluster, TimePoint since) {
  return std::chrono::duration_cast<Milliseconds>(cluster.now() - since);
}

judge::raft::Standing standing_of(const Server& server) {
  switch (server.standing) {
    case Standing::kJoining: return judge::raft::Standing::kJoining;
    case Standing::kLeft: return judge::raft::Standing::kLeft;
    case Standing::kMember: break;
  }
  return server.retrying ? judge::raft::Standing::kDisconnected : judge::raft::Standing::kMember;
}

PeerName leader_of(const Cluster& cluster, ServerIndex s) {
  const Server& server = cluster.servers()[s];
  if (server.role == Role::kLeader) return {PeerName::Kind::kSelf, {}};
  if (!server.leader) return {};
  return {PeerName::Kind::kNamed, short_name(cluster.servers()[*server.leader].id)};
}

judge::raft::Server print_line(const Cluster& cluster, ServerIndex by, ServerIndex whom,
                               bool ages) {
  const Server& self = cluster.servers()[by];
  const Server& other = cluster.servers()[whom];
  judge::raft::Server line;
  line.nickname = short_name(other.id);
  line.id = four_digits_of(other.id);
  line.address = cluster.hosts()[other.host].address;
  line.self = by == whom;
  if (self.change && self.change->server == whom) line.phase = self.change->phase;
  if (self.role == Role::kLeader) {
    line.next_index = self.log + 1;
    line.match_index = self.match[whom];
  }
  if (ages && !line.self && self.heard[whom]) line.last_message = age(cluster, *self.heard[whom]);
  return line;
}

/// The host that one reaches who connects to the address of `host`.
HostIndex reached_at(const Cluster& cluster, HostIndex from, HostIndex host) {
  const auto comes_through = [&](HostIndex to) {
    const Path& path = cluster.path(from, to);
    return cluster.hosts()[to].up && !path.blocked && !path.cut && !cluster.path(to, from).cut;
  };
  if (comes_through(host)) return host;
  for (HostIndex other = 0; other < cluster.hosts().size(); ++other) {
    const bool same = cluster.hosts()[other].address == cluster.hosts()[host].address;
    if (same && other != from && comes_through(other)) return other;
  }
  return host;
}

void print_links(const Cluster& cluster, const Server& server, Status& status) {
  const HostIndex own = server.host;
  for (const ServerIndex peer : server.config) {
    const HostIndex host = cluster.servers()[peer].host;
    if (host == own) continue;
    status.links.push_back({.peer = short_name(cluster.servers()[peer].id),
                            .outgoing = true,
                            .up = cluster.dial(own, reached_at(cluster, own, host)).up});
  }
  for (HostIndex from = 0; from < cluster.hosts().size(); ++from) {
    const std::optional<ServerIndex> caller = cluster.active(from);
    if (from == own || !caller || !cluster.dial(from, own).up) continue;
    status.links.push_back({.peer = short_name(cluster.servers()[*caller].id), .outgoing = false});
  }
  for (std::size_t i = 0; i < cluster.hosts()[own].callers; ++i)
    status.links.push_back({.peer = "0000", .outgoing = false});
}

void fail(Opinion& opinion, const Way& way, ReasonCode code) {
  if (way.status) opinion.status_source.reason = {code, {}};
  if (way.local) opinion.local_source.reason = {code, {}};
}

/// Why nothing answers, if so.
std::optional<ReasonCode> silence(const Cluster& cluster, const Way& way) {
  const Host& host = cluster.hosts()[way.host];
  if (way.starved) return ReasonCode::kProberStarved;
  if (way.cut || !host.up) return ReasonCode::kUnreachable;
  if (host.process == Process::kStopped || way.shut)
    return way.unix_socket ? ReasonCode::kMissing : ReasonCode::kRefused;
  if (host.process != Process::kHung) return std::nullopt;
  const bool full = !way.unix_socket && cluster.now() - host.hung_since > kQueueFills;
  return full ? ReasonCode::kUnreachable : ReasonCode::kHung;
}

/// What another host answers on the OVSDB socket, beside what its own control socket says.
Opinion look_crosswise(const Cluster& cluster, Way way, bool ages, TimePoint begun,
                       Duration timeout) {
  Way other{.member = way.member, .host = *std::exchange(way.crossed, std::nullopt)};
  other.status = false;
  way.local = false;
  Opinion here = look_at(cluster, way, ages, begun, timeout);
  Opinion there = look_at(cluster, other, ages, begun, timeout);
  if (!here.status) here.mode = there.mode;
  here.local = std::move(there.local);
  here.local_source = std::move(there.local_source);
  here.ended = std::max(here.ended, there.ended);
  return here;
}

/// Of the process's other database, which is none of this world's; this one is beside it.
void ask_for_another(Opinion& opinion) {
  opinion.neighbours_at = opinion.begun;
  opinion.neighbours = {{.database = opinion.database,
                         .server_id = opinion.server_id(),
                         .cluster_id = opinion.cluster_id(),
                         .address = opinion.status ? opinion.status->address : ""}};
  opinion.database = "OVN_Southbound";
  const MemberId other{~opinion.server_id().high, 1, 32};
  if (opinion.status) opinion.status->server_id = opinion.status->cluster_id = other;
  if (opinion.local) opinion.local->server_id = opinion.local->cluster_id = other;
}

}  // namespace

Status print_status(const Cluster& cluster, ServerIndex s, bool ages) {
  const Server& server = cluster.servers()[s];
  Status status;
  status.nickname = short_name(server.id);
  status.server_id = server.id;
  status.address = cluster.hosts()[server.host].address;
  status.standing = standing_of(server);
  status.role = server.role;
  status.term = server.term;
  status.leader = leader_of(cluster, s);
  if (server.voted_for)
    status.vote =
        *server.voted_for == s
            ? PeerName{PeerName::Kind::kSelf, {}}
            : PeerName{PeerName::Kind::kNamed, short_name(cluster.servers()[*server.voted_for].id)};
  if (ages && server.election_started)
    status.election_started = age(cluster, *server.election_started);
  if (ages && server.election_won) status.election_won = age(cluster, *server.election_won);
  status.election_timer = cluster.election_timer();
  status.log_start = 1;
  status.log_next = server.log + 1;
  status.uncommitted = server.log - std::min(server.log, server.committed);
  if (server.change) {
    const ServerIndex other = server.change->server;
    status.changes.push_back({.adding = server.change->adding,
                              .id = four_digits_of(cluster.servers()[other].id),
                              .address = cluster.hosts()[cluster.servers()[other].host].address,
                              .phase = server.change->phase});
  }
  if (server.standing == Standing::kJoining) {
    status.unapplied = server.log;
    if (server.config.empty()) return status;
  }
  status.cluster_id = cluster.cluster_id();
  print_links(cluster, server, status);
  for (const ServerIndex other : server.config)
    status.servers.push_back(print_line(cluster, s, other, ages));
  return status;
}

Opinion look_at(const Cluster& cluster, const Way& way, bool ages, TimePoint begun,
                Duration timeout) {
  if (way.leads_to) {
    Way there = way;
    there.host = *std::exchange(there.leads_to, std::nullopt);
    return look_at(cluster, there, ages, begun, timeout);
  }
  if (way.crossed && way.status) return look_crosswise(cluster, way, ages, begun, timeout);
  if (way.crossed) {
    Way there = way;
    there.host = *std::exchange(there.crossed, std::nullopt);
    return look_at(cluster, there, ages, begun, timeout);
  }
  Opinion opinion;
  opinion.member = way.member;
  opinion.database = "OVN_Northbound";
  if (way.status) opinion.control_command = {"ovn-appctl", "-t", "/run/ovn/ovnnb_db.ctl"};
  opinion.begun = begun;
  opinion.ended = begun + std::chrono::milliseconds(2);
  if (const auto reason = silence(cluster, way)) {
    if (*reason == ReasonCode::kHung || *reason == ReasonCode::kUnreachable)
      opinion.ended = begun + timeout;
    fail(opinion, way, *reason);
    return opinion;
  }
  const std::optional<ServerIndex> server = cluster.active(way.host);
  if (!server) {
    opinion.mode = Mode::kAbsent;
    opinion.serves = {"OVN_Southbound"};
    fail(opinion, way, ReasonCode::kUnknownCluster);
    return opinion;
  }
  opinion.mode = Mode::kClustered;
  const Server& self = cluster.servers()[*server];
  Status status = print_status(cluster, *server, ages);
  if (way.local) {
    opinion.local_source.reason.code = ReasonCode::kNone;
    Local local;
    local.leader = self.role == Role::kLeader;
    local.connected = self.standing == Standing::kMember && !self.retrying;
    local.server_id = self.id;
    local.cluster_id = status.cluster_id;
    if (self.standing == Standing::kMember) local.index = status.applied_index();
    opinion.local = local;
  }
  if (way.status) {
    opinion.status_source.reason.code = ReasonCode::kNone;
    opinion.status = std::move(status);
  }
  opinion.roams = way.roams;
  if (way.by_neighbour) ask_for_another(opinion);
  return opinion;
}

}  // namespace wardmote::advice
