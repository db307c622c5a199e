#include "judge/raft/member_verdict.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/dialect.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/raft/quote.h"

namespace wardmote::judge::raft {
namespace {

MemberVerdict fail_because(std::string text) {
  return {Outcome::kFail, {ReasonCode::kState, std::move(text)}};
}
MemberVerdict warn_because(std::string text) {
  return {Outcome::kWarn, {ReasonCode::kState, std::move(text)}};
}

MemberVerdict judge_silent(const Member& member) {
  Reason reason = member.opinion->silence();
  if (member.heard) {
    return {Outcome::kUnknown,
            {reason.code, fmt::format("others hear it, we do not ({})", to_string(reason.code))}};
  }
  if (member.starved) reason.code = ReasonCode::kProberStarved;
  if (reason.text.empty()) reason.text = to_string(reason.code);
  return {member.presence == Presence::kUnknown ? Outcome::kUnknown : Outcome::kFail,
          std::move(reason)};
}

MemberVerdict judge_outsider(const ClusterSnapshot& snapshot, const Member& member) {
  switch (member.presence) {
    case Presence::kGone: {
      if (member.lacks_database(snapshot)) {
        return {Outcome::kFail, {ReasonCode::kUnknownCluster, "does not serve the database"}};
      }
      const bool left = member.status() != nullptr;
      return {
          Outcome::kFail,
          {ReasonCode::kUnknownCluster, left ? "left the cluster" : "not in the cluster any more"}};
    }
    case Presence::kOtherMode: {
      const Mode mode = member.opinion->mode;
      const bool named = mode == Mode::kStandalone || mode == Mode::kRelay;
      return {Outcome::kFail,
              {ReasonCode::kNotClustered, std::string(named ? to_string(mode) : "not clustered")}};
    }
    case Presence::kForeign:
      return fail_because(fmt::format("other cluster (is {}, the cluster is {})",
                                      member.dialect().short_id(member.opinion->cluster_id()),
                                      snapshot.dialect->short_id(snapshot.cluster_id)));
    case Presence::kJoining: return warn_because("joining cluster");
    default: return judge_silent(member);
  }
}

bool is_cloned(const ClusterSnapshot& snapshot, const Member& member) noexcept {
  return std::ranges::any_of(snapshot.members, [&](const Member& other) {
    return &other != &member && other.takes_part() && other.id.full() && other.id == member.id;
  });
}

/// Another server that is listed at the member's address, and does not answer.
const ListedServer* find_other_there(const ClusterSnapshot& snapshot,
                                     const Member& member) noexcept {
  for (const ListedServer& listed : snapshot.servers) {
    if (!listed.address.empty() && listed.successor == &member && listed.voter) return &listed;
  }
  return nullptr;
}

MemberVerdict judge_leader(const ClusterSnapshot& snapshot, const Member& member) {
  const Status* const status = member.status();
  if (status && snapshot.anchored() && status->term < snapshot.term()) {
    return warn_because(
        fmt::format("stale leader (term {}, the cluster is in {})", status->term, snapshot.term()));
  }
  if (lacks_majority(snapshot, member)) return warn_because("leads without a majority");
  return {Outcome::kOk, {}};
}

MemberVerdict judge_follower(const ClusterSnapshot& snapshot, const Member& member) {
  const Status* const status = member.status();
  if (!status) {
    if (member.opinion->local && !member.opinion->local->connected)
      return fail_because("not connected to the cluster");
    return {Outcome::kOk, {}};
  }
  if (status->standing == Standing::kDisconnected)
    return fail_because("disconnected (election timeout)");
  if (status->role == Role::kCandidate) return warn_because("candidate");
  if (!member.hears_leader) {
    const bool named = status->leader.kind == PeerName::Kind::kNamed;
    return warn_because(named ? fmt::format("does not hear leader {}", status->leader.name)
                              : "knows no leader");
  }
  if (snapshot.anchored() && status->term != snapshot.term()) {
    return warn_because(
        fmt::format("term {}, the cluster is in {}", status->term, snapshot.term()));
  }
  return {Outcome::kOk, {}};
}

MemberVerdict judge_member(const ClusterSnapshot& snapshot, const Member& member) {
  if (!member.takes_part()) return judge_outsider(snapshot, member);
  if (member.failed) return fail_because(member.claims_to_lead() ? "failed leader" : "failed");
  if (is_cloned(snapshot, member))
    return fail_because(fmt::format("{} id {} answers twice", member.dialect().server_word,
                                    member.dialect().short_id(member.id)));
  if (member.zombie) {
    return fail_because(fmt::format("removed (is {}, not in the member list)",
                                    member.dialect().short_id(member.id)));
  }
  MemberVerdict verdict =
      member.claims_to_lead() ? judge_leader(snapshot, member) : judge_follower(snapshot, member);
  if (verdict.outcome != Outcome::kOk) return verdict;
  if (member.presence == Presence::kLeaving) return warn_because("leaving cluster");
  if (const ListedServer* const other = find_other_there(snapshot, member)) {
    if (other->is_loose())
      return warn_because(fmt::format("{} is listed at its address, too", label(*other)));
    // It was wiped, and came back with a new id.
    return warn_because(fmt::format("stale-{}-id (is {}, known as {})",
                                    member.dialect().server_word,
                                    member.dialect().short_id(member.id), label(*other)));
  }
  return verdict;
}

}  // namespace

std::vector<MemberVerdict> judge_members(const ClusterSnapshot& snapshot) {
  std::vector<MemberVerdict> verdicts(snapshot.members.size());
  for (const Member& member : snapshot.members)
    verdicts[member.index] = judge_member(snapshot, member);
  return verdicts;
}

}  // namespace wardmote::judge::raft
