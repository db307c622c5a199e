#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "judge/plan/plan.h"
#include "judge/raft/survey.h"

namespace wardmote::judge::plan {

/// What to do with the current step of a running plan.
enum class Move : std::uint8_t {
  kWait,    ///< look again later
  kBegin,   ///< write the intent down, do it, write the result down
  kFinish,  ///< it is done, or there is nothing to do
  kFail,    ///< and the plan with it
  kAsk,     ///< nobody knows: somebody must say how to go on
  kEnd,     ///< all steps are done
};

struct Decision {
  Move move = Move::kWait;
  std::string detail;
  friend bool operator==(const Decision&, const Decision&) = default;
};

/// Decides on a survey that was made after the last act ended. `brake` is why nothing may begin
/// now: a storm, a pause, somebody else leads. Pure. A step that was begun and has no result is
/// looked at first: what is found done is done, what can be repeated without harm is repeated, and
/// for the rest somebody is asked.
Decision decide(const Plan& plan, const raft::Survey& survey,
                const std::optional<std::string>& brake, TimePoint now);

}  // namespace wardmote::judge::plan
