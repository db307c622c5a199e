#include "cli/environment.h"

#include <cstdlib>
#include <string>

namespace wardmote::cli {

std::string environment(const char* name) {
  const char* value =
      std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread, and nobody sets any
  return value == nullptr ? "" : value;
}

}  // namespace wardmote::cli
