#include <boost/json/object.hpp>

#include "base/format.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {

Exit run_version(const Call& call) {
  if (wants_json(call)) {
    print(json_line(boost::json::object{{"version", kVersion}}) + "\n");
  } else {
    print(fmt::format("wardmote {}\n", kVersion));
  }
  return Exit::kGood;
}

}  // namespace wardmote::cli
