#include <algorithm>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "base/format.h"
#include "judge/raft/dialect.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {
namespace {

std::string with_short_name(const MemberId& id) {
  return fmt::format("{} ({})", short_name(id), to_string(id));
}

/// More connections than a cluster of many members has; further ones are left out.
constexpr std::size_t kMostConnections = 24;

std::string quote_election(const Status& status) {
  if (!status.election_started) return "no election started";
  std::string line =
      fmt::format("Last Election started {} ms ago", status.election_started->count());
  if (!status.election_reason.empty()) line += ", reason: " + status.election_reason;
  return line;
}

std::string quote_connections(const Status& status) {
  std::string line = "Connections:";
  for (const Link& link : status.links | std::views::take(kMostConnections)) {
    const std::string arrow = (link.outgoing ? "->" : "<-") + link.peer;
    line += link.up ? " " + arrow : " (" + arrow + ")";
  }
  if (status.links.size() > kMostConnections) line += " ...";
  return line;
}

std::string quote_line(const Status& status, Line line) {
  switch (line) {
    case Line::kClusterId:
      return "Cluster ID: " +
             (status.cluster_id.known() ? with_short_name(status.cluster_id) : "not yet known");
    case Line::kServerId: return "Server ID: " + with_short_name(status.server_id);
    case Line::kAddress: return "Address: " + status.address;
    case Line::kStatus: return fmt::format("Status: {}", to_string(status.standing));
    case Line::kRemotes: {
      std::string remotes = "Remotes for joining:";
      for (const std::string& remote : status.join_remotes) remotes += " " + remote;
      return remotes;
    }
    case Line::kRole: return fmt::format("Role: {}", to_string(status.role));
    case Line::kTerm: return fmt::format("Term: {}", status.term);
    case Line::kLeader: return "Leader: " + to_string(status.leader);
    case Line::kLog: return fmt::format("Log: [{}, {}]", status.log_start, status.log_next);
    case Line::kUncommitted:
      return fmt::format("Entries not yet committed: {}", status.uncommitted);
    case Line::kUnapplied: return fmt::format("Entries not yet applied: {}", status.unapplied);
    case Line::kVote: return "Vote: " + to_string(status.vote);
    case Line::kElection: return quote_election(status);
    case Line::kElectionTimer: {
      std::string timer = fmt::format("Election timer: {}", status.election_timer.count());
      if (!status.election_timer_next) return timer;
      return timer + fmt::format(" (changing to {})", status.election_timer_next->count());
    }
    case Line::kConnections: return quote_connections(status);
    case Line::kDisconnections: return fmt::format("Disconnections: {}", status.disconnections);
  }
  return {};
}

std::string quote_status(const Status& status, std::span<const Line> lines) {
  std::string all;
  for (const Line line : lines) {
    if (!all.empty()) all += "; ";
    all += quote_line(status, line);
  }
  return all;
}

std::string quote_server(const Server& server) {
  const std::string name = server.nickname.empty() ? short_name(server.id) : server.nickname;
  std::string line = fmt::format("{} ({} at {})", name, short_name(server.id), server.address);
  const auto out = std::back_inserter(line);
  if (server.self) line += " (self)";
  if (server.phase != Phase::kNone) fmt::format_to(out, " ({})", to_string(server.phase));
  if (!server.voted_for.empty()) fmt::format_to(out, " (voted for {})", server.voted_for);
  if (server.next_index) fmt::format_to(out, " next_index={}", *server.next_index);
  if (server.match_index) fmt::format_to(out, " match_index={}", *server.match_index);
  if (server.last_message) fmt::format_to(out, " last msg {} ms ago", server.last_message->count());
  return line;
}

std::string quote_list(const Status& status) {
  std::vector<std::string> entries;
  entries.reserve(status.servers.size());
  for (const Server& server : status.servers) {
    entries.push_back(fmt::format("{} at {}", short_name(server.id), server.address));
  }
  std::ranges::sort(entries);
  return fmt::format("Servers: {}", fmt::join(entries, ", "));
}

}  // namespace

constexpr Dialect kOvsdb{
    .id = to_string,
    .short_id = short_name,
    .status = quote_status,
    .server = quote_server,
    .list = quote_list,
    .server_word = "server",
    .removal = "kick",
    .removing = "kicking",
    .join = "Join",
    .to_hear_more = "give its control socket",
    .lost_quorum =
        "Quorum is lost: a kick needs a commit and cannot work. Look on the hosts of those that do "
        "not answer whether they run, and start them. What remains when they are lost for good "
        "stands on the page of RAFT_NO_QUORUM.",
    .removed_member =
        "Find out who removed it. If nobody did, the others may run on an older copy, and its file "
        "may be the only whole one. If somebody did, do not start it with that file: move it aside "
        "and join the host as a new member, or take it out of the configuration.",
    .cloned_member =
        "First compare their sockets in the configuration: most likely they lead to one process. "
        "If they are two, stop the one that does not run on the host of the listed address, move "
        "its database file aside, and join it as a new member.",
    .too_many =
        "Remove no server for this: one that is gone for good is named by RAFT_STALE_MEMBER or "
        "RAFT_DEAD_MEMBER. After a planned change correct the expected number.",
    .advice = {},
    .kick = "cluster/kick",
    .compact = "ovsdb-server/compact",
    .keeps_committed = true,
};

std::string quote(const Local& local) {
  std::string row = fmt::format("_Server: leader={} connected={}", local.leader, local.connected);
  if (local.server_id.known()) row += " sid=" + to_string(local.server_id);
  if (local.index) fmt::format_to(std::back_inserter(row), " index={}", *local.index);
  return row;
}

}  // namespace wardmote::judge::raft
