#include "judge/failover/decision.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace wardmote::judge::failover {
namespace {

template <class... Members>
constexpr Set of(Members... members) noexcept {
  return static_cast<Set>(((1U << static_cast<unsigned>(members)) | ...));
}

template <class Member>
constexpr bool has(Set set, Member member) noexcept {
  return (set & of(member)) != 0;
}

constexpr Set kBackup = of(Copy::kFollowing, Copy::kSearching, Copy::kStray, Copy::kIsolated);
constexpr Set kNotMine = of(Lock::kReleased, Lock::kOther, Lock::kNone);

constexpr auto kTable = std::to_array<Row>({
    // What may be writable without a right to it comes first: no other knowledge is needed.
    {.any = of(Copy::kHung),
     .lock = of(Lock::kUnknown),
     .decision = {Action::kWait, "a server is hung, and nobody says who may be active"}},
    {.any = of(Copy::kHung),
     .decision = {Action::kEnd, "a server is hung, and may be writable when it goes on"}},
    {.any = of(Copy::kActive),
     .lock = of(Lock::kOther),
     .decision = {Action::kStepDown, "this copy is writable, and another node is the active one"}},
    {.any = of(Copy::kActive),
     .lock = of(Lock::kNone),
     .decision = {Action::kStepDown, "this copy is writable, and nobody made it the active one"}},
    {.any = of(Copy::kActive),
     .lock = of(Lock::kReleased),
     .decision = {Action::kIsolate, "this node gives up being the active one"}},
    {.any = of(Copy::kActive),
     .lock = of(Lock::kMine),
     .epoch = of(Epoch::kOlder),
     .decision = {Action::kStepDown, "this copy is writable, and another was promoted since"}},
    {.any = of(Copy::kActive),
     .lock = of(Lock::kMine),
     .freshness = of(Freshness::kEmpty),
     .decision = {Action::kStepDown, "this copy is writable and has lost all its rows"}},
    {.any = of(Copy::kActive),
     .lock = of(Lock::kMine),
     .freshness = of(Freshness::kHalfSynced),
     .decision = {Action::kStepDown, "this copy is writable, and only a part of it was copied"}},
    // One role for both.
    {.any = of(Copy::kUnknown), .decision = {Action::kWait, "a server could not be asked"}},
    {.any = of(Copy::kDown),
     .lock = of(Lock::kMine, Lock::kOther, Lock::kNone, Lock::kUnknown),
     .decision = {Action::kStart, "a server is down"}},
    {.both = of(Copy::kActive),
     .lock = of(Lock::kMine),
     .decision = {Action::kNone, "both databases are writable, as they should be"}},
    {.any = of(Copy::kActive),
     .lock = of(Lock::kUnknown),
     .decision = {Action::kWait, "nobody says who may be active"}},
    // Here one of two is writable and the other is not.
    {.any = of(Copy::kActive),
     .both = of(Copy::kActive, Copy::kFollowing, Copy::kStray),
     .lock = of(Lock::kMine),
     .decision = {Action::kStepDown,
                  "one database is writable, and the other is a copy of somebody else's"}},
    // All that follows is decided for two backups, or for one writable and one that nobody
    // replaces.
    {.lock = of(Lock::kMine),
     .freshness = of(Freshness::kEmpty),
     .decision = {Action::kRefuse, "this copy is empty, and the cluster had rows"}},
    {.lock = of(Lock::kMine),
     .epoch = of(Epoch::kOlder),
     .decision = {Action::kRefuse, "another copy was promoted after this one"}},
    {.lock = of(Lock::kMine),
     .freshness = of(Freshness::kHalfSynced),
     .decision = {Action::kRefuse, "this copy was being replaced, and that did not end"}},
    {.both = kBackup,
     .lock = of(Lock::kMine),
     .freshness = of(Freshness::kBehind),
     .decision = {Action::kRefuse, "another copy has rows that this one does not have"}},
    {.both = kBackup,
     .lock = of(Lock::kMine),
     .decision = {Action::kPromote, "this copy may become the active one"}},
    {.lock = of(Lock::kMine),
     .decision = {Action::kPromote, "one of two databases is not writable"}},
    // Two backups, and this node is not to be active.
    {.both = of(Copy::kIsolated),
     .lock = of(Lock::kOther),
     .source = of(Source::kSelf),
     .decision = {Action::kNone, "this node itself has the address"}},
    {.both = of(Copy::kIsolated),
     .lock = of(Lock::kOther),
     .source = of(Source::kEmpty),
     .decision = {Action::kNone, "its copy is empty, and would empty this one"}},
    {.both = of(Copy::kIsolated),
     .lock = of(Lock::kOther),
     .source = of(Source::kOlder),
     .decision = {Action::kNone, "its copy is older than this one"}},
    {.lock = of(Lock::kOther),
     .source = of(Source::kSelf),
     .decision = {Action::kIsolate, "a server that copies itself becomes writable"}},
    {.lock = of(Lock::kOther),
     .source = of(Source::kEmpty),
     .decision = {Action::kIsolate, "the holder's copy is empty, and would empty this one"}},
    {.lock = of(Lock::kOther),
     .source = of(Source::kOlder),
     .decision = {Action::kIsolate, "the holder's copy is older than this one"}},
    {.both = of(Copy::kFollowing),
     .lock = of(Lock::kOther),
     .decision = {Action::kNone, "both databases follow the active node"}},
    {.lock = of(Lock::kOther),
     .source = of(Source::kGood),
     .decision = {Action::kFollow, "another node is the active one"}},
    {.any = of(Copy::kStray),
     .lock = kNotMine,
     .decision = {Action::kIsolate, "this node follows a server that is not the active one"}},
    {.lock = of(Lock::kOther), .decision = {Action::kWait, "the active node does not answer yet"}},
    {.lock = kNotMine, .decision = {Action::kNone, "both databases are read-only"}},
    {.decision = {Action::kWait, "nobody says who may be active"}},
});

}  // namespace

