// Which members of a set stay when their manifests go.

#include <algorithm>
#include <boost/json/object.hpp>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/reconcile/desired.h"
#include "act/reconcile/inventory.h"
#include "act/reconcile/kube_catalog.h"
#include "act/reconcile/kube_client.h"
#include "act/reconcile/kube_pass.h"
#include "act/reconcile/kube_target.h"
#include "act/reconcile/kube_watch.h"
#include "codec/json_fields.h"
#include "codec/kube_api.h"
#include "codec/kube_object.h"
#include "codec/kube_ownership.h"
#include "judge/reconcile/decision.h"
#include "judge/reconcile/object_id.h"
#include "judge/reconcile/policy.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

namespace json = boost::json;
namespace rules = judge::reconcile;
using judge::reconcile::ObjectId;
using runtime::Task;

namespace {

std::map<std::string, std::string> applied_annotations(const json::object& object,
                                                       const codec::ObjectHead& head,
                                                       std::string_view manager) {
  const json::object fields = codec::owned_fields(object, manager);
  const json::object* const metadata = codec::object_in(fields, "f:metadata");
  const json::object* const owned =
      metadata == nullptr ? nullptr : codec::object_in(*metadata, "f:annotations");
  std::map<std::string, std::string> applied = head.annotations;
  std::erase_if(applied, [&](const auto& one) {
    return owned == nullptr || !owned->contains("f:" + one.first);
  });
  return applied;
}

}  // namespace

bool KubePass::keeps_by_own_word(const ObjectId& id, const json::object& object) const {
  const codec::ObjectHead head = codec::read_head(object);
  return rules::keeps(id, applied_annotations(object, head, field_manager(options_.set)));
}

rules::LiveObject KubePass::live_object(const ObjectId& id, const json::object& object) const {
  const codec::ObjectHead head = codec::read_head(object);
  rules::LiveObject live{.id = id};
  const auto label = head.labels.find(std::string(rules::kSetLabel));
  if (label != head.labels.end()) live.set = label->second;
  const std::string manager = field_manager(options_.set);
  live.applied_by_us = std::ranges::find(head.appliers, manager) != head.appliers.end();
  // That it may go counts only as the set has said it: others may write there, too.
  live.keeps =
      rules::keeps(id, head.annotations) || keeps_by_own_word(id, object) || kept_.contains(id);
  live.deleting = !head.deleting_since.empty();
  live.deleting_since = head.deleting_since;
  live.defines = kinds_defined_by(object);
  return live;
}

void KubePass::keep_wanted(std::set<ObjectId>& kept, std::vector<ObjectId>& saying_so) const {
  for (const DesiredObject& object : desired_.objects) {
    if (!rules::keeps(object.id, codec::read_head(object.body).annotations)) {
      kept.erase(object.id);
      continue;
    }
    const auto member = members_.find(object.id);
    if (member == members_.end()) {
      // Of what nobody could list it is not known whether it is a member. Else it is made now.
      const bool listed = was_listed(object.id);
      if (!listed && object.policy.apply != rules::Policy::Apply::kOverride) kept.insert(object.id);
      if (listed && object.policy.apply != rules::Policy::Apply::kIgnore)
        saying_so.push_back(object.id);
      continue;
    }
    const rules::LiveObject live = live_object(object.id, member->second);
    if (!rules::is_member(live, options_.set)) continue;
    if (!live.keeps) kept.insert(object.id);
    if (live.keeps) saying_so.push_back(object.id);
  }
}

std::set<ObjectId> KubePass::kept_members() const {
  std::set<ObjectId> kept = inventory_.kept;
  std::vector<ObjectId> saying_so;
  keep_wanted(kept, saying_so);
  std::set<ObjectId> wanted;
  for (const DesiredObject& object : desired_.objects) wanted.insert(object.id);
  for (const auto& [id, object] : members_) {
    if (wanted.contains(id) || !rules::is_member(live_object(id, object), options_.set)) continue;
    // Which members stay was noted there, so all of them do that no manifest wants.
    if (!inventory_.there) kept.insert(id);
    if (keeps_by_own_word(id, object)) saying_so.push_back(id);
  }
  for (const ObjectId& id : saying_so) {
    const bool by_its_kind = rules::keeps(id, {});
    if (!by_its_kind && kept.size() < kMostKept) kept.insert(id);
  }
  return kept;
}

bool KubePass::was_listed(const ObjectId& id) const {
  return std::ranges::any_of(watched_, [&](const WatchedKind& kind) {
    return kind.name.second == id.kind && rules::group_of(kind.name.first) == id.group;
  });
}

/// Whether there is no such object any more, with our label or without it. What the server does not
/// say is not so.
Task<bool> KubePass::is_gone(ObjectId id) {
  if (members_.contains(id)) co_return false;
  for (const KindName& name : kinds_) {
    const codec::KubeResource* const kind = catalog_.find(name);
    if (kind == nullptr || name.second != id.kind || rules::group_of(name.first) != id.group)
      continue;
    std::string path = object_path(name, *kind, id.space, id.name);
    const auto there = co_await client_.has(std::move(path), terms_.deadline);
    if (there) co_return !*there;
  }
  co_return false;
}

}  // namespace wardmote::act::reconcile
