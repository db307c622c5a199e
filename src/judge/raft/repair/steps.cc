#include "judge/raft/repair/steps.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/time.h"
#include "judge/plan/machine.h"
#include "judge/plan/plan.h"
#include "judge/plan/remedy.h"
#include "judge/raft/member_id.h"
#include "judge/raft/repair/conditions.h"
#include "judge/raft/repair/repair_plan.h"
#include "judge/raft/repair_view.h"

namespace wardmote::judge::raft::repair {
namespace {

using namespace std::chrono_literals;
using plan::Decision;
using plan::give_up;
using plan::Move;
using plan::Step;
using plan::StepState;

/// A cluster that changes its leader is given this long to be as it must be, and a member that was
/// told to join anew to be seen.
constexpr Duration kPatience = 60s;
/// A kick that was begun shows within this time, or was not done. A copy is tried again after it.
constexpr Duration kTakes = 10s;
/// A removal that goes on for longer does not end by itself.
constexpr Duration kRemovalTakes = 2min;
/// A command has ended by then, as it is configured by default.
constexpr Duration kCommandTakes = 2min;
constexpr std::int64_t kMostTries = 3;
/// A new member fetches the whole database.
constexpr Duration kCatchUp = 10min;
/// So old may be the word of a host that its server does not run: two looks, of which each may wait
/// for a firewall. It counts from when the host was asked: a command that hangs, or an agent that
/// was stopped, hears of it late.
constexpr Duration kWordHolds = 15s;

/// Before anything was changed: the cause may be gone, and the cluster must be able to bear it.
std::optional<Decision> refuse(const RepairPlan& plan, const RepairView& view) {
  if (auto reason = recovered(plan, view)) return Decision{Move::kWithdraw, *std::move(reason)};
  if (auto reason = objection(plan, view)) return Decision{Move::kFail, *std::move(reason)};
  return std::nullopt;
}

Decision confirm(const RepairPlan& plan, const RepairView& view) {
  if (auto refused = refuse(plan, view)) return *std::move(refused);
  return {Move::kFinish, fmt::format("{} of {} voters acknowledge, {} are needed",
                                     view.acknowledging, view.voters, view.needed)};
}

/// When the host said last that its server does not run: its copy says so.
std::optional<plan::Success> host_spoke(const RepairPlan& plan) noexcept {
  const Step* const copy = plan.find(StepKind::kCopyDatabase);
  return copy == nullptr ? std::nullopt : copy->succeeded;
}

/// Only the host itself knows that nothing runs there, and it may be started at any moment.
bool is_word_old(const RepairPlan& plan, TimePoint now) noexcept {
  if (plan.work != Work::kRebuildMember) return false;
  const std::optional<plan::Success> spoke = host_spoke(plan);
  return !spoke || now - spoke->acted > kWordHolds;
}

/// Why a kick that was begun cannot be begun again now.
std::optional<Decision> hindrance(const RepairPlan& plan, const RepairView& view, TimePoint now) {
  const bool late = now - plan.changed > kRemovalTakes;
  if (view.leader.empty() || is_changing(plan, view)) {
    return Decision{late ? Move::kAsk : Move::kWait, "the removal was begun, and has not ended"};
  }
  if (auto reason = recovered(plan, view)) {
    // Of a plan that was unclear and was approved, the kick is older than the approval.
    const bool approved_anew = plan.current()->tries == 0 && now - plan.changed > kTakes;
    if (!late && !approved_anew) return Decision{Move::kWait, *std::move(reason)};
    return Decision{Move::kAsk,
                    *reason +
                        ", and the removal that was begun may still come: reject the plan when "
                        "it cannot any more"};
  }
  if (auto reason = objection(plan, view)) {
    return Decision{late ? Move::kAsk : Move::kWait, *std::move(reason)};
  }
  return std::nullopt;
}

/// What a look shows about a copy that is made again, before a kick is repeated or after one.
std::optional<Decision> look_before_next_copy(const RepairPlan& plan, const RepairView& view,
                                              TimePoint now) {
  const Step* const kick = plan.find(StepKind::kKick);
  if (kick == nullptr || kick->state == StepState::kDone) {
    const RepairMember* const member = view.member(plan.member);
    const bool lives = has_begun_anew(plan, view) || (member != nullptr && member->answers);
    if (lives) return Decision{Move::kFinish, fmt::format("{} answers", plan.member)};
    const bool late = now - plan.changed > kPatience;
    if (auto reason = objection_to_rejoin(plan, view))
      return Decision{late ? Move::kAsk : Move::kWait, *std::move(reason)};
    return std::nullopt;
  }
  if (!view.leader.empty() && !is_listed(plan, view)) {
    return Decision{Move::kFinish,
                    fmt::format("{} is not listed any more", short_name(plan.server))};
  }
  return hindrance(plan, view, now);
}

/// Any number of copies is as good as one.
Decision copy(const RepairPlan& plan, const Step& step, const RepairView& view, TimePoint now) {
  const bool half_way = plan.half_way();
  auto decided = half_way ? look_before_next_copy(plan, view, now) : refuse(plan, view);
  if (decided) return *std::move(decided);
  if (step.tries >= kMostTries) {
    return {half_way ? Move::kAsk : Move::kFail,
            fmt::format("begun {} times: {}", step.tries,
                        step.detail.empty() ? "no result" : step.detail)};
  }
  const bool failed = step.tries > 0 && !step.succeeded;
  if (failed && now - plan.changed < kTakes) return {Move::kWait, "it is tried again"};
  return {Move::kBegin, ""};
}

/// Why the word of the host is of no use any more.
std::string why_asked_again(const RepairPlan& plan) {
  const std::optional<plan::Success> spoke = host_spoke(plan);
  const bool late = spoke && spoke->told - spoke->acted > kWordHolds;
  if (!late) return fmt::format("the host of {} is asked again", plan.member);
  return fmt::format(
      "the report of {} came {} after it was asked for, and holds {}: give the "
      "member a quick command for 'report' under 'repair'",
      plan.member, spell_duration(spoke->told - spoke->acted), spell_duration(kWordHolds));
}

Decision ask_host(const RepairPlan& plan) {
  return {Move::kRepeat, why_asked_again(plan), std::string(to_string(StepKind::kCopyDatabase))};
}

Decision begin_kick(const RepairPlan& plan, TimePoint now) {
  return is_word_old(plan, now) ? ask_host(plan) : Decision{Move::kBegin, ""};
}

/// A server's id is never given again, so a kick that was done is only refused.
Decision kick_again(const RepairPlan& plan, const Step& step, const RepairView& view,
                    TimePoint now) {
  if (auto hindered = hindrance(plan, view, now)) return *std::move(hindered);
  // The host is asked again after the wait, and before each try.
  const bool rebuilds = plan.work == Work::kRebuildMember;
  const std::optional<plan::Success> spoke = host_spoke(plan);
  const bool asked = rebuilds && spoke && spoke->told >= plan.changed;
  if (!asked && now - plan.changed < kTakes)
    return {Move::kWait, "the removal was begun: it may still show"};
  if (step.tries >= kMostTries) {
    return {Move::kAsk, fmt::format("the removal was begun {} times, and {} is still listed",
                                    step.tries, short_name(plan.server))};
  }
  return rebuilds && !asked ? ask_host(plan) : begin_kick(plan, now);
}

Decision kick(const RepairPlan& plan, const Step& step, const RepairView& view, TimePoint now) {
  const bool begun = step.state == StepState::kBegun;
  const bool ours = begun || plan.work == Work::kRemoveServer;
  if (ours && !view.leader.empty() && !is_listed(plan, view)) {
    std::string gone = fmt::format("{} is not listed any more", short_name(plan.server));
    // An agent that begins later, or wakes up, finds a member's host to ask. A server has none.
    const bool unseen = begun && step.tries > 0 && !step.watched && step.sign_of_life.empty();
    if (!unseen || plan.work == Work::kRebuildMember) return {Move::kFinish, std::move(gone)};
    return {Move::kAsk, gone +
                            ", but nobody looked on while it was removed: it may have come back "
                            "before, and then it has to join again"};
  }
  if (begun) return kick_again(plan, step, view, now);
  if (auto refused = refuse(plan, view)) return *std::move(refused);
  return begin_kick(plan, now);
}

/// Nobody knows whether it has ended, here or on the other host: another one may have brought the
/// member back, and this one empty it then.
bool may_still_run(const RepairPlan& plan, const Step& step, TimePoint now) noexcept {
  const bool unheard = step.state == StepState::kBegun && step.tries > 0;
  return unheard && now - plan.changed < kCommandTakes;
}

Decision rejoin(const RepairPlan& plan, const Step& step, const RepairView& view, TimePoint now) {
  const RepairMember* const member = view.member(plan.member);
  if (has_begun_anew(plan, view)) {
    if (may_still_run(plan, step, now)) {
      return {Move::kWait, fmt::format("{} is {} now; the command may still run: waits whether it "
                                       "stays so",
                                       plan.member, short_name(member->id))};
    }
    return {Move::kFinish, fmt::format("{} is {} now{}", plan.member, short_name(member->id),
                                       step.tries == 0 ? ", by somebody else's hand" : "")};
  }
  const bool answers = member != nullptr && member->answers;
  if (answers && view.find(member->id) != nullptr && !is_listed(plan, view)) {
    return {Move::kFinish, fmt::format("{} takes part by itself", plan.member)};
  }
  const bool late = now - plan.changed > kPatience;
  if (step.state == StepState::kBegun) {
    return late ? Decision{Move::kAsk,
                           fmt::format("the command was begun, and {} has not come "
                                       "back{}{}",
                                       plan.member, step.detail.empty() ? "" : ": ", step.detail)}
                : Decision{Move::kWait, fmt::format("waits for {} to come back", plan.member)};
  }
  if (answers) {
    return {Move::kAsk, fmt::format("{} answers with the database that it had: stop it, or reject "
                                    "the plan",
                                    plan.member)};
  }
  if (member != nullptr && member->runs && !may_run(plan, view)) {
    return {Move::kAsk,
            fmt::format("{} runs, and did not when it was removed: stop it, or reject the plan",
                        plan.member)};
  }
  if (auto reason = objection_to_rejoin(plan, view)) {
    return {late ? Move::kAsk : Move::kWait, *std::move(reason)};
  }
  // What lies there now may be another database, which nobody has copied.
  if (is_word_old(plan, now)) return ask_host(plan);
  return {Move::kBegin, ""};
}

/// What was verified, and no more: others may have failed meanwhile.
std::string end_of(const RepairPlan& plan) {
  if (plan.work == Work::kRemoveServer)
    return fmt::format("{} is not listed any more", short_name(plan.server));
  return fmt::format("{} is a voter with all that is committed", plan.member);
}

Decision verify(const RepairPlan& plan, const RepairView& view, TimePoint now) {
  auto missing = missing_to_whole(plan, view);
  if (!missing) return {Move::kFinish, end_of(plan)};
  const RepairMember* const member = view.member(plan.member);
  const bool is_down = member != nullptr && member->out && !member->runs;
  if (is_down && now - std::max(plan.changed, member->out_since.value_or(now)) > kPatience) {
    return {Move::kAsk,
            fmt::format("{} is down again: bring it back, or reject the plan, and ask for another",
                        plan.member)};
  }
  return {now - plan.changed > kCatchUp ? Move::kAsk : Move::kWait, *std::move(missing)};
}

}  // namespace

Decision decide(const RepairPlan& plan, const RepairView& view, TimePoint now) {
  const Step& step = *plan.current();
  const std::optional<StepKind> kind = parse_step_kind(step.name);
  if (!kind) return {Move::kAsk, fmt::format("the step {} is not known", step.name)};
  switch (*kind) {
    case StepKind::kConfirmQuorum: return confirm(plan, view);
    case StepKind::kCopyDatabase: return copy(plan, step, view, now);
    case StepKind::kKick: return kick(plan, step, view, now);
    case StepKind::kRejoin: return rejoin(plan, step, view, now);
    case StepKind::kVerify: return verify(plan, view, now);
  }
  return {};
}

}  // namespace wardmote::judge::raft::repair
