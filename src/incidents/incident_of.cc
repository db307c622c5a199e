#include "incidents/incident_of.h"

#include <cstdint>

#include "base/format.h"
#include "judge/incident/book.h"
#include "judge/incident/incident.h"
#include "judge/thing.h"

namespace wardmote::incidents {

std::int64_t incident_of(const judge::incident::Book& book, const judge::ThingId& thing) {
  std::int64_t of_member = 0;
  for (const auto& [id, incident] : book.incidents()) {
    if (incident.phase != judge::incident::Phase::kOpen) continue;
    if (incident.root == fmt::format("{}:{}", to_string(thing.kind), thing.name)) return id;
    const bool below = incident.root.starts_with("member:" + thing.name + "/");
    if (below && of_member == 0) of_member = id;
  }
  return of_member;
}

}  // namespace wardmote::incidents
