#include "judge/guest/restart_remedy.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/guest/facts.h"
#include "judge/guest/machine.h"
#include "judge/guest/restart_view.h"
#include "judge/plan/machine.h"
#include "judge/plan/plan.h"
#include "judge/plan/remedy.h"
#include "judge/remedies.h"

namespace wardmote::judge::guest {
namespace {

using namespace std::chrono_literals;
using plan::Decision;
using plan::Impact;
using plan::Move;
using plan::Plan;
using plan::Step;
using plan::StepState;

constexpr std::string_view kRemedy = "restart_guest";
/// A hypervisor that does not say how a guest is.
constexpr Duration kPatience = 2min;
/// An act of which nobody knows the end shows within this time, or was not done.
constexpr Duration kTakes = 15s;
constexpr std::int64_t kMostTries = 3;
/// A guest that was ended this long ago may be off because somebody wants it to be.
constexpr Duration kStillWanted = 10min;
/// Times that were written down are whole milliseconds of another clock.
constexpr Duration kRounding = 1s;
/// What a guest takes to boot, beyond its boot deadline.
constexpr Duration kSlack = 1min;

Decision wait_or_ask(const Plan& plan, std::string reason, TimePoint now) {
  const bool late = now - plan.changed > kPatience;
  if (!late) return {Move::kWait, std::move(reason)};
  return plan::give_up(plan, std::move(reason));
}

bool is_off(const RestartView& view) noexcept {
  return view.standing && view.standing->run == Run::kShutOff;
}

bool runs(const RestartView& view) noexcept {
  return view.standing && view.standing->process >= 0;
}

constexpr const char* kNoWord = "the hypervisor did not say how it is";

}  // namespace

std::optional<RestartOf> RestartOf::plan(const Plan& plan) {
  const auto process = parse_number<int>(plan.arg("process"));
  const auto dump = parse_number<std::int64_t>(plan.arg("dump"));
  const bool whole = plan.remedy == kRemedy && !plan.arg("uuid").empty() && process && dump;
  if (!whole || *process < 0 || *dump < 0) return std::nullopt;
  return RestartOf{plan.arg("uuid"), *process, std::chrono::milliseconds(*dump)};
}

Plan RestartRemedy::made(std::optional<Code> code, std::string why) const {
  Plan plan;
  plan.target = target_;
  plan.remedy = kRemedy;
  plan.subject = view_.names.name;
  const bool named = !view_.names.instance.empty() && view_.names.instance != view_.names.name;
  plan.summary = named ? fmt::format("restart guest {} ({})", target_.name, view_.names.instance)
                       : fmt::format("restart guest {}", target_.name);
  const bool off = view_.verdict == Verdict::kDied;
  // Who panicked has no kernel left that would write a dump.
  const bool dumps = !off && view_.verdict != Verdict::kPanic && view_.policy.restart.dump > 0s;
  plan.args = {{"uuid", view_.names.uuid},
               {"process", std::to_string(view_.process)},
               {"dump", std::to_string(dumps ? to_ms(view_.policy.restart.dump) : 0)}};
  plan.code = code;
  plan.why = std::move(why);
  const auto add = [&](std::string_view name, Impact impact) {
    plan.steps.push_back({.name = std::string(name), .impact = impact, .detail = {}});
  };
  add(kConfirmDead, Impact::kNone);
  if (dumps) add(kInjectNmi, Impact::kOnce);
  if (!off) add(kDestroy, Impact::kIdempotent);
  add(kStart, Impact::kIdempotent);
  add(kVerify, Impact::kNone);
  return plan;
}

std::expected<Plan, std::string> RestartRemedy::draft(const Finding& finding) const {
  const RemedyInfo* const info = remedy_for(finding.code);
  if (info == nullptr || info->name != kRemedy || code_of(view_.verdict) != finding.code)
    return std::unexpected("it is something else by now");
  if (view_.process < 0) return std::unexpected("it is not known which of its starts that is");
  return made(finding.code, finding.summary);
}

std::expected<Plan, std::string> RestartRemedy::draft_for(std::string_view subject) const {
  if (subject != "restart") return std::unexpected("of a guest only 'restart' can be asked for");
  const std::optional<Code> code = code_of(view_.verdict);
  const RemedyInfo* const info = code ? remedy_for(*code) : nullptr;
  if (info == nullptr || info->name != kRemedy)
    return std::unexpected(
        fmt::format("it is {}, and that is no dead guest", to_string(view_.verdict)));
  if (view_.process < 0) return std::unexpected("it is not known which of its starts that is");
  return made(std::nullopt, "asked for");
}

bool RestartRemedy::is_same(const Plan& made, const Plan& fresh) const {
  const auto before = RestartOf::plan(made);
  const auto now = RestartOf::plan(fresh);
  return before && now && before->uuid == now->uuid && before->process == now->process;
}

bool RestartRemedy::is_rejected_by(const Plan& rejected, const Plan& fresh) const {
  return is_same(rejected, fresh);
}

std::expected<TimePoint, std::string> RestartRemedy::stands_since(const Plan&,
                                                                  const Finding& finding) const {
  return std::max(finding.since, view_.since);
}

std::optional<std::string> RestartRemedy::refusal(const Plan& plan) const {
  const auto its = RestartOf::plan(plan);
  if (!its) return fmt::format("plan {} is not understood", plan.id);
  if (its->uuid != view_.names.uuid) return "another guest has this name now";
  if (auto reason = objection(view_, its->process)) return reason;
  // Who has answered since the plan was made is dead for another reason, if at all.
  const bool earlier = plan.id == 0 || view_.since <= plan.created + kRounding;
  if (!earlier) return "it has answered since the plan was made";
  const bool same = !plan.code || code_of(view_.verdict) == plan.code;
  if (!same) return fmt::format("it is {} by now", to_string(view_.verdict));
  return std::nullopt;
}

std::optional<std::string> RestartRemedy::obstacle(const Plan& plan) const {
  return refusal(plan);
}

std::optional<std::string> RestartRemedy::recovered(const Plan& plan) const {
  const auto its = RestartOf::plan(plan);
  if (!its) return std::nullopt;
  if (its->uuid != view_.names.uuid) return "another guest has this name now";
  if (auto reason = came_back(view_, its->process)) return reason;
  if (!view_.watched) return "it was shut down, or is not watched any more";
  return std::nullopt;
}

bool RestartRemedy::is_well(const Plan& plan) const {
  const auto its = RestartOf::plan(plan);
  return its && its->uuid == view_.names.uuid && came_back(view_, its->process).has_value();
}

std::map<std::string, std::string> RestartRemedy::request(const Plan&) const {
  return {};
}

Decision RestartRemedy::decide(const Plan& plan, TimePoint now) const {
  const auto its = RestartOf::plan(plan);
  if (!its) return {Move::kAsk, fmt::format("plan {} is not understood", plan.id)};
  if (its->uuid != view_.names.uuid) return plan::give_up(plan, "another guest has this name now");
  const Step& step = *plan.current();
  if (step.name == kConfirmDead) {
    Decision seen = before_change(plan, now);
    if (seen.move != Move::kBegin) return seen;
    return {Move::kFinish,
            fmt::format("{}, and its id is {}", to_string(view_.verdict), its->process)};
  }
  if (step.name == kInjectNmi) {
    if (step.state != StepState::kBegun) return before_change(plan, now);
    return {Move::kFinish, "nobody knows whether it was sent, and it is not sent again"};
  }
  if (step.name == kDestroy) return destroy(plan, now);
  if (step.name == kStart) return start(plan, now);
  return verify(plan, now);
}

/// Nothing was done yet: whatever speaks against it ends the plan.
Decision RestartRemedy::before_change(const Plan& plan, TimePoint now) const {
  if (!view_.standing && !view_.gone) return wait_or_ask(plan, kNoWord, now);
  if (auto reason = refusal(plan)) return {Move::kWithdraw, *std::move(reason)};
  return {Move::kBegin, ""};
}

/// It has time to write its dump, and may come back by itself: then nothing is left to do.
Decision RestartRemedy::after_nmi(const Plan& plan, TimePoint now) const {
  const auto its = RestartOf::plan(plan);
  if (auto reason = came_back(view_, its->process)) return {Move::kEnd, *std::move(reason)};
  if (!view_.standing) return wait_or_ask(plan, kNoWord, now);
  if (view_.boots_for && view_.verdict != Verdict::kBootStuck)
    return {Move::kEnd, "it boots anew since the NMI"};
  // A kernel that panicked of it and stopped writes nothing any more.
  const bool panicked = view_.verdict == Verdict::kPanic;
  if (!panicked && now - plan.changed < its->dump) {
    return {Move::kWait, fmt::format("it has {} to write its dump", spell_duration(its->dump))};
  }
  if (auto reason = objection(view_, its->process))
    return wait_or_ask(plan, *std::move(reason), now);
  return {Move::kBegin, ""};
}

Decision RestartRemedy::destroy(const Plan& plan, TimePoint now) const {
  const auto its = RestartOf::plan(plan);
  const Step& step = *plan.current();
  if (step.state != StepState::kBegun && step.tries == 0)
    return plan.half_way() ? after_nmi(plan, now) : before_change(plan, now);
  // It was begun, and nobody knows how that ended.
  if (view_.gone) return {Move::kAsk, "there is no such guest any more"};
  if (!view_.standing) return wait_or_ask(plan, kNoWord, now);
  if (is_off(view_)) return {Move::kFinish, "it is off"};
  if (auto reason = came_back(view_, its->process)) return {Move::kEnd, *std::move(reason)};
  if (now - plan.changed < kTakes) return {Move::kWait, "it was begun, and is not off yet"};
  if (step.tries >= kMostTries) return {Move::kAsk, fmt::format("begun {} times", step.tries)};
  if (auto reason = objection(view_, its->process))
    return wait_or_ask(plan, *std::move(reason), now);
  return {Move::kBegin, ""};
}

Decision RestartRemedy::start(const Plan& plan, TimePoint now) const {
  const Step& step = *plan.current();
  const bool begun = step.state == StepState::kBegun || step.tries > 0;
  if (!plan.half_way()) return before_change(plan, now);
  if (view_.gone) return {Move::kAsk, "there is no such guest any more"};
  if (!view_.standing) return wait_or_ask(plan, kNoWord, now);
  if (runs(view_))
    return {Move::kFinish, fmt::format("it runs, its id is {}", view_.standing->process)};
  if (view_.standing->ended == Ended::kOrdered)
    return {Move::kAsk, "somebody has shut it down since"};
  if (now - plan.changed > kStillWanted)
    return {Move::kAsk, fmt::format("it was ended more than {} ago: it may be off on purpose",
                                    spell_duration(kStillWanted))};
  if (!begun) return {Move::kBegin, ""};
  if (now - plan.changed < kTakes) return {Move::kWait, "it was begun, and does not run yet"};
  if (step.tries >= kMostTries)
    return {Move::kAsk, fmt::format("begun {} times: {}", step.tries, step.detail)};
  return {Move::kBegin, ""};
}

Decision RestartRemedy::verify(const Plan& plan, TimePoint now) const {
  if (view_.gone) return {Move::kAsk, "there is no such guest any more"};
  if (!view_.standing) return wait_or_ask(plan, kNoWord, now);
  if (is_off(view_)) return {Move::kAsk, "it was started, and is off again"};
  if (view_.verdict == Verdict::kHealthy) return {Move::kFinish, "it answers"};
  const bool mute = view_.verdict == Verdict::kNoAgent || view_.verdict == Verdict::kNeverAnswered;
  if (view_.watched && mute) return {Move::kFinish, "it runs; no agent of it was ever heard"};
  if (now - plan.changed < view_.policy.boot_deadline + kSlack) return {Move::kWait, "it boots"};
  return {Move::kAsk, fmt::format("it runs, and does not answer within {}",
                                  spell_duration(view_.policy.boot_deadline))};
}

}  // namespace wardmote::judge::guest
