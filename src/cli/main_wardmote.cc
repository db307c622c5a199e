#include <string>
#include <utility>
#include <vector>

#include "cli/environment.h"
#include "cli/go_flags.h"
#include "cli/hand_over.h"
#include "cli/ocf/run.h"
#include "cli/run.h"

int main(int argc, char** argv) {
  using namespace wardmote::cli;
  std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (argc == 0) return run(std::move(words));
  if (ocf::is_agent(argv[0])) {
    const auto lookup = [](const std::string& name) { return environment(name.c_str()); };
    return static_cast<int>(ocf::run_action(argv[0], words, lookup));
  }
  Invocation asked = invocation(argv[0], std::move(words), environment("WARDMOTE_CALICO_NODE"));
  if (!asked.hand_over.empty()) return hand_over(asked.hand_over, argv);
  return run(std::move(asked.words));
}
