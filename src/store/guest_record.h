#pragma once
// What an agent knows of a guest and cannot learn anew: that it was heard, and as what it is
// reported.

#include <string>
#include <string_view>

#include "base/result.h"
#include "judge/guest/assess.h"
#include "judge/guest/inside.h"
#include "judge/guest/machine.h"
#include "store/clock_pair.h"

namespace wardmote::store {

struct GuestRecord {
  judge::guest::Names names;
  int process = -1;  ///< libvirt's id of it: another one after each start
  judge::guest::Machine::Record machine;
  judge::guest::InsideWatch::Record inside;
  friend bool operator==(const GuestRecord&, const GuestRecord&) = default;
};

/// Each agent has records of its own.
std::string guest_prefix(std::string_view node);
std::string guest_key(std::string_view node, std::string_view uuid);

std::string encode(const GuestRecord& record, const ClockPair& clock);
/// kProtocol when the text is not such a record.
Result<GuestRecord> decode_guest(std::string_view text, const ClockPair& clock);

}  // namespace wardmote::store
