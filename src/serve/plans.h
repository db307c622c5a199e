#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "runtime/http.h"
#include "serve/route.h"
#include "store/journal.h"

namespace wardmote::serve {

/// Where plans are made and carried out, and orders about them given.
class PlanDesk {
 public:
  PlanDesk() = default;
  PlanDesk(const PlanDesk&) = delete;
  PlanDesk& operator=(const PlanDesk&) = delete;
  virtual ~PlanDesk() = default;

  [[nodiscard]] virtual const judge::plan::Planner& planner() const noexcept = 0;
  [[nodiscard]] virtual const store::Journal& journal() const noexcept = 0;
  /// Why nothing may begin anywhere, but for pauses; nothing: it may.
  [[nodiscard]] virtual std::optional<std::string> frozen() const = 0;
  /// The plan's number. kMissing: no such cluster; kRejected: what forbids it.
  virtual Result<std::int64_t> ask_to_rebuild(std::string_view cluster, std::string_view member,
                                              std::string by) = 0;
  /// kMissing, kRejected.
  virtual Result<void> approve(std::int64_t id, std::string by, std::string comment) = 0;
  virtual Result<void> reject(std::int64_t id, std::string by, std::string comment) = 0;
  /// kMissing: no such cluster. `scope` is empty for everything.
  virtual Result<void> pause(std::string scope, std::optional<Duration> time, std::string by) = 0;
  /// kMissing: it is not paused.
  virtual Result<void> resume(std::string scope, std::string by) = 0;
  /// What holds the answer to an order until it is written down. Null: nothing is ordered yet.
  virtual std::shared_ptr<runtime::HttpHold> written() = 0;
};

/// {"id", "state", "work", "summary", "cluster", "member"|null, "server"|null, "address"|null,
///  "code"|null, "why", "reason"|null, "policy", "incident"|null, "proposer", "approver"|null,
///  "token"|null, "steps": [{"kind", "state", "detail"}], "created", "begun"|null, "changed",
///  "age_ms": since it was made}
boost::json::object to_json(const judge::plan::Plan& plan, TimePoint now, WallTime wall_now);

/// A row of the journal: {"sequence", "at", "kind", "plan"|null, "step"|null, "cluster"|null,
///  "subject"|null, "actor", "incident"|null, "token", "detail"}
boost::json::object to_json(const store::JournalEntry& entry);

/// GET /api/v1/plans: {"at", "frozen"|null, "pauses": [{"scope", "by", "until"|null}], "plans": [],
///  "refusals": [{"policy", "cluster", "code", "subject", "reason"}]}; `?all=true`: the ended ones
///  too. GET /api/v1/plans/{id}. POST /api/v1/plans with {"cluster", "member", "by"}: 201 and the
///  plan. POST /api/v1/plans/{id}/approve and /reject with {"by", "comment"}: the plan.
/// POST /api/v1/pauses with {"scope", "for", "by"} and DELETE /api/v1/pauses/{scope}, `all` for
///  everything: {"at", "pauses"}. GET /api/v1/actions: {"at", "stored", "actions": [{"sequence",
///  "at", "kind", "plan", "step"|null, "cluster"|null, "subject"|null, "actor", "incident"|null,
///  "token", "detail"}]}; `?plan=`, `?incident=`, `?most=`. `desk` outlives them.
std::vector<Route> plan_routes(PlanDesk& desk);

}  // namespace wardmote::serve
