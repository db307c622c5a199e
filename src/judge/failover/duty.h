#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "judge/failover/decision.h"
#include "judge/failover/member.h"

namespace wardmote::judge::failover {

/// All that the manager of a pair without Pacemaker decides by.
struct Duties {
  Copy nb = Copy::kUnknown;
  Copy sb = Copy::kUnknown;
  /// kMine: this node leads, by its own clock. kReleased: it promoted these copies and leads no
  /// more. kOther: another leads, and has announced its promotion. kNone: nobody does. kUnknown:
  /// the store does not answer.
  Lock lock = Lock::kUnknown;
  Epoch epoch = Epoch::kUnknown;
  Source source = Source::kUnknown;
  Candidacy::Verdict candidacy = Candidacy::Verdict::kRefuse;
  bool address = false;    ///< this host has the address
  bool announced = false;  ///< this node promoted these copies in this term, and announced it
  bool standing = false;   ///< it stands in the election
  bool paused = false;
};

/// The next step. After each one everything is looked at again.
enum class Duty : std::uint8_t {
  kNone,
  kWait,        ///< look again: too little is known
  kAddressOff,  ///< let go of the address, before anything else
  kStepDown,    ///< make both read-only at once, and do not trust this copy until it was replaced
  kIsolate,     ///< make both read-only, and copy from nobody
  kFollow,      ///< make both backups of the active node
  kStand,       ///< stand in the election
  kResign,      ///< leave the election
  kPromote,     ///< claim an epoch, make both writable, verify by a write, announce
  kAddressOn,   ///< take the address
};

struct NextDuty {
  Duty duty = Duty::kWait;
  std::string_view reason;  ///< a sentence for people
};

enum class Flag : std::uint8_t { kAny, kYes, kNo };

/// One row of the table. An empty set fits always.
struct DutyRow {
  Set any = 0;   ///< one of the two copies is one of these
  Set rest = 0;  ///< and the other one is one of these; with `any`
  Set both = 0;  ///< each of the two copies is one of these
  Set lock = 0;
  Set epoch = 0;
  Set source = 0;
  Set candidacy = 0;
  Flag address = Flag::kAny;
  Flag announced = Flag::kAny;
  Flag standing = Flag::kAny;
  Flag paused = Flag::kAny;
  NextDuty next;

  [[nodiscard]] bool fits(const Duties& now) const noexcept;
};

/// All that the manager may do, in the order in which it is decided.
std::span<const DutyRow> duties() noexcept;
/// The first row that fits; kWait when none does.
NextDuty next_duty(std::span<const DutyRow> table, const Duties& now) noexcept;
NextDuty next_duty(const Duties& now) noexcept;

/// Lower-case words: `address off`, `step down`, …
std::string_view to_string(Duty duty) noexcept;

}  // namespace wardmote::judge::failover
