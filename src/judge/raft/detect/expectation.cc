#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/raft/address.h"
#include "judge/raft/advice.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/member_id.h"
#include "judge/raft/quote.h"
#include "judge/raft/removal.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

bool is_expected(const ClusterSnapshot& snapshot, std::string_view address) noexcept {
  const std::vector<std::string>& hints = snapshot.expectation->addresses;
  // Most are written as they are listed, which is cheaper to see.
  if (std::ranges::any_of(hints, [&](const auto& hint) { return same_text(hint, address); }))
    return true;
  return std::ranges::any_of(hints, [&](const auto& hint) { return means(hint, address); });
}

bool is_listed_anywhere(const ClusterSnapshot& snapshot, std::string_view hint) noexcept {
  const auto exactly = [&](const ListedServer& listed) { return same_text(hint, listed.address); };
  if (std::ranges::any_of(snapshot.servers, exactly)) return true;
  const auto at = [&](const auto& entry) { return means(hint, entry.address); };
  if (std::ranges::any_of(snapshot.servers, at)) return true;
  return std::ranges::any_of(snapshot.members, [&](const Member& member) {
    return member.status() && !member.zombie && std::ranges::any_of(member.status()->servers, at);
  });
}

/// Whether a server at the address is joining.
bool is_joining(const ClusterSnapshot& snapshot, std::string_view hint) noexcept {
  return std::ranges::any_of(snapshot.members, [&](const Member& member) {
    return member.presence == Presence::kJoining && means(hint, member.address);
  });
}

bool lives_at(const ClusterSnapshot& snapshot, std::string_view hint) noexcept {
  return std::ranges::any_of(snapshot.servers, [&](const ListedServer& listed) {
    return listed.lives() && means(hint, listed.address);
  });
}

/// The hints compared with the list.
struct Comparison {
  std::vector<const ListedServer*> live_strangers;  ///< listed, alive, not expected
  std::vector<std::string_view> missing;  ///< expected, in no list, and no server took its place
  std::vector<std::string_view>
      outdated;  ///< expected, in no list or left, and a live unexpected server is there instead
};

bool has_hints(const ClusterSnapshot& snapshot) noexcept {
  return snapshot.newest && !snapshot.expectation->addresses.empty();
}

std::vector<const ListedServer*> find_live_strangers(const ClusterSnapshot& snapshot) {
  std::vector<const ListedServer*> found;
  for (const ListedServer& listed : snapshot.servers) {
    if (listed.voter && listed.lives() && !is_expected(snapshot, listed.address))
      found.push_back(&listed);
  }
  return found;
}

std::vector<std::string_view> find_unlisted(const ClusterSnapshot& snapshot) {
  std::vector<std::string_view> found;
  for (const std::string& hint : snapshot.expectation->addresses) {
    if (!is_listed_anywhere(snapshot, hint) && !is_joining(snapshot, hint)) found.push_back(hint);
  }
  std::ranges::sort(found);
  return found;
}

std::vector<std::string_view> find_dead(const ClusterSnapshot& snapshot) {
  std::vector<std::string_view> found;
  for (const std::string& hint : snapshot.expectation->addresses) {
    if (is_listed_anywhere(snapshot, hint) && !lives_at(snapshot, hint)) found.push_back(hint);
  }
  std::ranges::sort(found);
  return found;
}

/// Whether one of them was at this address before. A server that is down and one that is new need
/// not have anything to do with each other.
bool has_moved(const std::vector<const ListedServer*>& strangers, std::string_view hint) noexcept {
  return std::ranges::any_of(strangers, [&](const ListedServer* stranger) {
    const Member* const member = stranger->reporter ? stranger->reporter : stranger->owner;
    if (!member || !member->identity) return false;
    return std::ranges::any_of(member->identity->former_addresses,
                               [&](const std::string& former) { return means(hint, former); });
  });
}

