#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/outcome.h"
#include "store/clock_pair.h"

namespace wardmote::store {

/// Each agent has records of its own.
std::string check_prefix(std::string_view node);
std::string check_key(std::string_view node, std::string_view name);
/// Of optional checks that were ever good.
std::string seen_good_prefix(std::string_view node);

/// A check, or a cluster by its name, that is reported.
struct ReportedCheck {
  std::string name;
  std::string kind;  ///< of its probe
  TimePoint since;
  judge::CheckChanged change;  ///< of the agent that reported it
};

/// The record of a check that is reported.
std::string encode_reported_check(std::string_view name, std::string_view kind,
                                  const judge::CheckChanged& change, const ClockPair& clock);
/// kProtocol when the text is not such a record.
Result<ReportedCheck> decode_reported_check(std::string_view text, const ClockPair& clock);

}  // namespace wardmote::store
