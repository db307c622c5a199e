#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "judge/incident/incident.h"
#include "store/clock_pair.h"

namespace wardmote::store {

inline constexpr std::string_view kIncidentPrefix = "incident/";
/// No incident has a higher number: see NumberMark. After an orderly end it is the last one given.
inline constexpr std::string_view kLastIncidentKey = "last/incident";

std::string incident_key(std::int64_t id);
/// One line of JSON.
std::string encode(const judge::incident::Incident& incident, const ClockPair& clock);
/// kProtocol when the text is not such a record.
Result<judge::incident::Incident> decode_incident(std::string_view record, const ClockPair& clock);

}  // namespace wardmote::store
