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
#include "judge/raft/member_id.h"

namespace wardmote::judge::plan {
namespace {

template <class T>
struct Word {
  T value;
  std::string_view name;
};

constexpr auto kWorks = std::to_array<Word<Work>>({
    {Work::kRemoveServer, "remove_server"},
    {Work::kRebuildMember, "rebuild_member"},
});
constexpr auto kStepKinds = std::to_array<Word<StepKind>>({
    {StepKind::kConfirmQuorum, "confirm_quorum"},
    {StepKind::kCopyDatabase, "copy_database"},
    {StepKind::kKick, "kick"},
    {StepKind::kRejoin, "rejoin"},
    {StepKind::kVerify, "verify"},
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

bool Policy::covers(std::string_view cluster) const noexcept {
  return clusters.empty() || std::ranges::find(clusters, cluster) != clusters.end();
}

std::optional<Work> work_for(Code code) noexcept {
  switch (code) {
    case Code::kRaftStaleMember:
    case Code::kRaftDeadMember: return Work::kRemoveServer;
    case Code::kRaftMemberDown:
    case Code::kRaftJoiningStuck: return Work::kRebuildMember;
    default: return std::nullopt;
  }
}

std::string_view to_string(Work work) noexcept {
  return name_of(kWorks, work);
}
std::string_view to_string(StepKind kind) noexcept {
  return name_of(kStepKinds, kind);
}
std::string_view to_string(StepState state) noexcept {
  return name_of(kStepStates, state);
}
std::string_view to_string(PlanState state) noexcept {
  return name_of(kPlanStates, state);
}
std::optional<Work> parse_work(std::string_view name) noexcept {
  return value_of(kWorks, name);
}
std::optional<StepKind> parse_step_kind(std::string_view name) noexcept {
  return value_of(kStepKinds, name);
}
std::optional<StepState> parse_step_state(std::string_view name) noexcept {
  return value_of(kStepStates, name);
}
std::optional<PlanState> parse_plan_state(std::string_view name) noexcept {
  return value_of(kPlanStates, name);
}

std::string describe(const Plan& plan) {
  const std::string server = plan.server.known()
                                 ? fmt::format("{} ({})", short_name(plan.server), plan.address)
                                 : std::string();
  if (plan.work == Work::kRemoveServer) {
    return fmt::format("kick {} out of {}", server, plan.cluster);
  }
  if (server.empty()) return fmt::format("rebuild {} of {}", plan.member, plan.cluster);
  return fmt::format("rebuild {} of {}, which was {}", plan.member, plan.cluster, server);
}

}  // namespace wardmote::judge::plan
