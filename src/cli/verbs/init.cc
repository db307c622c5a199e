#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/init/ask.h"
#include "cli/init/detect.h"
#include "cli/init/draft.h"
#include "cli/init/report.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "observe/kinds.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::cli {
namespace {

using runtime::Task;

/// The host's name up to the first dot, which is how people call it.
std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "this-host";
  const std::string_view whole(name.data());
  const std::string_view first = whole.substr(0, whole.find('.'));
  return first.empty() ? "this-host" : std::string(first.substr(0, 63));
}

constexpr Duration kPatience = std::chrono::seconds(20);

Task<Exit> ask(std::vector<Found>* found, std::string root, runtime::Runtime* runtime) {
  co_await ask_found(found, std::move(root), runtime, runtime->deadline_in(kPatience));
  co_return Exit::kGood;
}

/// What is on the machine whose file system is mounted at --root, and what it says.
std::vector<Found> find_and_ask(const Call& call, Exit& exit) {
  const std::string root = call.has("root") ? call.value("root") : "/";
  std::vector<Found> found = detect(root);
  exit = Exit::kGood;
  if (call.has("no-ask")) return found;
  Session session;
  exit = session.run(ask(&found, root, &session.runtime()));
  return found;
}

}  // namespace

Exit run_init(const Call& call) {
  Exit asked = Exit::kGood;
  const std::vector<Found> found = find_and_ask(call, asked);
  if (asked != Exit::kGood) return asked;
  std::error_code error;
  const std::string root = call.has("root") ? call.value("root") : "";
  const bool has_data = std::filesystem::is_directory(root + std::string(kDataFolder), error);
  print(draft_config(found, host_name(), observe::probe_kinds(), has_data));
  if (watches_anything(found, observe::probe_kinds())) return Exit::kGood;
  return complain(call, Exit::kWarning, "nothing was found that could be watched");
}

Exit run_look(const Call& call) {
  Exit asked = Exit::kGood;
  const std::vector<Found> found = find_and_ask(call, asked);
  if (asked != Exit::kGood) return asked;
  print(draw_found(found, style_for(call)));
  return exit_of_found(found);
}

}  // namespace wardmote::cli
