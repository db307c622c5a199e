#include "judge/raft/quote.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/raft/cluster_snapshot.h"
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

std::vector<std::string> without_unknown(std::string name, std::string id,
                                         std::string_view address) {
  std::vector<std::string> known;
  for (std::string each : {std::move(name), std::move(id), std::string(address)}) {
    if (!each.empty() && std::ranges::find(known, each) == known.end())
      known.push_back(std::move(each));
  }
  return known;
}

}  // namespace

std::string quote(const Status& status, std::initializer_list<Line> lines) {
  std::string all;
  for (const Line line : lines) {
    if (!all.empty()) all += "; ";
    all += quote_line(status, line);
  }
  return all;
}

std::string quote(const Server& server) {
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

std::string quote(const Local& local) {
  std::string row = fmt::format("_Server: leader={} connected={}", local.leader, local.connected);
  if (local.server_id.known()) row += " sid=" + to_string(local.server_id);
  if (local.index) fmt::format_to(std::back_inserter(row), " index={}", *local.index);
  return row;
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

Evidence testify(const Member& member, std::initializer_list<Line> lines) {
  if (member.status()) return {member.name(), quote(*member.status(), lines)};
  if (member.opinion->local) return {member.name(), quote(*member.opinion->local)};
  return {member.name(), describe(member.opinion->silence())};
}

std::vector<Evidence> testify(const ClusterSnapshot& snapshot, const ListedServer& listed) {
  if (listed.at_leader) return {{snapshot.leader->name(), quote(*listed.at_leader)}};
  if (listed.line) return {{snapshot.newest->name(), quote(*listed.line)}};
  return {};
}

std::vector<std::string> names(const Member& member) {
  return without_unknown(member.name(), to_string(member.id), member.address);
}

std::vector<std::string> names(const ListedServer& listed) {
  const Member* const member = listed.reporter ? listed.reporter : listed.owner;
  return without_unknown(member ? member->name() : "", to_string(listed.id), listed.address);
}

std::string label(const Member& member) {
  if (!member.id.known()) return member.name();
  return fmt::format("{} ({})", member.name(), short_name(member.id));
}

std::string label(const ListedServer& listed) {
  return listed.id.known() ? short_name(listed.id) : std::string(listed.nickname);
}

std::string describe(const Reason& reason) {
  if (reason.text.empty()) return std::string(to_string(reason.code));
  return fmt::format("{}: {}", to_string(reason.code), reason.text);
}

}  // namespace wardmote::judge::raft
