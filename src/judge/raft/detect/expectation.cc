#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/finding.h"
#include "judge/raft/address.h"
#include "judge/raft/advice.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/docket.h"
#include "judge/raft/member_id.h"
#include "judge/raft/picture.h"
#include "judge/raft/quote.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

/// A hint may be a whole address or only its host, as in kube-ovn's NODE_IPS.
bool means(std::string_view hint, std::string_view address) noexcept {
  return hint == address || (address.contains(hint) && hint == host_of(address));
}

bool is_expected(const Picture& picture, std::string_view address) noexcept {
  return std::ranges::any_of(picture.expectation->addresses,
                             [&](const std::string& hint) { return means(hint, address); });
}

bool is_listed_anywhere(const Picture& picture, std::string_view hint) noexcept {
  const auto at = [&](const auto& entry) { return means(hint, entry.address); };
  if (std::ranges::any_of(picture.seats, at)) return true;
  return std::ranges::any_of(picture.members, [&](const Member& member) {
    return member.takes_part() && member.status() && !member.zombie &&
           std::ranges::any_of(member.status()->servers, at);
  });
}

/// Whether somebody at the address is on its way in.
bool is_joining(const Picture& picture, std::string_view hint) noexcept {
  return std::ranges::any_of(picture.members, [&](const Member& member) {
    return member.presence == Presence::kJoining && means(hint, member.address);
  });
}

bool lives_at(const Picture& picture, std::string_view hint) noexcept {
  return std::ranges::any_of(
      picture.seats, [&](const Seat& seat) { return seat.lives() && means(hint, seat.address); });
}

/// Hints and list compared.
struct Comparison {
  std::vector<const Seat*> live_strangers;  ///< listed, alive, not expected
  std::vector<std::string_view> missing;  ///< expected, in nobody's list, and nobody took its place
  std::vector<std::string_view>
      outdated;  ///< expected, dead or in nobody's list, and a live stranger is there instead
};

bool has_hints(const Picture& picture) noexcept {
  return picture.newest && !picture.expectation->addresses.empty();
}

std::vector<const Seat*> find_live_strangers(const Picture& picture) {
  std::vector<const Seat*> found;
  for (const Seat& seat : picture.seats) {
    if (seat.voter && seat.lives() && !is_expected(picture, seat.address)) found.push_back(&seat);
  }
  return found;
}

std::vector<std::string_view> find_unlisted(const Picture& picture) {
  std::vector<std::string_view> found;
  for (const std::string& hint : picture.expectation->addresses) {
    if (!is_listed_anywhere(picture, hint) && !is_joining(picture, hint)) found.push_back(hint);
  }
  std::ranges::sort(found);
  return found;
}

std::vector<std::string_view> find_dead(const Picture& picture) {
  std::vector<std::string_view> found;
  for (const std::string& hint : picture.expectation->addresses) {
    if (is_listed_anywhere(picture, hint) && !lives_at(picture, hint)) found.push_back(hint);
  }
  std::ranges::sort(found);
  return found;
}

Comparison compare(const Picture& picture) {
  Comparison result{.live_strangers = find_live_strangers(picture), .missing = {}, .outdated = {}};
  const std::vector<std::string_view> unlisted = find_unlisted(picture);
  const std::size_t replaced = std::min(unlisted.size(), result.live_strangers.size());
  result.outdated.assign(unlisted.begin(),
                         unlisted.begin() + static_cast<std::ptrdiff_t>(replaced));
  result.missing.assign(unlisted.begin() + static_cast<std::ptrdiff_t>(replaced), unlisted.end());
  for (const std::string_view hint : find_dead(picture)) {
    if (result.outdated.size() < result.live_strangers.size()) result.outdated.push_back(hint);
  }
  return result;
}

std::string quote_hints(const Picture& picture) {
  return fmt::format("expected: {}", fmt::join(picture.expectation->addresses, ", "));
}

void add_both_lists(const Picture& picture, Finding& finding) {
  finding.evidence.push_back({"configuration", quote_hints(picture)});
  finding.evidence.push_back({picture.newest->name(), quote_list(*picture.newest->status())});
}

}  // namespace

void detect_unexpected_member(const Picture& picture, Conditions& out) {
  if (!has_hints(picture)) return;
  for (const Seat& seat : picture.seats) {
    if (!seat.voter || seat.lives() || is_expected(picture, seat.address)) continue;
    const std::string key = fmt::format("{}@{}", short_name(seat.id), seat.address);
    if (seat.life != Life::kSilent) {
      out.push_back(uncertain(kRaftUnexpectedMember, key));
      continue;
    }
    Condition found = condition(kRaftUnexpectedMember, key, picture.shown);
    found.finding.subjects = names(seat);
    found.finding.summary = fmt::format("{} at {} is listed, not expected, and does not live",
                                        label(seat), seat.address);
    found.finding.evidence = testify(picture, seat);
    found.finding.evidence.push_back({"configuration", quote_hints(picture)});
    found.finding.advice = advise_kick(picture, seat);
    out.push_back(std::move(found));
  }
}

void detect_missing_member(const Picture& picture, Conditions& out) {
  if (!has_hints(picture) || find_unlisted(picture).empty()) return;
  for (const std::string_view hint : compare(picture).missing) {
    Condition found = condition(kRaftMissingMember, std::string(hint), picture.shown);
    found.finding.subjects = {std::string(hint)};
    found.finding.summary = fmt::format("{} is expected and in no member's list", hint);
    add_both_lists(picture, found.finding);
    out.push_back(std::move(found));
  }
}

void detect_stale_hint(const Picture& picture, Conditions& out) {
  if (!has_hints(picture) || find_live_strangers(picture).empty()) return;
  const Comparison hints = compare(picture);
  Condition found = condition(kRaftStaleHint, "", picture.shown);
  for (const std::string_view hint : hints.outdated) found.finding.subjects.emplace_back(hint);
  std::vector<std::string> living;
  for (const Seat* seat : hints.live_strangers) {
    std::ranges::copy(names(*seat), std::back_inserter(found.finding.subjects));
    living.push_back(fmt::format("{} at {}", label(*seat), seat->address));
  }
  if (hints.outdated.empty()) {
    found.finding.summary =
        fmt::format("{} lives and is not in the list of expected addresses: the list is old",
                    fmt::join(living, ", "));
  } else {
    found.finding.summary = fmt::format(
        "{} is expected, but {} lives in its place: the list of expected addresses is old",
        fmt::join(hints.outdated, ", "), fmt::join(living, ", "));
  }
  add_both_lists(picture, found.finding);
  out.push_back(std::move(found));
}

}  // namespace wardmote::judge::raft
