#include "judge/plan/conditions.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "base/format.h"
#include "judge/plan/plan.h"
#include "judge/raft/member_id.h"
#include "judge/raft/survey.h"

namespace wardmote::judge::plan {
namespace {

using raft::ListedServer;
using raft::Survey;
using raft::SurveyedMember;

/// What must hold before anything is changed in the cluster.
std::optional<std::string> unready(const Survey& survey) {
  if (survey.starved) return "the agent is too starved to see the whole cluster";
  if (survey.leader.empty()) return "no leader answers, and nothing can be changed without one";
  if (survey.changing) return "a server is being added or removed";
  return std::nullopt;
}

std::optional<std::string> objection_to_removal(const Plan& plan, const Survey& survey) {
  const ListedServer* const server = survey.find(plan.server);
  if (server == nullptr) return fmt::format("{} is not listed", short_name(plan.server));
  if (server->address != plan.address) {
    return fmt::format("{} is listed at {} now", short_name(plan.server), server->address);
  }
  return server->objection;
}

/// One member at a time: all the others must be well.
std::optional<std::string> ill_others(const Plan& plan, const Survey& survey) {
  for (const SurveyedMember& member : survey.members) {
    if (member.name == plan.member || member.answers) continue;
    return fmt::format("{} is not well either: one member at a time", member.name);
  }
  for (const ListedServer& server : survey.servers) {
    if (compatible(server.id, plan.server) || server.acknowledges || !server.voter) continue;
    return fmt::format("{} at {} does not acknowledge the leader either", short_name(server.id),
                       server.address);
  }
  return std::nullopt;
}

std::optional<std::string> objection_to_rebuild(const Plan& plan, const Survey& survey) {
  const SurveyedMember* const member = survey.member(plan.member);
  if (member == nullptr) return fmt::format("{} is no member of it", plan.member);
  const ListedServer* const server = survey.server_of(plan.member);
  if (survey.leader == plan.member) return fmt::format("{} leads", plan.member);
  if (member->answers) return fmt::format("{} answers and takes part", plan.member);
  if (!member->out) return fmt::format("it is not certain that {} is out", plan.member);
  if (plan.server.known() && (server == nullptr || !compatible(server->id, plan.server))) {
    return fmt::format("{} is not {} any more", short_name(plan.server), plan.member);
  }
  if (!plan.server.known() && server != nullptr) {
    return fmt::format("{} is listed as {}", plan.member, short_name(server->id));
  }
  if (server == nullptr && !member->joining) {
    return fmt::format("{} is not listed: whoever removed it may have meant it", plan.member);
  }
  if (server != nullptr && server->acknowledges) {
    return fmt::format("the leader hears {}", plan.member);
  }
  if (auto ill = ill_others(plan, survey)) return ill;
  const std::size_t rest = survey.voters - (server != nullptr && server->voter ? 1 : 0);
  const std::size_t needed = std::max(survey.needed, rest / 2 + 1);
  if (survey.acknowledging < needed) {
    return fmt::format("without {} quorum would be lost: {} of {} voters acknowledge, {} needed",
                       plan.member, survey.acknowledging, survey.voters, needed);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> objection(const Plan& plan, const Survey& survey) {
  if (auto reason = unready(survey)) return reason;
  return plan.work == Work::kRemoveServer ? objection_to_removal(plan, survey)
                                          : objection_to_rebuild(plan, survey);
}

std::optional<std::string> objection_to_rejoin(const Plan& plan, const Survey& survey) {
  if (auto reason = unready(survey)) return reason;
  if (is_listed(plan, survey)) {
    return fmt::format("{} is still listed", short_name(plan.server));
  }
  if (auto ill = ill_others(plan, survey)) return ill;
  if (survey.acknowledging < survey.needed) return "the cluster has no quorum";
  return std::nullopt;
}

std::optional<std::string> missing_to_whole(const Plan& plan, const Survey& survey) {
  if (is_listed(plan, survey)) {
    return fmt::format("{} is still listed", short_name(plan.server));
  }
  if (survey.leader.empty()) return "no leader answers";
  if (survey.changing) return "the list is still changing";
  if (plan.work == Work::kRemoveServer) return std::nullopt;
  const SurveyedMember* const member = survey.member(plan.member);
  if (member == nullptr || !member->answers) {
    return fmt::format("{} is no member in good standing yet", plan.member);
  }
  const ListedServer* const server = survey.find(member->id);
  if (server == nullptr || !server->voter || !server->acknowledges) {
    return fmt::format("the leader does not hear {} as a voter yet", plan.member);
  }
  // A member that leads meanwhile has all there is.
  if (server->leads) return std::nullopt;
  if (!server->match_index || *server->match_index < survey.committed) {
    return fmt::format("{} has entries up to {} of {}", plan.member,
                       server->match_index.value_or(0), survey.committed);
  }
  return std::nullopt;
}

bool is_listed(const Plan& plan, const Survey& survey) noexcept {
  return plan.server.known() && survey.find(plan.server) != nullptr;
}

bool has_begun_anew(const Plan& plan, const Survey& survey) noexcept {
  const SurveyedMember* const member = survey.member(plan.member);
  if (member == nullptr || !(member->answers || member->joining)) return false;
  return member->id.known() && !compatible(member->id, plan.server) &&
         !compatible(member->id, plan.former);
}

}  // namespace wardmote::judge::plan
