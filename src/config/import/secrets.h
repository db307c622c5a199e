#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace wardmote::config {

// The one rule of all imports for what may be a password. ImportDraft::add_check() asks it of every
// check. It cannot know, so it errs on the side of a password: a check that is left out is missed,
// and a password that is copied is read by somebody.

/// Whether the name of a header, an option or a variable is that of something which opens a door.
bool names_a_secret(std::string_view name);

/// Whether a text may hold one: `NAME=value`, `Name: value` or a parameter of an address with such
/// a name, an address with a user, a login in words (`AUTH …`, `Bearer …`), or a token that is
/// known by how it begins.
bool text_may_hold_a_secret(std::string_view text);

/// Whether a command may: a word by the rule for texts, the value of an option that is known or
/// named for one, `user:password` behind `-u`, or a command line within a word.
bool command_may_hold_a_secret(const std::vector<std::string>& argv);

/// Whether any parameter of a check may.
bool params_may_hold_a_secret(const boost::json::object& params);

}  // namespace wardmote::config
