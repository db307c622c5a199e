#include <algorithm>
#include <boost/json/object.hpp>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/reconcile/desired.h"
#include "act/reconcile/kube_catalog.h"
#include "act/reconcile/kube_client.h"
#include "act/reconcile/kube_pass.h"
#include "act/reconcile/kube_target.h"
#include "act/reconcile/kube_writer.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/kube_api.h"
#include "codec/kube_object.h"
#include "codec/kube_ownership.h"
#include "judge/reconcile/adoption.h"
#include "judge/reconcile/decision.h"
#include "judge/reconcile/diff.h"
#include "judge/reconcile/object_id.h"
#include "judge/reconcile/order.h"
#include "judge/reconcile/policy.h"
#include "judge/reconcile/report.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::act::reconcile {

namespace json = boost::json;
namespace rules = judge::reconcile;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

/// A definition of a kind takes a moment until the server serves it.
constexpr Duration kKindPatience = 15s;
constexpr Duration kLookForKind = 200ms;
/// Less than what a server lets one user ask at once before it says 429.
constexpr std::size_t kAtOnce = 8;
constexpr std::size_t kMostManagers = 16;
constexpr std::size_t kShownManager = 128;
constexpr std::size_t kShownPath = 200;

std::string joined(const std::string& first, std::string_view second) {
  if (first.empty()) return std::string(second);
  return second.empty() ? first : first + "; " + std::string(second);
}

}  // namespace

std::string KubePass::path_of(const DesiredObject& object) const {
  const codec::KubeResource* const kind = catalog_.find(object.kind);
  return object_path(object.kind, *kind, object.id.space, object.id.name);
}

bool KubePass::matches(const DesiredObject& object, const json::object& live) const {
  return is_settled(settled_, object, live) ||
         is_as_wanted(object, live, field_manager(options_.set));
}

Task<bool> KubePass::wait_for_kind(KindName kind) {
  const TimePoint end = std::min(terms_.deadline.at, runtime_.now() + kKindPatience);
  for (;;) {
    std::string api_version = kind.first;
    co_await catalog_.learn(&client_, std::move(api_version), terms_.deadline);
    if (catalog_.find(kind) != nullptr) co_return true;
    if (runtime_.now() + kLookForKind >= end) co_return false;
    co_await runtime_.sleep_until(runtime_.now() + kLookForKind);
  }
}

Task<void> KubePass::treat_all() {
  const std::size_t before = report_.touched.size();
  while (next_ < desired_.objects.size() && !gone_ && !fenced_) {
    // What is said to the first write is said to all: that it is announced, and what the fence
    // says.
    if (!terms_.dry && writer_.writes() == 0) {
      co_await treat_before(next_ + 1);
      continue;
    }
    const std::size_t end = end_of_rank(next_);
    std::vector<Task<void>> side_by_side;
    for (std::size_t one = next_; one < std::min(end, next_ + kAtOnce); ++one)
      side_by_side.push_back(treat_before(end));
    co_await runtime::run_all(runtime_.executor(), std::move(side_by_side));
  }
  say_in_order(before);
  if (!gone_ && !fenced_) co_return;
  report_.unreachable = gone_;
  report_.fenced = fenced_;
  report_.faults.push_back(
      fmt::format("{}; {} of {} objects were not looked at",
                  gone_ ? "the server does not answer any more"
                        : "the server refuses what this leader writes: a later one has raised the "
                          "fence",
                  desired_.objects.size() - treated_, desired_.objects.size()));
}

/// One of those that work side by side.
Task<void> KubePass::treat_before(std::size_t end) {
  // To wait for an answer about each of thousands of objects would take hours.
  while (next_ < end && !gone_ && !fenced_) {
    const DesiredObject& object = desired_.objects[next_++];
    if (terms_.advanced) terms_.advanced(treated_, desired_.objects.size());
    co_await treat(&object);
    ++treated_;
  }
}

std::size_t KubePass::end_of_rank(std::size_t first) const {
  const int rank = rules::rank_of(desired_.objects[first].id);
  std::size_t end = first;
  while (end < desired_.objects.size() && rules::rank_of(desired_.objects[end].id) == rank) ++end;
  return end;
}

