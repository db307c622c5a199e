#pragma once

#include <string>

namespace wardmote::cli {

/// The value of an environment variable; "" when it is not set.
std::string environment(const char* name);

}  // namespace wardmote::cli
