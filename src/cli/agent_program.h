#pragma once

#include <string>

namespace wardmote::cli {

/// Where wardmoted is: in the same folder, else its name, to be looked up in PATH. wardmoted does
/// what this program is too light for.
std::string agent_program();

}  // namespace wardmote::cli
