#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/command.h"

namespace wardmote::cli {

/// The shells that completion_script() writes for.
std::span<const std::string_view> completion_shells() noexcept;

/// A completion script for `shell`, one of completion_shells(), made from the same table as --help.
std::string completion_script(const Command& program, std::string_view shell);

}  // namespace wardmote::cli