void KubePass::say_in_order(std::size_t first) {
  std::map<std::string, std::size_t> places;
  for (const DesiredObject& object : desired_.objects)
    places.emplace(rules::describe(object.id), places.size());
  std::sort(report_.touched.begin() + static_cast<std::ptrdiff_t>(first), report_.touched.end(),
            [&](const auto& a, const auto& b) { return places[a.object] < places[b.object]; });
}

Task<void> KubePass::treat(const DesiredObject* object) {
  if (object->policy.apply == rules::Policy::Apply::kIgnore) {
    say(object->id, Action::kLeft, "its policy is to ignore it");
    co_return;
  }
  if (catalog_.find(object->kind) == nullptr) {
    const bool ours = std::ranges::any_of(defined_, [object](const DefinedKind& one) {
      return one.group == object->id.group && one.kind == object->id.kind;
    });
    if (ours && terms_.dry) {
      say(object->id, Action::kCreated, "its kind is defined in this set",
          rules::unified_diff(rules::describe(object->id), "",
                              codec::show_states(nullptr, &object->body).after));
      co_return;
    }
    KindName kind = object->kind;
    bool there = false;
    if (ours) there = co_await wait_for_kind(std::move(kind));
    if (!there) {
      const bool absent = catalog_.known(object->kind) == KubeCatalog::Known::kAbsent;
      say(object->id, Action::kFailed,
          absent ? fmt::format("{}: the server has no {} of {}", object->place, object->kind.second,
                               object->kind.first)
                 : catalog_.complaint(object->kind.first));
      co_return;
    }
  }
  if (!catalog_.find(object->kind)->appliable) {
    say(object->id, Action::kFailed,
        fmt::format("{}: {} of {} cannot be applied: the server takes no PATCH of it; take it out "
                    "of the folder",
                    object->place, object->kind.second, object->kind.first));
    co_return;
  }
  Live live;
  const bool looked = co_await look(object, &live, false);
  if (!looked) co_return;
  if (!wants_write(*object, live)) co_return;
  const bool good = co_await is_same_in_other_words(object, &live);
  if (!good) co_await write(object, std::move(live));
}

/// An object that was applied from its manifest may differ from it only in what the server says in
/// other words (`cpu: "1"` for `cpu: 1000m`), or keeps no trace of (`rules: []`). To ask costs a
/// request that writes nothing; to apply anew would be a write in each pass.
Task<bool> KubePass::is_same_in_other_words(const DesiredObject* object, const Live* live) {
  // A dry pass asks the same anyway.
  if (terms_.dry || !*live || !is_noted(*object, **live)) co_return false;
  const Written asked = co_await apply(object, live, false, true);
  if (asked.kind != Written::Kind::kDone) co_return false;
  const std::string manager = field_manager(options_.set);
  const bool same =
      codec::without_noise(**live) == codec::without_noise(asked.object) &&
      codec::owned_fields(**live, manager) == codec::owned_fields(asked.object, manager);
  if (!same) co_return false;
  remember(*object, **live);
  say_order(*object, settled_.at(object->id).reordered);
  co_return true;
}

void KubePass::remember(const DesiredObject& object, const json::object& live) {
  settled_[object.id] = {
      .version = codec::read_head(live).resource_version,
      .digest = object.digest,
      .reordered = codec::reordered(live, object.body, field_manager(options_.set))};
}

/// Before Kubernetes 1.24 an apply keeps the order that a list has.
void KubePass::say_order(const DesiredObject& object, const std::string& reordered) {
  if (reordered.empty()) return;
  say(object.id, Action::kLeft,
      fmt::format("{}: its items are in another order than in the manifest, and an apply to this "
                  "server does not change that; put them in order by hand, or delete the object",
                  escape_control(reordered, kShownPath)));
}

std::string KubePass::why_not_adopted(const DesiredObject& object, const json::object& live) const {
  const codec::ObjectHead head = codec::read_head(live);
  return rules::why_not_adopted(options_.set, live_object(object.id, live),
                                {.appliers = head.appliers, .controller = head.controller});
}

