#include "judge/reconcile/prune.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "judge/reconcile/decision.h"
#include "judge/reconcile/object_id.h"
#include "judge/reconcile/order.h"

namespace wardmote::judge::reconcile {

PrunePlan plan_prune(std::string_view set, const std::vector<LiveObject>& found,
                     const std::set<ObjectId>& desired, PruneBrake brake) {
  PrunePlan plan;
  std::size_t members = 0;
  for (const LiveObject& live : found) {
    if (live.set != set) continue;
    const bool member = is_member(live, set);
    if (member) ++members;
    if (desired.contains(live.id)) continue;
    if (!member) {
      plan.not_ours.push_back(live.id);
    } else if (live.deleting) {
      plan.deleting.push_back(live.id);
    } else if (live.keeps) {
      plan.kept.push_back(live.id);
    } else {
      plan.doomed.push_back(live.id);
    }
  }
  std::ranges::sort(plan.doomed,
                    [](const ObjectId& a, const ObjectId& b) { return applies_before(b, a); });
  if (plan.doomed.empty()) return plan;
  const auto share = static_cast<std::size_t>(std::clamp(brake.percent, 0, 100));
  if (share == 100) return plan;
  plan.doubted = share > 0 && (desired.empty() || plan.doomed.size() * 100 > members * share);
  if (share == 0) {
    plan.refused = "pruning is switched off";
  } else if (desired.empty()) {
    plan.refused = "no manifest is left, and pruning would delete every member";
  } else if (plan.doubted) {
    plan.refused = fmt::format("{} of {} members would be deleted, which is more than {} %",
                               plan.doomed.size(), members, share);
  }
  return plan;
}

}  // namespace wardmote::judge::reconcile
