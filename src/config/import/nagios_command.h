#pragma once

#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/import/nagios_templates.h"

namespace wardmote::config {

/// `$USER1$` and its like, from resource.cfg.
using NagiosUsers = std::map<std::string, std::string, std::less<>>;

/// What a command line is made of.
struct NagiosSubject {
  const NagiosThing& host;
  const NagiosThing* service = nullptr;  ///< null: it is the check of the host
  const NagiosUsers& users;
};

/// The program and its arguments: the macros of `line` filled in, with the arguments behind the
/// `!` of `check_command`, and split as Nagios does; a line that needs a shell gets one. Or why the
/// command cannot be copied: a macro without a value here, or that of a variable which may be a
/// password. The reason repeats no value.
std::expected<std::vector<std::string>, std::string> nagios_argv(const NagiosSubject& subject,
                                                                 std::string_view check_command,
                                                                 std::string_view line);

/// The name of the command in `check_command`.
std::string nagios_command_name(std::string_view check_command);

}  // namespace wardmote::config
