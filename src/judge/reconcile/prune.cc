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
#include "judge/reconcile/policy.h"

namespace wardmote::judge::reconcile {

namespace {

/// Whether `kept` would be deleted with it.
bool holds(const ObjectId& id, const ObjectId& kept) {
  if (!holds_others(id)) return false;
  if (id.kind == "Namespace") return kept.space == id.name;
  // A definition is called `things.example.org`.
  return !kept.group.empty() && id.name.ends_with("." + kept.group);
}

void spare_what_holds_kept(PrunePlan& plan) {
  const std::vector<ObjectId> kept = plan.kept;
  std::erase_if(plan.doomed, [&](const ObjectId& id) {
    const bool spared =
        std::ranges::any_of(kept, [&](const ObjectId& one) { return holds(id, one); });
    if (spared) plan.kept.push_back(id);
    return spared;
  });
}

}  // namespace

PrunePlan plan_prune(std::string_view set, const std::vector<LiveObject>& found,
                     const std::set<ObjectId>& desired, PruneBrake brake) {
  PrunePlan plan;
  std::size_t members = 0;
  for (const LiveObject& live : found) {
    if (live.set != set) continue;
    const bool member = is_member(live, set);
    const bool wanted = desired.contains(live.id);
    // What stays anyway must not make room for more.
    if (member && (wanted || !live.keeps)) ++members;
    if (wanted) continue;
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
  spare_what_holds_kept(plan);
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
