#include <boost/json/object.hpp>

#include "base/format.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {

Exit run_version(const Call& call) {
  const Format format = format_of(call);
  if (for_programs(format)) {
    print(written(format, boost::json::object{{"version", kVersion}}));
  } else {
    print(fmt::format("wardmote {}\n", kVersion));
  }
  return Exit::kGood;
}

}  // namespace wardmote::cli