Comparison compare(const ClusterSnapshot& snapshot) {
  Comparison result{.live_strangers = find_live_strangers(snapshot), .missing = {}, .outdated = {}};
  const std::vector<std::string_view> unlisted = find_unlisted(snapshot);
  const std::size_t replaced = std::min(unlisted.size(), result.live_strangers.size());
  result.outdated.assign(unlisted.begin(),
                         unlisted.begin() + static_cast<std::ptrdiff_t>(replaced));
  result.missing.assign(unlisted.begin() + static_cast<std::ptrdiff_t>(replaced), unlisted.end());
  for (const std::string_view hint : find_dead(snapshot)) {
    if (has_moved(result.live_strangers, hint)) result.outdated.push_back(hint);
  }
  return result;
}

std::string quote_hints(const ClusterSnapshot& snapshot) {
  return fmt::format("expected: {}", fmt::join(snapshot.expectation->addresses, ", "));
}

void add_both_lists(const ClusterSnapshot& snapshot, Finding& finding) {
  finding.evidence.push_back({"configuration", quote_hints(snapshot)});
  finding.evidence.push_back(testify_list(*snapshot.newest));
}

}  // namespace

void detect_unexpected_member(const ClusterSnapshot& snapshot, Conditions& out) {
  if (!has_hints(snapshot)) return;
  for (const ListedServer& listed : snapshot.servers) {
    if (!listed.voter || listed.lives() || is_expected(snapshot, listed.address)) continue;
    // A configured member that is down has a finding of its own; the expectation is old.
    if (listed.owner && !listed.guessed) continue;
    const std::string key = fmt::format("{}@{}", short_name(listed.id), listed.address);
    if (listed.life != Life::kSilent) {
      out.push_back(uncertain(kRaftUnexpectedMember, key));
      continue;
    }
    Condition found = condition(kRaftUnexpectedMember, key, snapshot.shown);
    found.finding.subjects = names(listed);
    const bool doubtful = awaited_elsewhere(listed) || doubt_of_death(snapshot, listed);
    found.finding.summary =
        fmt::format("{} at {} is listed, not expected, and {}", label(listed), listed.address,
                    doubtful ? "nobody knows whether it lives" : "nobody hears it");
    found.finding.evidence = testify(snapshot, listed);
    found.finding.evidence.push_back({"configuration", quote_hints(snapshot)});
    found.finding.advice = advise_kick(snapshot, listed);
    out.push_back(std::move(found));
  }
}

void detect_missing_member(const ClusterSnapshot& snapshot, Conditions& out) {
  if (!has_hints(snapshot) || find_unlisted(snapshot).empty()) return;
  for (const std::string_view hint : compare(snapshot).missing) {
    // The list that has it may be the last one that was committed.
    if (snapshot.list_in_doubt) {
      out.push_back(uncertain(kRaftMissingMember, std::string(hint)));
      continue;
    }
    Condition found = condition(kRaftMissingMember, std::string(hint), snapshot.shown);
    found.finding.subjects = {std::string(hint)};
    found.finding.summary = fmt::format("{} is expected and in no member's list", hint);
    add_both_lists(snapshot, found.finding);
    out.push_back(std::move(found));
  }
}

void detect_stale_hint(const ClusterSnapshot& snapshot, Conditions& out) {
  if (!has_hints(snapshot) || find_live_strangers(snapshot).empty()) return;
  const Comparison hints = compare(snapshot);
  Condition found = condition(kRaftStaleHint, "", snapshot.shown);
  for (const std::string_view hint : hints.outdated) found.finding.subjects.emplace_back(hint);
  std::vector<std::string> living;
  for (const ListedServer* listed : hints.live_strangers) {
    std::ranges::copy(names(*listed), std::back_inserter(found.finding.subjects));
    living.push_back(fmt::format("{} at {}", label(*listed), listed->address));
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
  add_both_lists(snapshot, found.finding);
  out.push_back(std::move(found));
}

}  // namespace wardmote::judge::raft
