#include "act/reconcile/kube_pass.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/reconcile/desired.h"
#include "act/reconcile/inventory.h"
#include "act/reconcile/kube_catalog.h"
#include "act/reconcile/kube_client.h"
#include "act/reconcile/kube_fence.h"
#include "act/reconcile/kube_target.h"
#include "act/reconcile/kube_watch.h"
#include "act/reconcile/kube_writer.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/kube_api.h"
#include "codec/kube_object.h"
#include "codec/yaml/manifests.h"
#include "judge/reconcile/decision.h"
#include "judge/reconcile/diff.h"
#include "judge/reconcile/fence.h"
#include "judge/reconcile/object_id.h"
#include "judge/reconcile/policy.h"
#include "judge/reconcile/prune.h"
#include "judge/reconcile/report.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

namespace json = boost::json;
namespace rules = judge::reconcile;
using codec::Manifest;
using judge::reconcile::ObjectId;
using judge::reconcile::PassReport;
using runtime::Task;

namespace {

constexpr std::size_t kMostFaults = 50;

/// Of many faults the first ones say enough.
void add_fault(PassReport& report, std::string fault) {
  if (report.faults.size() < kMostFaults) report.faults.push_back(std::move(fault));
}

}  // namespace

Task<PassReport> KubePass::run(std::vector<Manifest> manifests) {
  report_.begun = runtime_.wall_now();
  report_.objects = manifests.size();
  co_await go(std::move(manifests));
  report_.requests = client_.requests();
  report_.writes = writer_.writes();
  co_return std::move(report_);
}

Task<void> KubePass::go(std::vector<Manifest> manifests) {
  const Result<void> begun = co_await client_.begin(terms_.write_until);
  if (!begun) {
    report_.no_login = true;
    add_fault(report_, "credentials: " + begun.error().describe());
    co_return;
  }
  const bool fenced = co_await put_up_fence();
  if (!fenced) co_return;
  const bool known = co_await read_inventory();
  if (!known) co_return;
  defined_ = defined_kinds(manifests);
  const std::vector<KindName> wanted = kinds_of(manifests);
  kinds_ = inventory_.kinds;
  kinds_.insert(wanted.begin(), wanted.end());
  std::set<KindName> kinds = kinds_;
  co_await learn(std::move(kinds));
  co_await follow_versions();
  std::string space = options_.space.empty() ? client_.access().space : options_.space;
  if (space.empty()) space = "default";
  desired_ = make_desired(manifests, catalog_, options_.set, space);
  report_.contradictory = !desired_.faults.empty();
  for (std::string& fault : desired_.faults) add_fault(report_, std::move(fault));
  if (report_.contradictory) co_return;
  co_await find_members();
  unite_names();
  if (report_.contradictory) co_return;
  kept_ = kept_members();
  doubted_ = plan_prune().doubted;
  Inventory noted{.kinds = kinds_, .kept = kept_};
  const bool written = co_await note(std::move(noted));
  if (!written) co_return;
  co_await treat_all();
  co_await prune();
  if (!report_.good()) co_return;
  Inventory left{.kinds = kinds_with_members(), .kept = {}};
  for (const ObjectId& kept : kept_) {
    ObjectId id = kept;
    const bool gone = co_await is_gone(std::move(id));
    if (!gone) left.kept.insert(kept);
  }
  co_await note(std::move(left));
}

Task<bool> KubePass::put_up_fence() {
  KubeFence fence(runtime_, client_, writer_, options_, terms_);
  auto up = co_await fence.put_up();
  if (up) {
    report_.fence = *std::move(up);
    co_return true;
  }
  report_.unreachable = is_silence(up.error().code);
  report_.fence = {.kind = rules::FenceReport::Kind::kUnknown, .why = up.error().describe()};
  add_fault(report_, "the fence: " + report_.fence.why);
  co_return false;
}

