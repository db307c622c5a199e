#include "judge/raft/repair/conditions.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "base/format.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/plan/plan.h"
#include "judge/raft/member_id.h"
#include "judge/raft/repair/repair_plan.h"
#include "judge/raft/repair_view.h"

namespace wardmote::judge::raft::repair {
namespace {

/// For a leader to begin to add a server that asks to join, after an election or a join that broke.
constexpr Duration kJoinerPatience = std::chrono::seconds(60);

/// What must hold before anything is changed in the cluster.
std::optional<std::string> unready(const RepairPlan& plan, const RepairView& view) {
  if (view.starved) return "the agent is too starved to see the whole cluster";
  if (!view.rolled_back.empty()) {
    return fmt::format(
        "the log of {} went back behind what was committed: what others have may be "
        "all that is left of that",
        view.rolled_back);
  }
  if (view.leader.empty()) return "no leader answers, and nothing can be changed without one";
  if (!view.commits) return "the leader has entries that it does not commit";
  if (is_changing(plan, view)) return "a server is being added or removed";
  return std::nullopt;
}

/// Whether it joins as the one that it was when the plan was made for it. Who was down then and
/// joins now was told to by somebody.
bool is_joining_as_before(const RepairPlan& plan, const RepairMember& member) noexcept {
  return member.joining && plan.code != Code::kRaftMemberDown && compatible(member.id, plan.former);
}

std::optional<std::string> word_of(const RepairPlan& plan, const RepairServer& server) {
  if (server.answers) return fmt::format("{} answers", short_name(plan.server));
  if (server.acknowledges) return fmt::format("the leader hears {}", short_name(plan.server));
  return std::nullopt;
}

std::optional<std::string> life_of_member(const RepairPlan& plan, const RepairView& view) {
  const RepairMember* const member = view.member(plan.member);
  if (member == nullptr) return std::nullopt;
  if (member->answers) return fmt::format("{} answers and takes part", plan.member);
  if (member->joining && !is_joining_as_before(plan, *member)) {
    return fmt::format("{} is joining, by somebody else's hand", plan.member);
  }
  const RepairServer* const server = view.server_of(plan.member);
  if (server == nullptr) return std::nullopt;
  return word_of(plan, *server);
}

std::optional<std::string> objection_to_removal(const RepairPlan& plan, const RepairView& view) {
  const RepairServer* const server = view.find(plan.server);
  if (server == nullptr) return fmt::format("{} is not listed", short_name(plan.server));
  if (server->address != plan.address) {
    return fmt::format("{} is listed at {} now", short_name(plan.server), server->address);
  }
  // Nobody else can say that a server which no member is may not come back.
  if (plan.code == Code::kRaftDeadMember && !view.told_of) {
    return fmt::format(
        "nothing says that {} is not meant to be there: name the raft addresses of all servers of "
        "the cluster under 'expect'",
        server->address);
  }
  return server->objection;
}

/// Lists show four digits of an id, and the leader kicks the first server that these fit.
bool is_ambiguous(const RepairPlan& plan, const RepairView& view) noexcept {
  return std::ranges::count_if(view.servers, [&](const RepairServer& server) {
           return compatible(server.id, plan.server);
         }) > 1;
}

/// One member at a time: all the others must be well.
std::optional<std::string> ill_others(const RepairPlan& plan, const RepairView& view) {
  for (const RepairMember& member : view.members) {
    if (member.name == plan.member || member.answers) continue;
    return fmt::format("{} is not well either: one member at a time", member.name);
  }
  for (const RepairServer& server : view.servers) {
    const bool its = compatible(server.id, plan.server) || server.member == plan.member;
    if (its || server.acknowledges || !server.voter) continue;
    return fmt::format("{} at {} does not acknowledge the leader either", short_name(server.id),
                       server.address);
  }
  return std::nullopt;
}

std::optional<std::string> objection_to_rebuild(const RepairPlan& plan, const RepairView& view) {
  const RepairMember* const member = view.member(plan.member);
  if (member == nullptr) return fmt::format("{} is no member of it", plan.member);
  const RepairServer* const server = view.server_of(plan.member);
  if (view.leader == plan.member) return fmt::format("{} leads", plan.member);
  if (member->foreign) {
    return fmt::format("{} belongs to another cluster: its database may hold what no other has",
                       plan.member);
  }
  if (!member->out) return fmt::format("it is not certain that {} is out", plan.member);
  if (member->hung && plan.code == Code::kRaftMemberDown)
    return fmt::format("{} accepts connections: its process runs", plan.member);
  if (server != nullptr && server->doubt) {
    return fmt::format("{} may live: {}", short_name(server->id), *server->doubt);
  }
  if (plan.server.known() && (server == nullptr || !compatible(server->id, plan.server))) {
    return fmt::format("{} is not {} any more", short_name(plan.server), plan.member);
  }
  if (is_ambiguous(plan, view)) {
    return fmt::format("the id {} is not unique in the list", short_name(plan.server));
  }
  if (!plan.server.known() && server != nullptr && !member->joining) {
    return fmt::format("nobody knows whether {} was {}", plan.member, short_name(server->id));
  }
  if (server == nullptr && !member->joining) {
    return fmt::format("{} is not listed: whoever removed it may have meant it", plan.member);
  }
  if (auto ill = ill_others(plan, view)) return ill;
  const std::size_t rest = view.voters - (server != nullptr && server->voter ? 1 : 0);
  const std::size_t needed = std::max(view.needed, rest / 2 + 1);
  if (view.acknowledging < needed) {
    return fmt::format("without {} quorum would be lost: {} of {} voters acknowledge, {} needed",
                       plan.member, view.acknowledging, view.voters, needed);
  }
  return std::nullopt;
}

/// The member joined meanwhile and fell again, or another server took its place. Its database is
/// not emptied before that one is removed too: nobody would account for it afterwards.
std::optional<std::string> listed_since(const RepairPlan& plan, const RepairView& view) {
  // What it was before it joined is not kicked, and may still be listed.
  const bool all = plan.find(StepKind::kKick) != nullptr;
  const auto took_its_place = [&](const RepairServer& server) {
    if (server.member == plan.member) return all || !server.guessed;
    return all && server.address == plan.address;
  };
  const RepairMember* const member = view.member(plan.member);
  if (member != nullptr && member->joining) return std::nullopt;
  const auto found = std::ranges::find_if(view.servers, took_its_place);
  if (found == view.servers.end()) return std::nullopt;
  return fmt::format(
      "{} is listed as {} now, which this plan does not remove: reject the plan, and ask for "
      "another",
      plan.member, short_name(found->id));
}

}  // namespace

std::optional<std::string> objection(const RepairPlan& plan, const RepairView& view) {
  if (auto reason = recovered(plan, view)) return reason;
  if (auto reason = unready(plan, view)) return reason;
  return plan.work == Work::kRemoveServer ? objection_to_removal(plan, view)
                                          : objection_to_rebuild(plan, view);
}

std::optional<std::string> recovered(const RepairPlan& plan, const RepairView& view) {
  if (plan.server.known() && !view.leader.empty() && view.find(plan.server) == nullptr) {
    return fmt::format("{} is not listed any more: somebody else has removed it",
                       short_name(plan.server));
  }
  return life(plan, view);
}

std::optional<std::string> life(const RepairPlan& plan, const RepairView& view) {
  return plan.work == Work::kRebuildMember ? life_of_member(plan, view)
                                           : life_of_server(plan, view);
}

std::optional<std::string> life_of_joiner(const RepairPlan& plan, const RepairView& view) {
  const RepairMember* const member = view.member(plan.member);
  const bool in = member != nullptr && member->answers && member->id.known() &&
                  compatible(member->id, plan.former);
  if (!in) return std::nullopt;
  return fmt::format("{} takes part as {}", plan.member, short_name(member->id));
}

std::optional<std::string> life_of_successor(const RepairPlan& plan, const RepairView& view) {
  const plan::Step* const rejoin = plan.find(StepKind::kRejoin);
  const RepairMember* const member = view.member(plan.member);
  if (rejoin == nullptr || member == nullptr || !member->answers) return std::nullopt;
  const std::optional<MemberId> first = parse_member_id(rejoin->seen_as);
  if (!first || !member->id.known() || compatible(member->id, *first)) return std::nullopt;
  return fmt::format("{} took part as {} before it was {}", plan.member, short_name(*first),
                     short_name(member->id));
}

std::optional<std::string> life_of_server(const RepairPlan& plan, const RepairView& view) {
  const RepairServer* const server = view.find(plan.server);
  const std::string name = short_name(plan.server);
  if (server == nullptr) {
    // The leader's list lacks it from when it takes the kick, which may not be committed for long.
    const bool calls = std::ranges::find(view.strangers, name) != view.strangers.end();
    return calls ? std::optional(fmt::format("{} is connected to others", name)) : std::nullopt;
  }
  if (auto word = word_of(plan, *server)) return word;
  if (!server->shows_life) return std::nullopt;
  return fmt::format("others have a connection with {}", name);
}

bool is_well(const RepairPlan& plan, const RepairView& view) noexcept {
  if (plan.work == Work::kRebuildMember) {
    const RepairMember* const member = view.member(plan.member);
    return member != nullptr && member->answers;
  }
  const RepairServer* const server = view.find(plan.server);
  if (server == nullptr) return !view.leader.empty();
  return server->answers || server->acknowledges;
}

bool may_run(const RepairPlan& plan, const RepairView& view) noexcept {
  if (!plan.code) return true;
  const RepairMember* const member = view.member(plan.member);
  return plan.code == Code::kRaftJoiningStuck && member != nullptr &&
         is_joining_as_before(plan, *member);
}

bool is_changing(const RepairPlan& plan, const RepairView& view) noexcept {
  const RepairMember* const own = view.member(plan.member);
  const bool joins = own != nullptr && is_joining_as_before(plan, *own);
  // An election ends what a leader did for it, and the next leader begins anew.
  const bool kicked = plan.server.known() && !is_listed(plan, view);
  const bool soon = view.unsettled && view.begun - *view.unsettled < kJoinerPatience;
  if (joins && soon && !kicked) return true;
  if (!view.changing || view.reconfiguring) return view.changing;
  if (!joins) return true;
  return std::ranges::any_of(
      view.members, [&](const RepairMember& member) { return &member != own && member.joining; });
}

std::optional<std::string> objection_to_rejoin(const RepairPlan& plan, const RepairView& view) {
  if (auto reason = unready(plan, view)) return reason;
  if (is_listed(plan, view)) {
    return fmt::format("{} is still listed", short_name(plan.server));
  }
  if (auto another = listed_since(plan, view)) return another;
  if (auto ill = ill_others(plan, view)) return ill;
  if (view.acknowledging < view.needed) return "the cluster has no quorum";
  return std::nullopt;
}

std::optional<std::string> missing_to_whole(const RepairPlan& plan, const RepairView& view) {
  if (is_listed(plan, view)) {
    return fmt::format("{} is still listed", short_name(plan.server));
  }
  if (view.leader.empty()) return "no leader answers";
  if (view.changing) return "the list is still changing";
  if (plan.work == Work::kRemoveServer) return std::nullopt;
  const RepairMember* const member = view.member(plan.member);
  if (member == nullptr || !member->answers) {
    return fmt::format("{} is no member in good standing yet", plan.member);
  }
  const RepairServer* const server = view.find(member->id);
  if (server == nullptr || !server->voter || !server->acknowledges) {
    return fmt::format("the leader does not hear {} as a voter yet", plan.member);
  }
  // A member that leads meanwhile has all there is.
  if (server->leads) return std::nullopt;
  if (!server->match_index || *server->match_index < view.committed) {
    return fmt::format("{} has entries up to {} of {}", plan.member,
                       server->match_index.value_or(0), view.committed);
  }
  return std::nullopt;
}

bool is_listed(const RepairPlan& plan, const RepairView& view) noexcept {
  return plan.server.known() && view.find(plan.server) != nullptr;
}

bool has_begun_anew(const RepairPlan& plan, const RepairView& view) noexcept {
  const RepairMember* const member = view.member(plan.member);
  if (member == nullptr || !(member->answers || member->joining)) return false;
  return member->id.known() && !compatible(member->id, plan.server) &&
         !compatible(member->id, plan.former);
}

}  // namespace wardmote::judge::raft::repair
