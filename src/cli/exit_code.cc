#include "cli/exit_code.h"

#include <string_view>

namespace wardmote::cli {
namespace {

int badness(Exit exit) noexcept {
  if (exit == Exit::kGood) return 0;
  if (exit == Exit::kUnknown) return 1;
  return exit == Exit::kWarning ? 2 : 3;
}

}  // namespace

Exit worse(Exit a, Exit b) noexcept {
  return badness(a) >= badness(b) ? a : b;
}

Exit exit_of_verdict(std::string_view word) noexcept {
  if (word == "ok") return Exit::kGood;
  if (word == "warning" || word == "warn") return Exit::kWarning;
  if (word == "critical" || word == "fail") return Exit::kCritical;
  return Exit::kUnknown;
}

Exit exit_of_severity(std::string_view word) noexcept {
  if (word == "info") return Exit::kGood;
  if (word == "warning") return Exit::kWarning;
  return word == "critical" ? Exit::kCritical : Exit::kUnknown;
}

}  // namespace wardmote::cli
