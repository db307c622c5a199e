#include "cli/common_options.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "cli/command.h"

namespace wardmote::cli {

Option list_output_option() {
  return output_option({"table", "wide", "json", "jsonl", "yaml", "name"});
}

Option output_option(std::vector<std::string> choices) {
  return {.name = "output",
          .value = fmt::format("{}", fmt::join(choices, "|")),
          .help = "how to print (default: table)",
          .letter = 'o',
          .choices = std::move(choices)};
}

Option no_color_option() {
  return {.name = "no-color",
          .value = "",
          .help = "no colour, as with NO_COLOR or when the output is no terminal"};
}

std::vector<Option> agent_options() {
  return {{.name = "host",
           .value = "ENDPOINT",
           .help = "the agent: unix:PATH, HOST:PORT or http://HOST:PORT (default: $WARDMOTE_HOST)"},
          {.name = "socket",
           .value = "PATH",
           .help = "the agent's unix socket (default: /run/wardmote/api.sock, then 127.0.0.1:9470)",
           .completes = Completes::kFiles},
          {.name = "token-file",
           .value = "PATH",
           .help = "shows the token in this file (default: $WARDMOTE_TOKEN_FILE)",
           .completes = Completes::kFiles}};
}

std::vector<Option> reading_options() {
  std::vector<Option> options = {list_output_option(),
                                 {.name = "watch",
                                  .value = "INTERVAL",
                                  .help = "show it again and again until Ctrl-C",
                                  .letter = 'w',
                                  .implied = "1s"},
                                 no_color_option()};
  std::ranges::move(agent_options(), std::back_inserter(options));
  return options;
}

std::vector<Option> order_options() {
  std::vector<Option> options = {output_option(), no_color_option()};
  std::ranges::move(agent_options(), std::back_inserter(options));
  return options;
}

}  // namespace wardmote::cli
