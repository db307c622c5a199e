#pragma once

#include <optional>
#include <span>
#include <string>

#include "judge/plan/plan.h"

namespace wardmote::judge::plan {

/// What stands between a running plan and its next step. Asked again before each of them.
struct Consent {
  /// Why nothing may begin now: a storm, a pause, another agent leads. The plan waits for its end.
  std::optional<std::string> held;
  /// Who let the plan begin does so no longer: it ends, or somebody is asked.
  std::optional<std::string> withdrawn;
};

/// Whether the policy is for what the plan does; a plan that somebody asked for needs one that is
/// for some finding of that remedy.
bool is_for(const Policy& policy, const Plan& plan) noexcept;

/// Why the policies no longer let the plan go on that has begun: its policy is gone, only observes,
/// is for other clusters or findings now, or wants an approval that nobody gave. Nothing: they do.
std::optional<std::string> withdrawn_by_policy(const Plan& plan, std::span<const Policy> policies);

}  // namespace wardmote::judge::plan
