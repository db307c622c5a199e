#pragma once

#include <cstdint>

#include "judge/incident/book.h"
#include "judge/thing.h"

namespace wardmote::incidents {

/// The open incident that the thing is the root of, else the first of a member of it; 0: none.
std::int64_t incident_of(const judge::incident::Book& book, const judge::ThingId& thing);

}  // namespace wardmote::incidents
