#include "observe/ovn/convert.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "codec/ovsdb.h"
#include "codec/raft_address.h"
#include "codec/raft_status.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"

namespace wardmote::observe::ovn {

using judge::raft::Milliseconds;
using judge::raft::Mode;
using judge::raft::PeerName;
using judge::raft::Phase;
using judge::raft::Role;
using judge::raft::Standing;

namespace {

Standing to_standing(std::string_view words) noexcept {
  if (words == "cluster member") return Standing::kMember;
  if (words == "joining cluster") return Standing::kJoining;
  if (words == "leaving cluster") return Standing::kLeaving;
  if (words == "left cluster") return Standing::kLeft;
  if (words == "failed") return Standing::kFailed;
  if (words.starts_with("disconnected")) return Standing::kDisconnected;
  return Standing::kUnknown;
}

Role to_role(std::string_view word) noexcept {
  if (word == "leader") return Role::kLeader;
  if (word == "follower") return Role::kFollower;
  if (word == "candidate") return Role::kCandidate;
  return Role::kUnknown;
}

Phase to_phase(std::string_view words) noexcept {
  if (words.empty()) return Phase::kNone;
  if (words == "adding: catchup") return Phase::kAddingCatchup;
  if (words == "adding: caught up") return Phase::kAddingCaughtUp;
  if (words == "adding: committing") return Phase::kAddingCommitting;
  if (words == "removing") return Phase::kRemoving;
  return Phase::kOther;
}

PeerName to_peer(std::string name) {
  if (name.empty() || name == "unknown") return {};
  if (name == "self") return {PeerName::Kind::kSelf, {}};
  return {PeerName::Kind::kNamed, std::move(name)};
}

judge::raft::MemberId to_id(std::string_view text) noexcept {
  return judge::raft::parse_member_id(text).value_or(judge::raft::MemberId{});
}

/// A number of milliseconds from outside, limited so that thirty of them can be added without
/// overflow.
Milliseconds to_duration(std::uint64_t ms) noexcept {
  constexpr std::uint64_t kYear = 366ULL * 86400 * 1000;
  return Milliseconds(std::min(ms, kYear));
}

std::optional<Milliseconds> to_duration(std::optional<std::uint64_t> ms) noexcept {
  if (!ms) return std::nullopt;
  return to_duration(*ms);
}

judge::raft::Server to_server(codec::RaftServer line) {
  judge::raft::Server server;
  server.nickname = std::move(line.nickname);
  server.id = to_id(line.id);
  server.address = codec::normal_address(line.address);
  server.self = line.self;
  server.phase = to_phase(line.phase);
  server.voted_for = std::move(line.voted_for);
  server.next_index = line.next_index;
  server.match_index = line.match_index;
  server.last_message = to_duration(line.last_message_ms);
  return server;
}

}  // namespace

judge::raft::Status to_status(codec::RaftStatus message) {
  judge::raft::Status status;
  status.nickname = std::move(message.nickname);
  status.cluster_id = to_id(message.cluster_id);
  status.server_id = to_id(message.server_id);
  status.address = codec::normal_address(message.address);
  status.standing = to_standing(message.standing);
  if (message.standing.empty() && message.connected) {
    status.standing = *message.connected ? Standing::kMember : Standing::kDisconnected;
  }
  status.role = to_role(message.role);
  status.term = message.term.value_or(0);
  status.leader = to_peer(std::move(message.leader));
  status.vote = to_peer(std::move(message.vote));
  status.election_started = to_duration(message.election_started_ms);
  status.election_won = to_duration(message.election_won_ms);
  status.election_reason = std::move(message.election_reason);
  // OVS 2.9 to 2.11 do not print a timer: they have the default, which cannot be changed there.
  if (message.election_timer_ms) status.election_timer = to_duration(*message.election_timer_ms);
  status.election_timer_next = to_duration(message.election_timer_next_ms);
  if (message.log) {
    status.log_start = message.log->start;
    status.log_next = message.log->next;
  } else if (message.index) {
    status.log_next = *message.index + 1;
  }
  status.uncommitted = message.uncommitted.value_or(0);
  status.unapplied = message.unapplied.value_or(0);
  status.disconnections = message.disconnections.value_or(0);
  status.links.reserve(message.links.size());
  for (codec::RaftLink& link : message.links)
    status.links.push_back({std::move(link.peer), link.outgoing, link.up});
  status.servers.reserve(message.servers.size());
  for (codec::RaftServer& line : message.servers)
    status.servers.push_back(to_server(std::move(line)));
  for (const codec::RaftChange& change : message.changes) {
    status.changes.push_back({change.adding, to_id(change.id),
                              codec::normal_address(change.address), to_phase(change.phase)});
  }
  for (const std::string& remote : message.join_remotes)
    status.join_remotes.push_back(codec::normal_address(remote));
  // The JSON form has the member's own id and address only in the list.
  for (const judge::raft::Server& server : status.servers) {
    if (!server.self) continue;
    if (!status.server_id.known()) status.server_id = server.id;
    if (status.address.empty()) status.address = server.address;
    if (status.nickname.empty()) status.nickname = server.nickname;
  }
  return status;
}

judge::raft::Local to_local(const codec::ServerRow& row) {
  return {.leader = row.leader,
          .connected = row.connected,
          .cluster_id = to_id(row.cluster_id),
          .server_id = to_id(row.server_id),
          .index = row.index};
}

Mode to_mode(const codec::ServerRow& row) noexcept {
  if (row.model == "clustered") return Mode::kClustered;
  if (row.model == "standalone") return Mode::kStandalone;
  if (row.model == "relay") return Mode::kRelay;
  return Mode::kUnknown;
}

}  // namespace wardmote::observe::ovn
