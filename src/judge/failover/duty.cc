#include "judge/failover/duty.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "judge/failover/decision.h"
#include "judge/failover/member.h"

namespace wardmote::judge::failover {
namespace {

using Verdict = Candidacy::Verdict;

template <class... Members>
constexpr Set of(Members... members) noexcept {
  return static_cast<Set>(((1U << static_cast<unsigned>(members)) | ...));
}

constexpr Set kBackup = of(Copy::kFollowing, Copy::kSearching, Copy::kStray, Copy::kIsolated);
constexpr Set kCopying = of(Copy::kFollowing, Copy::kSearching, Copy::kStray);
constexpr Set kNoAnswer = of(Copy::kUnknown, Copy::kHung, Copy::kDown);
constexpr Set kNotMine = of(Lock::kReleased, Lock::kOther, Lock::kNone, Lock::kUnknown);
constexpr Set kMine = of(Lock::kMine);
constexpr Set kOther = of(Lock::kOther);

constexpr auto kTable = std::to_array<DutyRow>({
    // The address first: what clients cannot reach does no harm.
    {.lock = kNotMine,
     .address = Flag::kYes,
     .next = {Duty::kAddressOff, "the address is here, and this node does not lead"}},
    {.address = Flag::kYes,
     .announced = Flag::kNo,
     .next = {Duty::kAddressOff, "the address is here, and this node was not promoted"}},
    {.epoch = of(Epoch::kOlder),
     .address = Flag::kYes,
     .next = {Duty::kAddressOff, "the address is here, and another was promoted since"}},
    {.any = static_cast<Set>(kBackup | of(Copy::kDown, Copy::kHung)),
     .address = Flag::kYes,
     .next = {Duty::kAddressOff, "the address is here, and a database is not writable"}},
    // Then what is writable without a right to it.
    {.any = of(Copy::kActive),
     .lock = of(Lock::kOther, Lock::kNone),
     .next = {Duty::kStepDown, "this copy is writable, and this node was not promoted"}},
    {.any = of(Copy::kActive),
     .lock = of(Lock::kReleased, Lock::kUnknown),
     .next = {Duty::kIsolate, "this copy is writable, and this node does not lead any more"}},
    {.any = of(Copy::kActive),
     .epoch = of(Epoch::kOlder),
     .next = {Duty::kStepDown, "this copy is writable, and another was promoted since"}},
    {.any = of(Copy::kActive),
     .announced = Flag::kNo,
     .next = {Duty::kIsolate, "this copy is writable, and its promotion was not announced"}},
    // This node leads.
    {.any = of(Copy::kHung),
     .standing = Flag::kYes,
     .next = {Duty::kResign, "a server is hung, so another is to be promoted"}},
    {.any = of(Copy::kDown),
     .standing = Flag::kYes,
     .next = {Duty::kResign, "a server is down, so another is to be promoted"}},
    {.both = of(Copy::kActive),
     .lock = kMine,
     .address = Flag::kNo,
     .announced = Flag::kYes,
     .next = {Duty::kAddressOn, "both databases are writable"}},
    {.both = of(Copy::kActive),
     .lock = kMine,
     .next = {Duty::kNone, "both databases are writable, as they should be"}},
    // What the one copies from may change, whatever the other does.
    {.any = of(Copy::kStray),
     .rest = kNoAnswer,
     .lock = kOther,
     .next = {Duty::kIsolate, "one database copies from a node that is not the active one"}},
    {.any = kCopying,
     .rest = kNoAnswer,
     .lock = of(Lock::kNone, Lock::kUnknown),
     .paused = Flag::kNo,
     .next = {Duty::kIsolate, "nobody leads, as far as is known, and one database still copies"}},
    {.any = of(Copy::kUnknown), .next = {Duty::kWait, "a server could not be asked"}},
    {.any = of(Copy::kHung), .next = {Duty::kWait, "a server is hung"}},
    {.any = of(Copy::kDown), .next = {Duty::kWait, "a server is down"}},
    {.any = static_cast<Set>(kCopying | of(Copy::kActive)),
     .lock = kMine,
     .next = {Duty::kIsolate, "both databases get one role"}},
    {.lock = kMine, .paused = Flag::kYes, .next = {Duty::kResign, "failover is paused"}},
    {.lock = kMine,
     .candidacy = of(Verdict::kGo),
     .next = {Duty::kPromote, "this copy may become the active one"}},
    {.lock = kMine, .next = {Duty::kResign, "this copy must not become the active one"}},
    // Another leads.
    {.lock = kOther,
     .standing = Flag::kYes,
     .next = {Duty::kResign, "another node is the active one"}},
    {.both = of(Copy::kIsolated),
     .lock = kOther,
     .source = of(Source::kSelf, Source::kEmpty, Source::kOlder, Source::kNone),
     .next = {Duty::kNone, "the active node is no source for this copy"}},
    {.lock = kOther,
     .source = of(Source::kSelf, Source::kEmpty, Source::kOlder, Source::kNone),
     .next = {Duty::kIsolate, "the active node is no source for this copy"}},
    {.both = of(Copy::kFollowing),
     .lock = kOther,
     .next = {Duty::kNone, "both databases follow the active node"}},
    {.both = of(Copy::kFollowing, Copy::kSearching),
     .lock = kOther,
     .next = {Duty::kWait, "the active node does not send yet"}},
    {.lock = kOther,
     .source = of(Source::kGood),
     .next = {Duty::kFollow, "another node is the active one"}},
    {.any = of(Copy::kStray),
     .lock = kOther,
     .next = {Duty::kIsolate, "this node follows a server that is not the active one"}},
    {.lock = kOther, .next = {Duty::kWait, "the active node does not answer yet"}},
    // Nobody leads.
    {.paused = Flag::kYes, .next = {Duty::kNone, "failover is paused"}},
    {.any = kCopying,
     .lock = of(Lock::kNone),
     .next = {Duty::kIsolate, "nobody leads, so what this copy has must not change"}},
    {.lock = of(Lock::kNone),
     .candidacy = of(Verdict::kGo),
     .standing = Flag::kNo,
     .next = {Duty::kStand, "nobody leads, and this copy may be promoted"}},
    {.lock = of(Lock::kNone),
     .candidacy = of(Verdict::kWait, Verdict::kRefuse),
     .standing = Flag::kYes,
     .next = {Duty::kResign, "this copy is not to be promoted now"}},
    {.lock = of(Lock::kNone), .next = {Duty::kWait, "nobody leads"}},
    {.any = kCopying,
     .lock = of(Lock::kUnknown),
     .next = {Duty::kIsolate, "nobody says whether what this copy follows is still active"}},
    {.next = {Duty::kWait, "the store does not answer"}},
});

bool flag_fits(Flag flag, bool value) noexcept {
  return flag == Flag::kAny || (flag == Flag::kYes) == value;
}

}  // namespace

bool DutyRow::fits(const Duties& now) const noexcept {
  const auto in = [](Set set, auto member) { return set == 0 || (set & of(member)) != 0; };
  const bool nb = in(any, now.nb) && in(rest, now.sb);
  const bool sb = in(any, now.sb) && in(rest, now.nb);
  if (any != 0 && !nb && !sb) return false;
  return in(both, now.nb) && in(both, now.sb) && in(lock, now.lock) && in(epoch, now.epoch) &&
         in(source, now.source) && in(candidacy, now.candidacy) &&
         flag_fits(address, now.address) && flag_fits(announced, now.announced) &&
         flag_fits(standing, now.standing) && flag_fits(paused, now.paused);
}

NextDuty next_duty(std::span<const DutyRow> table, const Duties& now) noexcept {
  const auto row = std::ranges::find_if(table, [&](const DutyRow& one) { return one.fits(now); });
  return row == table.end() ? NextDuty{} : row->next;
}

NextDuty next_duty(const Duties& now) noexcept {
  return next_duty(kTable, now);
}

std::span<const DutyRow> duties() noexcept {
  return kTable;
}

std::string_view to_string(Duty duty) noexcept {
  switch (duty) {
    case Duty::kNone: return "none";
    case Duty::kWait: return "wait";
    case Duty::kAddressOff: return "address off";
    case Duty::kStepDown: return "step down";
    case Duty::kIsolate: return "isolate";
    case Duty::kFollow: return "follow";
    case Duty::kStand: return "stand";
    case Duty::kResign: return "resign";
    case Duty::kPromote: return "promote";
    case Duty::kAddressOn: return "address on";
  }
  return "wait";
}

}  // namespace wardmote::judge::failover
