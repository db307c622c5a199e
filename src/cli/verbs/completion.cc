#include "cli/completion.h"

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {

Exit run_completion(const Call& call) {
  print(completion_script(*call.path().front(), call.value("SHELL")));
  return Exit::kGood;
}

}  // namespace wardmote::cli
