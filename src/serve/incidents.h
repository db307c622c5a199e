#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/incident/book.h"
#include "runtime/http.h"
#include "serve/route.h"

namespace wardmote::serve {

/// Where incidents are kept, and orders about them given.
class IncidentDesk {
 public:
  IncidentDesk() = default;
  IncidentDesk(const IncidentDesk&) = delete;
  IncidentDesk& operator=(const IncidentDesk&) = delete;
  virtual ~IncidentDesk() = default;

  [[nodiscard]] virtual const judge::incident::Book& book() const noexcept = 0;
  /// kMissing when no incident of this number is open.
  virtual Result<void> acknowledge(std::int64_t id, std::string by, std::string comment) = 0;
  /// Holds the answer to an order until all that was ordered so far is written down, or 503 says
  /// that it could not be. Null when nothing is ever written down.
  virtual std::shared_ptr<runtime::HttpHold> written() = 0;
};

/// {"id", "root", "phase": "open|resolved", "code", "severity", "summary", "names": [], "symptoms",
///  "standing": [{"component", "code", "severity", "summary", "since"}] at most 20, "flapping",
///  "storm", "reopened", "merged_into"|null, "acknowledged"|null: {"by", "comment", "at"},
///  "opened", "changed", "resolved"|null, "age_ms": since it was opened}
boost::json::object to_json(const judge::incident::Incident& incident,
                            const judge::incident::Book& book, TimePoint now, WallTime wall_now);

/// GET /api/v1/incidents: {"at", "acts_frozen", "incidents": []}, the gravest first; `?all=true`:
/// the resolved ones too, newest last. GET /api/v1/incidents/{id}. POST /api/v1/incidents/{id}/ack
/// with {"by", "comment"} answers with the incident. `desk` outlives them.
std::vector<Route> incident_routes(IncidentDesk& desk);

}  // namespace wardmote::serve
