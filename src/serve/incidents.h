#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/incident/book.h"
#include "judge/incident/incident.h"
#include "runtime/http.h"
#include "serve/renderer.h"
#include "serve/route.h"

namespace wardmote::serve {

/// Access to the incidents, and orders about them.
class IncidentControl {
 public:
  IncidentControl() = default;
  IncidentControl(const IncidentControl&) = delete;
  IncidentControl& operator=(const IncidentControl&) = delete;
  virtual ~IncidentControl() = default;

  [[nodiscard]] virtual const judge::incident::Book& book() const noexcept = 0;
  /// Whether it was seen since whoever watches it began; else it is what an earlier life knew.
  [[nodiscard]] virtual bool confirmed(const judge::incident::Incident& incident) const {
    return !book().awaited(incident.id);
  }
  /// What fails in it now, the gravest first, at most so many.
  [[nodiscard]] virtual std::vector<judge::incident::Symptom> standing(
      const judge::incident::Incident& incident, std::size_t most) const {
    return book().symptoms_of(incident.id, most);
  }
  /// Why what is shown may be old, and not all; nothing: it is what whoever leads has written.
  [[nodiscard]] virtual std::optional<std::string> cut_off() const { return std::nullopt; }
  /// kMissing when no incident of this number is open.
  virtual Result<void> acknowledge(std::int64_t id, std::string by, std::string comment) = 0;
  /// Holds the answer to an order until all orders so far are stored, or answers 503 when they
  /// cannot be. Null when nothing is ever stored.
  virtual std::shared_ptr<runtime::HttpHold> written() = 0;
};

/// {"id", "root", "phase": "open|resolved", "code", "severity", "summary", "names": [], "symptoms",
///  "confirmed", "standing": [{"component", "code", "severity", "summary", "since"}] at most 20,
///  "flapping", "storm", "reopened", "merged_into"|null, "acknowledged"|null: {"by", "comment",
///  "at"}, "opened", "since": when it began, or began again, "changed", "resolved"|null, "age_ms":
///  since then}
boost::json::object to_json(const judge::incident::Incident& incident,
                            const IncidentControl& control, TimePoint now, WallTime wall_now);

/// GET /api/v1/incidents: {"at", "verdict", "acts_frozen", "stale": why|null, "incidents": []}, the
/// gravest first; `?all=true`: the resolved ones too, newest last. GET /api/v1/incidents/{id}. POST
/// /api/v1/incidents/{id}/ack with {"by", "comment"} answers with the incident. `control` and
/// `renderer` outlive them; null: the list is rendered at once.
std::vector<Route> incident_routes(IncidentControl& control, Renderer* renderer = nullptr);

}  // namespace wardmote::serve
