#include "advice/cluster.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/raft/member_id.h"

namespace wardmote::advice {
namespace {

using namespace std::chrono_literals;

/// ovsdb-server backs off so long at most between two attempts to connect.
constexpr Duration kLongestBackoff = 8s;

void take_four_digits(MemberId& id, const MemberId& other) {
  constexpr std::uint64_t kFour = 0xffffULL << 48;
  id.high = (other.high & kFour) | (id.high & ~kFour);
}

}  // namespace

Cluster::Cluster(std::size_t size, Milliseconds election_timer, bool prevote,
                 runtime::Random& random)
    : random_(random), timer_(election_timer), prevote_(prevote), crowded_(random.chance(0.08)) {
  cluster_id_ = make_id();
  for (std::size_t i = 0; i < size; ++i) {
    add_host(fmt::format("ctl-{}", i + 1), fmt::format("tcp:10.0.0.{}:6643", i + 1));
    const ServerIndex server = add_server(i);
    hosts_[i].disk = server;
  }
  for (Server& server : servers_) {
    for (ServerIndex i = 0; i < size; ++i) server.config.push_back(i);
    server.leader = 0;
    server.patience = random_patience();
    for (ServerIndex i = 0; i < size; ++i) {
      // Followers talk at elections only, which may be days ago.
      if (random_.chance(0.7)) server.heard[i] = now_ - Duration(1s) * random_.below(100'000);
    }
  }
  servers_.front().role = Role::kLeader;
  servers_.front().majority = now_;
  for (HostIndex a = 0; a < size; ++a) {
    for (HostIndex b = 0; b < size; ++b) dials_[a][b].up = a != b;
  }
}

HostIndex Cluster::add_host(std::string name, std::string address) {
  hosts_.push_back({.name = std::move(name), .address = std::move(address)});
  dials_.emplace_back();
  paths_.emplace_back();
  for (auto& row : dials_) row.resize(hosts_.size());
  for (auto& row : paths_) row.resize(hosts_.size());
  return hosts_.size() - 1;
}

MemberId Cluster::make_id() {
  MemberId id{.high = random_.next(), .low = random_.next(), .digits = 32};
  // Four digits are all that lists show, and they may collide.
  if (!servers_.empty() && random_.chance(crowded_ ? 0.3 : 0.05))
    take_four_digits(id, servers_[random_.below(servers_.size())].id);
  return id;
}

void Cluster::share_four_digits(ServerIndex one, ServerIndex other) {
  take_four_digits(servers_[one].id, servers_[other].id);
}

ServerIndex Cluster::add_server(HostIndex host) {
  Server server;
  server.id = make_id();
  server.host = host;
  servers_.push_back(std::move(server));
  for (Server& each : servers_) {
    each.heard.resize(servers_.size());
    each.match.resize(servers_.size());
  }
  return servers_.size() - 1;
}

void Cluster::start(HostIndex i) {
  Host& host = hosts_[i];
  if (host.gone || host.damaged || !host.up) return;
  host.process = Process::kRuns;
  host.attached = true;
  host.started = now_;
  if (!host.disk) return;
  Server& server = servers_[*host.disk];
  server.role = Role::kFollower;
  server.leader.reset();
  server.retrying = false;
  server.election_started.reset();
  server.election_won.reset();
  server.change.reset();
  server.patience = random_patience();
  for (auto& heard : server.heard) heard.reset();
}

void Cluster::stop(HostIndex i) {
  hosts_[i].process = Process::kStopped;
}

void Cluster::hang(HostIndex i, bool hung) {
  Host& host = hosts_[i];
  if (host.process == Process::kStopped) return;
  host.process = hung ? Process::kHung : Process::kRuns;
  host.hung_since = now_;
}

void Cluster::wipe(HostIndex i) {
  stop(i);
  hosts_[i].disk.reset();
  hosts_[i].damaged = false;
}

void Cluster::swap_disks(HostIndex i) {
  stop(i);
  std::swap(hosts_[i].disk, hosts_[i].shelf);
  hosts_[i].swapped = now_;
}

void Cluster::put_back(HostIndex i, const Server& copy) {
  stop(i);
  Server& server = servers_[*hosts_[i].disk];
  server.config = copy.config;
  server.log = copy.log;
  server.committed = copy.committed;
  server.term = copy.term;
  server.voted_for = copy.voted_for;
}

void Cluster::lead_alone(HostIndex i) {
  const ServerIndex s = *hosts_[i].disk;
  part(i);
  Server& server = servers_[s];
  server.alone = true;
  alone_since = now_;
  server.config = {s};
  server.term += 5;
  win(s);
}

/// From all others.
void Cluster::part(HostIndex i) {
  for (HostIndex other = 0; other < hosts_.size(); ++other)
    paths_[i][other].cut = paths_[other][i].cut = true;
}

void Cluster::move_disk(HostIndex from, HostIndex to) {
  stop(from);
  hosts_[to].disk = std::exchange(hosts_[from].disk, std::nullopt);
  if (hosts_[to].disk) servers_[*hosts_[to].disk].host = to;
}

ServerIndex Cluster::join(HostIndex i) {
  const ServerIndex server = add_server(i);
  servers_[server].standing = Standing::kJoining;
  servers_[server].log = servers_[server].committed = 0;
  servers_[server].term = 0;
  hosts_[i].disk = server;
  start(i);
  news.push_back(fmt::format("{} asks to join at {}", name(server), hosts_[i].address));
  return server;
}

std::optional<std::string> Cluster::kick(ServerIndex target) {
  const std::optional<ServerIndex> leader = this->leader();
  if (!leader) return "there is no leader";
  Server& lead = servers_[*leader];
  if (!lists(*leader, target)) return "it is not listed";
  if (*leader == target) return "it leads";
  if (lead.change) return "another change is under way";
  std::erase(lead.config, target);
  ++lead.log;
  lead.change = Change{.server = target, .phase = Phase::kRemoving, .ends = now_ + 1h};
  news.push_back(fmt::format("{} removes {}", name(*leader), name(target)));
  return std::nullopt;
}

void Cluster::transfer() {
  const std::optional<ServerIndex> leader = this->leader();
  if (leader) step_down(*leader, servers_[*leader].term);
}

void Cluster::heal_network() {
  for (auto& row : paths_) {
    for (Path& path : row) path = {};
  }
  for (ServerIndex s = 0; s < servers_.size(); ++s) {
    if (servers_[s].alone) part(servers_[s].host);
  }
}

std::optional<ServerIndex> Cluster::active(HostIndex i) const {
  const Host& host = hosts_[i];
  if (!host.up || host.process == Process::kStopped || !host.attached || !host.disk) return {};
  if (servers_[*host.disk].standing == Standing::kLeft) return {};
  return host.disk;
}

bool Cluster::lives(ServerIndex server) const {
  const Host& host = hosts_[servers_[server].host];
  return !host.gone && !host.damaged && host.disk == server &&
         servers_[server].standing != Standing::kLeft;
}

bool Cluster::lists(ServerIndex by, ServerIndex whom) const {
  return std::ranges::find(servers_[by].config, whom) != servers_[by].config.end();
}

std::string Cluster::name(ServerIndex server) const {
  return fmt::format("{} ({})", hosts_[servers_[server].host].name,
                     short_name(servers_[server].id));
}

bool Cluster::running(ServerIndex s) const {
  const HostIndex host = servers_[s].host;
  return active(host) == s && hosts_[host].process == Process::kRuns;
}

bool Cluster::flows(ServerIndex from, ServerIndex to) const {
  const HostIndex a = servers_[from].host;
  const HostIndex b = servers_[to].host;
  if (!running(from) || !running(to) || paths_[a][b].cut) return false;
  return dials_[a][b].up || dials_[b][a].up;
}

/// Whether the server there has a reason to connect: the address is in its list, or it joins.
bool Cluster::wants(HostIndex from, HostIndex to) const {
  const std::optional<ServerIndex> server = active(from);
  if (!server || hosts_[from].process != Process::kRuns) return false;
  if (servers_[*server].standing == Standing::kJoining) return true;
  return std::ranges::any_of(servers_[*server].config, [&](ServerIndex each) {
    return hosts_[servers_[each].host].address == hosts_[to].address;
  });
}

void Cluster::update_dials() {
  for (HostIndex a = 0; a < hosts_.size(); ++a) {
    for (HostIndex b = 0; b < hosts_.size(); ++b) {
      if (a != b) update_dial(a, b);
    }
  }
}

void Cluster::update_dial(HostIndex a, HostIndex b) {
  Dial& dial = dials_[a][b];
  const bool silent = !hosts_[a].up || !hosts_[b].up || paths_[a][b].cut || paths_[b][a].cut;
  // For a hung process the kernel accepts; who probes closes the connection, and makes it again.
  const bool probed =
      silent || hosts_[a].process == Process::kHung || hosts_[b].process == Process::kHung;
  if (dial.up) {
    if ((hosts_[a].up && !active(a)) || (hosts_[b].up && !active(b))) {
      dial = {.retry = now_ + Duration(random_.below(1'000'000'000))};
      return;
    }
    if (!probed) {
      dial.dying.reset();
    } else if (!dial.dying) {
      dial.dying = now_ + 2 * (timer_ + 1s);
    } else if (*dial.dying <= now_) {
      dial.backoff = std::min<Duration>(2 * dial.backoff, kLongestBackoff);
      dial = {.retry = now_ + dial.backoff, .backoff = dial.backoff};
    }
    return;
  }
  if (dial.retry > now_ || !wants(a, b)) return;
  if (!silent && active(b) && !paths_[a][b].blocked) {
    dial = {.up = true, .backoff = dial.backoff};
    return;
  }
  dial.retry = now_ + Duration(random_.below(static_cast<std::uint64_t>(kLongestBackoff.count())));
}

TimePoint Cluster::random_patience() {
  return now_ + timer_ + Milliseconds(random_.below(1000));
}

/// When the last heartbeat came.
TimePoint Cluster::just_now() {
  return now_ - Milliseconds(random_.below(static_cast<std::uint64_t>(timer_.count()) / 3));
}

}  // namespace wardmote::advice
