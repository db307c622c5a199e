#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/format.h"
#include "cli/agent_program.h"
#include "cli/by_agent.h"
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
    for (std::string& value : call.values(argument.name)) words.push_back(std::move(value));
  }
  return words;
}

}  // namespace

Exit run_by_agent(const Call& call) {
  std::vector<std::string> words = words_for_agent(call);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(agent_program().c_str(), argv.data());
  return complain(call, Exit::kUnreachable,
                  fmt::format("wardmoted does this, and cannot be run: {}. Install it "
                              "beside wardmote, or in PATH.",
                              std::generic_category().message(errno)));
}

Exit run_config(const Call& call) {
  return run_by_agent(call);
}

Exit run_reconcile(const Call& call) {
  return run_by_agent(call);
}

}  // namespace wardmote::cli
