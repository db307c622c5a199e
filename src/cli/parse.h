#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cli/command.h"

namespace wardmote::cli {

/// The user asked how to use a command, by --help or by naming a group without a verb.
struct HelpWanted {
  std::vector<const Command*> path;
  bool asked = true;  ///< false: the command is missing, which is an error
};

struct UsageError {
  std::vector<const Command*> path;  ///< as far as it was understood
  std::string what;
};

using Parsed = std::variant<Call, HelpWanted, UsageError>;

/// Checks `words` (argv without argv[0]) against the table; `program` must outlive the result.
Parsed parse(const Command& program, std::vector<std::string> words);

}  // namespace wardmote::cli