/// Somebody ordered it, and nothing has come in between that forbids it.
bool KubePass::is_adopted(const DesiredObject& object, const Live& live) const {
  return live &&
         rules::is_adopted(terms_.adopt, rules::describe(object.id), codec::read_head(*live).uid) &&
         why_not_adopted(object, *live).empty();
}

void KubePass::say_foreign(const DesiredObject& object, const json::object& live, std::string why) {
  const codec::ObjectHead head = codec::read_head(live);
  say(object.id, Action::kFailed, std::move(why));
  rules::ForeignObject foreign{.uid = head.uid};
  for (const std::string& manager : head.managers) {
    if (foreign.managers.size() < kMostManagers)
      foreign.managers.push_back(escape_control(manager, kShownManager));
  }
  foreign.refusal = why_not_adopted(object, live);
  report_.touched.back().foreign = std::move(foreign);
}

bool KubePass::wants_write(const DesiredObject& object, const Live& live) {
  std::optional<rules::LiveObject> facts;
  if (live) facts = live_object(object.id, *live);
  if (doubted_ && !(facts && rules::is_member(*facts, options_.set))) {
    say(object.id, Action::kLeft, "it is not made, nor taken over, while pruning is refused");
    return false;
  }
  rules::Policy policy = object.policy;
  policy.adopt = policy.adopt || options_.adopt || is_adopted(object, live);
  const rules::Decision decision =
      rules::decide(options_.set, policy, facts, live && matches(object, *live));
  using Kind = rules::Decision::Kind;
  if (decision.kind == Kind::kLeave) say(object.id, Action::kLeft, decision.why);
  if (decision.kind == Kind::kRefuse) say_foreign(object, *live, decision.why);
  if (decision.kind == Kind::kUnchanged) {
    // To compare versions costs less than to compare fields.
    if (!is_settled(settled_, object, *live)) remember(object, *live);
    say_order(object, settled_.at(object.id).reordered);
  }
  return decision.kind == Kind::kCreate || decision.kind == Kind::kApply;
}

Task<bool> KubePass::look(const DesiredObject* object, Live* live, bool anew) {
  const auto member = members_.find(object->id);
  if (!anew && member != members_.end()) {
    *live = member->second;
    co_return true;
  }
  std::string path = path_of(*object);
  auto found = co_await client_.get(std::move(path), terms_.deadline);
  if (!found) {
    gone_ = gone_ || is_silence(found.error().code);
    say(object->id, Action::kFailed, found.error().describe());
    co_return false;
  }
  *live = *std::move(found);
  co_return true;
}

Task<Written> KubePass::apply(const DesiredObject* object, const Live* live, bool force, bool dry) {
  ApplyOrder order;
  order.path = path_of(*object);
  order.manager = field_manager(options_.set);
  order.body = object->body;
  // What arrives late changes nothing that is there by then.
  order.resource_version =
      *live ? codec::read_head(**live).resource_version : std::string(kAbsentVersion);
  order.force = force;
  order.dry = dry;
  order.secret = codec::is_secret(object->body);
  ApplyOrder plain = order;
  Written written = co_await writer_.apply(std::move(order), terms_.deadline);
  if (written.kind != Written::Kind::kNoVersion) co_return written;
  plain.resource_version.clear();
  written = co_await writer_.apply(std::move(plain), terms_.deadline);
  co_return written;
}

bool KubePass::makes_space(std::string_view space) const {
  return std::ranges::any_of(desired_.objects, [space](const DesiredObject& one) {
    return one.id.group.empty() && one.id.kind == "Namespace" && one.id.name == space &&
           one.policy.apply != rules::Policy::Apply::kIgnore;
  });
}

