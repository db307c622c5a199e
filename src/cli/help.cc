#include "cli/help.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "cli/command.h"

namespace wardmote::cli {
namespace {

/// Rows of a left and a right column.
using Rows = std::vector<std::pair<std::string, std::string>>;

/// `text` in lines that fit a terminal of 100 columns.
std::string wrapped(std::string_view text) {
  constexpr std::size_t kWidth = 98;
  std::string lines;
  std::size_t width = 0;  // of the last line
  for (const std::string_view word : split(text, ' ')) {
    const bool fits = width + 1 + word.size() <= kWidth;
    if (!lines.empty()) lines += fits ? ' ' : '\n';
    width = (lines.empty() || !fits ? 0 : width + 1) + word.size();
    lines += word;
  }
  return lines;
}

void append(std::string& page, std::string_view title, const Rows& rows) {
  if (rows.empty()) return;
  std::size_t width = 0;
  for (const auto& [left, right] : rows) width = std::max(width, left.size());
  page += fmt::format("\n{}:\n", title);
  for (const auto& [left, right] : rows) {
    page += right.empty() ? fmt::format("  {}\n", left)
                          : fmt::format("  {:<{}}  {}\n", left, width, right);
  }
}

Rows argument_rows(const Command& command) {
  Rows rows;
  for (const Argument& argument : command.arguments)
    rows.emplace_back(argument.name, argument.help);
  return rows;
}

Rows option_rows(const Command& command) {
  Rows rows;
  for (const Option& option : command.options) {
    std::string notes;
    if (option.required) notes += " (required)";
    if (option.repeats) notes += " (may be repeated)";
    rows.emplace_back(spelled(option), option.help + notes);
  }
  rows.emplace_back("-h, --help", "this help");
  return rows;
}

Rows command_rows(const Command& command) {
  Rows rows;
  for (const Command& child : command.commands) rows.emplace_back(child.name, child.summary);
  return rows;
}

Rows example_rows(const Command& command) {
  Rows rows;
  for (const Example& example : command.examples) {
    rows.emplace_back("# " + example.what, "");
    rows.emplace_back(example.line, "");
  }
  return rows;
}

bool is_shared(const Option& option, std::span<const Option> shared) {
  return std::ranges::any_of(shared, [&](const Option& one) {
    return one.name == option.name && one.help == option.help;
  });
}

/// The section of one command, and those of the commands below.
void append_markdown(std::string& page, std::vector<const Command*> path,
                     std::span<const Option> shared) {
  Command own = *path.back();
  std::vector<std::string> left_out;
  for (const Option& option : own.options) {
    if (is_shared(option, shared)) left_out.push_back(fmt::format("`--{}`", option.name));
  }
  std::erase_if(own.options, [&](const Option& option) { return is_shared(option, shared); });
  const Command& command = *std::exchange(path.back(), &own);
  page += fmt::format("\n{} `{}`\n\n```\n{}```\n", path.size() == 1 ? "##" : "###", spelled(path),
                      help(path));
  if (left_out.size() == shared.size()) {
    page += "\nAlso all shared options.\n";
  } else if (!left_out.empty()) {
    page += fmt::format("\nAlso {}.\n", fmt::join(left_out, ", "));
  }
  path.back() = &command;
  for (const Command& child : command.commands) {
    std::vector<const Command*> below = path;
    below.push_back(&child);
    append_markdown(page, std::move(below), shared);
  }
}

}  // namespace

std::string spelled(const Option& option) {
  const std::string letter = option.letter == 0 ? "" : fmt::format("-{}, ", option.letter);
  if (option.value.empty()) return fmt::format("{}--{}", letter, option.name);
  if (!option.implied.empty()) return fmt::format("{}--{}[={}]", letter, option.name, option.value);
  return fmt::format("{}--{} {}", letter, option.name, option.value);
}

std::string usage_line(std::span<const Command* const> path) {
  const Command& command = *path.back();
  std::string line = spelled(path);
  if (command.run == nullptr) return line + " COMMAND";
  for (const Argument& argument : command.arguments) {
    line += argument.required ? " " + argument.name : fmt::format(" [{}]", argument.name);
    if (argument.repeats) line += " ...";
  }
  for (const Option& option : command.options) {
    if (option.required)
      line += fmt::format(" --{} {}{}", option.name, option.value, option.repeats ? " ..." : "");
  }
  return line + " [options]";
}

std::string help(std::span<const Command* const> path) {
  const Command& command = *path.back();
  std::string page =
      fmt::format("{}: {}\n\nUsage: {}\n", spelled(path), command.summary, usage_line(path));
  if (!command.description.empty()) page += fmt::format("\n{}\n", wrapped(command.description));
  append(page, "Commands", command_rows(command));
  append(page, "Arguments", argument_rows(command));
  append(page, "Options", option_rows(command));
  append(page, "Examples", example_rows(command));
  return page;
}

std::string markdown(const Command& program, std::span<const Option> shared) {
  std::string page = "\n## Shared options\n\n| option | meaning |\n|---|---|\n";
  for (const Option& option : shared) {
    std::string spelling = spelled(option);
    for (std::size_t at = 0; (at = spelling.find('|', at)) != std::string::npos; at += 2)
      spelling.insert(at, 1, '\\');  // a bar alone would end the cell
    page += fmt::format("| `{}` | {} |\n", spelling, option.help);
  }
  append_markdown(page, {&program}, shared);
  return page;
}

}  // namespace wardmote::cli
