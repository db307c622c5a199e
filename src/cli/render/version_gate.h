#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/exit_code.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// A version gate in full: who is let in, who leads, and who is in the way.
std::string draw_version_gate(const boost::json::value& gate, Style style);
/// Unknown when the store does not answer, or has not registered this node.
Exit exit_of_version_gate(const boost::json::value& gate);

}  // namespace wardmote::cli
