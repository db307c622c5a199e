#include "judge/plan/machine.h"

#include <optional>
#include <string>

#include "base/format.h"
#include "base/time.h"
#include "judge/plan/conditions.h"
#include "judge/plan/plan.h"
#include "judge/raft/member_id.h"
#include "judge/raft/survey.h"

namespace wardmote::judge::plan {
namespace {

using namespace std::chrono_literals;
using raft::Survey;

/// A cluster that changes its leader is given this long to be as it must be.
constexpr Duration kPatience = 60s;
/// A kick that was begun is repeated for so long.
constexpr Duration kRepeatFor = 2min;
/// A new member fetches the whole database.
constexpr Duration kCatchUp = 10min;

Decision confirm(const Plan& plan, const Survey& survey) {
  if (auto reason = objection(plan, survey)) return {Move::kFail, *reason};
  return {Move::kFinish, fmt::format("{} of {} voters acknowledge, {} are needed",
                                     survey.acknowledging, survey.voters, survey.needed)};
}

/// Any number of copies is as good as one.
Decision copy(const Plan& plan, const Survey& survey) {
  if (auto reason = objection(plan, survey)) return {Move::kFail, *reason};
  return {Move::kBegin, ""};
}

/// A server's id is never given again, so a kick that was done is only refused.
Decision kick(const Plan& plan, const Step& step, const Survey& survey, TimePoint now) {
  const bool begun = step.state == StepState::kBegun;
  const bool late = begun && now - plan.changed > kRepeatFor;
  if (!survey.leader.empty() && !is_listed(plan, survey)) {
    return {Move::kFinish, fmt::format("{} is not listed any more", short_name(plan.server))};
  }
  if (begun && (survey.leader.empty() || survey.changing)) {
    return late ? Decision{Move::kAsk, "the removal has not ended"} : Decision{};
  }
  if (auto reason = objection(plan, survey)) return {Move::kFail, *reason};
  if (late) return {Move::kAsk, "the removal was begun, and the server is still listed"};
  return {Move::kBegin, ""};
}

Decision rejoin(const Plan& plan, const Step& step, const Survey& survey, TimePoint now) {
  if (has_begun_anew(plan, survey)) {
    return {Move::kFinish,
            fmt::format("{} is {} now", plan.member, short_name(survey.member(plan.member)->id))};
  }
  const bool late = now - plan.changed > kPatience;
  if (step.state == StepState::kBegun) {
    return late
               ? Decision{Move::kAsk, fmt::format("the command was begun, and {} has not come back",
                                                  plan.member)}
               : Decision{};
  }
  if (auto reason = objection_to_rejoin(plan, survey)) {
    return late ? Decision{Move::kAsk, *reason} : Decision{Move::kWait, *reason};
  }
  return {Move::kBegin, ""};
}

Decision verify(const Plan& plan, const Survey& survey, TimePoint now) {
  const auto missing = missing_to_whole(plan, survey);
  if (!missing) return {Move::kFinish, "the cluster is whole"};
  return {now - plan.changed > kCatchUp ? Move::kFail : Move::kWait, *missing};
}

}  // namespace

Decision decide(const Plan& plan, const Survey& survey, const std::optional<std::string>& brake,
                TimePoint now) {
  if (plan.state != PlanState::kRunning) return {};
  const Step* const step = plan.current();
  if (step == nullptr) return {Move::kEnd, ""};
  if (survey.begun < plan.changed && step->state == StepState::kWaiting) return {};
  const bool acts = step->kind != StepKind::kConfirmQuorum && step->kind != StepKind::kVerify;
  Decision decision;
  switch (step->kind) {
    case StepKind::kConfirmQuorum: decision = confirm(plan, survey); break;
    case StepKind::kCopyDatabase: decision = copy(plan, survey); break;
    case StepKind::kKick: decision = kick(plan, *step, survey, now); break;
    case StepKind::kRejoin: decision = rejoin(plan, *step, survey, now); break;
    case StepKind::kVerify: decision = verify(plan, survey, now); break;
  }
  if (brake && acts && decision.move == Move::kBegin) return {Move::kWait, *brake};
  return decision;
}

}  // namespace wardmote::judge::plan
