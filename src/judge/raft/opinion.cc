#include "judge/raft/opinion.h"

#include <string>
#include <string_view>

#include "judge/outcome.h"
#include "judge/raft/member_id.h"

namespace wardmote::judge::raft {

MemberId Opinion::server_id() const noexcept {
  if (status && status->server_id.known()) return status->server_id;
  return local ? local->server_id : MemberId{};
}

MemberId Opinion::cluster_id() const noexcept {
  if (status && status->cluster_id.known()) return status->cluster_id;
  return local ? local->cluster_id : MemberId{};
}

bool Opinion::knows_no_database() const noexcept {
  constexpr ReasonCode kUnknown = ReasonCode::kUnknownCluster;
  return status_source.reason.code == kUnknown || local_source.reason.code == kUnknown;
}

const Reason& Opinion::silence() const noexcept {
  static const Reason kNone{};
  if (speaks()) return kNone;
  // The way that was tried says more than the one that is not configured.
  return status_source.reason.code == ReasonCode::kNotProbed ? local_source.reason
                                                             : status_source.reason;
}

std::string_view to_string(Mode mode) noexcept {
  switch (mode) {
    case Mode::kUnknown: return "unknown";
    case Mode::kClustered: return "clustered";
    case Mode::kStandalone: return "standalone";
    case Mode::kRelay: return "relay";
    case Mode::kAbsent: return "absent";
  }
  return "unknown";
}

std::string_view to_string(Role role) noexcept {
  switch (role) {
    case Role::kUnknown: return "unknown";
    case Role::kFollower: return "follower";
    case Role::kCandidate: return "candidate";
    case Role::kLeader: return "leader";
  }
  return "unknown";
}

std::string_view to_string(Standing standing) noexcept {
  switch (standing) {
    case Standing::kUnknown: return "unknown";
    case Standing::kMember: return "cluster member";
    case Standing::kJoining: return "joining cluster";
    case Standing::kLeaving: return "leaving cluster";
    case Standing::kLeft: return "left cluster";
    case Standing::kFailed: return "failed";
    case Standing::kDisconnected: return "disconnected from the cluster (election timeout)";
  }
  return "unknown";
}

std::string_view to_string(Phase phase) noexcept {
  switch (phase) {
    case Phase::kNone: return "";
    case Phase::kAddingCatchup: return "adding: catchup";
    case Phase::kAddingCaughtUp: return "adding: caught up";
    case Phase::kAddingCommitting: return "adding: committing";
    case Phase::kRemoving: return "removing";
    case Phase::kOther: return "other";
  }
  return "";
}

std::string to_string(const PeerName& name) {
  switch (name.kind) {
    case PeerName::Kind::kUnknown: return "unknown";
    case PeerName::Kind::kSelf: return "self";
    case PeerName::Kind::kNamed: return name.name;
  }
  return "unknown";
}

}  // namespace wardmote::judge::raft
