#include "judge/reconcile/prune.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/reconcile/decision.h"
#include "judge/reconcile/object_id.h"
#include "judge/reconcile/order.h"
#include "judge/reconcile/policy.h"

namespace wardmote::judge::reconcile {

namespace {

bool is_definition(const ObjectId& id) {
  return holds_others(id) && id.kind != "Namespace";
}

/// Whether `inside` would be deleted with it.
bool holds(const LiveObject& live, const ObjectId& inside) {
  const ObjectId& id = live.id;
  if (!holds_others(id)) return false;
  if (!is_definition(id)) return inside.space == id.name;
  // A definition is called `things.example.org`.
  if (inside.group.empty() || id.name.substr(id.name.find('.') + 1) != inside.group) return false;
  return live.defines.empty() || std::ranges::find(live.defines, inside.kind) != live.defines.end();
}

template <class Ids>
const ObjectId* find_inside(const LiveObject& live, const Ids& ids) {
  const auto found =
      std::ranges::find_if(ids, [&](const ObjectId& one) { return holds(live, one); });
  return found == ids.end() ? nullptr : &*found;
}

/// Nothing: nothing holds it.
std::optional<Holding> find_holding(const LiveObject& live, const std::set<ObjectId>& desired,
                                    const std::vector<ObjectId>& kept,
                                    const std::set<ObjectId>& needed) {
  const ObjectId* const wanted = find_inside(live, desired);
  const ObjectId* inside = wanted == nullptr ? find_inside(live, kept) : wanted;
  if (inside == nullptr) inside = find_inside(live, needed);
  if (inside == nullptr) return std::nullopt;
  return Holding{.id = live.id, .inside = *inside, .wanted = wanted != nullptr};
}

void put_brake(PrunePlan& plan, std::size_t members, bool nothing_desired, PruneBrake brake) {
  if (plan.doomed.empty()) return;
  const auto share = static_cast<std::size_t>(std::clamp(brake.percent, 0, 100));
  if (share == 100) return;
  plan.doubted = share > 0 && (nothing_desired || plan.doomed.size() * 100 > members * share);
  if (share == 0) {
    plan.refused = "pruning is switched off";
  } else if (nothing_desired) {
    plan.refused = "no manifest is left, and pruning would delete every member";
  } else if (plan.doubted) {
    plan.refused = fmt::format("{} of {} members would be deleted, which is more than {} %",
                               plan.doomed.size(), members, share);
  }
}

}  // namespace

std::string describe(const Holding& holding) {
  const std::string_view where = is_definition(holding.id) ? "is of this kind" : "is in it";
  const std::string inside = describe(holding.inside);
  return holding.wanted ? fmt::format("manifests still name {}, which {}", inside, where)
                        : fmt::format("{}, which stays, {}", inside, where);
}

PrunePlan plan_prune(std::string_view set, const std::vector<LiveObject>& found,
                     const std::set<ObjectId>& desired, PruneBrake brake,
                     const std::set<ObjectId>& needed) {
  PrunePlan plan;
  std::vector<const LiveObject*> unwanted;
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
      unwanted.push_back(&live);
    }
  }
  for (const LiveObject* const live : unwanted) {
    auto holding = find_holding(*live, desired, plan.kept, needed);
    if (!holding) plan.doomed.push_back(live->id);
    if (holding) plan.holding.push_back(*std::move(holding));
  }
  members -= plan.holding.size();
  std::ranges::sort(plan.doomed,
                    [](const ObjectId& a, const ObjectId& b) { return applies_before(b, a); });
  put_brake(plan, members, desired.empty(), brake);
  return plan;
}

}  // namespace wardmote::judge::reconcile
