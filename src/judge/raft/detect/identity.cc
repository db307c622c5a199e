#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/raft/advice.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/dialect.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/raft/quote.h"
#include "judge/raft/removal.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

std::string place_key(const ListedServer& listed) {
  return fmt::format("{}@{}", short_name(listed.id), listed.address);
}

bool shares_its_address(const ClusterSnapshot& snapshot, const ListedServer& listed) noexcept {
  return !listed.address.empty() &&
         std::ranges::any_of(snapshot.servers, [&](const ListedServer& other) {
           return &other != &listed && same_text(other.address, listed.address);
         });
}

/// Both answer where they are asked, and only one of them can listen where the list says.
bool has_answering_twin(const ClusterSnapshot& snapshot, const ListedServer& listed) noexcept {
  return listed.reporter && std::ranges::any_of(snapshot.servers, [&](const ListedServer& other) {
           return &other != &listed && same_text(other.address, listed.address) && other.reporter;
         });
}

bool has_live_twin(const ClusterSnapshot& snapshot, const ListedServer& listed) noexcept {
  return std::ranges::any_of(snapshot.servers, [&](const ListedServer& other) {
    return &other != &listed && same_text(other.address, listed.address) && other.lives();
  });
}

void describe_ghost(const ClusterSnapshot& snapshot, const ListedServer& ghost,
                    const ListedServer& live, Finding& finding) {
  finding.subjects = names(ghost);
  const bool heard = ghost.heard || ghost.witnessed || ghost.linked;
  const bool doubtful = awaited_elsewhere(ghost) || may_still_live(snapshot, ghost) ||
                        doubt_of_death(snapshot, ghost);
  const auto displaced = may_be_displaced(snapshot, ghost);
  finding.summary = fmt::format("{} is listed at {}, but {} lives there: {}", label(ghost),
                                ghost.address, label(live),
                                heard       ? "and it is heard all the same"
                                : displaced ? *displaced
                                : doubtful  ? "nobody knows whether it runs elsewhere"
                                            : "a ghost that counts as a voter");
  finding.evidence = testify(snapshot, ghost);
  finding.evidence.push_back(
      testify(*live.reporter, {Line::kServerId, Line::kAddress, Line::kStatus}));
  finding.advice = advise_kick(snapshot, ghost);
}

/// The member that answers as one of those at the address through its OVSDB socket only, which does
/// not report the address.
const Member* find_mute(const ClusterSnapshot& snapshot, std::string_view address) noexcept {
  for (const ListedServer& listed : snapshot.servers) {
    if (same_text(listed.address, address) && listed.reporter && !listed.reporter->status())
      return listed.reporter;
  }
  return nullptr;
}

/// The server that answers with an address at which another may be.
const ListedServer* find_pretender(const ClusterSnapshot& snapshot,
                                   std::string_view address) noexcept {
  for (const ListedServer& listed : snapshot.servers) {
    if (same_text(listed.address, address) && listed.reporter && listed.reporter->status())
      return &listed;
  }
  return nullptr;
}

/// All servers that are listed at the address become subjects; their labels, sorted.
std::vector<std::string> name_all_at(const ClusterSnapshot& snapshot, std::string_view address,
                                     Finding& finding) {
  std::vector<std::string> ids;
  for (const ListedServer& listed : snapshot.servers) {
    if (listed.address != address) continue;
    ids.push_back(label(listed));
    std::ranges::copy(names(listed), std::back_inserter(finding.subjects));
    std::ranges::copy(testify(snapshot, listed), std::back_inserter(finding.evidence));
  }
  std::ranges::sort(ids);
  return ids;
}

/// Only one can listen there: the other has joined with its address.
void describe_two_alive(const ClusterSnapshot& snapshot, std::string_view address,
                        Finding& finding) {
  const std::vector<std::string> ids = name_all_at(snapshot, address, finding);
  finding.summary =
      fmt::format("{} are all listed at {}, and two of them live", fmt::join(ids, ", "), address);
  finding.advice = Advice{
      .text =
          "One has joined with the address of another: whichever restarts may be locked out. "
          "Find out on the hosts which of them listens there, and have the other one leave the "
          "cluster. Remove none before you know."};
}

