#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// What a reading command shows.
struct Reading {
  std::string path;        ///< the path in the API
  std::string query = {};  ///< percent-encoded
  /// Paths that are tried in turn while the agent has nothing at those before.
  std::vector<std::string> otherwise = {};
  /// Further paths: their answers go into the first one, each as `key`.
  struct More {
    std::string path;
    std::string key;
  };
  std::vector<More> also = {};
  /// Turns the agent's answer into what is shown (and printed as JSON); kInvalid when there is no
  /// such thing. May be null.
  std::function<Result<boost::json::value>(const boost::json::value&)> select;
  std::function<std::string(const boost::json::value& shown, Style style)> draw;
  std::function<Exit(const boost::json::value& shown)> judge;
  Shape shape = {};
  /// Refresh every second, also without --watch.
  bool keeps_on = false;
  /// Shown when no agent answers, because this part needs none. Not with the formats that list only
  /// what is wrong now.
  std::optional<boost::json::value> without_agent;
};

/// Runs a reading command: asks the agent, prints a table or JSON, and repeats that with --watch.
Exit read(const Call& call, Reading reading);

}  // namespace wardmote::cli
