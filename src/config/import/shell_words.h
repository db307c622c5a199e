#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wardmote::config {

struct ShellWords {
  std::vector<std::string> words;
  bool needs_shell = false;  ///< it has pipes, variables, wildcards or the like, or an open quote
};

/// The words of a command line by the quoting of a POSIX shell, as Nagios splits them before it
/// decides whether a shell is needed (lib/runcmd.c runcmd_cmd2strv).
ShellWords shell_words(std::string_view line);

/// The words of a text in double quotes that Monit runs as a program: `'` at the begin of a word
/// joins what stands up to the next one, and nothing else is special (monit 5.33 src/l.l,
/// ARGUMENT_COND).
std::vector<std::string> monit_words(std::string_view line);

}  // namespace wardmote::config
