#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// An order to the agent.
struct Order {
  std::string method = "POST";
  std::string path;
  boost::json::object body;
  std::string (*draw)(const boost::json::value& answer, Style style);
};

/// Gives the order, in the name of the user who runs the program, and prints the answer.
Exit give(const Call& call, Order order);

}  // namespace wardmote::cli
