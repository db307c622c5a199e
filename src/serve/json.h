#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <vector>

#include "base/time.h"
#include "judge/raft/assess.h"
#include "serve/view.h"

namespace wardmote::serve {

// The JSON of the API and of the command line (DESIGN section 7). What is not known is null. Times
// are RFC 3339 in UTC, ages are milliseconds before `now`. Text that came from outside is capped
// and control-escaped.

/// {"cluster", "database", "cluster_id", "at", "verdict": "ok|warning|critical|unknown", "leader":
/// member|null,
///  "quorum": {"voters", "needed", "live"}, "every_ms",
///  "members": [{"name", "server_id", "cluster_id", "address", "outcome": "ok|warn|fail|unknown",
///  "reason": code|null,
///    "detail", "mode", "role", "term", "leader", "vote", "log": [start, next], "uncommitted",
///    "unapplied", "status", "connected", "index", "election_timer_ms", "connections": ["->b8af",
///    "(<-77f0)"], "servers": [{"nickname", "id", "address", "self", "phase", "next_index",
///    "match_index", "last_msg_ms"}], "age_ms", "looks"}],
///  "findings": [as below],
///  "observed": [{"code", "subject", "since", "due_ms"}]}  seen, and no finding before its window
///  has passed
boost::json::object to_json(const ClusterView& cluster, TimePoint now, WallTime wall_now);

/// {"code", "severity", "subjects", "summary", "evidence": [{"by", "says"}],
///  "advice": null | {"text", "command": [argv], "run_on"}, "since", "age_ms"}
boost::json::object to_json(const judge::Finding& finding, TimePoint now, WallTime wall_now);

/// [{"code", "subject", "since", "due_ms"}]: seen, and no finding before its window has passed.
boost::json::array observed_json(const std::vector<judge::raft::Observed>& observed, TimePoint now,
                                 WallTime wall_now);

/// {"name", "kind", "state": "discovery|healthy|error|reported", "outcome", "reason": code|null,
/// "detail", "degraded",
///  "blind", "overdue", "optional", "failures", "fall", "rise", "exit_code", "since_ms", "age_ms",
///  "took_ms", "looks", "missed", "every_ms"}
boost::json::object to_json(const CheckView& check, TimePoint now);

/// {"name", "ready", "failing": [names]}
boost::json::object to_json(const GateView& gate, const std::vector<CheckView>& checks);

/// `/api/v1/status`: {"node", "version", "at", "verdict", "last_event", "uptime_ms", "self":
/// {"degraded", "complaint"}, "config": null | {"path", "hash", "applied", "reloads", "refused":
/// null | {"at", "problems": [text]}}, "clusters": [], "meshes": [as mesh_json.h], "checks": [],
/// "gates": []}
boost::json::object to_json(const AgentView& agent);

/// The worst of all clusters and checks: critical before warning before unknown before ok. Unknown
/// while nothing is watched.
judge::raft::Verdict overall_verdict(const AgentView& agent);

}  // namespace wardmote::serve
