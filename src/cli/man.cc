#include "cli/man.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/help.h"

namespace wardmote::cli {
namespace {

/// Text for a line of man(7) that contains no request and no escape.
std::string roff(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";  // a plain one may be printed as a hyphen, which nobody can paste
    } else if (c == '\'' && safe.empty()) {
      safe += "\\(aq";
    } else if (c == '.' && safe.empty()) {
      safe += "\\&.";
    } else {
      safe += c;
    }
  }
  return safe;
}

void append_item(std::string& page, std::string_view term, std::string_view text) {
  page += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(term), roff(text));
}

void append_command(std::string& page, std::vector<const Command*> path) {
  const Command& command = *path.back();
  page += fmt::format(".SS {}\n{}.\n", roff(usage_line(path)), roff(command.summary));
  if (!command.description.empty()) page += fmt::format(".PP\n{}\n", roff(command.description));
  for (const Argument& argument : command.arguments)
    append_item(page, argument.name, argument.help);
  for (const Option& option : command.options) append_item(page, spelled(option), option.help);
  if (!command.examples.empty()) page += ".PP\nExamples:\n.nf\n";
  for (const Example& example : command.examples)
    page += fmt::format("    {}\n", roff(example.line));
  if (!command.examples.empty()) page += ".fi\n";
  for (const Command& child : command.commands) {
    std::vector<const Command*> below = path;
    below.push_back(&child);
    append_command(page, std::move(below));
  }
}

}  // namespace

std::string man_page(const Command& program) {
  std::string page = fmt::format(".TH {} 1 \"\" \"{} {}\" \"User Commands\"\n", program.name,
                                 program.name, kVersion);
  page += fmt::format(".SH NAME\n{} \\- {}\n", program.name, roff(program.summary));
  page += fmt::format(".SH SYNOPSIS\n.B {}\nCOMMAND [options]\n", program.name);
  page += fmt::format(".SH DESCRIPTION\n{}\n", roff(program.description));
  page += ".SH COMMANDS\n";
  for (const Command& child : program.commands) append_command(page, {&program, &child});
  page += ".SH ENVIRONMENT\n";
  append_item(page, "WARDMOTE_HOST", "Where the agent is, as with --host.");
  append_item(page, "NO_COLOR", "No colour, as with --no-color.");
  page += ".SH FILES\n";
  append_item(page, "/run/wardmote/api.sock", "Where the agent is asked unless told otherwise.");
  page += ".SH SEE ALSO\n.BR wardmoted (8)\n";
  return page;
}

}  // namespace wardmote::cli
