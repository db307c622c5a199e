#include "cli/common_options.h"

#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "cli/command.h"

namespace wardmote::cli {

Option output_option(std::vector<std::string> choices) {
  return {.name = "output",
          .value = fmt::format("{}", fmt::join(choices, "|")),
          .help = "how to print (default: table)",
          .letter = 'o',
          .choices = std::move(choices)};
}

Option list_output_option() {
  return output_option({"table", "wide", "json", "jsonl", "yaml", "name"});
}

Option no_color_option() {
  return {.name = "no-color",
          .value = "",
          .help = "no colour, as with NO_COLOR or when the output is no terminal"};
}

}  // namespace wardmote::cli
