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
          .help = "no colour, as with NO_COLOR or when the output is not a terminal"};
}

std::vector<Option> agent_options() {
  return {
      {.name = "host",
       .value = "ENDPOINT",
       .help = "where the agent is: unix:PATH, HOST:PORT or https://HOST:PORT (default: "
               "$WARDMOTE_HOST)"},
      {.name = "socket",
       .value = "PATH",
       .help =
           "the unix socket of the agent (default: /run/wardmote/api.sock, then 127.0.0.1:9470)",
       .completes = Completes::kFiles},
      {.name = "token-file",
       .value = "PATH",
       .help = "send the token in this file (default: $WARDMOTE_TOKEN_FILE)",
       .completes = Completes::kFiles},
      {.name = "ca",
       .value = "PATH",
       .help = "trusted CA certificates for https (default: $WARDMOTE_CA, then the system's)",
       .completes = Completes::kFiles},
      {.name = "cert",
       .value = "PATH",
       .help = "client certificate for https (default: $WARDMOTE_CERT)",
       .completes = Completes::kFiles},
      {.name = "key",
       .value = "PATH",
       .help = "private key of the client certificate (default: $WARDMOTE_KEY)",
       .completes = Completes::kFiles}};
}

std::vector<Option> reading_options() {
  std::vector<Option> options = {list_output_option(),
                                 {.name = "watch",
                                  .value = "INTERVAL",
                                  .help = "show it again every INTERVAL (default: 1s) until Ctrl-C",
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
