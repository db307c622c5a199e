#pragma once

#include <string>

#include "cli/command.h"

namespace wardmote::cli {

/// The manual page of the program, in man(7), made from the same table as --help.
std::string man_page(const Command& program);

}  // namespace wardmote::cli
