#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace wardmote::cli {

// What /api/v1/version-gates/NAME says of a gate, for people.

bool is_ready(const boost::json::value& gate);
/// The store has answered of late: what it does not say is no yes, and no end of a yes either.
bool is_heard(const boost::json::value& gate);
/// The verdict comes from what the store says now, and will not change by itself in a moment: a
/// registration that is being made again is none.
bool is_settled(const boost::json::value& gate);
/// `kubernetes: waiting: nothing was reconciled yet; until ctl-2, which leads, finishes its pass`
std::string gate_line(const boost::json::value& gate);

}  // namespace wardmote::cli
