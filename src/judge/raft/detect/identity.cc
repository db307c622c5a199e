#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/finding.h"
#include "judge/raft/advice.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/docket.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/raft/picture.h"
#include "judge/raft/quote.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

std::string key_of(const Seat& seat) {
  return fmt::format("{}@{}", short_name(seat.id), seat.address);
}

bool shares_its_address(const Picture& picture, const Seat& seat) noexcept {
  return !seat.address.empty() && std::ranges::any_of(picture.seats, [&](const Seat& other) {
    return &other != &seat && other.address == seat.address;
  });
}

/// The other server at the address that is known to be the live one.
const Seat* find_live_twin(const Picture& picture, const Seat& seat) noexcept {
  for (const Seat& other : picture.seats) {
    if (&other == &seat || other.address != seat.address) continue;
    // Whoever answered last at this address is the living one, even if it does not answer at the
    // moment.
    if (other.lives() || other.reporter || (other.owner && !seat.owner && !seat.heard))
      return &other;
  }
  return nullptr;
}

void describe_ghost(const Picture& picture, const Seat& ghost, const Seat& live, Finding& finding) {
  finding.subjects = names(ghost);
  finding.summary =
      fmt::format("{} is listed at {}, but {} lives there: a ghost that counts as a voter",
                  label(ghost), ghost.address, label(live));
  finding.evidence = testify(picture, ghost);
  if (live.reporter) {
    finding.evidence.push_back(
        testify(*live.reporter, {Line::kServerId, Line::kAddress, Line::kStatus}));
  } else {
    std::ranges::copy(testify(picture, live), std::back_inserter(finding.evidence));
  }
  finding.advice = advise_kick(picture, ghost);
}

/// Nobody answers at the address: all that are listed there are named, and none is called the
/// ghost.
void describe_unresolved(const Picture& picture, std::string_view address, Finding& finding) {
  std::vector<std::string> ids;
  for (const Seat& seat : picture.seats) {
    if (seat.address != address) continue;
    ids.push_back(label(seat));
    std::ranges::copy(names(seat), std::back_inserter(finding.subjects));
    std::ranges::copy(testify(picture, seat), std::back_inserter(finding.evidence));
  }
  std::ranges::sort(ids);
  finding.summary = fmt::format("{} are all listed at {}, and none is known to live there",
                                fmt::join(ids, ", "), address);
  finding.advice =
      Advice{.text = "Find out which of the servers at this address runs before removing another."};
}

}  // namespace

void detect_cluster_id_mismatch(const Picture& picture, Conditions& out) {
  for (const Member& member : picture.members) {
    const MemberId id = member.opinion->cluster_id();
    const bool lost_joiner = member.presence == Presence::kJoining && id.known() && !id.zero() &&
                             picture.anybody_takes_part() && !compatible(id, picture.cluster_id);
    if (member.presence != Presence::kForeign && !lost_joiner) continue;
    Condition found = condition(kRaftClusterIdMismatch, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    found.finding.summary = fmt::format("{} belongs to cluster {}, the others to {}", label(member),
                                        short_name(id), short_name(picture.cluster_id));
    found.finding.evidence = {testify(member, {Line::kClusterId, Line::kRole, Line::kTerm})};
    for (const Member& other : picture.members) {
      if (other.takes_part())
        found.finding.evidence.push_back(
            testify(other, {Line::kClusterId, Line::kRole, Line::kTerm}));
    }
    out.push_back(std::move(found));
  }
}

void detect_stale_member(const Picture& picture, Conditions& out) {
  for (const Seat& seat : picture.seats) {
    if (seat.lives() || seat.reporter || !shares_its_address(picture, seat)) continue;
    if (const Seat* const live = find_live_twin(picture, seat)) {
      Condition found = condition(kRaftStaleMember, key_of(seat), picture.shown);
      describe_ghost(picture, seat, *live, found.finding);
      out.push_back(std::move(found));
    } else if (!seat.owner) {
      Condition found = condition(kRaftStaleMember, std::string(seat.address), picture.shown);
      describe_unresolved(picture, seat.address, found.finding);
      out.push_back(std::move(found));
    }
  }
}

void detect_dead_member(const Picture& picture, Conditions& out) {
  for (const Seat& seat : picture.seats) {
    if (seat.reporter || seat.attributed || !seat.voter) continue;
    if (!seat.at_leader) {
      out.push_back(uncertain(kRaftDeadMember, key_of(seat)));
      continue;
    }
    const std::optional<Milliseconds>& age = seat.at_leader->last_message;
    const bool silent = age ? !picture.fresh(*age) : tells_ages(*picture.leader->status());
    if (!silent) continue;
    const TimePoint shown = picture.leader->opinion->begun;
    Condition found = condition(kRaftDeadMember, key_of(seat), shown);
    if (age) found.since = shown - *age;
    // A slow cluster beats slowly: ten election timers if that is longer than the row's time.
    found.window.fixed = std::max<Duration>(found.window.fixed, 10 * picture.election_timer);
    found.finding.subjects = names(seat);
    found.finding.summary =
        fmt::format("{} at {} is a voter that nobody hears and no configured member accounts for",
                    label(seat), seat.address);
    found.finding.evidence = testify(picture, seat);
    found.finding.advice = advise_kick(picture, seat);
    out.push_back(std::move(found));
  }
}

void detect_zombie_member(const Picture& picture, Conditions& out) {
  for (const Member& member : picture.members) {
    if (!member.zombie) continue;
    Condition found = condition(kRaftZombieMember, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    found.finding.summary = fmt::format("{} still runs, but {} is no longer in the member list",
                                        member.name(), short_name(member.id));
    found.finding.evidence = {
        testify(member, {Line::kServerId, Line::kStatus, Line::kRole, Line::kTerm}),
        {picture.newest->name(), quote_list(*picture.newest->status())}};
    out.push_back(std::move(found));
  }
}

void detect_server_id_cloned(const Picture& picture, Conditions& out) {
  const auto answers = [](const Member& m) {
    return m.opinion->server_id().full() && !m.opinion->server_id().zero();
  };
  for (auto a = picture.members.begin(); a != picture.members.end(); ++a) {
    if (!answers(*a)) continue;
    for (auto b = a + 1; b != picture.members.end(); ++b) {
      if (!answers(*b) || a->opinion->server_id() != b->opinion->server_id()) continue;
      Condition found = condition(kRaftServerIdCloned, fmt::format("{}|{}", a->name(), b->name()),
                                  std::max(a->opinion->begun, b->opinion->begun));
      found.finding.subjects = {a->name(), b->name(), to_string(a->id)};
      found.finding.summary = fmt::format("{} and {} both answer as server {}", a->name(),
                                          b->name(), short_name(a->id));
      for (const Member* member : {&*a, &*b}) {
        found.finding.evidence.push_back(
            testify(*member, {Line::kServerId, Line::kAddress, Line::kRole, Line::kTerm}));
      }
      found.finding.advice =
          Advice{.text =
                     "First make sure that the two configured members do not lead to one process. "
                     "If they are two, stop the "
                     "copy, remove its database file, and join it as a new member."};
      out.push_back(std::move(found));
    }
  }
}

}  // namespace wardmote::judge::raft
