#pragma once

#include <boost/json/object.hpp>
#include <vector>

#include "base/time.h"
#include "control/plan_control.h"
#include "judge/journal_entry.h"
#include "judge/plan/plan.h"
#include "serve/route.h"

namespace wardmote::serve {

using control::PlanControl;

/// {"id", "state", "work", "summary", "cluster", "member"|null, "server"|null, "address"|null,
///  "code"|null, "why", "reason"|null, "policy", "incident"|null, "proposer", "approver"|null,
///  "token"|null, "steps": [{"kind", "state", "detail"}], "created", "begun"|null, "changed",
///  "age_ms": since it was made}
boost::json::object to_json(const judge::plan::Plan& plan, TimePoint now, WallTime wall_now);

/// A row of the journal: {"sequence", "at", "kind", "plan"|null, "step"|null, "cluster"|null,
///  "subject"|null, "actor", "incident"|null, "token", "detail"}
boost::json::object to_json(const judge::JournalEntry& entry);

/// GET /api/v1/plans: {"at", "frozen"|null, "pauses": [{"scope", "by", "until"|null}],
///  "policies": [{"name", "mode", "acts", "reason"|null: why it only observes}], "plans": [],
///  "refusals": [{"policy", "cluster", "code", "subject", "reason"}]}; `?all=true`: the ended ones
///  too. GET /api/v1/plans/{id}. POST /api/v1/plans with {"cluster", "member", "by"}: 201 and the
///  plan. POST /api/v1/plans/{id}/approve and /reject with {"by", "comment"}: the plan.
/// POST /api/v1/pauses with {"scope", "for": optional, "by"} and DELETE /api/v1/pauses/{scope},
///  where the scope `all` is everything: {"at", "pauses"}. GET /api/v1/actions: {"at", "stored",
///  "actions": [{"sequence", "at", "kind", "plan", "step"|null, "cluster"|null, "subject"|null,
///  "actor", "incident"|null, "token", "detail"}]}; `?plan=`, `?incident=`, `?limit=`. `control`
///  outlives them.
std::vector<Route> plan_routes(PlanControl& control);

}  // namespace wardmote::serve
