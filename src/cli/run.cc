#include "cli/run.h"

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/format.h"
#include "cli/command.h"
#include "cli/command_table.h"
#include "cli/exit_code.h"
#include "cli/go_flags.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "observe/kinds.h"

namespace wardmote::cli {
namespace {

Exit answer(const HelpWanted& wanted) {
  if (wanted.asked) {
    print(help(wanted.path));
    return Exit::kGood;
  }
  print_error(
      fmt::format("{}: a command is missing\n\n{}", spelled(wanted.path), help(wanted.path)));
  return Exit::kUsage;
}

Exit answer(const UsageError& error) {
  const std::string name = spelled(error.path);
  print_error(fmt::format("{}: {}\nUsage: {}\nTry '{} --help'.\n", name, error.what,
                          usage_line(error.path), name));
  return Exit::kUsage;
}

Exit answer(const Call& call) {
  return call.command().run(call);
}

/// The verb that needs to know no others: these two print them all.
std::string_view verb_alone(std::string_view word) {
  return word == "man" || word == "completion" ? std::string_view() : word;
}

}  // namespace

int run(std::vector<std::string> words) {
  const Command program =
      command_table(observe::probe_kinds, words.empty() ? "" : verb_alone(words.front()));
  // This verb has the flags, and the exit codes, of another program.
  const bool calico = !words.empty() && words.front() == "calico-health";
  if (calico) words = from_go_flags(std::move(words));
  const Parsed parsed = parse(program, std::move(words));
  const Exit exit = std::visit([](const auto& one) { return answer(one); }, parsed);
  return calico && exit == Exit::kUsage ? 1 : static_cast<int>(exit);
}

}  // namespace wardmote::cli
