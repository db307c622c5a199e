#include "cli/run.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "base/format.h"
#include "base/standard_output.h"
#include "cli/agent_address.h"
#include "cli/command.h"
#include "cli/command_table.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/go_flags.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "observe/kinds.h"

namespace wardmote::cli {
namespace {

constexpr int kCalicoFailure = 1;

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

/// The command that needs no other one in the table; these two print all of them.
std::string_view verb_alone(std::string_view word) {
  return word == "man" || word == "completion" ? std::string_view() : word;
}

/// The parsed options of calico-health, or the exit code of a wrong command line.
std::variant<std::vector<std::string>, int> calico_words(std::vector<std::string> words) {
  const bool compat = std::ranges::any_of(words, [](std::string_view word) {
    word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
    return word == "compat" || word.starts_with("compat=");
  });
  const std::string verb = words.front();
  words.erase(words.begin());
  GoWords go = from_go_flags(words);
  if (compat && !go.error.empty()) {
    print(go.error + "\n");
    return kCalicoFailure;
  }
  if (go.unknown || go.help) {
    // Our own text for what is wrong, and our own help.
    words.insert(words.begin(), verb);
    for (std::string& word : words) {
      const bool single = word.size() > 2 && word[0] == '-' && word[1] >= 'a' && word[1] <= 'z';
      if (single) word.insert(0, "-");
    }
    return words;
  }
  if (!go.error.empty()) {
    print_error(fmt::format("wardmote {}: {}\n", verb, go.error));
    return kCalicoFailure;
  }
  // Calico ignores words after its flags.
  if (!compat) std::ranges::move(go.extra, std::back_inserter(go.words));
  go.words.insert(go.words.begin(), verb);
  return std::move(go.words);
}

/// Whether an agent is named, or has had its socket where it is by default.
bool has_agent() {
  std::error_code error;
  return !environment("WARDMOTE_HOST").empty() ||
         std::filesystem::exists(std::string(kDefaultSocket), error);
}

}  // namespace

int run(std::vector<std::string> words) {
  // Somebody who has just installed it learns what is here.
  if (words.empty()) words.emplace_back(has_agent() ? "status" : "look");
  const Command program = command_table(observe::probe_kinds, verb_alone(words.front()));
  // This command has the flags and the exit codes of another program.
  const bool calico = words.front() == "calico-health";
  if (calico) {
    auto read = calico_words(std::move(words));
    if (const int* const failed = std::get_if<int>(&read)) return *failed;
    words = std::get<std::vector<std::string>>(std::move(read));
  }
  const Parsed parsed = parse(program, std::move(words));
  const Exit exit = std::visit([](const auto& one) { return answer(one); }, parsed);
  if (calico) return exit == Exit::kUsage ? kCalicoFailure : static_cast<int>(exit);
  return checked_output(program.name, static_cast<int>(exit));
}

}  // namespace wardmote::cli
