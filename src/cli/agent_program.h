#pragma once

#include <string>

namespace wardmote::cli {

/// Where wardmoted is: beside this program, else by its name, to be looked up in PATH. It does what
/// this program is too light for.
std::string agent_program();

}  // namespace wardmote::cli
