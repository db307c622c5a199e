#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/render/style.h"

namespace wardmote::cli {

/// What catalogue_entry() or explain_code() made: meaning, evidence, advice, and the findings that
/// stand.
std::string draw_code(const boost::json::value& explained, Style style);

/// What explain_incident() made: the incident, and what each of its codes means and asks for.
std::string draw_explained_incident(const boost::json::value& explained, Style style);

/// What explain_subject() made: what it says, what others say of it, what is wrong with it.
std::string draw_subject(const boost::json::value& explained, Style style);

}  // namespace wardmote::cli
