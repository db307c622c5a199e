#include "base/standard_output.h"

#include <cstdio>
#include <string_view>

namespace wardmote {

int checked_output(std::string_view program, int exit_code) {
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return exit_code;
  std::fprintf(stderr, "%.*s: standard output cannot be written: output is lost\n",
               static_cast<int>(program.size()), program.data());
  return exit_code == 0 ? kOutputLost : exit_code;
}

}  // namespace wardmote
