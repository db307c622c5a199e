#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace wardmote {

void die(std::string_view reason, std::source_location where) {
  std::fprintf(stderr, "wardmote: broken invariant: %.*s (%s:%u, %s)\n",
               static_cast<int>(reason.size()), reason.data(), where.file_name(), where.line(),
               where.function_name());
  std::abort();
}

}  // namespace wardmote
