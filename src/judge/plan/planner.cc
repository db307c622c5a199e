#include "judge/plan/planner.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/plan/consent.h"
#include "judge/plan/machine.h"
#include "judge/plan/plan.h"
#include "judge/plan/remedy.h"
#include "judge/remedies.h"
#include "judge/thing.h"

namespace wardmote::judge::plan {
namespace {

constexpr std::size_t kKeepEnded = 200;
constexpr std::size_t kMostRefusals = 200;
/// After a start each finding that stands is found again within this time.
constexpr Duration kSeenAgain = std::chrono::minutes(5);
constexpr const char* kNotSeenYet = "its cause was not seen again since the agent started";

/// Why it is too early.
std::optional<std::string> too_early(const Remedy& seen, const Plan& plan, const Finding& finding,
                                     Duration after, TimePoint now) {
  const auto since = seen.stands_since(plan, finding);
  if (!since) return since.error();
  if (now - *since >= after) return std::nullopt;
  return fmt::format("it has not stood for {}", spell_duration(after));
}

void put_under(const Policy& policy, Plan& plan) {
  plan.policy = policy.name;
  plan.state = policy.acts() ? PlanState::kProposed : PlanState::kObserved;
}

std::string_view journal_word(PlanState state) noexcept {
  return state == PlanState::kRunning ? "approved" : to_string(state);
}

}  // namespace

bool Planner::cares_for(const ThingId& target) const noexcept {
  const auto planned = [&](const auto& each) {
    return each.second.target == target && each.second.open();
  };
  const auto may_plan = [&](const Policy& policy) {
    return policy.covers(target.name) && std::ranges::any_of(policy.on, [&](Code code) {
             const RemedyInfo* const remedy = remedy_for(code);
             return remedy != nullptr && remedy->target == target.kind;
           });
  };
  return std::ranges::any_of(policies_, may_plan) || std::ranges::any_of(plans_, planned);
}

void Planner::recall(Plan plan, TimePoint now) {
  number_after(plan.id);
  if (plan.open() && !plan.active()) {
    unseen_[plan.id] = now + kSeenAgain;
    plan.reason = kNotSeenYet;
  }
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

const Plan* Planner::same_as(const Remedy& seen, const Plan& plan) const {
  for (const auto& [id, other] : plans_) {
    if (other.open() && seen.is_same(other, plan)) return &other;
  }
  return nullptr;
}

const Plan* Planner::rejection_of(const Remedy& seen, const Plan& plan) const {
  for (const auto& [id, other] : plans_) {
    const bool holds = other.state == PlanState::kRejected && !other.lifted;
    if (holds && seen.is_rejected_by(other, plan)) return &other;
  }
  return nullptr;
}

std::int64_t Planner::add(Plan plan, TimePoint now) {
  plan.id = ++last_id_;
  plan.created = plan.changed = now;
  changed_.push_back({plan, std::string(to_string(plan.state))});
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
  changed_.push_back({plan, std::string(journal_word(state))});
}

void Planner::run(Plan& plan, std::string approver, TimePoint now) {
  plan.approver = std::move(approver);
  plan.begun = now;
  note(plan, PlanState::kRunning, "", now);
}

void Planner::lift_rejections(const Remedy& seen) {
  for (auto& [id, plan] : plans_) {
    const bool holds = plan.state == PlanState::kRejected && !plan.lifted;
    if (!holds || !seen.is_well(plan)) continue;
    plan.lifted = true;
    changed_.push_back({plan, "lifted"});
  }
}

void Planner::refuse(const Remedy& seen, const Policy& policy, const Finding& finding,
                     std::string reason) {
  if (refusals_.size() >= kMostRefusals) return;
  refusals_.push_back({policy.name, seen.target(), finding.code,
                       finding.subjects.empty() ? std::string() : finding.subjects.front(),
                       std::move(reason)});
}

void Planner::consider(const Remedy& seen, std::span<const Finding> findings,
                       const std::optional<std::string>& brake, TimePoint now) {
  std::erase_if(refusals_, [&](const Refusal& each) { return each.target == seen.target(); });
  lift_rejections(seen);
  std::vector<std::int64_t> standing;
  for (const Policy& policy : policies_) {
    if (!policy.covers(seen.target().name)) continue;
    for (const Finding& finding : findings) {
      if (policy.is_for(finding.code)) consider(seen, policy, finding, standing, now);
    }
  }
  for (auto& [id, plan] : plans_) {
    if (plan.target != seen.target() || !plan.open() || plan.active()) continue;
    const bool stands =
        plan.code ? std::ranges::find(standing, id) != standing.end() : !seen.recovered(plan);
    reconsider(seen, plan, stands, brake, now);
  }
}

void Planner::reconsider(const Remedy& seen, Plan& plan, bool stands,
                         const std::optional<std::string>& brake, TimePoint now) {
  const Policy* const its = policy(plan.policy);
  if (its == nullptr || !its->covers(seen.target().name) || !is_for(*its, plan)) {
    note(plan, PlanState::kWithdrawn, "its policy is gone, or is not for it any more", now);
    return;
  }
  if (stands) {
    unseen_.erase(plan.id);
  } else if (auto reason = end_of_cause(seen, plan, now)) {
    note(plan, PlanState::kWithdrawn, *std::move(reason), now);
    return;
  }
  // Its policy may say otherwise than when it was made.
  note(plan, its->acts() ? PlanState::kProposed : PlanState::kObserved, plan.reason, now);
  std::optional<std::string> reason = seen.obstacle(plan);
  if (!reason && !stands) reason = kNotSeenYet;
  if (!reason) reason = its->why_it_observes();
  if (!reason) reason = brake ? brake : held_back(plan, *its, now);
  if (!reason && !its->approval && plan.code) {
    run(plan, "policy " + its->name, now);
    return;
  }
  plan.reason = reason.value_or("");
}

std::optional<std::string> Planner::end_of_cause(const Remedy& seen, const Plan& plan,
                                                 TimePoint now) const {
  if (!plan.code) return seen.recovered(plan);
  const auto unseen = unseen_.find(plan.id);
  if (unseen == unseen_.end() || now >= unseen->second) return "its cause is gone";
  return seen.recovered(plan);
}

void Planner::consider(const Remedy& seen, const Policy& policy, const Finding& finding,
                       std::vector<std::int64_t>& standing, TimePoint now) {
  auto plan = seen.draft(finding);
  if (!plan) {
    refuse(seen, policy, finding, std::move(plan).error());
    return;
  }
  put_under(policy, *plan);
  if (const Plan* const same = same_as(seen, *plan)) {
    standing.push_back(same->id);
  } else if (const Plan* const rejected = rejection_of(seen, *plan)) {
    refuse(seen, policy, finding,
           fmt::format("plan {} for it was rejected {}", rejected->id, rejected->reason));
  } else if (!finding.confirmed) {
    refuse(seen, policy, finding, "nobody has confirmed it since");
  } else if (auto reason = seen.obstacle(*plan)) {
    refuse(seen, policy, finding, *std::move(reason));
  } else if (auto early = too_early(seen, *plan, finding, policy.after, now)) {
    refuse(seen, policy, finding, *std::move(early));
  } else {
    plan->proposer = "policy " + policy.name;
    standing.push_back(add(*std::move(plan), now));
  }
}

std::expected<std::int64_t, std::string> Planner::propose(const Remedy& seen,
                                                          std::string_view subject, std::string by,
                                                          TimePoint now) {
  auto plan = seen.draft_for(subject);
  if (!plan) return std::unexpected(std::move(plan).error());
  const auto its = std::ranges::find_if(policies_, [&](const Policy& policy) {
    return policy.covers(seen.target().name) && is_for(policy, *plan);
  });
  if (its == policies_.end()) {
    const RemedyInfo* const remedy = find_remedy(plan->remedy);
    return std::unexpected(fmt::format("no policy for {} lets the agent {}", seen.target().name,
                                       remedy == nullptr ? plan->remedy : remedy->act));
  }
  put_under(*its, *plan);
  plan->proposer = std::move(by);
  if (const Plan* const same = same_as(seen, *plan)) return same->id;
  if (auto reason = seen.obstacle(*plan)) return std::unexpected(*std::move(reason));
  return add(*std::move(plan), now);
}

std::optional<std::string> Planner::approve(std::int64_t id, std::string by, TimePoint now) {
  const auto found = plans_.find(id);
  if (found == plans_.end()) return "there is no such plan";
  Plan& plan = found->second;
  if (plan.state == PlanState::kUnclear) {
    std::string before = std::exchange(plan.approver, std::move(by));
    if (auto reason = withdrawn_by_policy(plan, policies_)) {
      plan.approver = std::move(before);
      return reason;
    }
    // Whoever approves has looked: what was begun may be begun again.
    retry(plan);
    note(plan, PlanState::kRunning, "", now);
    return std::nullopt;
  }
  if (!plan.open() || plan.active()) {
    return fmt::format("it is {} already", to_string(plan.state));
  }
  if (auto reason = withdrawn_by_policy(plan, policies_)) return reason;
  if (plan.state != PlanState::kProposed) return "it was not looked at under its policy yet";
  if (unseen_.contains(id)) return kNotSeenYet;
  if (auto reason = held_back(plan, *policy(plan.policy), now)) return reason;
  run(plan, std::move(by), now);
  return std::nullopt;
}

std::optional<std::string> Planner::reject(std::int64_t id, const std::string& by,
                                           const std::string& comment, TimePoint now) {
  const auto found = plans_.find(id);
  if (found == plans_.end()) return "there is no such plan";
  Plan& plan = found->second;
  if (!plan.open()) {
    return fmt::format("it is {} already", to_string(plan.state));
  }
  std::string reason = "by " + by;
  if (!comment.empty()) reason += ": " + comment;
  if (plan.half_way()) reason += " (what was begun may still be carried out)";
  note(plan, PlanState::kRejected, std::move(reason), now);
  return std::nullopt;
}

const Pause& Planner::pause(Pause pause) {
  const auto [held, added] = pauses_.try_emplace(pause.scope, pause);
  const bool longer = held->second.until && (!pause.until || *held->second.until < *pause.until);
  if (!added && longer) held->second = std::move(pause);
  return held->second;
}

bool Pause::fits(std::span<const std::string> its) const noexcept {
  return std::ranges::find_first_of(identities, its) != identities.end();
}

const Pause* Planner::learn(std::string_view scope, std::span<const std::string> identities) {
  const auto found = pauses_.find(scope);
  if (found == pauses_.end()) return nullptr;
  Pause& pause = found->second;
  if (!pause.identities.empty() && !pause.fits(identities)) return nullptr;
  const std::size_t known = pause.identities.size();
  for (const std::string& identity : identities) {
    const auto at = std::ranges::find(pause.identities, identity);
    if (at == pause.identities.end()) pause.identities.push_back(identity);
  }
  return pause.identities.size() > known ? &pause : nullptr;
}

bool Planner::resume(std::string_view scope) {
  const auto found = pauses_.find(scope);
  if (found == pauses_.end()) return false;
  pauses_.erase(found);
  return true;
}

std::optional<std::string> Planner::paused(std::string_view scope, TimePoint now,
                                           std::span<const std::string> identities) const {
  for (const auto& [paused, pause] : pauses_) {
    if (!paused.empty() && paused != scope && !pause.fits(identities)) continue;
    if (pause.until && *pause.until <= now) continue;
    if (paused.empty()) return "everything is paused by " + pause.by;
    std::string reason = fmt::format("{} is paused by {}", paused, pause.by);
    if (paused != scope) reason += fmt::format(", and {} is what had this name", scope);
    return reason;
  }
  return std::nullopt;
}

std::optional<std::string> Planner::held_back(const Plan& plan, const Policy& policy,
                                              TimePoint now) const {
  std::size_t begun = 0;
  for (const auto& [id, other] : plans_) {
    if (id == plan.id) continue;
    const bool ran = other.active() || other.state == PlanState::kDone ||
                     other.state == PlanState::kFailed || other.acted();
    if (!ran) continue;
    begun += other.policy == policy.name && now - other.begun < policy.window ? 1 : 0;
    if (!other.shares_target(plan)) continue;
    if (other.state == PlanState::kUnclear)
      return fmt::format("plan {} is unclear: approve or reject it first", id);
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
  // A rejection holds for as long as what it is about.
  const auto stays = [](const Plan& plan) {
    return plan.open() || (plan.state == PlanState::kRejected && !plan.lifted);
  };
  for (const auto& [id, plan] : plans_) ended += stays(plan) ? 0 : 1;
  for (auto each = plans_.begin(); each != plans_.end() && ended > kKeepEnded;) {
    if (stays(each->second)) {
      ++each;
      continue;
    }
    forgotten_.push_back(each->first);
    each = plans_.erase(each);
    --ended;
  }
}

}  // namespace wardmote::judge::plan
