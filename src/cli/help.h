#pragma once

#include <span>
#include <string>

#include "cli/command.h"

namespace wardmote::cli {

/// What --help prints: summary, usage, arguments, options, commands, examples.
std::string help(std::span<const Command* const> path);

/// `wardmote status [CLUSTER] [options]`.
std::string usage_line(std::span<const Command* const> path);

/// `-o, --output table|json`; `--watch[=INTERVAL]`.
std::string spelled(const Option& option);

/// docs/cli.md: the help of every command of `program` as Markdown. Options that many commands
/// share
/// (`shared`) stand there once.
std::string markdown(const Command& program, std::span<const Option> shared);

}  // namespace wardmote::cli
