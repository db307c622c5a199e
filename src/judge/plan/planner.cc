#include "judge/plan/planner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/plan/conditions.h"
#include "judge/plan/plan.h"
#include "judge/raft/member_id.h"
#include "judge/raft/survey.h"

namespace wardmote::judge::plan {
namespace {

constexpr std::size_t kKeepEnded = 200;
constexpr std::size_t kMostRefusals = 200;

void add_steps(Plan& plan, std::initializer_list<StepKind> kinds) {
  for (const StepKind kind : kinds) plan.steps.push_back({.kind = kind});
}

Plan removal(const raft::ListedServer& server) {
  Plan plan;
  plan.work = Work::kRemoveServer;
  plan.server = server.id;
  plan.address = server.address;
  add_steps(plan, {StepKind::kConfirmQuorum, StepKind::kKick, StepKind::kVerify});
  return plan;
}

Plan rebuild(const raft::Survey& survey, const raft::SurveyedMember& member) {
  Plan plan;
  plan.work = Work::kRebuildMember;
  plan.member = member.name;
  plan.former = member.id;
  add_steps(plan, {StepKind::kConfirmQuorum, StepKind::kCopyDatabase});
  if (const raft::ListedServer* const server = survey.server_of(member.name)) {
    plan.server = server->id;
    plan.address = server->address;
    add_steps(plan, {StepKind::kKick});
  }
  add_steps(plan, {StepKind::kRejoin, StepKind::kVerify});
  return plan;
}

bool has_commands(const ClusterCase& seen, std::string_view member) {
  return std::ranges::find(seen.rebuildable, member) != seen.rebuildable.end();
}

std::optional<std::string> obstacle(const ClusterCase& seen, const Plan& plan) {
  if (plan.work == Work::kRebuildMember && !has_commands(seen, plan.member)) {
    return fmt::format("{} has no commands under 'repair'", plan.member);
  }
  return objection(plan, seen.survey);
}

bool is_for(const Policy& policy, Code code) noexcept {
  return std::ranges::find(policy.on, code) != policy.on.end();
}

}  // namespace

bool Planner::cares_for(std::string_view cluster) const noexcept {
  const auto planned = [&](const auto& each) {
    return each.second.cluster == cluster && each.second.open();
  };
  return std::ranges::any_of(policies_,
                             [&](const Policy& policy) { return policy.covers(cluster); }) ||
         std::ranges::any_of(plans_, planned);
}

void Planner::recall(Plan plan) {
  last_id_ = std::max(last_id_, plan.id);
  plans_.insert_or_assign(plan.id, std::move(plan));
}

void Planner::update(Plan plan) {
  plans_.insert_or_assign(plan.id, std::move(plan));
  forget_old();
}

void Planner::set_incident(std::int64_t id, std::int64_t incident) {
  if (const auto found = plans_.find(id); found != plans_.end()) found->second.incident = incident;
}

const Policy* Planner::policy(std::string_view name) const noexcept {
  const auto found = std::ranges::find(policies_, name, &Policy::name);
  return found == policies_.end() ? nullptr : &*found;
}

std::optional<Plan> Planner::draft(const ClusterCase& seen, const Policy& policy,
                                   const Finding& finding) const {
  std::optional<Plan> plan;
  if (work_for(finding.code) == Work::kRemoveServer) {
    const auto server =
        std::ranges::find(seen.survey.servers, finding.subjects, &raft::ListedServer::names);
    if (server != seen.survey.servers.end()) plan = removal(*server);
  } else if (!finding.subjects.empty()) {
    const raft::SurveyedMember* const member = seen.survey.member(finding.subjects.front());
    if (member != nullptr) plan = rebuild(seen.survey, *member);
  }
  if (!plan) return plan;
  plan->policy = policy.name;
  plan->cluster = seen.cluster;
  plan->database = seen.database;
  plan->code = finding.code;
  plan->why = finding.summary;
  plan->proposer = "policy " + policy.name;
  plan->state = policy.act ? PlanState::kProposed : PlanState::kObserved;
  return plan;
}

const Plan* Planner::same_as(const Plan& plan, std::optional<TimePoint> since) const {
  for (const auto& [id, other] : plans_) {
    const bool same = other.cluster == plan.cluster && other.work == plan.work &&
                      other.member == plan.member && other.address == plan.address &&
                      (other.server == plan.server || compatible(other.server, plan.server));
    const bool turned_down =
        since && other.state == PlanState::kRejected && other.changed >= *since;
    if (same && (other.open() || turned_down)) return &other;
  }
  return nullptr;
}

std::int64_t Planner::add(Plan plan, TimePoint now) {
  plan.id = ++last_id_;
  plan.created = plan.changed = now;
  changed_.push_back(plan.id);
  const std::int64_t id = plan.id;
  plans_.insert_or_assign(id, std::move(plan));
  forget_old();
  return id;
}

void Planner::note(Plan& plan, PlanState state, std::string reason, TimePoint now) {
  plan.reason = std::move(reason);
  if (plan.state == state) return;
  plan.changed = now;
  plan.state = state;
  changed_.push_back(plan.id);
}

void Planner::refuse(const ClusterCase& seen, const Policy& policy, const Finding& finding,
                     std::string reason) {
  if (refusals_.size() >= kMostRefusals) return;
  refusals_.push_back({policy.name, std::string(seen.cluster), finding.code,
                       finding.subjects.empty() ? std::string() : finding.subjects.front(),
                       std::move(reason)});
}

void Planner::consider(const ClusterCase& seen, const std::optional<std::string>& brake,
                       TimePoint now) {
  std::erase_if(refusals_, [&](const Refusal& each) { return each.cluster == seen.cluster; });
  std::vector<std::int64_t> standing;
  for (const Policy& policy : policies_) {
    if (!policy.covers(seen.cluster)) continue;
    for (const Finding& finding : seen.findings) {
      if (is_for(policy, finding.code)) consider(seen, policy, finding, standing, now);
    }
  }
  for (auto& [id, plan] : plans_) {
    if (plan.cluster != seen.cluster || !plan.open() || plan.active()) continue;
    const bool stands = !plan.code || std::ranges::find(standing, id) != standing.end();
    reconsider(seen, plan, stands, brake, now);
  }
}

void Planner::reconsider(const ClusterCase& seen, Plan& plan, bool stands,
                         const std::optional<std::string>& brake, TimePoint now) {
  const Policy* const its = policy(plan.policy);
  if (!stands || its == nullptr) {
    note(plan, PlanState::kWithdrawn, stands ? "its policy is gone" : "its cause is gone", now);
    return;
  }
  // Its policy may say otherwise than when it was made.
  note(plan, its->act ? PlanState::kProposed : PlanState::kObserved, plan.reason, now);
  std::optional<std::string> reason = obstacle(seen, plan);
  if (!reason && its->act) reason = brake ? brake : held_back(plan, *its, now);
  if (!reason && its->act && !its->approval && plan.code) {
    plan.approver = "policy " + its->name;
    plan.begun = now;
    note(plan, PlanState::kRunning, "", now);
    return;
  }
  plan.reason = reason.value_or("");
}

void Planner::consider(const ClusterCase& seen, const Policy& policy, const Finding& finding,
                       std::vector<std::int64_t>& standing, TimePoint now) {
  const std::optional<Plan> plan = draft(seen, policy, finding);
  if (!plan) {
    refuse(seen, policy, finding, "it is not certain which server that is");
    return;
  }
  if (const Plan* const same = same_as(*plan, finding.since)) {
    standing.push_back(same->id);
    return;
  }
  if (auto reason = obstacle(seen, *plan)) {
    refuse(seen, policy, finding, *std::move(reason));
  } else if (now - finding.since < policy.after) {
    refuse(seen, policy, finding,
           fmt::format("it has not stood for {}", spell_duration(policy.after)));
  } else {
    standing.push_back(add(*plan, now));
  }
}

std::expected<std::int64_t, std::string> Planner::ask_to_rebuild(const ClusterCase& seen,
                                                                 std::string_view member,
                                                                 std::string by, TimePoint now) {
  const auto its = std::ranges::find_if(policies_, [&](const Policy& policy) {
    return policy.covers(seen.cluster) && std::ranges::any_of(policy.on, [](Code code) {
             return work_for(code) == Work::kRebuildMember;
           });
  });
  if (its == policies_.end()) {
    return std::unexpected(fmt::format("no policy lets members of {} be rebuilt", seen.cluster));
  }
  const raft::SurveyedMember* const who = seen.survey.member(member);
  if (who == nullptr) return std::unexpected("there is no such member");
  Plan plan = rebuild(seen.survey, *who);
  plan.policy = its->name;
  plan.cluster = seen.cluster;
  plan.database = seen.database;
  plan.why = "asked for";
  plan.proposer = std::move(by);
  plan.state = its->act ? PlanState::kProposed : PlanState::kObserved;
  if (const Plan* const same = same_as(plan, std::nullopt)) return same->id;
  if (auto reason = obstacle(seen, plan)) return std::unexpected(*std::move(reason));
  return add(std::move(plan), now);
}

std::optional<std::string> Planner::approve(std::int64_t id, std::string by, TimePoint now) {
  const auto found = plans_.find(id);
  if (found == plans_.end()) return "there is no such plan";
  Plan& plan = found->second;
  if (plan.state == PlanState::kUnclear) {
    // Whoever approves has looked: what was begun may be begun again.
    if (Step* const step = plan.current()) step->state = StepState::kWaiting;
    plan.approver = std::move(by);
    note(plan, PlanState::kRunning, "", now);
    plan.changed = now;
    return std::nullopt;
  }
  if (plan.state == PlanState::kObserved) {
    return fmt::format("policy {} only observes: set 'mode: act'", plan.policy);
  }
  if (plan.state != PlanState::kProposed) {
    return fmt::format("it is {} already", to_string(plan.state));
  }
  const Policy* const its = policy(plan.policy);
  if (its == nullptr || !its->act) return "its policy does not let it act any more";
  if (auto reason = held_back(plan, *its, now)) return reason;
  plan.approver = std::move(by);
  plan.begun = now;
  note(plan, PlanState::kRunning, "", now);
  return std::nullopt;
}

std::optional<std::string> Planner::reject(std::int64_t id, const std::string& by,
                                           const std::string& comment, TimePoint now) {
  const auto found = plans_.find(id);
  if (found == plans_.end()) return "there is no such plan";
  Plan& plan = found->second;
  if (!plan.open() || plan.state == PlanState::kRunning) {
    return fmt::format("it is {} already", to_string(plan.state));
  }
  std::string reason = "by " + by;
  if (!comment.empty()) reason += ": " + comment;
  note(plan, PlanState::kRejected, std::move(reason), now);
  return std::nullopt;
}

bool Planner::resume(std::string_view scope) {
  const auto found = pauses_.find(scope);
  if (found == pauses_.end()) return false;
  pauses_.erase(found);
  return true;
}

std::optional<std::string> Planner::paused(std::string_view cluster, TimePoint now) const {
  for (const auto& [scope, pause] : pauses_) {
    if (!scope.empty() && scope != cluster) continue;
    if (pause.until && *pause.until <= now) continue;
    return fmt::format("{} is paused by {}", scope.empty() ? "everything" : scope, pause.by);
  }
  return std::nullopt;
}

std::optional<std::string> Planner::held_back(const Plan& plan, const Policy& policy,
                                              TimePoint now) const {
  std::size_t begun = 0;
  for (const auto& [id, other] : plans_) {
    if (id == plan.id) continue;
    const bool ran =
        other.active() || other.state == PlanState::kDone || other.state == PlanState::kFailed;
    if (!ran) continue;
    begun += other.policy == policy.name && now - other.begun < policy.window ? 1 : 0;
    if (other.cluster != plan.cluster) continue;
    if (other.active()) return fmt::format("plan {} is not at its end", id);
    if (now - other.changed < policy.cooldown) {
      return fmt::format("plan {} ended less than {} ago", id, spell_duration(policy.cooldown));
    }
  }
  if (begun < policy.budget) return std::nullopt;
  return fmt::format("policy {} has begun {} plans within {}", policy.name, begun,
                     spell_duration(policy.window));
}

void Planner::forget_old() {
  std::size_t ended = 0;
  for (const auto& [id, plan] : plans_) ended += plan.open() ? 0 : 1;
  for (auto each = plans_.begin(); each != plans_.end() && ended > kKeepEnded;) {
    if (each->second.open()) {
      ++each;
      continue;
    }
    forgotten_.push_back(each->first);
    each = plans_.erase(each);
    --ended;
  }
}

}  // namespace wardmote::judge::plan
