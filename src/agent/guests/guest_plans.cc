// What plans are told of guests, so that one that is dead may be restarted.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/plan/plan_runner.h"
#include "agent/guests/guest.h"
#include "agent/guests/guest_watch.h"
#include "agent/scheduler.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/guest/facts.h"
#include "judge/guest/restart_remedy.h"
#include "judge/guest/restart_view.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "judge/thing.h"
#include "observe/guests/standing.h"
#include "runtime/deadline.h"
#include "runtime/hypervisor.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::agent {

using judge::guest::kGuestKind;
using judge::guest::RestartRemedy;
using judge::guest::RestartView;
using judge::plan::Plan;
using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

/// How long the hypervisor may take to say how a guest is; without its word nothing is done.
constexpr Duration kAnswersWithin = 2s;

bool is_for(const Plan& plan, std::string_view uuid) {
  return plan.target.kind == kGuestKind && plan.arg("uuid") == uuid;
}

}  // namespace

/// The open plan for that guest; null: there is none.
const Plan* GuestWatch::plan_for(std::string_view uuid) const {
  for (const auto& [id, plan] : tools_.plans.planner().plans()) {
    if (plan.open() && is_for(plan, uuid)) return &plan;
  }
  return nullptr;
}

bool GuestWatch::look_for_plan(const judge::ThingId& target) {
  if (target.kind != kGuestKind) return false;
  const TimePoint now = tools_.runtime.now();
  for (auto& [uuid, guest] : guests_) {
    if (guest.names.name != target.name) continue;
    guest.plan_asked = now;
    tools_.scheduler.look_now(look_of(uuid));
    return true;
  }
  // A plan has ended it, and may start it.
  std::vector<std::string> ended;
  for (const auto& [id, plan] : tools_.plans.planner().plans()) {
    if (plan.target == target && plan.active()) ended.push_back(plan.arg("uuid"));
  }
  for (std::string& uuid : ended) tasks_.spawn("look for plan", tell_plans(std::move(uuid), now));
  return true;
}

RestartView GuestWatch::restart_view(const std::string& uuid, TimePoint begun) const {
  RestartView view;
  view.begun = begun;
  view.names.uuid = uuid;
  if (config_) view.policy = config_->policy;
  const auto found = guests_.find(uuid);
  if (found == guests_.end()) return view;
  const Guest& guest = found->second;
  view.names = guest.names;
  judge::guest::describe(guest.machine, tools_.runtime.now(), view);
  view.process = guest.process;
  view.frozen = guest.inside.is_frozen();
  view.held = guest.hold.held();
  if (guest.cpu_grew) view.ran_ago = tools_.runtime.now() - *guest.cpu_grew;
  view.nova = guest.nova;
  view.lost = static_cast<std::size_t>(std::ranges::count_if(
      guests_, [](const auto& each) { return each.second.machine.reported_lost(); }));
  return view;
}

/// At the end of a look that began then. What is asked of the hypervisor costs something, so only
/// of a guest that may be restarted.
Task<void> GuestWatch::tell_plans(std::string uuid, TimePoint begun) {
  RestartView view = restart_view(uuid, begun);
  const Plan* const plan = plan_for(uuid);
  if (view.names.name.empty() && plan != nullptr) view.names.name = plan->target.name;
  if (!tools_.plans.cares_for({kGuestKind, view.names.name})) co_return;
  const auto known = guests_.find(uuid);
  const bool asked =
      known == guests_.end() || (known->second.plan_asked && *known->second.plan_asked <= begun);
  const bool lost = known != guests_.end() && known->second.machine.reported_lost();
  if (known != guests_.end() && asked) known->second.plan_asked.reset();
  const std::shared_ptr<runtime::Hypervisor> hypervisor = hypervisor_;
  if ((asked || lost) && hypervisor && !unreachable_) {
    const Deadline deadline = tools_.runtime.deadline_in(kAnswersWithin);
    const auto said = co_await hypervisor->standing(uuid, deadline);
    if (hypervisor != hypervisor_) co_return;
    // It may have been heard of meanwhile.
    RestartView now = restart_view(uuid, begun);
    if (now.names.name.empty()) now.names.name = view.names.name;
    view = std::move(now);
    if (said) view.standing = observe::guests::standing_of(*said);
    view.gone = !said && said.error().code == Errc::kMissing;
  }
  std::vector<judge::Finding> findings;
  const auto found = guests_.find(uuid);
  if (found != guests_.end() && found->second.shown)
    findings = found->second.shown->assessment.findings;
  tools_.plans.heard(std::make_shared<RestartRemedy>(std::move(view)), findings);
}

/// Plans for guests that are not there any more: one that waits is over, and one that an earlier
/// life of the agent had begun goes on from how its guest is now.
void GuestWatch::tell_of_gone() {
  if (unreachable_) return;
  std::vector<std::pair<bool, RestartView>> gone;
  const TimePoint now = tools_.runtime.now();
  for (const auto& [id, plan] : tools_.plans.planner().plans()) {
    if (plan.target.kind != kGuestKind || !plan.open() || guests_.contains(plan.arg("uuid")))
      continue;
    gone.emplace_back(plan.active(), restart_view(plan.arg("uuid"), now));
    gone.back().second.names.name = plan.target.name;
  }
  for (auto& [active, view] : gone) {
    if (active) {
      tasks_.spawn("look for plan", tell_plans(std::move(view.names.uuid), now));
    } else {
      tools_.plans.heard(std::make_shared<RestartRemedy>(std::move(view)), {});
    }
  }
}

}  // namespace wardmote::agent
