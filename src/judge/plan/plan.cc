#include "judge/plan/plan.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "judge/finding.h"

namespace wardmote::judge::plan {
namespace {

template <class T>
struct Word {
  T value;
  std::string_view name;
};

constexpr auto kImpacts = std::to_array<Word<Impact>>({
    {Impact::kNone, "none"},
    {Impact::kHarmless, "harmless"},
    {Impact::kIdempotent, "idempotent"},
    {Impact::kOnce, "once"},
});
constexpr auto kStepStates = std::to_array<Word<StepState>>({
    {StepState::kWaiting, "waiting"},
    {StepState::kBegun, "begun"},
    {StepState::kDone, "done"},
    {StepState::kFailed, "failed"},
});
constexpr auto kPlanStates = std::to_array<Word<PlanState>>({
    {PlanState::kObserved, "observed"},
    {PlanState::kProposed, "proposed"},
    {PlanState::kRunning, "running"},
    {PlanState::kUnclear, "unclear"},
    {PlanState::kDone, "done"},
    {PlanState::kFailed, "failed"},
    {PlanState::kRejected, "rejected"},
    {PlanState::kWithdrawn, "withdrawn"},
});

template <class T, std::size_t N>
std::string_view name_of(const std::array<Word<T>, N>& words, T value) noexcept {
  const auto found = std::ranges::find(words, value, &Word<T>::value);
  return found == words.end() ? std::string_view("unknown") : found->name;
}

template <class T, std::size_t N>
std::optional<T> value_of(const std::array<Word<T>, N>& words, std::string_view name) noexcept {
  const auto found = std::ranges::find(words, name, &Word<T>::name);
  return found == words.end() ? std::nullopt : std::optional(found->value);
}

}  // namespace

Step* Plan::current() noexcept {
  return const_cast<Step*>(std::as_const(*this).current());
}

const Step* Plan::current() const noexcept {
  const auto found =
      std::ranges::find_if(steps, [](const Step& step) { return step.state != StepState::kDone; });
  return found == steps.end() ? nullptr : &*found;
}

bool Plan::acted() const noexcept {
  return std::ranges::any_of(
      steps, [](const Step& step) { return is_act(step.impact) && step.was_begun(); });
}

Step* Plan::find(std::string_view step) noexcept {
  const auto found = std::ranges::find(steps, step, &Step::name);
  return found == steps.end() ? nullptr : &*found;
}

const Step* Plan::find(std::string_view step) const noexcept {
  const auto found = std::ranges::find(steps, step, &Step::name);
  return found == steps.end() ? nullptr : &*found;
}

bool Plan::half_way() const noexcept {
  return std::ranges::any_of(
      steps, [](const Step& step) { return is_change(step.impact) && step.was_begun(); });
}

std::optional<std::string> Plan::sign_of_life() const {
  for (const Step& step : steps) {
    if (!step.sign_of_life.empty()) return step.sign_of_life;
  }
  return std::nullopt;
}

bool Plan::shares_target(const Plan& other) const {
  const std::string its = arg(std::string(kTargetId));
  return target == other.target || (!its.empty() && its == other.arg(std::string(kTargetId)));
}

std::string Plan::arg(const std::string& name) const {
  const auto found = args.find(name);
  return found == args.end() ? std::string() : found->second;
}

bool Policy::covers(std::string_view target) const noexcept {
  return clusters.empty() || std::ranges::find(clusters, target) != clusters.end();
}

bool Policy::is_for(Code code) const noexcept {
  return std::ranges::find(on, code) != on.end();
}

std::optional<std::string> Policy::why_it_observes() const {
  if (!act) return fmt::format("policy {} only observes: set 'mode: act'", name);
  if (!sole) {
    return fmt::format(
        "policy {} only observes: nothing tells it of other agents, so 'mode: act' also needs "
        "'sole: true', your word that no other agent may act on its clusters",
        name);
  }
  return std::nullopt;
}

std::string_view to_string(Impact impact) noexcept {
  return name_of(kImpacts, impact);
}
std::string_view to_string(StepState state) noexcept {
  return name_of(kStepStates, state);
}
std::string_view to_string(PlanState state) noexcept {
  return name_of(kPlanStates, state);
}
std::optional<Impact> parse_impact(std::string_view name) noexcept {
  return value_of(kImpacts, name);
}
std::optional<StepState> parse_step_state(std::string_view name) noexcept {
  return value_of(kStepStates, name);
}
std::optional<PlanState> parse_plan_state(std::string_view name) noexcept {
  return value_of(kPlanStates, name);
}

}  // namespace wardmote::judge::plan
