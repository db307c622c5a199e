#include "judge/raft/repair/remedy.h"

#include <algorithm>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/plan/machine.h"
#include "judge/plan/plan.h"
#include "judge/plan/remedy.h"
#include "judge/raft/member_id.h"
#include "judge/raft/repair/conditions.h"
#include "judge/raft/repair/repair_plan.h"
#include "judge/raft/repair/steps.h"
#include "judge/raft/repair_view.h"
#include "judge/remedies.h"

namespace wardmote::judge::raft::repair {
namespace {

using plan::Decision;
using plan::Move;
using plan::Plan;

RepairPlan removal(const RepairServer& server) {
  RepairPlan plan;
  plan.work = Work::kRemoveServer;
  plan.server = server.id;
  plan.address = server.address;
  for (const StepKind kind : {StepKind::kConfirmQuorum, StepKind::kKick, StepKind::kVerify})
    plan.add(kind);
  return plan;
}

/// The former server of a member that joins is not kicked: what its host says is of the one that
/// joins, and nobody says that the other one has ended. When the member has joined it is a ghost,
/// if it has.
RepairPlan rebuild(const RepairView& view, const RepairMember& member) {
  RepairPlan plan;
  plan.work = Work::kRebuildMember;
  plan.member = member.name;
  plan.former = member.id;
  plan.add(StepKind::kConfirmQuorum);
  plan.add(StepKind::kCopyDatabase);
  const RepairServer* const server = view.server_of(member.name);
  const bool known = server != nullptr && !server->guessed;
  if (known) plan.address = server->address;
  if (known && !member.joining) {
    plan.server = server->id;
    plan.add(StepKind::kKick);
  }
  plan.add(StepKind::kRejoin);
  plan.add(StepKind::kVerify);
  return plan;
}

std::optional<Work> work_for(Code code) noexcept {
  const RemedyInfo* const info = remedy_for(code);
  return info == nullptr ? std::nullopt : parse_work(info->name);
}

bool is_same_server(const RepairPlan& a, const RepairPlan& b) noexcept {
  return compatible(a.server, b.server) && a.address == b.address;
}

/// Nobody who says nothing contradicts.
bool may_be_same(const MemberId& a, const MemberId& b) noexcept {
  return !a.known() || !b.known() || compatible(a, b);
}

std::string not_understood(const Plan& plan) {
  return fmt::format("plan {} is not understood", plan.id);
}

}  // namespace

std::string RepairCluster::place_of(std::string_view member) const {
  const auto place = places.find(member);
  if (place == places.end()) return "";
  const auto its = commands.find(member);
  return its == commands.end() ? place->second : place->second + its->second;
}

std::vector<std::string> RaftRemedy::identities() const {
  std::vector<std::string> identities;
  if (view_.cluster_id.known()) identities.push_back(to_string(view_.cluster_id));
  // Of a cluster that does not answer, where it is asked is all that anybody knows.
  for (const auto& [member, place] : cluster_.places)
    identities.push_back(fmt::format("asked at {}", place));
  return identities;
}

std::expected<Plan, std::string> RaftRemedy::draft(const Finding& finding) const {
  std::optional<RepairPlan> plan;
  const std::optional<Work> work = work_for(finding.code);
  if (work == Work::kRemoveServer) {
    const auto server = std::ranges::find(view_.servers, finding.subjects, &RepairServer::names);
    if (server != view_.servers.end()) plan = removal(*server);
  } else if (work == Work::kRebuildMember && !finding.subjects.empty()) {
    const RepairMember* const member = view_.member(finding.subjects.front());
    if (member != nullptr) plan = rebuild(view_, *member);
  }
  if (!plan) return std::unexpected("it is not certain which server that is");
  plan->code = finding.code;
  plan->why = finding.summary;
  return finish(*std::move(plan));
}

std::expected<Plan, std::string> RaftRemedy::draft_for(std::string_view subject) const {
  const RepairMember* const member = view_.member(subject);
  if (member == nullptr) return std::unexpected("there is no such member");
  RepairPlan plan = rebuild(view_, *member);
  plan.why = member->hung ? "asked for, while its process runs and answers nothing: it may go on"
                          : "asked for";
  return finish(std::move(plan));
}

Plan RaftRemedy::finish(RepairPlan plan) const {
  plan.target = target_;
  plan.database = cluster_.database;
  plan.cluster_id = view_.cluster_id;
  plan.place = cluster_.place_of(plan.member);
  return plan.stored();
}

bool RaftRemedy::is_its_cluster(const RepairPlan& plan) const {
  if (plan.cluster_id.known() && view_.cluster_id.known())
    return compatible(plan.cluster_id, view_.cluster_id);
  return plan.target == target_;
}

std::optional<std::string> RaftRemedy::renamed(const RepairPlan& plan) const {
  if (!is_its_cluster(plan))
    return fmt::format("{} is another cluster in the configuration of now", plan.target.name);
  const bool elsewhere = cluster_.place_of(plan.member) != plan.place;
  if (plan.member.empty() || plan.place.empty() || !elsewhere) return std::nullopt;
  return fmt::format(
      "{} is asked or rebuilt in another way in the configuration of now: it may be another server",
      plan.member);
}

bool RaftRemedy::is_same(const Plan& made, const Plan& fresh) const {
  const std::optional<RepairPlan> before = RepairPlan::of(made);
  const std::optional<RepairPlan> now = RepairPlan::of(fresh);
  if (!before || !now) return false;
  if (before->target != now->target || before->work != now->work || before->member != now->member ||
      before->place != now->place)
    return false;
  if (!may_be_same(before->cluster_id, now->cluster_id)) return false;
  if (now->server.known()) return is_same_server(*before, *now);
  return now->work == Work::kRebuildMember || before->address == now->address;
}

bool RaftRemedy::is_rejected_by(const Plan& rejected, const Plan& fresh) const {
  const std::optional<RepairPlan> before = RepairPlan::of(rejected);
  const std::optional<RepairPlan> now = RepairPlan::of(fresh);
  if (!before || !now) return false;
  const bool same_target = before->target == now->target;
  if (same_target && !now->member.empty() && before->member == now->member) return true;
  const bool known = before->server.known() && now->server.known();
  return (same_target || known) && is_same_server(*before, *now);
}

/// A finding may have begun while nobody could vouch for it: without a quorum, or when the server
/// was still heard.
std::expected<TimePoint, std::string> RaftRemedy::stands_since(const Plan& plan,
                                                               const Finding& finding) const {
  const std::optional<RepairPlan> repair = RepairPlan::of(plan);
  if (!repair) return std::unexpected(not_understood(plan));
  TimePoint since = finding.since;
  const RepairMember* const member = view_.member(repair->member);
  if (member != nullptr && member->out_since) since = std::max(since, *member->out_since);
  if (!repair->server.known()) return since;
  const RepairServer* const server = view_.find(repair->server);
  if (server == nullptr || !server->silent_since) {
    return std::unexpected(
        fmt::format("no leader vouches for the silence of {}", short_name(repair->server)));
  }
  if (server->awaited)
    return std::unexpected(
        fmt::format("{} may hang: {}", short_name(repair->server), *server->awaited));
  return std::max(since, *server->silent_since);
}

std::optional<std::string> RaftRemedy::obstacle(const Plan& plan) const {
  const std::optional<RepairPlan> repair = RepairPlan::of(plan);
  if (!repair) return not_understood(plan);
  if (auto reason = renamed(*repair)) return reason;
  const bool has_commands =
      std::ranges::find(cluster_.rebuildable, repair->member) != cluster_.rebuildable.end();
  if (repair->work == Work::kRebuildMember && !has_commands)
    return fmt::format("{} has no commands under 'repair'", repair->member);
  return objection(*repair, view_);
}

std::optional<std::string> RaftRemedy::recovered(const Plan& plan) const {
  const std::optional<RepairPlan> repair = RepairPlan::of(plan);
  if (!repair) return std::nullopt;
  if (auto reason = renamed(*repair)) return reason;
  return repair::recovered(*repair, view_);
}

bool RaftRemedy::is_well(const Plan& plan) const {
  const std::optional<RepairPlan> repair = RepairPlan::of(plan);
  return repair && is_its_cluster(*repair) && repair::is_well(*repair, view_);
}

Decision RaftRemedy::decide(const Plan& plan, TimePoint now) const {
  const std::optional<RepairPlan> repair = RepairPlan::of(plan);
  if (!repair) return {Move::kAsk, not_understood(plan)};
  if (auto reason = renamed(*repair)) return plan::give_up(plan, *std::move(reason));
  return repair::decide(*repair, view_, now);
}

std::optional<std::string> RaftRemedy::sign_of_life(const Plan& plan) const {
  const std::optional<RepairPlan> repair = RepairPlan::of(plan);
  if (!repair) return std::nullopt;
  const plan::Step* const kick = repair->find(StepKind::kKick);
  const std::optional<StepKind> step = parse_step_kind(plan.current()->name);
  if (step == StepKind::kRejoin && kick == nullptr && plan.current()->was_begun()) {
    if (auto joiner = life_of_joiner(*repair, view_)) return joiner;
  }
  if (auto another = life_of_successor(*repair, view_)) return another;
  // The leader may have taken the kick, and not be able to commit it yet.
  if (kick != nullptr && kick->was_begun()) return life_of_server(*repair, view_);
  return step && *step <= StepKind::kKick ? life(*repair, view_) : std::nullopt;
}

std::optional<std::string> RaftRemedy::answers_as(const Plan& plan) const {
  const std::optional<RepairPlan> repair = RepairPlan::of(plan);
  const plan::Step& step = *plan.current();
  if (!repair || parse_step_kind(step.name) != StepKind::kRejoin || !step.was_begun())
    return std::nullopt;
  const RepairMember* const member = view_.member(repair->member);
  if (member == nullptr || !member->answers || !has_begun_anew(*repair, view_)) return std::nullopt;
  return to_string(member->id);
}

bool RaftRemedy::would_show_life() const noexcept {
  return !view_.leader.empty();
}

std::map<std::string, std::string> RaftRemedy::request(const Plan& plan) const {
  const std::string address = plan.arg("address");
  std::string remotes;
  for (const RepairServer& server : view_.servers) {
    if (!server.acknowledges || server.address == address) continue;
    if (!remotes.empty()) remotes += ' ';
    remotes += server.address;
  }
  std::map<std::string, std::string> request = {{"leader", view_.leader}, {"remotes", remotes}};
  const std::optional<RepairPlan> repair = RepairPlan::of(plan);
  request["may_run"] = repair && may_run(*repair, view_) ? "true" : "false";
  if (view_.cluster_id.known()) request["cluster_id"] = to_string(view_.cluster_id);
  return request;
}

}  // namespace wardmote::judge::raft::repair
