#pragma once

#include <optional>
#include <string>

#include "judge/plan/plan.h"
#include "judge/raft/survey.h"

namespace wardmote::judge::plan {

/// What forbids to carry the plan out, or to go on with it before the server is kicked; nothing
/// when all is as it must be: a leader that can commit without the server, no other change, and a
/// server that is certainly of no use to anybody.
std::optional<std::string> objection(const Plan& plan, const raft::Survey& survey);

/// What forbids to have the member join anew, after its former server was kicked.
std::optional<std::string> objection_to_rejoin(const Plan& plan, const raft::Survey& survey);

/// Whether the member is a server of the list that has all that was committed when `survey` was
/// made; else what is missing.
std::optional<std::string> missing_to_whole(const Plan& plan, const raft::Survey& survey);

/// Whether the server that the plan kicks is still listed.
bool is_listed(const Plan& plan, const raft::Survey& survey) noexcept;

/// Whether the member has begun to be another server than the one that was kicked.
bool has_begun_anew(const Plan& plan, const raft::Survey& survey) noexcept;

}  // namespace wardmote::judge::plan