bool Row::fits(const Situation& situation) const noexcept {
  const auto in = [](Set set, auto member) { return set == 0 || has(set, member); };
  if (any != 0 && !has(any, situation.nb) && !has(any, situation.sb)) return false;
  return in(both, situation.nb) && in(both, situation.sb) && in(lock, situation.lock) &&
         in(epoch, situation.epoch) && in(freshness, situation.freshness) &&
         in(source, situation.source);
}

Decision decide(std::span<const Row> table, const Situation& situation) noexcept {
  const auto row = std::ranges::find_if(table, [&](const Row& one) { return one.fits(situation); });
  return row == table.end() ? Decision{} : row->decision;
}

Decision decide(const Situation& situation) noexcept {
  return decide(kTable, situation);
}

std::span<const Row> decisions() noexcept {
  return kTable;
}

std::string_view to_string(Action action) noexcept {
  switch (action) {
    case Action::kNone: return "none";
    case Action::kWait: return "wait";
    case Action::kStart: return "start";
    case Action::kPromote: return "promote";
    case Action::kFollow: return "follow";
    case Action::kIsolate: return "isolate";
    case Action::kStepDown: return "step down";
    case Action::kEnd: return "end";
    case Action::kRefuse: return "refuse";
  }
  return "wait";
}

std::string_view to_string(Copy copy) noexcept {
  switch (copy) {
    case Copy::kDown: return "down";
    case Copy::kHung: return "hung";
    case Copy::kUnknown: return "unknown";
    case Copy::kActive: return "active";
    case Copy::kFollowing: return "following";
    case Copy::kSearching: return "searching";
    case Copy::kStray: return "stray";
    case Copy::kIsolated: return "isolated";
  }
  return "unknown";
}

}  // namespace wardmote::judge::failover
