#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "judge/journal_entry.h"
#include "judge/plan/planner.h"

namespace wardmote::act {

/// Why pauses and rejections that somebody ordered are not in the store any more; nothing: they
/// are, as far as this agent can tell. Whoever leads writes the last number of a plan down before
/// anything else, so that a store without it was emptied, or is another one, and a store with a
/// lower one than was given is an older copy. `rows`: of this agent's own journal. `known`: what
/// the agent remembers from before it read the store.
std::optional<std::string> lost_orders(std::optional<std::int64_t> last_in_store,
                                       const std::deque<judge::JournalEntry>& rows,
                                       const judge::plan::Planner& known);

}  // namespace wardmote::act