Task<void> KubePass::write(const DesiredObject* object, Live live) {
  using Kind = Written::Kind;
  std::string note;
  bool force = false;
  bool read_anew = false;
  Written written = co_await apply(object, &live, force, terms_.dry);
  if (written.kind == Kind::kStale) {
    // Somebody changed it since it was listed, its status for example, or created it. What it is
    // now is judged anew, and once: who changes it all the time is left for the next pass.
    read_anew = co_await look(object, &live, true);
    if (!read_anew || !wants_write(*object, live)) co_return;
    written = co_await apply(object, &live, force, terms_.dry);
  }
  if (written.kind == Kind::kConflict) ++report_.conflicts;
  if (written.kind == Kind::kConflict && (object->policy.force || is_adopted(*object, live))) {
    note = "took over " + written.why;
    force = true;
    written = co_await apply(object, &live, force, terms_.dry);
  }
  if (written.kind == Kind::kDone) {
    settle(*object, live, written.object, std::move(note));
  } else if (written.kind == Kind::kImmutable && live && object->policy.recreate) {
    co_await recreate(object, std::move(live), std::move(written.why));
  } else if (written.kind == Kind::kNoAnswer && !terms_.dry) {
    co_await read_again(object, std::move(live), std::move(written));
  } else if (written.kind == Kind::kMissing && terms_.dry && !live && !object->id.space.empty()) {
    const std::string& space = object->id.space;
    if (!makes_space(space)) {
      say(object->id, Action::kFailed,
          fmt::format("its namespace {} is neither on the server nor in this set, so it could not "
                      "be made",
                      escape_control(space, kShownPath)));
      co_return;
    }
    say(object->id, Action::kCreated, "its namespace is not there yet",
        rules::unified_diff(rules::describe(object->id), "",
                            codec::show_states(nullptr, &object->body).after));
  } else {
    fenced_ = fenced_ || written.kind == Kind::kFenced;
    std::string why = joined(note, written.why);
    if (written.kind == Kind::kConflict && live) {
      say_foreign(*object, *live, std::move(why));
    } else {
      say_refused(object->id, std::move(why), written);
    }
  }
}

void KubePass::settle(const DesiredObject& object, const Live& live, const json::object& now,
                      std::string why) {
  const codec::ObjectHead head = codec::read_head(now);
  if (!terms_.dry) remember(object, now);
  const bool same =
      live && (terms_.dry ? codec::without_noise(*live) == codec::without_noise(now)
                          : codec::read_head(*live).resource_version == head.resource_version);
  if (same && terms_.dry)
    say_order(object, codec::reordered(now, object.body, field_manager(options_.set)));
  if (same) return;
  const codec::ShownStates states = codec::show_states(live ? &*live : nullptr, &now);
  say(object.id, live ? Action::kChanged : Action::kCreated, std::move(why),
      rules::unified_diff(rules::describe(object.id), states.before, states.after));
}

Task<void> KubePass::read_again(const DesiredObject* object, Live live, Written written) {
  Live now;
  const bool looked = co_await look(object, &now, true);
  if (!looked) co_return;
  if (now && matches(*object, *now)) {
    settle(*object, live, *now, "no answer came; it was read again, and is as it should be");
    co_return;
  }
  say_refused(object->id, "it was not applied: " + written.why, written);
}

Task<void> KubePass::recreate(const DesiredObject* object, Live live, std::string why) {
  const codec::ObjectHead head = codec::read_head(*live);
  const codec::ShownStates states = codec::show_states(&*live, &object->body);
  std::string diff = rules::unified_diff(rules::describe(object->id), states.before, states.after);
  if (rules::holds_others(object->id)) {
    say(object->id, Action::kFailed, why + "; to delete it would delete what is in it");
    co_return;
  }
  if (terms_.dry) {
    say(object->id, Action::kRecreated, std::move(why), std::move(diff));
    co_return;
  }
  DeleteOrder order{path_of(*object), head.uid, head.resource_version};
  const Written deleted = co_await writer_.remove(std::move(order), terms_.deadline);
  Live left;
  const bool looked = co_await look(object, &left, true);
  if (!looked) co_return;
  if (left) {
    say(object->id, Action::kFailed,
        joined(why, deleted.why.empty() ? "it is deleted, and a finalizer holds it"
                                        : "it was not deleted: " + deleted.why));
    co_return;
  }
  const Written created = co_await apply(object, &left, false, false);
  if (created.kind != Written::Kind::kDone) {
    std::string said = "it was deleted, and not created again yet: " + created.why;
    say_refused(object->id, std::move(said), created);
    co_return;
  }
  remember(*object, created.object);
  say(object->id, Action::kRecreated, std::move(why), std::move(diff));
}

}  // namespace wardmote::act::reconcile
