#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/ocf/run.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {

Exit run_ocf(const Call& call) {
  const std::vector<std::string> words = {call.value("ACTION")};
  // OCF's codes, and not those of the other commands.
  return static_cast<Exit>(ocf::run_action(
      "wardmote ocf", words, [](const std::string& name) { return environment(name.c_str()); }));
}

}  // namespace wardmote::cli