Task<bool> KubePass::read_inventory() {
  std::string path = inventory_path(options_.inventory_space, options_.set);
  const auto found = co_await client_.get(std::move(path), terms_.deadline);
  if (!found) {
    report_.unreachable =
        found.error().code != Errc::kDenied && found.error().code != Errc::kRejected;
    add_fault(report_, "which kinds there may be: " + found.error().describe());
    co_return false;
  }
  if (*found) inventory_ = reconcile::read_inventory(**found);
  // What it lacks would not be found any more, so it stays as it is, and nothing is pruned.
  if (!inventory_.whole)
    add_fault(report_,
              fmt::format("which kinds there may be: somebody has changed the ConfigMap {}/{}; "
                          "mend it. To delete it forgets kinds that no manifest names any more; "
                          "and what no manifest wants by then stays",
                          options_.inventory_space, inventory_name(options_.set)));
  co_return true;
}

Task<void> KubePass::learn(std::set<KindName> kinds) {
  std::set<std::string> versions;
  for (const auto& [api_version, kind] : kinds) versions.insert(api_version);
  for (const std::string& version : versions) {
    std::string api_version = version;
    co_await catalog_.learn(&client_, std::move(api_version), terms_.deadline);
  }
}

bool KubePass::is_served(const KindName& name) const {
  return std::ranges::any_of(kinds_, [&](const KindName& one) {
    return one.second == name.second && rules::group_of(one.first) == rules::group_of(name.first) &&
           catalog_.known(one) == KubeCatalog::Known::kYes;
  });
}

/// A version that is served no more has left its objects: another version of the group has them.
Task<void> KubePass::follow_versions() {
  std::map<std::string, std::vector<std::string>> gone;  // kinds, by their group
  for (const KindName& name : kinds_) {
    std::string group = rules::group_of(name.first);
    if (catalog_.known(name) == KubeCatalog::Known::kAbsent && !group.empty() && !is_served(name))
      gone[std::move(group)].push_back(name.second);
  }
  for (const auto& [group, kinds] : gone) {
    std::string asked = group;
    const auto versions =
        co_await KubeCatalog::versions_of(&client_, std::move(asked), terms_.deadline);
    if (!versions) add_fault(report_, fmt::format("{}: {}", group, versions.error().describe()));
    if (!versions) continue;
    for (const std::string& version : *versions) {
      std::string api_version = version;
      co_await catalog_.learn(&client_, std::move(api_version), terms_.deadline);
      for (const std::string& kind : kinds) {
        const KindName other{version, kind};
        if (catalog_.known(other) != KubeCatalog::Known::kAbsent && !is_served(other))
          kinds_.insert(other);
      }
    }
  }
}

Task<bool> KubePass::note(Inventory now) {
  const bool same = inventory_.there ? inventory_.kinds == now.kinds && inventory_.kept == now.kept
                                     : now.kinds.empty();
  if (terms_.dry || !inventory_.whole || same) co_return true;
  if (now.kept.size() > kMostKept) {
    add_fault(report_, fmt::format("more than {} members are left alone that were written before; "
                                   "give some of them reconcile.wardmote.io/prune: \"no\" first",
                                   kMostKept));
    co_return false;
  }
  ApplyOrder order;
  order.path = inventory_path(options_.inventory_space, options_.set);
  order.manager = field_manager(options_.set);
  order.body = write_inventory(options_.inventory_space, options_.set, now);
  order.force = true;
  const Written written = co_await writer_.apply(std::move(order), terms_.deadline);
  if (written.kind != Written::Kind::kDone) {
    // What is not noted would not be found again.
    add_fault(report_, "the kinds of the set cannot be noted: " + written.why);
    co_return false;
  }
  now.there = true;
  inventory_ = std::move(now);
  co_return true;
}

