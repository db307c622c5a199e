#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/exit_code.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// A pair as `wardmote failover status` shows it.
std::string draw_pair(const boost::json::value& shown, Style style);
/// Who could take over, and what keeps the others from it.
std::string draw_pair_reasons(const boost::json::value& shown, Style style);
/// Its promotions.
std::string draw_pair_history(const boost::json::value& shown, Style style);
/// Unknown: the store does not answer this node. Critical: nobody is active. A warning: a node is
/// missing, does not follow or is unfit, or failover is paused.
Exit exit_of_pair(const boost::json::value& shown);
Exit exit_good(const boost::json::value& shown);

}  // namespace wardmote::cli
