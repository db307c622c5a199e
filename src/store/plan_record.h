#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "judge/journal_entry.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "store/clock_pair.h"
#include "store/shared_end.h"

namespace wardmote::store {

inline constexpr std::string_view kPlanPrefix = "plan/";
inline constexpr std::string_view kPausePrefix = "pause/";
/// The highest number that was ever given to a plan.
inline constexpr std::string_view kLastPlanKey = "last/plan";
/// Exists while a storm keeps the agent from acts.
inline constexpr std::string_view kStormKey = "acts/storm";

std::string plan_key(std::int64_t id);
/// One line of JSON.
std::string encode(const judge::plan::Plan& plan, const ClockPair& clock);
/// kProtocol when the text is not such a record.
Result<judge::plan::Plan> decode_plan(std::string_view record, const ClockPair& clock);

/// Where the newest row that goes with a state is kept, since it may not be in its journal yet;
/// `journal` is the id of that.
std::string newest_row_key(std::string_view journal);
std::string encode(const judge::JournalEntry& entry);
Result<judge::JournalEntry> decode_row(std::string_view record);

std::string pause_key(std::string_view scope);
std::string encode(const judge::plan::Pause& pause, const ClockPair& clock);
Result<judge::plan::Pause> decode_pause(std::string_view record, const ClockPair& clock);

using PauseReader = StandingReader<judge::plan::Pause, decode_pause>;

}  // namespace wardmote::store