Task<void> KubePass::find_members() {
  // One version of each kind: all have the same objects. That of a manifest rather than an old one.
  std::map<std::pair<std::string, std::string>, KindName> listed;
  const auto choose = [&](const KindName& kind) {
    KindName& chosen = listed[{rules::group_of(kind.first), kind.second}];
    if (chosen.second.empty() || catalog_.known(kind) == KubeCatalog::Known::kYes ||
        !is_served(kind))
      chosen = kind;
  };
  std::ranges::for_each(kinds_, choose);
  for (const DesiredObject& object : desired_.objects) choose(object.kind);
  for (const auto& [group_and_kind, name] : listed) {
    if (catalog_.known(name) == KubeCatalog::Known::kUnknown) {
      add_fault(report_, fmt::format("{}: {}", name.first, catalog_.complaint(name.first)));
      continue;
    }
    const codec::KubeResource* const kind = catalog_.find(name);
    if (kind == nullptr || !kind->listable) continue;
    std::string path = kind_path(name, *kind);
    WatchedKind watched{.name = name, .path = path};
    std::string selector = selector_of(options_.set);
    auto found = co_await client_.list(std::move(path), std::move(selector), terms_.deadline);
    if (!found) {
      add_fault(report_, found.error().describe());
      continue;
    }
    watched.version = std::move(found->version);
    watched_.push_back(std::move(watched));
    for (json::object& object : found->objects) {
      // Items of a list do not say what they are.
      object["apiVersion"] = name.first;
      object["kind"] = name.second;
      const codec::ObjectHead head = codec::read_head(object);
      ObjectId id{.group = group_and_kind.first,
                  .kind = group_and_kind.second,
                  .space = head.space,
                  .name = head.name};
      kind_names_.emplace(id, name);
      members_.emplace(std::move(id), std::move(object));
    }
  }
}

void KubePass::unite_names() {
  std::map<ObjectId, std::string> places;
  for (const DesiredObject& object : desired_.objects) places.emplace(object.id, object.place);
  std::map<std::string, ObjectId> by_uid;
  for (auto member = members_.begin(); member != members_.end();) {
    const std::string uid = codec::read_head(member->second).uid;
    const auto [one, first] = by_uid.emplace(uid, member->first);
    if (uid.empty() || first) {
      ++member;
      continue;
    }
    const auto other = places.find(one->second);
    const auto own = places.find(member->first);
    if (other != places.end() && own != places.end()) {
      report_.contradictory = true;
      add_fault(report_, fmt::format("{}: {} is one object with {}, which is in {}", own->second,
                                     rules::describe(own->first), rules::describe(other->first),
                                     other->second));
    }
    // The name that a manifest has for it is the one that counts.
    if (own != places.end()) {
      members_.erase(one->second);
      one->second = member->first;
      ++member;
    } else {
      member = members_.erase(member);
    }
  }
}

rules::PrunePlan KubePass::plan_prune() const {
  std::vector<rules::LiveObject> found;
  found.reserve(members_.size());
  for (const auto& [id, object] : members_) found.push_back(live_object(id, object));
  std::set<ObjectId> wanted;
  for (const DesiredObject& object : desired_.objects) wanted.insert(object.id);
  // Some of those that are kept have lost their label, so nobody has found them.
  std::set<ObjectId> needed = kept_;
  needed.insert({.kind = "ConfigMap",
                 .space = options_.inventory_space,
                 .name = inventory_name(options_.set)});
  return rules::plan_prune(options_.set, found, wanted, {.percent = options_.prune_limit}, needed);
}

std::set<KindName> KubePass::kinds_with_members() const {
  std::set<KindName> kinds;
  for (const DesiredObject& object : desired_.objects) kinds.insert(object.kind);
  for (const auto& [id, object] : members_) kinds.insert(kind_names_.at(id));
  for (const KindName& kind : kinds_) {
    // It may come back, and its objects with it.
    const bool gone = catalog_.known(kind) != KubeCatalog::Known::kYes && !is_served(kind);
    // Whether one that is kept is still there is asked by its kind.
    const bool keeps = std::ranges::any_of(kept_, [&](const ObjectId& one) {
      return one.kind == kind.second && one.group == rules::group_of(kind.first);
    });
    if (gone || keeps) kinds.insert(kind);
  }
  return kinds;
}

