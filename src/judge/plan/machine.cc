#include "judge/plan/machine.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/time.h"
#include "judge/plan/consent.h"
#include "judge/plan/plan.h"
#include "judge/plan/remedy.h"

namespace wardmote::judge::plan {
namespace {

/// What was done this long ago holds, if it is confirmed.
constexpr Duration kHolds = std::chrono::minutes(10);

/// Looks further apart than this do not follow on one another: somebody may have come and gone.
constexpr Duration kBlink = std::chrono::seconds(10);
/// Whatever brought it back has done its work then.
constexpr Duration kSettled = std::chrono::seconds(15);

/// Whether the plan is as far from having changed anything as before the try of this step, which
/// was never begun. A plan that was half way before is still so.
bool changed_nothing(const Plan& plan, const Step& tried) noexcept {
  if (tried.impact == Impact::kOnce) return false;
  if (is_change(tried.impact) && tried.tries > 1) return false;
  return std::ranges::none_of(plan.steps, [&](const Step& step) {
    return &step != &tried && is_change(step.impact) && step.was_begun();
  });
}

}  // namespace

Decision give_up(const Plan& plan, std::string reason) {
  return {plan.half_way() ? Move::kAsk : Move::kWithdraw, std::move(reason)};
}

Decision decide(const Plan& plan, const Remedy& remedy, const Consent& consent, TimePoint now) {
  if (plan.state != PlanState::kRunning) return {};
  const Step* const step = plan.current();
  if (step == nullptr) return {Move::kEnd, ""};
  if (remedy.begun() < plan.changed && step->state == StepState::kWaiting) return {};
  const std::optional<std::string> life = plan.sign_of_life();
  if (life && !plan.half_way()) {
    return {Move::kWithdraw, fmt::format("it lived since the plan began: {}", *life)};
  }
  Decision decision = remedy.decide(plan, now);
  // Nobody can call back what was begun.
  if (decision.move == Move::kFinish && !step->sign_of_life.empty()) {
    return {Move::kAsk, fmt::format("{}, but while that was being done {}: it lived then",
                                    decision.detail, step->sign_of_life)};
  }
  const bool acts = decision.move == Move::kBegin || decision.move == Move::kRepeat;
  // It may be gone again; that is another case, and the policy has not waited for that one.
  if (life && acts) {
    return give_up(plan,
                   fmt::format("it lived since that was begun ({}): it is not done again", *life));
  }
  // To look needs nobody's consent, but for the look before the first act.
  const bool goes_on = acts || (!is_act(step->impact) && !plan.acted());
  if (goes_on && consent.withdrawn) return give_up(plan, *consent.withdrawn);
  if (consent.held && acts) return {Move::kWait, *consent.held};
  return decision;
}

void begin(Plan& plan, std::int64_t token, TimePoint now) {
  Step& step = *plan.current();
  step.state = StepState::kBegun;
  ++step.tries;
  step.watched = now;
  plan.token = token;
  plan.reason.clear();
  plan.changed = now;
}

bool note_life(Plan& plan, const Remedy& remedy) {
  Step* const step = plan.current();
  if (step == nullptr || plan.state != PlanState::kRunning) return false;
  if (step->watched && remedy.begun() - *step->watched > kBlink) step->watched.reset();
  if (step->watched && remedy.would_show_life())
    step->watched = std::max(*step->watched, remedy.begun());
  if (remedy.begun() < plan.changed) return false;
  const std::optional<std::string> as = remedy.answers_as(plan);
  const bool first = as && step->seen_as.empty();
  if (first) step->seen_as = *as;
  if (as && !step->seen_since) step->seen_since = remedy.begun();
  if (!step->sign_of_life.empty()) return first;
  step->sign_of_life = remedy.sign_of_life(plan).value_or("");
  return first || !step->sign_of_life.empty();
}

std::optional<std::string> reason_to_stop(const Plan& plan, TimePoint now) {
  if (auto life = plan.sign_of_life()) return life;
  const Step* const step = plan.current();
  if (step == nullptr || !step->seen_since || now - *step->seen_since < kSettled)
    return std::nullopt;
  return fmt::format("{} takes part, and what still runs could only harm it", plan.subject);
}

void keep_notes(Plan& plan, const Plan& before) {
  // Whoever approves an unclear plan has looked.
  if (plan.state != PlanState::kRunning || before.state != PlanState::kRunning) return;
  for (Step& step : plan.steps) {
    const Step* const known = before.find(step.name);
    if (known == nullptr) continue;
    if (known->tries == step.tries) step.watched = known->watched;
    if (step.sign_of_life.empty()) step.sign_of_life = known->sign_of_life;
    if (step.seen_as.empty()) step.seen_as = known->seen_as;
  }
}

bool is_young(const Step& step, TimePoint now) noexcept {
  return step.succeeded && now - step.succeeded->whole <= kHolds;
}

std::string end_act(Plan& plan, Effect effect, std::string detail, TimePoint acted, TimePoint now) {
  Step& step = *plan.current();
  const bool runs = plan.state == PlanState::kRunning;
  step.detail = std::move(detail);
  if (runs) plan.changed = now;
  // Looks show what came of what was done to somebody who lives.
  if (effect == Effect::kDone && !step.sign_of_life.empty()) effect = Effect::kUnknown;
  if (effect == Effect::kDone) {
    step.state = StepState::kDone;
    step.succeeded = Success{acted, now, is_young(step, acted) ? step.succeeded->whole : acted};
    return "result";
  }
  step.succeeded.reset();
  if (effect == Effect::kUnknown) {
    // What changes something stays begun, and looks show what came of it.
    if (!is_change(step.impact)) step.state = StepState::kWaiting;
    return "unknown";
  }
  const bool harmless = changed_nothing(plan, step);
  step.state = StepState::kFailed;
  if (runs) {
    plan.state = harmless ? PlanState::kFailed : PlanState::kUnclear;
    plan.reason = step.detail;
  }
  return "failure";
}

std::string settle(Plan& plan, const Decision& decision, TimePoint now) {
  plan.changed = now;
  Step* const earlier = decision.move == Move::kRepeat ? plan.find(decision.step) : nullptr;
  if (earlier != nullptr) {
    earlier->state = StepState::kWaiting;
    earlier->detail = decision.detail;
    plan.reason = decision.detail;
    return "asked";
  }
  if (decision.move == Move::kFinish) {
    Step& step = *plan.current();
    step.state = StepState::kDone;
    step.detail = decision.detail;
    plan.reason.clear();
    return "result";
  }
  plan.reason = decision.detail;
  if (decision.move == Move::kEnd) {
    plan.state = PlanState::kDone;
    return "done";
  }
  if (decision.move == Move::kFail) {
    plan.current()->state = StepState::kFailed;
    plan.state = PlanState::kFailed;
  } else {
    const bool withdrawn = decision.move == Move::kWithdraw;
    plan.state = withdrawn ? PlanState::kWithdrawn : PlanState::kUnclear;
  }
  return std::string(to_string(plan.state));
}

void retry(Plan& plan) {
  Step* const unfinished = plan.current();
  if (unfinished == nullptr) return;
  const bool may_show = unfinished->impact == Impact::kIdempotent;
  unfinished->state = may_show ? StepState::kBegun : StepState::kWaiting;
  for (Step& step : plan.steps) {
    step.sign_of_life.clear();
    step.seen_as.clear();
    step.seen_since.reset();
    const bool repeats = step.impact == Impact::kHarmless || step.impact == Impact::kIdempotent;
    if (repeats) step.tries = 0;
  }
}

}  // namespace wardmote::judge::plan
