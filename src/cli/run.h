#pragma once

#include <string>
#include <vector>

namespace wardmote::cli {

/// The whole program: `words` is argv without argv[0]; returns the exit code.
int run(std::vector<std::string> words);

}  // namespace wardmote::cli
