#include "cli/man.h"

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {

Exit run_man(const Call& call) {
  print(man_page(*call.path().front()));
  return Exit::kGood;
}

}  // namespace wardmote::cli
