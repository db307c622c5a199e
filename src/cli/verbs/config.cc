#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/format.h"
#include "cli/agent_program.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {
namespace {

std::vector<std::string> words_for_agent(const Call& call) {
  std::vector<std::string> words = {"wardmoted"};
  for (const Command* const command : call.path().subspan(1)) words.push_back(command->name);
  for (const Option& option : call.command().options) {
    if (!call.has(option.name)) continue;
    words.push_back("--" + option.name);
    // In one word, so that a value which begins with a dash is a value.
    if (!option.value.empty()) words.back() += "=" + call.value(option.name);
  }
  for (const Argument& argument : call.command().arguments) {
    if (call.has(argument.name)) words.push_back(call.value(argument.name));
  }
  return words;
}

/// Becomes wardmoted with the same words.
Exit hand_to_agent(const Call& call, std::string_view why) {
  std::vector<std::string> words = words_for_agent(call);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(agent_program().c_str(), argv.data());
  return complain(call, Exit::kUnreachable,
                  fmt::format("wardmoted {}, and cannot be run: {}. Install it beside wardmote, or "
                              "in PATH.",
                              why, std::generic_category().message(errno)));
}

}  // namespace

/// Only the agent contains a YAML reader, so that this program stays light.
Exit run_config(const Call& call) {
  return hand_to_agent(call, "reads configurations");
}

Exit run_reconcile(const Call& call) {
  return hand_to_agent(call, "talks to kube-apiservers");
}

}  // namespace wardmote::cli
