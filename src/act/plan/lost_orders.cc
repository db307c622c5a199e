#include "act/plan/lost_orders.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "act/act_log.h"
#include "base/format.h"
#include "judge/journal_entry.h"
#include "judge/plan/planner.h"

namespace wardmote::act {

std::optional<std::string> lost_orders(std::optional<std::int64_t> last_in_store,
                                       const std::deque<judge::JournalEntry>& rows,
                                       const judge::plan::Planner& known) {
  std::int64_t given = 0;
  bool ordered = false;
  for (const judge::JournalEntry& row : rows) {
    if (row.kind == kDoubtedRow) {
      given = 0;
      ordered = false;
    }
    given = std::max(given, row.plan);
    ordered |= row.plan > 0 || row.kind == "paused";
  }
  if (!known.plans().empty()) given = std::max(given, known.plans().rbegin()->first);
  ordered |= !known.plans().empty() || !known.pauses().empty();
  if (!last_in_store && ordered)
    return "the store is empty, and this agent knows of plans or pauses: what somebody paused or "
           "rejected may be lost";
  if (last_in_store && *last_in_store < given)
    return fmt::format(
        "the store knows of {} plans, and this agent of {}: it is an older copy or another one, "
        "and what somebody paused or rejected may be lost",
        *last_in_store, given);
  return std::nullopt;
}

}  // namespace wardmote::act
