#pragma once
// What reporters said last, which outlives the agent: a program that says once that it is ready
// does not say so again because the agent began anew.

#include <string>
#include <string_view>

#include "base/result.h"
#include "judge/report/reporters.h"

namespace wardmote::store {

/// Each agent has records of its own.
std::string report_prefix(std::string_view node);
std::string report_key(std::string_view node, std::string_view reporter);

std::string encode(const judge::Report& report);
/// kProtocol when the text is not such a record.
Result<judge::Report> decode_report(std::string_view text);

}  // namespace wardmote::store
