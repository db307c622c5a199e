#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/dialect.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/raft/quote.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

/// The members that know a server at another address than the newest list does.
struct Claim {
  const Member* by = nullptr;
  std::string_view address;
  Evidence evidence;
};

bool is_listed_there(const Status& status, const ListedServer& listed) noexcept {
  return std::ranges::any_of(status.servers, [&](const Server& server) {
    return compatible(server.id, listed.id) && server.address == listed.address;
  });
}

std::vector<Claim> find_claims(const ClusterSnapshot& snapshot, const ListedServer& listed) {
  std::vector<Claim> claims;
  for (const Member& member : snapshot.members) {
    if (!member.comparable || !snapshot.together(member, *snapshot.newest)) continue;
    const Status& status = *member.status();
    if (listed.reporter == &member && !member.address.empty() && member.address != listed.address)
      claims.push_back(
          {&member, member.address, testify(member, {Line::kServerId, Line::kAddress})});
    if (&member == snapshot.newest || is_listed_there(status, listed)) continue;
    for (const Server& server : status.servers) {
      if (compatible(server.id, listed.id))
        claims.push_back({&member, server.address, testify(member, server)});
    }
  }
  return claims;
}

void add_server_at_two_addresses(const ClusterSnapshot& snapshot, const ListedServer& listed,
                                 Conditions& out) {
  if (!listed.id.known() || is_ambiguous(snapshot, listed)) return;
  const std::vector<Claim> claims = find_claims(snapshot, listed);
  if (claims.empty() && !listed.address.empty()) return;
  Condition found = condition(kRaftAddressMismatch, key_of(listed), snapshot.shown);
  found.finding.subjects = names(listed);
  found.finding.evidence = testify(snapshot, listed);
  if (claims.empty()) {
    found.finding.summary = fmt::format("{} is listed without an address", label(listed));
  } else {
    found.finding.summary =
        fmt::format("{} is listed at {}, and at {} by {}", label(listed), listed.address,
                    claims.front().address, label(*claims.front().by));
  }
  for (const Claim& claim : claims) {
    for (const std::string& name : {std::string(claim.address), claim.by->name()}) {
      if (std::ranges::find(found.finding.subjects, name) == found.finding.subjects.end())
        found.finding.subjects.push_back(name);
    }
    found.finding.evidence.push_back(claim.evidence);
  }
  out.push_back(std::move(found));
}

/// A server that listens with TLS and one that does not cannot talk to each other.
void add_mixed_schemes(const ClusterSnapshot& snapshot, Conditions& out) {
  std::vector<std::string> plain;
  std::vector<std::string> encrypted;
  for (const ListedServer& listed : snapshot.servers) {
    if (listed.address.starts_with("tcp:")) plain.emplace_back(listed.address);
    if (listed.address.starts_with("ssl:")) encrypted.emplace_back(listed.address);
  }
  if (plain.empty() || encrypted.empty()) return;
  std::ranges::sort(plain);
  std::ranges::sort(encrypted);
  Condition found = condition(kRaftAddressMismatch, "schemes", snapshot.shown);
  found.finding.subjects = plain.size() < encrypted.size() ? plain : encrypted;
  found.finding.summary = fmt::format("some members listen with TLS and some without: {}; {}",
                                      fmt::join(encrypted, ", "), fmt::join(plain, ", "));
  found.finding.evidence = {testify_list(*snapshot.newest)};
  out.push_back(std::move(found));
}

/// It follows the log of the leader, so it must know a changed timer.
bool is_current(const ClusterSnapshot& snapshot, const Member& member) noexcept {
  return member.comparable && member.anchored() && snapshot.newest &&
         member.status()->term == snapshot.term();
}

void add_different_timers(const ClusterSnapshot& snapshot, Conditions& out) {
  std::vector<const Member*> current;
  for (const Member& member : snapshot.members) {
    if (is_current(snapshot, member)) current.push_back(&member);
  }
  const auto timer = [](const Member* member) { return member->status()->election_timer; };
  if (current.empty()) return;
  const auto [shortest, longest] = std::ranges::minmax(current, {}, timer);
  if (timer(shortest) == timer(longest)) return;
  const Milliseconds right =
      timer(snapshot.leader && snapshot.leader->status() ? snapshot.leader : snapshot.newest);
  Condition found = condition(kRaftElectionTimerMismatch, "", snapshot.shown);
  std::vector<std::string> deviants;
  for (const Member* member : current) {
    found.finding.evidence.push_back(testify(*member, {Line::kElectionTimer}));
    if (timer(member) == right) continue;
    std::ranges::copy(names(*member), std::back_inserter(found.finding.subjects));
    deviants.push_back(fmt::format("{} runs with {} ms", label(*member), timer(member).count()));
  }
  found.finding.summary =
      fmt::format("{}, the leader with {} ms", fmt::join(deviants, ", "), right.count());
  out.push_back(std::move(found));
}

void add_endless_change(const ClusterSnapshot& snapshot, Conditions& out) {
  const Member* const leader = snapshot.leader;
  if (!leader || !leader->status() || !leader->status()->election_timer_next) return;
  Condition found =
      condition(kRaftElectionTimerMismatch, leader->name() + "|changing", leader->opinion->begun);
  found.finding.subjects = names(*leader);
  found.finding.summary =
      fmt::format("{} is changing the election timer to {} ms and does not end", label(*leader),
                  leader->status()->election_timer_next->count());
  found.finding.evidence = {testify(*leader, {Line::kElectionTimer, Line::kUncommitted})};
  out.push_back(std::move(found));
}

}  // namespace

void detect_address_mismatch(const ClusterSnapshot& snapshot, Conditions& out) {
  if (!snapshot.newest) return;
  for (const ListedServer& listed : snapshot.servers)
    add_server_at_two_addresses(snapshot, listed, out);
  add_mixed_schemes(snapshot, out);
}

void detect_election_timer_mismatch(const ClusterSnapshot& snapshot, Conditions& out) {
  add_different_timers(snapshot, out);
  add_endless_change(snapshot, out);
}

}  // namespace wardmote::judge::raft
