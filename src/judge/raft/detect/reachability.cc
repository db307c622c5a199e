#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/dialect.h"
#include "judge/raft/history.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/raft/quote.h"
#include "judge/raft/removal.h"
#include "judge/raft/sighting.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

/// Restarts within flap_window(). A person who works on a server restarts it two or three times.
constexpr std::uint64_t kLoop = 4;
/// Whoever is heard for so long does not come and go.
constexpr Duration kStays = std::chrono::minutes(1);

void add_ways(const Member& member, Finding& finding) {
  for (const Source* source : {&member.opinion->status_source, &member.opinion->local_source}) {
    if (source->reason.code != ReasonCode::kNotProbed) {
      finding.evidence.push_back({member.name(), describe(source->reason)});
    }
  }
}

/// What speaks against that its server has ended, though nobody listens in its place.
std::optional<std::string> sign_of_a_process(const ClusterSnapshot& snapshot,
                                             const Member& member) {
  if (member.elsewhere) {
    const bool stranger_lives = std::ranges::any_of(snapshot.servers, [](const ListedServer& each) {
      return !each.reporter && each.shows_life();
    });
    if (!member.id.known() && stranger_lives)
      return "a server lives of which nobody knows the place";
    if (member.listed && member.listed->shares_address)
      return "it seems to have been alive once while another server, or none, was at its address";
    return "others have heard it, or had a connection to its address, since nobody listens there; "
           "unless they hung just then, or another server is at that address";
  }
  const Sighting* const awaited = member.listed ? member.listed->awaited_elsewhere : nullptr;
  const bool answered = awaited && awaited->server.known() && !awaited->refused;
  return answered ? awaited_elsewhere(*member.listed) : std::nullopt;
}

/// The listed servers as which no other member is known for certain.
std::vector<const ListedServer*> find_nobodys(const ClusterSnapshot& snapshot,
                                              const Member& member) {
  std::vector<const ListedServer*> found;
  for (const ListedServer& listed : snapshot.servers) {
    const bool anothers = listed.owner && listed.owner != &member && !listed.guessed;
    if (!listed.reporter && !anothers) found.push_back(&listed);
  }
  return found;
}

/// Whether the newest list has no room for it: none of its servers is this member or, where nobody
/// knows which server it was, may be.
bool is_unlisted(const ClusterSnapshot& snapshot, const Member& member) {
  if (snapshot.servers.empty() || member.is_foreign(snapshot.cluster_id)) return false;
  if (!member.id.known()) return find_nobodys(snapshot, member).empty();
  return std::ranges::none_of(snapshot.servers, [&](const ListedServer& server) {
    return compatible(server.id, member.id);
  });
}

/// Started with the database that it has, one that was removed disturbs the others, and one that is
/// being removed is lost when that is committed.
void describe_absence(const ClusterSnapshot& snapshot, const Member& member, Finding& finding) {
  if (!snapshot.anchored()) {
    finding.summary += ", and is not in the newest member list";
    finding.advice = Advice{
        .text =
            "Leave its data as they are: what is not committed may still be undone. Bring back "
            "the servers of that list first: the next leader tells whether it is a member."};
    return;
  }
  if (!is_list_settled(snapshot)) {
    finding.summary += ", and is being removed";
    finding.advice =
        Advice{.text = "Leave its data as they are: what is not committed may still be undone."};
    return;
  }
  finding.summary += member.id.known() ? ", and is not in the member list any more"
                                       : ", and no server of the member list can be this one";
  if (snapshot.history->rolled_back() != nullptr) return;
  const std::vector<const ListedServer*> may_be_it = find_nobodys(snapshot, member);
  finding.advice =
      may_be_it.empty()
          ? Advice{.text = std::string(member.dialect().removed_member)}
          : Advice{.text = fmt::format(
                       "Do not start it with the data that it had. No configured member answers as "
                       "{} at {}, which is listed: it may be this one, joined anew. Look on the "
                       "host which server is there, and move nothing aside before.",
                       label(*may_be_it.front()), may_be_it.front()->address)};
}

/// Where nobody knows which servers the silent members were, and they are more than the list has
/// room for, some of them were removed.
void describe_crowd(const ClusterSnapshot& snapshot, const Member& member, Finding& finding) {
  if (!member.unplaced() || snapshot.servers.empty()) return;
  std::vector<std::string> silent;
  for (const Member& each : snapshot.members) {
    if (each.unplaced()) silent.push_back(each.name());
  }
  const std::vector<const ListedServer*> nobodys = find_nobodys(snapshot, member);
  if (silent.size() <= nobodys.size()) return;
  std::vector<std::string> dead;
  for (const ListedServer* const each : nobodys) {
    if (!each->shows_life()) dead.push_back(fmt::format("{} at {}", label(*each), each->address));
  }
  finding.summary += fmt::format(", and at most {} of {} can be in the newest member list",
                                 nobodys.size(), fmt::join(silent, ", "));
  std::string text =
      "Leave its data as they are, and do not start it with them: it may have been "
      "removed.";
  if (!dead.empty())
    text = fmt::format(
        "Start the server that is listed: {}. Look into the database of each which "
        "of them that is. Leave the data of the others as they are, and do not start "
        "them with it: they may have been removed.",
        fmt::join(dead, ", "));
  finding.advice = Advice{.text = std::move(text)};
}

