#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/render/style.h"

namespace wardmote::cli {

/// The result of catalogue_entry() or explain_code(): meaning, evidence, advice, and the present
/// findings.
std::string draw_code(const boost::json::value& explained, Style style);

/// The result of explain_incident(): the incident, with the meaning and the advice of each of its
/// codes.
std::string draw_explained_incident(const boost::json::value& explained, Style style);

/// The result of explain_subject(): what the thing reports, what others say about it, and what is
/// wrong with it.
std::string draw_subject(const boost::json::value& explained, Style style);

}  // namespace wardmote::cli
