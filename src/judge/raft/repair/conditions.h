#pragma once

#include <optional>
#include <string>

#include "judge/raft/repair/repair_plan.h"
#include "judge/raft/repair_view.h"

namespace wardmote::judge::raft::repair {

/// What forbids to carry the plan out, or to go on with it before the server is kicked; nothing
/// when all is as it must be: a leader that can commit without the server, no other change, and a
/// server that is certainly of no use to anybody.
std::optional<std::string> objection(const RepairPlan& plan, const RepairView& view);

/// Why nobody needs the plan any more, as far as its server was not kicked by it: the server or
/// member lives, joins by itself, or somebody else has removed it. Nothing: it is still out.
std::optional<std::string> recovered(const RepairPlan& plan, const RepairView& view);

/// What shows that who the plan is for lives: the server that is removed, the member that is
/// rebuilt.
std::optional<std::string> life(const RepairPlan& plan, const RepairView& view);
/// What shows that the member which joined for ever, and is told to join anew, has got in.
std::optional<std::string> life_of_joiner(const RepairPlan& plan, const RepairView& view);
/// What shows that the server which the plan kicks lives.
std::optional<std::string> life_of_server(const RepairPlan& plan, const RepairView& view);

/// Whether what the plan is for is certainly over: its server is not listed or is heard, its member
/// takes part. Joining is not enough: that may never end.
bool is_well(const RepairPlan& plan, const RepairView& view) noexcept;

/// Whether a server is being added or removed. A member that is stuck joining, and whom no leader
/// is adding, is no change of its own repair.
bool is_changing(const RepairPlan& plan, const RepairView& view) noexcept;

/// Whether the plan is for a server that runs: somebody has asked for the rebuild, who was told
/// that it may run; or its member joins, and gets no further.
bool may_run(const RepairPlan& plan, const RepairView& view) noexcept;

/// That the member takes part as another server than it did since it was told to join anew: it was
/// emptied once more.
std::optional<std::string> life_of_successor(const RepairPlan& plan, const RepairView& view);

/// What forbids to have the member join anew, after its former server was kicked.
std::optional<std::string> objection_to_rejoin(const RepairPlan& plan, const RepairView& view);

/// Whether the member is a server of the list that has all that was committed when `view` was
/// made; else what is missing.
std::optional<std::string> missing_to_whole(const RepairPlan& plan, const RepairView& view);

/// Whether the server that the plan kicks is still listed.
bool is_listed(const RepairPlan& plan, const RepairView& view) noexcept;

/// Whether the member has begun to be another server than the one that was kicked.
bool has_begun_anew(const RepairPlan& plan, const RepairView& view) noexcept;

}  // namespace wardmote::judge::raft::repair