/// Why the one that says that the address is its own may not be the one that listens there. Who was
/// alive beside another is known for good: that other one may have left the list since.
std::string doubt_of_place(const ClusterSnapshot& snapshot, const ListedServer& pretender) {
  std::vector<std::string> beside;
  bool displaced = false;
  for (const ListedServer& listed : snapshot.servers) {
    if (!same_text(listed.address, pretender.address)) continue;
    if (listed.shares_address) beside.push_back(label(listed));
    displaced |= listed.displaced;
  }
  if (beside.size() > 1) return "two of them seem to have been alive at once";
  if (beside.size() == 1) {
    return fmt::format("{} seems to have been alive once while another server, or none, was there",
                       beside.front());
  }
  if (displaced) return "one of them was heard while nobody listened there";
  if (!is_full_member(pretender)) return "it is no full member now";
  return pretender.reached ? "others have had a connection to it for a moment only"
                           : "not all others have a connection to it";
}

/// Who is at the address is not known: all servers listed there are named, and none is called the
/// ghost.
void describe_unresolved(const ClusterSnapshot& snapshot, std::string_view address,
                         Finding& finding) {
  const std::vector<std::string> ids = name_all_at(snapshot, address, finding);
  finding.summary = fmt::format("{} are all listed at {}, and no configured member answers there",
                                fmt::join(ids, ", "), address);
  if (const Member* const mute = find_mute(snapshot, address)) {
    finding.summary = fmt::format("{} are all listed at {}, and {} does not say its address",
                                  fmt::join(ids, ", "), address, label(*mute));
    finding.advice = Advice{
        .text = fmt::format("Give the control socket of {} in the configuration: without it nobody "
                            "can tell whether it is the one that lives at this address.",
                            mute->name())};
    return;
  }
  if (const ListedServer* const pretender = find_pretender(snapshot, address)) {
    const std::string id = label(*pretender);
    finding.summary =
        fmt::format("{} are all listed at {}: {} says that it is its address, and {}",
                    fmt::join(ids, ", "), address, id, doubt_of_place(snapshot, *pretender));
    finding.advice = Advice{
        .text = fmt::format("Remove none of them before you know whose address it is: {} may have "
                            "joined with the address of another, which is down now. Look where it "
                            "listens.",
                            id)};
    return;
  }
  const bool heard = std::ranges::any_of(snapshot.servers, [&](const ListedServer& listed) {
    return same_text(listed.address, address) && (listed.heard || listed.witnessed);
  });
  finding.advice = Advice{.text = heard ? "One of them is heard: configure it as a member, so that "
                                          "it can be asked which of them it is."
                                        : "Bring the server at this address back: until one of "
                                          "them answers, nobody can tell which is the ghost."};
}

Condition crossed_sockets(const Member& member) {
  Condition found = condition(kRaftServerIdCloned, member.name(), member.opinion->begun);
  found.finding.subjects = {member.name()};
  found.finding.summary = fmt::format(
      "the control socket of {} leads to server {}, its OVSDB socket to {}", member.name(),
      short_name(member.opinion->status->server_id), short_name(member.opinion->local->server_id));
  found.finding.evidence = {testify(member, {Line::kServerId, Line::kAddress}),
                            {member.name(), quote(*member.opinion->local)}};
  found.finding.advice =
      Advice{.text = fmt::format("Correct the sockets of {} in the configuration.", member.name())};
  return found;
}

}  // namespace

void detect_cluster_id_mismatch(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    const MemberId id = member.opinion->cluster_id();
    const bool lost_joiner = member.presence == Presence::kJoining && id.known() && !id.zero() &&
                             snapshot.anybody_takes_part() && !compatible(id, snapshot.cluster_id);
    const bool foreign = member.is_foreign(snapshot.cluster_id);
    if (!foreign && !lost_joiner) continue;
    Condition found = condition(kRaftClusterIdMismatch, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    if (foreign && member.presence != Presence::kForeign) {
      found.finding.summary = fmt::format(
          "{} belonged to cluster {} when it answered last, and whoever answers now to {}",
          label(member), member.dialect().short_id(member.identity->cluster),
          member.dialect().short_id(snapshot.cluster_id));
    } else {
      found.finding.summary = fmt::format("{} belongs to cluster {}, the others to {}",
                                          label(member), member.dialect().short_id(id),
                                          member.dialect().short_id(snapshot.cluster_id));
    }
    found.finding.evidence = {testify(member, {Line::kClusterId, Line::kRole, Line::kTerm})};
    for (const Member& other : snapshot.members) {
      if (other.takes_part())
        found.finding.evidence.push_back(
            testify(other, {Line::kClusterId, Line::kRole, Line::kTerm}));
    }
    out.push_back(std::move(found));
  }
}