/// What is certain about a member that is down; not that no process runs.
void describe_silence(const ClusterSnapshot& snapshot, const Member& member, Finding& finding) {
  if (member.unreachable) {
    finding.summary =
        fmt::format("{} cannot be reached, and the leader does not hear it", label(member));
    finding.advice = Advice{.text =
                                "Look at its host and its network first. If the server does "
                                "not run, start it; its log says why it ended."};
  } else {
    finding.summary = fmt::format("nobody listens at {}: {}", label(member),
                                  to_string(member.opinion->silence().code));
    if (const auto sign = sign_of_a_process(snapshot, member)) {
      finding.advice = Advice{
          .text = fmt::format("Its server may run in another place: {}. Find it before you start "
                              "one: two servers of one id damage the cluster.",
                              *sign)};
    }
  }
  if (is_unlisted(snapshot, member)) return describe_absence(snapshot, member, finding);
  describe_crowd(snapshot, member, finding);
}

/// It runs, and serves as little as when it was down.
void describe_joining(const ClusterSnapshot& snapshot, const Member& member, Finding& finding) {
  finding.summary =
      fmt::format("{} runs and waits to be let in, so it does not serve", label(member));
  const auto before = std::ranges::find(snapshot.servers, &member, &ListedServer::successor);
  std::string text = snapshot.leader ? "Wait until the leader has let it in."
                                     : "No leader is there that could let it in.";
  if (before != snapshot.servers.end() && !snapshot.leader)
    text += fmt::format(
        " If the database that it had as {} is still there and whole, stop the server, put that "
        "back in its place, and start it.",
        label(*before));
  finding.advice = Advice{.text = std::move(text)};
}

/// What the list says about it, also about a server that it was before.
void add_peers(const ClusterSnapshot& snapshot, const Member& member, Finding& finding) {
  if (!member.listed) return;
  for (std::string& name : names(*member.listed)) {
    if (std::ranges::find(finding.subjects, name) == finding.subjects.end())
      finding.subjects.push_back(std::move(name));
  }
  for (Evidence& evidence : testify(snapshot, *member.listed))
    finding.evidence.push_back(std::move(evidence));
}

}  // namespace

void detect_member_down(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    // Who answers and is not let in yet does not serve again; nor does one that others have heard
    // while nobody listens in its place, which may come and go, until they have heard it for long.
    const bool stays = member.heard_since && snapshot.shown - *member.heard_since >= kStays;
    const bool may_come_and_go =
        member.presence == Presence::kUnknown && is_refusal(*member.opinion) && !stays;
    if (member.presence == Presence::kJoining || may_come_and_go)
      out.push_back(uncertain(kRaftMemberDown, member.name()));
    if (member.presence == Presence::kJoining)
      describe_joining(snapshot, member, out.back().finding);
    const bool failed = member.takes_part() && member.failed && !member.claims_to_lead();
    if (member.presence != Presence::kDown && !failed) continue;
    Condition found = condition(kRaftMemberDown, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    if (failed) {
      found.finding.summary = fmt::format("{} stopped serving after an error", label(member));
      found.finding.evidence = {testify(member, {Line::kStatus, Line::kRole, Line::kTerm})};
    } else {
      describe_silence(snapshot, member, found.finding);
      add_ways(member, found.finding);
    }
    add_peers(snapshot, member, found.finding);
    out.push_back(std::move(found));
  }
}

void detect_crash_loop(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    const Track* const track = snapshot.history->of(member);
    if (!track || track->restarts.total() < kLoop) continue;
    Condition found = condition(kRaftCrashLoop, member.name(), *track->restarts.last());
    found.since = track->restarts.first();
    found.finding.subjects = names(member);
    found.finding.summary =
        fmt::format("{} restarted {} times in {}", label(member), track->restarts.total(),
                    format_duration(snapshot.now - *track->restarts.first()));
    found.finding.evidence = {
        testify(member, {Line::kServerId, Line::kStatus, Line::kDisconnections})};
    out.push_back(std::move(found));
  }
}

void detect_member_hung(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    if (member.presence != Presence::kHung) continue;
    Condition found = condition(kRaftMemberHung, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    found.finding.summary =
        fmt::format("{} accepts connections and answers nothing", label(member));
    add_ways(member, found.finding);
    add_peers(snapshot, member, found.finding);
    out.push_back(std::move(found));
  }
}

}  // namespace wardmote::judge::raft
