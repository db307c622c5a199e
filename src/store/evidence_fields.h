#pragma once
// Each type of the evidence is described once; Writer and Reader of evidence.cc use the same
// description, so that everything that is written can be read.

#include <concepts>
#include <string_view>
#include <type_traits>

#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "judge/raft/opinion.h"
#include "store/evidence.h"

namespace wardmote::store {

/// T, const or not.
template <class T, class Type>
concept Of = std::same_as<std::remove_const_t<T>, Type>;

template <class Io>
void describe(Io& io, Of<judge::Reason> auto& reason) {
  io("code", reason.code);
  io("text", reason.text);
}

template <class Io>
void describe(Io& io, Of<judge::raft::Source> auto& source) {
  describe(io, source.reason);
}

template <class Io>
void describe(Io& io, Of<judge::raft::PeerName> auto& peer) {
  io("kind", peer.kind);
  io("name", peer.name);
}

template <class Io>
void describe(Io& io, Of<judge::raft::Server> auto& server) {
  io("nickname", server.nickname);
  io("id", server.id);
  io("address", server.address);
  io("self", server.self);
  io("phase", server.phase);
  io("voted_for", server.voted_for);
  io("next_index", server.next_index);
  io("match_index", server.match_index);
  io("last_message_ms", server.last_message);
}

template <class Io>
void describe(Io& io, Of<judge::raft::Link> auto& link) {
  io("peer", link.peer);
  io("outgoing", link.outgoing);
  io("up", link.up);
}

template <class Io>
void describe(Io& io, Of<judge::raft::MembershipChange> auto& change) {
  io("adding", change.adding);
  io("id", change.id);
  io("address", change.address);
  io("phase", change.phase);
}

template <class Io>
void describe(Io& io, Of<judge::raft::Status> auto& status) {
  io("nickname", status.nickname);
  io("cluster_id", status.cluster_id);
  io("server_id", status.server_id);
  io("address", status.address);
  io("standing", status.standing);
  io("role", status.role);
  io("term", status.term);
  io("leader", status.leader);
  io("vote", status.vote);
  io("election_started_ms", status.election_started);
  io("election_won_ms", status.election_won);
  io("election_reason", status.election_reason);
  io("election_timer_ms", status.election_timer);
  io("election_timer_next_ms", status.election_timer_next);
  io("log_start", status.log_start);
  io("log_next", status.log_next);
  io("uncommitted", status.uncommitted);
  io("unapplied", status.unapplied);
  io("disconnections", status.disconnections);
  io("links", status.links);
  io("servers", status.servers);
  io("changes", status.changes);
  io("join_remotes", status.join_remotes);
}

template <class Io>
void describe(Io& io, Of<judge::raft::Local> auto& local) {
  io("leader", local.leader);
  io("connected", local.connected);
  io("cluster_id", local.cluster_id);
  io("server_id", local.server_id);
  io("index", local.index);
}

template <class Io>
void describe(Io& io, Of<judge::raft::Opinion> auto& opinion) {
  io("member", opinion.member);
  io("control_command", opinion.control_command);
  io("begun_ns", opinion.begun);
  io("ended_ns", opinion.ended);
  io("mode", opinion.mode);
  io("status_source", opinion.status_source);
  io("local_source", opinion.local_source);
  io("status", opinion.status);
  io("local", opinion.local);
  io("serves", opinion.serves);
}

template <class Io>
void describe(Io& io, Of<judge::raft::Expectation> auto& expectation) {
  io("database", expectation.database);
  io("addresses", expectation.addresses);
  io("replicas", expectation.replicas);
  io("gone_after_ns", expectation.gone_after);
}

template <class Io>
void describe(Io& io, Of<EvidenceHead> auto& head) {
  io("cluster", head.cluster);
  io("expect", head.expectation);
  io("every_ns", head.every);
}

template <class Io>
void describe(Io& io, Of<EvidenceLook> auto& look) {
  io("judged_ns", look.judged);
  io("at_ns", look.at);
  io("opinions", look.opinions);
}

/// The last of an enumeration's values, which begin with 0.
template <class Enum>
inline constexpr Enum kLast{};
template <>
inline constexpr auto kLast<judge::ReasonCode> = judge::ReasonCode::kNoResolver;
template <>
inline constexpr auto kLast<judge::raft::Mode> = judge::raft::Mode::kAbsent;
template <>
inline constexpr auto kLast<judge::raft::Role> = judge::raft::Role::kLeader;
template <>
inline constexpr auto kLast<judge::raft::Standing> = judge::raft::Standing::kDisconnected;
template <>
inline constexpr auto kLast<judge::raft::Phase> = judge::raft::Phase::kOther;
template <>
inline constexpr auto kLast<judge::raft::PeerName::Kind> = judge::raft::PeerName::Kind::kNamed;

template <class Enum>
std::string_view word(Enum value) noexcept {
  return to_string(value);
}
inline std::string_view word(judge::raft::PeerName::Kind kind) noexcept {
  switch (kind) {
    case judge::raft::PeerName::Kind::kUnknown: return "unknown";
    case judge::raft::PeerName::Kind::kSelf: return "self";
    case judge::raft::PeerName::Kind::kNamed: return "named";
  }
  return "unknown";
}

}  // namespace wardmote::store
