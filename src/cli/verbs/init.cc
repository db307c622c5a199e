#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/init/detect.h"
#include "cli/init/draft.h"
#include "cli/output.h"
#include "cli/verbs/verbs.h"
#include "observe/kinds.h"

namespace wardmote::cli {
namespace {

/// The host's name up to the first dot, which is how people call it.
std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "this-host";
  const std::string_view whole(name.data());
  const std::string_view first = whole.substr(0, whole.find('.'));
  return first.empty() ? "this-host" : std::string(first.substr(0, 63));
}

}  // namespace

Exit run_init(const Call& call) {
  const std::vector<Found> found = detect(call.has("root") ? call.value("root") : "/");
  print(draft_config(found, host_name(), observe::probe_kinds()));
  if (watches_anything(found, observe::probe_kinds())) return Exit::kGood;
  return complain(call, Exit::kWarning, "nothing was found that could be watched");
}

}  // namespace wardmote::cli
