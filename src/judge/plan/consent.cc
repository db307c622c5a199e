#include "judge/plan/consent.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "base/format.h"
#include "judge/finding.h"
#include "judge/plan/plan.h"
#include "judge/remedies.h"

namespace wardmote::judge::plan {

bool is_for(const Policy& policy, const Plan& plan) noexcept {
  if (plan.code) return policy.is_for(*plan.code);
  return std::ranges::any_of(policy.on, [&](Code code) {
    const RemedyInfo* const remedy = remedy_for(code);
    return remedy != nullptr && remedy->name == plan.remedy;
  });
}

std::optional<std::string> withdrawn_by_policy(const Plan& plan, std::span<const Policy> policies) {
  const auto policy = std::ranges::find(policies, plan.policy, &Policy::name);
  if (policy == policies.end()) return "its policy is gone";
  if (auto reason = policy->why_it_observes()) return reason;
  if (!policy->covers(plan.target.name)) {
    return fmt::format("policy {} is not for {} any more", policy->name, plan.target.name);
  }
  if (!is_for(*policy, plan)) {
    return fmt::format("policy {} is not for this finding any more", policy->name);
  }
  if (policy->approval && plan.approver == "policy " + policy->name) {
    return fmt::format("policy {} wants somebody's approval now", policy->name);
  }
  return std::nullopt;
}

}  // namespace wardmote::judge::plan
