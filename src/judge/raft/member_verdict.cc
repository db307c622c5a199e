#include "judge/raft/member_verdict.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/raft/picture.h"
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

MemberVerdict judge_outsider(const Picture& picture, const Member& member) {
  switch (member.presence) {
    case Presence::kGone: {
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
                                      short_name(member.opinion->cluster_id()),
                                      short_name(picture.cluster_id)));
    case Presence::kJoining: return warn_because("joining cluster");
    default: return judge_silent(member);
  }
}

bool is_cloned(const Picture& picture, const Member& member) noexcept {
  return std::ranges::any_of(picture.members, [&](const Member& other) {
    return &other != &member && other.takes_part() && other.id.full() && other.id == member.id;
  });
}

/// A listed server at the member's address that it is not: the member was wiped and came back as
/// another.
const Seat* find_ghost(const Picture& picture, const Member& member) noexcept {
  for (const Seat& seat : picture.seats) {
    if (!seat.address.empty() && seat.successor == &member && seat.voter) return &seat;
  }
  return nullptr;
}

MemberVerdict judge_leader(const Picture& picture, const Member& member) {
  const Status* const status = member.status();
  if (status && picture.anchored() && status->term < picture.term()) {
    return warn_because(
        fmt::format("stale leader (term {}, the cluster is in {})", status->term, picture.term()));
  }
  if (lacks_majority(picture, member)) return warn_because("leads without a majority");
  return {Outcome::kOk, {}};
}

MemberVerdict judge_follower(const Picture& picture, const Member& member) {
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
  if (picture.anchored() && status->term != picture.term()) {
    return warn_because(fmt::format("term {}, the cluster is in {}", status->term, picture.term()));
  }
  return {Outcome::kOk, {}};
}

MemberVerdict judge_member(const Picture& picture, const Member& member) {
  if (!member.takes_part()) return judge_outsider(picture, member);
  if (member.failed) return fail_because(member.claims_to_lead() ? "failed leader" : "failed");
  if (is_cloned(picture, member))
    return fail_because(fmt::format("server id {} answers twice", short_name(member.id)));
  if (member.zombie) {
    return fail_because(
        fmt::format("removed (is {}, not in the member list)", short_name(member.id)));
  }
  MemberVerdict verdict =
      member.claims_to_lead() ? judge_leader(picture, member) : judge_follower(picture, member);
  if (verdict.outcome != Outcome::kOk) return verdict;
  if (member.presence == Presence::kLeaving) return warn_because("leaving cluster");
  if (const Seat* const ghost = find_ghost(picture, member)) {
    return warn_because(
        fmt::format("stale-server-id (is {}, known as {})", short_name(member.id), label(*ghost)));
  }
  return verdict;
}

}  // namespace

std::vector<MemberVerdict> judge_members(const Picture& picture) {
  std::vector<MemberVerdict> verdicts(picture.members.size());
  for (const Member& member : picture.members)
    verdicts[member.index] = judge_member(picture, member);
  return verdicts;
}

}  // namespace wardmote::judge::raft
