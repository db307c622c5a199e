#pragma once

#include <string>

namespace wardmote::cli {

/// Replaces this process by the program at `path`, with the arguments `argv`. Returns only when
/// that fails, after printing why: 127 when the program does not exist, 126 when it cannot be run
/// or is this program itself.
int hand_over(const std::string& path, char* const* argv);

}  // namespace wardmote::cli
