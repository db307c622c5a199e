#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <span>
#include <vector>

#include "base/time.h"
#include "judge/check_machine.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/verdict.h"
#include "serve/thing_view.h"
#include "serve/view.h"

namespace wardmote::serve {

// The JSON of the API and of the command line. An unknown value is null. Times are RFC 3339 in UTC,
// ages are milliseconds before `now`. Text from outside is capped and control-escaped.

/// {"code", "severity", "subjects", "summary", "evidence": [{"by", "says"}],
///  "advice": null | {"text", "command": [argv], "run_on"}, "since", "age_ms"}
boost::json::object to_json(const judge::Finding& finding, Moment at);
boost::json::array findings_json(std::span<const judge::Finding> findings, Moment at);

/// [{"code", "subject", "since", "due_ms"}]: observed conditions whose window has not passed, so
/// that they are no findings yet.
boost::json::array observed_json(std::span<const judge::Observed> observed, Moment at);

/// {"name", "kind", "state": "discovery|healthy|error|reported", "outcome", "reason": code|null,
/// "detail", "degraded",
///  "blind", "optional", "seen_good", "failures", "fall", "rise", "exit_code", "since_ms",
///  "age_ms", "took_ms", "looks", "missed", "every_ms"}
boost::json::object to_json(const CheckView& check, TimePoint now);

/// {"name", "ready", "failing": [names]}
boost::json::object to_json(const GateView& gate, const std::vector<CheckView>& checks);

/// `/api/v1/status` (lists.h): {"node", "version", "at", "verdict", "last_event", "uptime_ms",
/// "self": {"degraded", "complaint"}, "incidents": {"open", "gravest": severity|null}, "config":
/// null | {"path", "hash", "applied", "reloads", "refused": null | {"at", "problems": [text]}},
/// "totals": {"clusters", "meshes", "checks"}, "clusters": [as raft/cluster_view.h], "meshes": [as
/// bgp/mesh_view.h], "checks": [], "gates": []}. Here: all but totals and lists.
boost::json::object to_json(const AgentView& agent);

/// The value of "gates".
boost::json::array gates_json(const AgentView& agent);

/// The one verdict that everything shows: the worst of all clusters, of the checks that count, and
/// of the open incidents; critical before warning before unknown before ok. Never ok while /readyz
/// or /livez fails, and unknown while nothing is watched.
judge::Verdict overall_verdict(const AgentView& agent);

}  // namespace wardmote::serve
