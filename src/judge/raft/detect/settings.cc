#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/finding.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/docket.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/raft/picture.h"
#include "judge/raft/quote.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

/// Who knows a server at another address than the newest list does.
struct Claim {
  const Member* by = nullptr;
  std::string_view address;
  Evidence evidence;
};

/// Whether another listed server has an id that the same four digits may mean.
bool is_ambiguous(const Picture& picture, const Seat& seat) noexcept {
  return std::ranges::any_of(picture.seats, [&](const Seat& other) {
    return &other != &seat && compatible(other.id, seat.id);
  });
}

bool is_listed_there(const Status& status, const Seat& seat) noexcept {
  return std::ranges::any_of(status.servers, [&](const Server& server) {
    return compatible(server.id, seat.id) && server.address == seat.address;
  });
}

std::vector<Claim> find_claims(const Picture& picture, const Seat& seat) {
  std::vector<Claim> claims;
  for (const Member& member : picture.members) {
    if (!member.comparable || !picture.together(member, *picture.newest)) continue;
    const Status& status = *member.status();
    if (seat.reporter == &member && !member.address.empty() && member.address != seat.address)
      claims.push_back(
          {&member, member.address, testify(member, {Line::kServerId, Line::kAddress})});
    if (&member == picture.newest || is_listed_there(status, seat)) continue;
    for (const Server& server : status.servers) {
      if (compatible(server.id, seat.id))
        claims.push_back({&member, server.address, {member.name(), quote(server)}});
    }
  }
  return claims;
}

void add_server_at_two_addresses(const Picture& picture, const Seat& seat, Conditions& out) {
  if (!seat.id.known() || is_ambiguous(picture, seat)) return;
  const std::vector<Claim> claims = find_claims(picture, seat);
  if (claims.empty() && !seat.address.empty()) return;
  Condition found = condition(kRaftAddressMismatch, label(seat), picture.shown);
  found.finding.subjects = names(seat);
  found.finding.evidence = testify(picture, seat);
  if (claims.empty()) {
    found.finding.summary = fmt::format("{} is listed without an address", label(seat));
  } else {
    found.finding.summary =
        fmt::format("{} is listed at {}, and at {} by {}", label(seat), seat.address,
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
void add_mixed_schemes(const Picture& picture, Conditions& out) {
  std::vector<std::string> plain;
  std::vector<std::string> encrypted;
  for (const Seat& seat : picture.seats) {
    if (seat.address.starts_with("tcp:")) plain.emplace_back(seat.address);
    if (seat.address.starts_with("ssl:")) encrypted.emplace_back(seat.address);
  }
  if (plain.empty() || encrypted.empty()) return;
  std::ranges::sort(plain);
  std::ranges::sort(encrypted);
  Condition found = condition(kRaftAddressMismatch, "schemes", picture.shown);
  found.finding.subjects = plain.size() < encrypted.size() ? plain : encrypted;
  found.finding.summary = fmt::format("some members listen with TLS and some without: {}; {}",
                                      fmt::join(encrypted, ", "), fmt::join(plain, ", "));
  found.finding.evidence = {{picture.newest->name(), quote_list(*picture.newest->status())}};
  out.push_back(std::move(found));
}

/// Follows the log of the leader, so that it must know of a changed timer.
bool is_current(const Picture& picture, const Member& member) noexcept {
  return member.comparable && member.anchored() && picture.newest &&
         member.status()->term == picture.term();
}

void add_different_timers(const Picture& picture, Conditions& out) {
  std::vector<const Member*> current;
  for (const Member& member : picture.members) {
    if (is_current(picture, member)) current.push_back(&member);
  }
  const auto timer = [](const Member* member) { return member->status()->election_timer; };
  if (current.empty()) return;
  const auto [shortest, longest] = std::ranges::minmax(current, {}, timer);
  if (timer(shortest) == timer(longest)) return;
  const Milliseconds right =
      timer(picture.leader && picture.leader->status() ? picture.leader : picture.newest);
  Condition found = condition(kRaftElectionTimerMismatch, "", picture.shown);
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

void add_endless_change(const Picture& picture, Conditions& out) {
  const Member* const leader = picture.leader;
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

void detect_address_mismatch(const Picture& picture, Conditions& out) {
  if (!picture.newest) return;
  for (const Seat& seat : picture.seats) add_server_at_two_addresses(picture, seat, out);
  add_mixed_schemes(picture, out);
}

void detect_election_timer_mismatch(const Picture& picture, Conditions& out) {
  add_different_timers(picture, out);
  add_endless_change(picture, out);
}

}  // namespace wardmote::judge::raft