void detect_stale_member(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const ListedServer& listed : snapshot.servers) {
    if (!shares_its_address(snapshot, listed)) continue;
    const bool both_answer = has_answering_twin(snapshot, listed);
    if (listed.reporter && !both_answer) continue;
    if (listed.lives() || both_answer) {
      // Who has joined anew is heard as the former one for a moment.
      const bool both_live = listed.shares_address && has_live_twin(snapshot, listed);
      if (!both_answer && !both_live) continue;
      Condition found = condition(kRaftStaleMember, std::string(listed.address), snapshot.shown);
      describe_two_alive(snapshot, listed.address, found.finding);
      out.push_back(std::move(found));
    } else if (const ListedServer* const live = live_heir(snapshot, listed)) {
      Condition found = condition(kRaftStaleMember, place_key(listed), snapshot.shown);
      describe_ghost(snapshot, listed, *live, found.finding);
      out.push_back(std::move(found));
    } else if (!snapshot.newest) {
      // A server that is only remembered may have been removed meanwhile.
      out.push_back(uncertain(kRaftStaleMember, place_key(listed)));
      out.push_back(uncertain(kRaftStaleMember, std::string(listed.address)));
    } else {
      Condition found = condition(kRaftStaleMember, std::string(listed.address), snapshot.shown);
      describe_unresolved(snapshot, listed.address, found.finding);
      out.push_back(std::move(found));
    }
  }
}

void detect_dead_member(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const ListedServer& listed : snapshot.servers) {
    if (listed.reporter || listed.attributed || !listed.voter) continue;
    if (!listed.at_leader) {
      out.push_back(uncertain(kRaftDeadMember, place_key(listed)));
      continue;
    }
    if (listed.lives() || !tells_ages(*snapshot.leader->status())) continue;
    // A leader that hears no majority may itself be cut off.
    if (!snapshot.leader_vouches) {
      out.push_back(uncertain(kRaftDeadMember, place_key(listed)));
      continue;
    }
    const std::optional<Milliseconds>& age = listed.at_leader->last_message;
    if (age && snapshot.fresh(*age)) continue;
    const TimePoint shown = snapshot.leader->opinion->begun;
    Condition found = condition(kRaftDeadMember, place_key(listed), shown);
    // A server that was added a moment ago has been silent since then only, however old its last
    // message is.
    if (age) found.since = std::max(shown - *age, listed.listed_since.value_or(shown - *age));
    // A slow cluster has slow heartbeats: ten election timers if that is longer than the row's
    // time.
    found.window.fixed = std::max<Duration>(found.window.fixed, 10 * snapshot.election_timer);
    found.finding.subjects = names(listed);
    found.finding.summary =
        fmt::format("{} at {} is a voter that nobody hears, and no configured member answers as it",
                    label(listed), listed.address);
    found.finding.evidence = testify(snapshot, listed);
    found.finding.advice = advise_kick(snapshot, listed);
    out.push_back(std::move(found));
  }
}

void detect_zombie_member(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    if (!member.zombie) continue;
    if (!is_list_settled(snapshot)) {
      out.push_back(uncertain(kRaftZombieMember, member.name()));
      continue;
    }
    Condition found = condition(kRaftZombieMember, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    found.finding.summary = fmt::format("{} still runs, but {} is no longer in the member list",
                                        member.name(), member.dialect().short_id(member.id));
    found.finding.evidence = {
        testify(member, {Line::kServerId, Line::kStatus, Line::kRole, Line::kTerm}),
        testify_list(*snapshot.newest)};
    out.push_back(std::move(found));
  }
}

void detect_server_id_cloned(const ClusterSnapshot& snapshot, Conditions& out) {
  for (auto a = snapshot.members.begin(); a != snapshot.members.end(); ++a) {
    if (answers_as_two(*a)) out.push_back(crossed_sockets(*a));
    for (auto b = a + 1; b != snapshot.members.end(); ++b) {
      if (!answer_as_one(*a, *b)) continue;
      Condition found = condition(kRaftServerIdCloned, fmt::format("{}|{}", a->name(), b->name()),
                                  std::max(a->opinion->begun, b->opinion->begun));
      found.finding.subjects = {a->name(), b->name(), a->dialect().id(a->id)};
      found.finding.summary = fmt::format("{} and {} both answer as {} {}", a->name(), b->name(),
                                          a->dialect().server_word, a->dialect().short_id(a->id));
      for (const Member* member : {&*a, &*b}) {
        found.finding.evidence.push_back(
            testify(*member, {Line::kServerId, Line::kAddress, Line::kRole, Line::kTerm}));
      }
      found.finding.advice = Advice{.text = std::string(a->dialect().cloned_member)};
      out.push_back(std::move(found));
    }
  }
}

}  // namespace wardmote::judge::raft
