#pragma once

#include <string>

#include "base/result.h"

namespace wardmote::agent {

/// The one line of a file that holds a secret; empty when `path` is. kInvalid: the file is empty,
/// too long, or has more than one line; else the errors of opening it.
Result<std::string> read_secret(const std::string& path);

}  // namespace wardmote::agent
