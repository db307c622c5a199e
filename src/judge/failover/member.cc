#include "judge/failover/member.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"
#include "judge/failover/digest_ring.h"

namespace wardmote::judge::failover {
namespace {

using Verdict = Candidacy::Verdict;

bool holds(std::span<const ContentHash> trail, const ContentHash& content) noexcept {
  return std::ranges::find(trail, content) != trail.end();
}

Candidacy refuse(std::string reason) {
  return {Verdict::kRefuse, std::move(reason)};
}

Candidacy wait(std::string reason) {
  return {Verdict::kWait, std::move(reason)};
}

/// A server that is down or does not answer is not waited for.
bool may_change(Copy copy) noexcept {
  return copy == Copy::kFollowing || copy == Copy::kSearching || copy == Copy::kStray ||
         copy == Copy::kActive;
}

/// What a server has that is down or hangs cannot be promoted, and nobody waits for it.
bool answers(const Member& member) noexcept {
  const auto there = [](Copy copy) {
    return copy != Copy::kDown && copy != Copy::kHung && copy != Copy::kUnknown;
  };
  return there(member.nb) && there(member.sb);
}

bool usable(const Member& member) noexcept {
  return !member.position.empty && member.position.sync != SyncState::kHalf;
}

/// It may be promoted as far as it goes by itself.
bool stands(const Member& member) noexcept {
  return !member.observes && !member.nofailover && member.unfit.empty() && member.settled() &&
         usable(member);
}

/// Why the copy by itself must not be promoted, whatever the others have; empty: it may.
std::string own_hindrance(const Member& own, const PairRecord& record, bool forced) {
  if (own.observes) return "this node only observes";
  if (own.nofailover) return "this node has the tag nofailover";
  if (!own.unfit.empty()) return own.unfit;
  if (own.position.sync == SyncState::kHalf)
    return "this copy was being replaced, and that did not end";
  if (own.position.empty && record.epoch > 0)
    return "this copy is empty, and the databases had rows";
  if (forced) return {};
  const auto epoch = counted_epoch(own.position.epoch, record);
  if (!epoch)
    return fmt::format(
        "this copy is of epoch {}, and the store knows of none after {}: it is an "
        "older store",
        own.position.epoch, record.claimed);
  if (*epoch < record.epoch)
    return fmt::format("this copy is of epoch {}, and {} was promoted in epoch {}", *epoch,
                       record.active, record.epoch);
  return {};
}

/// Against what the last active node published. Who was active in the epoch has all of it.
std::string behind_published(const Member& own, const PairRecord& record) {
  if (record.epoch == 0 || own.name == record.active) return {};
  if (record.trail.empty()) return fmt::format("nobody knows what {} had last", record.active);
  if (record.released && relate(own.sb_trail, record.sb_trail) == Relation::kBehind)
    return fmt::format("{} had southbound rows that this copy does not have", record.active);
  const Relation relation = relate(own.trail, record.trail);
  if (relation == Relation::kSame || relation == Relation::kAhead) return {};
  if (relation == Relation::kBehind || record.released)
    return fmt::format("{} had rows that this copy does not have", record.active);
  // Commits that came together show as one content. Who had one of the last contents and has
  // another one now went on from there, and further than the last one if nothing speaks against it:
  // of commits that came together there, it may have some.
  const bool met = std::ranges::any_of(
      record.trail, [&](const ContentHash& one) { return holds(own.trail, one); });
  const bool less =
      own.position.counter < record.published.counter || own.position.size < record.published.size;
  if (met && !less) return {};
  return fmt::format("nothing shows that this copy has what {} had last", record.active);
}

/// The northbound database decides. Where both have the same of it, the southbound one has rows of
/// its own: those of the chassis, and what people write.
bool is_behind(const Member& own, const Member& peer) noexcept {
  const Relation relation = relate(own.trail, peer.trail);
  return relation == Relation::kBehind ||
         (relation == Relation::kSame && relate(own.sb_trail, peer.sb_trail) == Relation::kBehind);
}

/// Certain facts alone: another copy of the same epoch that is there has more.
std::string behind_peer(const Member& own, std::span<const Member> peers,
                        const PairRecord& record) {
  const auto mine = counted_epoch(own.position.epoch, record);
  for (const Member& peer : peers) {
    const auto theirs = counted_epoch(peer.position.epoch, record);
    const bool counts =
        usable(peer) && answers(peer) && theirs && mine && *theirs >= *mine && !peer.observes;
    if (peer.name == own.name || !counts) continue;
    if (*theirs > *mine) return peer.name;
    if (!peer.distrusted && is_behind(own, peer)) return peer.name;
  }
  return {};
}

/// Nothing relates the two contents, as after a restart of both, and there are signs that the other
/// copy has more.
std::string may_be_behind(const Member& own, std::span<const Member> peers,
                          const PairRecord& record) {
  const auto mine = counted_epoch(own.position.epoch, record);
  for (const Member& peer : peers) {
    const bool same = counted_epoch(peer.position.epoch, record) == mine;
    const bool counts = usable(peer) && answers(peer) && !peer.distrusted && same;
    if (peer.name == own.name || !counts) continue;
    if (relate(own.trail, peer.trail) != Relation::kUnknown) continue;
    const bool more =
        peer.position.counter > own.position.counter || peer.position.size > own.position.size;
    if (more) return peer.name;
  }
  return {};
}

bool is_forbidden(const Member& own, std::span<const Member> all, const PairRecord& record) {
  return !own_hindrance(own, record, false).empty() || !behind_published(own, record).empty() ||
         !behind_peer(own, all, record).empty();
}

/// Signs of what a copy has: the lower, the more.
auto rank_of_content(const Member& member, const PairRecord& record) {
  const bool was_active = member.name == record.active;
  return std::tuple(was_active ? 0 : 1, -member.position.counter,
                    -static_cast<std::int64_t>(member.position.size));
}

/// What the operator prefers, then the name.
auto rank_of_preference(const Member& member) {
  return std::pair(-member.priority, member.name);
}

/// A total order, so that of several that nothing forbids exactly one goes first.
bool goes_before(const Member& one, const Member& other, const PairRecord& record, bool begun) {
  if (relate(other.trail, one.trail) != Relation::kSame) {
    const auto first = rank_of_content(one, record);
    const auto second = rank_of_content(other, record);
    if (first != second) return first < second;
  }
  return !begun && rank_of_preference(one) < rank_of_preference(other);
}

/// Who goes before `own` of those that may be promoted; empty: nobody.
std::string first_of(const Member& own, std::span<const Member> all, const PairRecord& record,
                     bool begun) {
  const Member* best = &own;
  for (const Member& peer : all) {
    if (peer.name == own.name || !stands(peer) || is_forbidden(peer, all, record)) continue;
    if (goes_before(peer, *best, record, begun)) best = &peer;
  }
  return best == &own ? std::string() : best->name;
}

bool has_rows(const Member& member) {
  return !member.position.empty;
}

bool wrote(const Member& member) {
  return member.position.sync == SyncState::kWasActive;
}

/// Before the first promotion everybody must have said what it has.
std::optional<Candidacy> waits_for_a_word(std::span<const Member> all, const Choice& choice) {
  for (const std::string& name : choice.members) {
    const auto found = std::ranges::find(all, name, &Member::name);
    if (found == all.end())
      return wait(fmt::format("nobody was promoted yet, and {} does not say what it has", name));
    if (found->observes)
      return wait(fmt::format("nobody was promoted yet, and {} only observes", name));
    if (!found->settled())
      return wait(fmt::format("nobody was promoted yet, and {} still copies or writes", name));
  }
  return std::nullopt;
}

/// Rows that this copy would lose.
std::optional<Candidacy> lacks_rows(const Member& own, std::span<const Member> all) {
  const bool any = std::ranges::any_of(all, has_rows);
  if (any && own.position.empty) return refuse("this copy is empty, and another has rows");
  for (const Member& peer : all) {
    if (peer.name == own.name || !has_rows(peer)) continue;
    const Relation relation = relate(own.trail, peer.trail);
    if (relation == Relation::kSame || relation == Relation::kAhead) continue;
    if (wrote(own) && !wrote(peer)) continue;
    if (relation == Relation::kBehind || wrote(peer))
      return refuse(fmt::format("{} has rows that this copy does not have", peer.name));
    return refuse(fmt::format("{} has other rows, and nobody knows which copy counts", peer.name));
  }
  return std::nullopt;
}

/// Of those that have the same exactly one goes first.
std::optional<Candidacy> gives_way(const Member& own, std::span<const Member> all) {
  for (const Member& peer : all) {
    const bool same = has_rows(peer) == has_rows(own) &&
                      (!has_rows(own) || relate(own.trail, peer.trail) == Relation::kSame);
    if (peer.name == own.name || !same) continue;
    const bool before = rank_of_preference(peer) < rank_of_preference(own);
    const bool may = !peer.nofailover && peer.unfit.empty();
    if ((stands(peer) && !stands(own)) || (may && before))
      return wait(fmt::format("{} is to be promoted", peer.name));
  }
  return std::nullopt;
}

/// Nobody was ever promoted here: which copy counts is not known but by what all of them have.
Candidacy judge_first(const Member& own, std::span<const Member> all, const Choice& choice) {
  if (auto waits = waits_for_a_word(all, choice)) return *std::move(waits);
  if (auto refused = lacks_rows(own, all)) return *std::move(refused);
  auto waits = choice.begun ? std::nullopt : gives_way(own, all);
  if (waits) return *std::move(waits);
  return {Verdict::kGo, "this copy is the one that counts"};
}

/// Who was named when the active node gave up is there, and nothing keeps it from being promoted
/// that it would see itself.
bool heir_may_come(std::span<const Member> peers, const PairRecord& record) {
  const auto heir = std::ranges::find(peers, record.heir, &Member::name);
  return heir != peers.end() && answers(*heir) && usable(*heir) &&
         own_hindrance(*heir, record, false).empty() && behind_published(*heir, record).empty();
}

}  // namespace

Relation relate(std::span<const ContentHash> own, std::span<const ContentHash> other) noexcept {
  if (own.empty() || other.empty()) return Relation::kUnknown;
  if (own.back() == other.back()) return Relation::kSame;
  const bool ahead = holds(own, other.back());
  const bool behind = holds(other, own.back());
  // Each had what the other has: their contents went to and fro.
  if (ahead == behind) return Relation::kUnknown;
  return ahead ? Relation::kAhead : Relation::kBehind;
}

std::optional<std::uint64_t> counted_epoch(std::uint64_t epoch, const PairRecord& record) noexcept {
  if (epoch > record.claimed) return std::nullopt;
  return std::min(epoch, record.epoch);
}

Candidacy judge_candidate(const Member& own, std::span<const Member> peers,
                          const PairRecord& record, const Choice& choice) {
  if (std::string why = own_hindrance(own, record, choice.forced); !why.empty())
    return refuse(std::move(why));
  if (!own.settled()) return wait("this copy is not settled yet");
  if (choice.forced) return {Verdict::kGo, "an operator ordered it"};
  std::vector<Member> all(peers.begin(), peers.end());
  all.push_back(own);
  if (record.epoch == 0) return judge_first(own, all, choice);
  if (std::string why = behind_published(own, record); !why.empty()) return refuse(std::move(why));
  if (record.released && record.heir == own.name)
    // What was released does not change any more, and this copy has all of it.
    return {Verdict::kGo, fmt::format("{} gave up for this node", record.active)};
  if (record.released && !choice.begun && heir_may_come(peers, record))
    return wait(fmt::format("{} gave up for {}", record.active, record.heir));
  for (const Member& peer : peers) {
    if (!peer.observes && answers(peer) && (may_change(peer.nb) || may_change(peer.sb)))
      return wait(fmt::format("{} is not settled yet", peer.name));
  }
  if (const std::string better = behind_peer(own, peers, record); !better.empty())
    return refuse(fmt::format("{} has rows that this copy does not have", better));
  if (const std::string first = first_of(own, all, record, choice.begun); !first.empty())
    return wait(fmt::format("{} is to be promoted", first));
  const std::string unknown = own.name == record.active ? "" : may_be_behind(own, peers, record);
  if (!unknown.empty())
    return refuse(fmt::format("{} may have rows that this copy does not have", unknown));
  return {Verdict::kGo, "no copy that is there has more"};
}

std::string heir_hindrance(const Member& member) {
  if (member.observes) return "it only observes";
  if (member.nofailover) return "it has the tag nofailover";
  if (!member.unfit.empty()) return member.unfit;
  const bool follows = member.nb == Copy::kFollowing && member.sb == Copy::kFollowing;
  return follows ? "" : "it does not follow the active node";
}

std::string_view to_string(Candidacy::Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kGo: return "go";
    case Verdict::kWait: return "wait";
    case Verdict::kRefuse: return "refuse";
  }
  return "refuse";
}

}  // namespace wardmote::judge::failover
