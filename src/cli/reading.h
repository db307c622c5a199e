#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// What a reading verb shows.
struct Reading {
  std::string path;        ///< where the agent has it
  std::string query = {};  ///< percent-encoded
  /// Makes what is shown (and printed as JSON) of what the agent answered; kInvalid when there is
  /// no such thing. May be null.
  std::function<Result<boost::json::value>(const boost::json::value&)> select;
  std::string (*draw)(const boost::json::value& shown, Style style);
  Exit (*judge)(const boost::json::value& shown);
  Shape shape = {};
  /// Again every second, also without --watch.
  bool keeps_on = false;
  /// Shown when no agent answers in the default places: the rest needs none.
  std::optional<boost::json::value> without_agent;
};

/// Runs a reading verb: asks the agent, prints a table or JSON, with --watch again and again.
Exit read(const Call& call, Reading reading);

}  // namespace wardmote::cli
