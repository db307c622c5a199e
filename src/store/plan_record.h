#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "store/clock_pair.h"

namespace wardmote::store {

inline constexpr std::string_view kPlanPrefix = "plan/";
inline constexpr std::string_view kPausePrefix = "pause/";

std::string plan_key(std::int64_t id);
/// One line of JSON.
std::string encode(const judge::plan::Plan& plan, const ClockPair& clock);
/// kProtocol when it is none of ours.
Result<judge::plan::Plan> decode_plan(std::string_view record, const ClockPair& clock);

std::string pause_key(std::string_view scope);
std::string encode(const judge::plan::Pause& pause, const ClockPair& clock);
Result<judge::plan::Pause> decode_pause(std::string_view record, const ClockPair& clock);

}  // namespace wardmote::store
