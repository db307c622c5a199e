#include "judge/raft/repair/repair_plan.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "judge/plan/plan.h"
#include "judge/raft/member_id.h"

namespace wardmote::judge::raft::repair {
namespace {

using plan::Impact;
using plan::Plan;
using plan::Step;

struct WorkName {
  Work value;
  std::string_view name;  ///< judge/remedies.cc
};
struct StepInfo {
  StepKind value;
  std::string_view name;
  Impact impact;
};

constexpr auto kWorks = std::to_array<WorkName>({
    {Work::kRemoveServer, "remove_server"},
    {Work::kRebuildMember, "rebuild_member"},
});
constexpr auto kSteps = std::to_array<StepInfo>({
    {StepKind::kConfirmQuorum, "confirm_quorum", Impact::kNone},
    // Any number of copies is as good as one.
    {StepKind::kCopyDatabase, "copy_database", Impact::kHarmless},
    // A server's id is never given again, so a kick that was done is only refused.
    {StepKind::kKick, "kick", Impact::kIdempotent},
    {StepKind::kRejoin, "rejoin", Impact::kOnce},
    {StepKind::kVerify, "verify", Impact::kNone},
});

/// Nothing: there is a text, and it is no id.
std::optional<MemberId> id_in(const Plan& plan, const std::string& name) {
  const std::string text = plan.arg(name);
  return text.empty() ? MemberId{} : parse_member_id(text);
}

std::string summary_of(const RepairPlan& plan) {
  const std::string& cluster = plan.target.name;
  const std::string server = plan.server.known()
                                 ? fmt::format("{} ({})", short_name(plan.server), plan.address)
                                 : std::string();
  if (plan.work == Work::kRemoveServer) return fmt::format("kick {} out of {}", server, cluster);
  if (server.empty()) return fmt::format("rebuild {} of {}", plan.member, cluster);
  return fmt::format("rebuild {} of {}, which was {}", plan.member, cluster, server);
}

}  // namespace

std::optional<RepairPlan> RepairPlan::of(const Plan& plan) {
  const std::optional<Work> work = parse_work(plan.remedy);
  const std::optional<MemberId> server = id_in(plan, "server");
  const std::optional<MemberId> former = id_in(plan, "former");
  const std::optional<MemberId> cluster_id = id_in(plan, std::string(plan::kTargetId));
  if (!work || !server || !former || !cluster_id) return std::nullopt;
  RepairPlan repair;
  static_cast<Plan&>(repair) = plan;
  repair.work = *work;
  repair.database = plan.arg("database");
  repair.member = plan.arg("member");
  repair.server = *server;
  repair.address = plan.arg("address");
  repair.former = *former;
  repair.cluster_id = *cluster_id;
  repair.place = plan.arg("place");
  return repair;
}

Plan RepairPlan::stored() const {
  Plan plan = *this;
  plan.remedy = to_string(work);
  plan.args = {{"database", database},
               {"member", member},
               {"server", to_string(server)},
               {"address", address},
               {"former", to_string(former)},
               {std::string(plan::kTargetId), to_string(cluster_id)},
               {"place", place}};
  std::erase_if(plan.args, [](const auto& arg) { return arg.second.empty(); });
  plan.subject = member.empty() ? to_string(server) : member;
  plan.summary = summary_of(*this);
  return plan;
}

void RepairPlan::add(StepKind kind) {
  steps.push_back(step_of(kind));
}

Step* RepairPlan::find(StepKind kind) noexcept {
  return find(to_string(kind));
}

const Step* RepairPlan::find(StepKind kind) const noexcept {
  return find(to_string(kind));
}

Step step_of(StepKind kind) {
  const auto* const info = std::ranges::find(kSteps, kind, &StepInfo::value);
  return {.name = std::string(info->name), .impact = info->impact};
}

std::string_view to_string(Work work) noexcept {
  return std::ranges::find(kWorks, work, &WorkName::value)->name;
}

std::string_view to_string(StepKind kind) noexcept {
  return std::ranges::find(kSteps, kind, &StepInfo::value)->name;
}

std::optional<Work> parse_work(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kWorks, name, &WorkName::name);
  return found == kWorks.end() ? std::nullopt : std::optional(found->value);
}

std::optional<StepKind> parse_step_kind(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kSteps, name, &StepInfo::name);
  return found == kSteps.end() ? std::nullopt : std::optional(found->value);
}

}  // namespace wardmote::judge::raft::repair