Task<void> KubePass::prune() {
  rules::PrunePlan plan = plan_prune();
  for (const ObjectId& id : plan.not_ours)
    say(id, Action::kLeft, "it has the label of the set, and the set never applied it");
  for (const ObjectId& id : plan.kept)
    say(id, Action::kLeft,
        "no manifest wants it; its policy, or the record of the set, says that it stays");
  for (const rules::Holding& holding : plan.holding)
    say(holding.id, Action::kLeft,
        "no manifest wants it; " + escape_control(rules::describe(holding)));
  for (const ObjectId& id : plan.deleting)
    say(id, Action::kLeft,
        fmt::format("no manifest wants it; it is being deleted{}, and a finalizer holds it",
                    rules::since(codec::read_head(members_.at(id)).deleting_since)));
  if (plan.doomed.empty()) co_return;
  // Whoever cannot write what is wanted, or does not see everything, deletes nothing.
  if (plan.refused.empty() && !report_.good())
    plan.refused =
        fmt::format("{} are left over, and not everything was applied", plan.doomed.size());
  if (!plan.refused.empty()) {
    report_.prune_refused = plan.refused;
    for (const ObjectId& id : plan.doomed)
      say(id, Action::kLeft, "no manifest wants it; nothing is pruned now");
    co_return;
  }
  for (const ObjectId& doomed : plan.doomed) {
    // What could not be deleted would go with what it is in.
    if (rules::holds_others(doomed) && !report_.good()) {
      say(doomed, Action::kLeft, "no manifest wants it; something else could not be deleted");
      continue;
    }
    ObjectId id = doomed;
    co_await prune_one(std::move(id));
  }
}

Task<void> KubePass::prune_one(ObjectId id) {
  const json::object& object = members_.at(id);
  std::string diff =
      rules::unified_diff(rules::describe(id), codec::show_states(&object, nullptr).before, "");
  const KindName& name = kind_names_.at(id);
  const codec::KubeResource* const kind = catalog_.find(name);
  const codec::ObjectHead head = codec::read_head(object);
  std::string path = object_path(name, *kind, head.space, head.name);
  std::string why = "no manifest wants it";
  if (!terms_.dry) {
    DeleteOrder order{path, head.uid, head.resource_version};
    const Written written = co_await writer_.remove(std::move(order), terms_.deadline);
    using Kind = Written::Kind;
    if (written.kind == Kind::kNoAnswer) {
      const auto there = co_await client_.get(std::move(path), terms_.deadline);
      const bool gone = there && (!*there || codec::read_head(**there).uid != head.uid);
      if (!gone) {
        say(id, Action::kFailed, "it may not have been deleted: " + written.why);
        co_return;
      }
    } else if (written.kind == Kind::kUnserved) {
      say(id, Action::kFailed,
          fmt::format("{} is not served any more; nobody knows whether it is there", name.first));
      co_return;
    } else if (written.kind != Kind::kDone && written.kind != Kind::kMissing) {
      say_refused(id, std::string(written.why), written);
      co_return;
    }
    if (!written.object.empty())
      why += "; it is being deleted, and a finalizer or its time to end still holds it";
  }
  say(id, Action::kPruned, std::move(why), std::move(diff));
  settled_.erase(id);
  members_.erase(id);
}

void KubePass::say(const ObjectId& id, Action action, std::string why, std::string diff) {
  if (action == Action::kUnchanged) return;
  std::string object = rules::describe(id);
  if (!terms_.dry && action != Action::kLeft) {
    log(action == Action::kFailed ? LogLevel::kWarning : LogLevel::kInfo, "reconcile_object",
        {{"set", options_.set},
         {"object", object},
         {"action", std::string(rules::to_string(action))},
         {"why", why}});
  }
  report_.touched.push_back({.object = std::move(object),
                             .action = action,
                             .why = std::move(why),
                             .diff = std::move(diff)});
}

void KubePass::say_refused(const ObjectId& id, std::string why, const Written& written) {
  say(id, Action::kFailed, std::move(why));
  report_.touched.back().words = written.words;
}

}  // namespace wardmote::act::reconcile
