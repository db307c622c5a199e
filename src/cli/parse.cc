// The only file that includes CLI11, which takes seconds to compile.
#include "cli/parse.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>  // IWYU pragma: keep
#include <CLI/Error.hpp>
#include <CLI/Formatter.hpp>  // IWYU pragma: keep
#include <CLI/Option.hpp>
#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "cli/command.h"

namespace wardmote::cli {
namespace {

/// Where CLI11 stores the value of one option or argument.
struct Slot {
  std::string name;
  std::vector<std::string> choices;
  CLI::Option* option = nullptr;
  std::vector<std::string> values = {};
  std::string implied = {};  ///< the value of an option that has an implied one
  bool set = false;          ///< a flag's
};

/// CLI11 keeps references to the slots, so they must stay where they are.
using Slots = std::deque<Slot>;

constexpr int kMostWords = 10'000;  // of an argument that repeats

std::string spelling(const Option& option) {
  return option.letter == 0 ? "--" + option.name
                            : fmt::format("-{},--{}", option.letter, option.name);
}

void declare(CLI::App& app, const Command& command, Slots& slots) {
  for (const Argument& argument : command.arguments) {
    Slot& slot = slots.emplace_back(argument.name, argument.choices);
    // The next word belongs to the next argument.
    slot.option = app.add_option(argument.name, slot.values)
                      ->expected(1)
                      ->allow_extra_args(false)
                      ->required(argument.required);
    if (argument.repeats)
      slot.option->expected(argument.required ? 1 : 0, kMostWords)->allow_extra_args();
  }
  for (const Option& option : command.options) {
    Slot& slot = slots.emplace_back(option.name, option.choices);
    if (option.value.empty()) {
      slot.option = app.add_flag(spelling(option), slot.set);
    } else if (!option.implied.empty()) {
      // A flag never takes the next word: `status --watch ovn-sb` names a cluster.
      slot.option =
          app.add_flag(fmt::format("{}{{{}}}", spelling(option), option.implied), slot.implied);
    } else {
      slot.option = app.add_option(spelling(option), slot.values)->required(option.required);
      // `--member a b c` is allowed where no argument can follow.
      if (option.repeats) slot.option->allow_extra_args(command.arguments.empty());
      if (!option.repeats) slot.option->expected(1);
    }
  }
}

/// The given values of the slots, or a complaint about one.
std::variant<Call::Values, std::string> collect(Slots slots) {
  Call::Values values;
  for (Slot& slot : slots) {
    if (slot.option->count() == 0) continue;
    if (!slot.implied.empty()) slot.values = {slot.implied};
    for (const std::string& value : slot.values) {
      if (slot.choices.empty() || std::ranges::find(slot.choices, value) != slot.choices.end())
        continue;
      return fmt::format("{}: '{}' is none of {}", slot.name, escape_control(value),
                         fmt::join(slot.choices, ", "));
    }
    values.emplace(slot.name, std::move(slot.values));
  }
  return values;
}

/// The command of `group` that begins with `word`, if there is only one: a hint in the error, never
/// run by itself.
std::optional<std::string> nearest(const Command& group, std::string_view word) {
  std::optional<std::string> found;
  for (const Command& command : group.commands) {
    if (command.name.front() != word.front()) continue;
    if (found) return std::nullopt;
    found = command.name;
  }
  return found;
}

std::string no_such_command(const Command& group, std::string_view word) {
  if (word.starts_with('-'))
    return fmt::format("options stand after the command, and '{}' stands before it",
                       escape_control(word));
  std::vector<std::string_view> names;
  names.reserve(group.commands.size());
  for (const Command& command : group.commands) names.push_back(command.name);
  const std::optional<std::string> meant = nearest(group, word);
  return fmt::format("there is no '{}'{}; there are {}", escape_control(word),
                     meant ? fmt::format(" (did you mean {}?)", *meant) : "",
                     fmt::join(names, ", "));
}

}  // namespace

Parsed parse(const Command& program, std::vector<std::string> words) {
  std::vector<const Command*> path{&program};
  auto word = words.begin();
  while (path.back()->run == nullptr) {
    if (word == words.end()) return HelpWanted{std::move(path), false};
    if (*word == "-h" || *word == "--help" || *word == "help")
      return HelpWanted{std::move(path), true};
    const Command& group = *path.back();
    // Many people try --version.
    const std::string_view name = *word == "--version" ? "version" : std::string_view(*word);
    const auto found = std::ranges::find(group.commands, name, &Command::name);
    if (name.empty() || found == group.commands.end()) {
      return UsageError{std::move(path),
                        name.empty() ? "an empty word" : no_such_command(group, name)};
    }
    path.push_back(&*found);
    ++word;
  }

  CLI::App app;
  app.set_help_flag("-h,--help");
  Slots slots;
  declare(app, *path.back(), slots);
  std::vector<std::string> rest(std::make_move_iterator(word),
                                std::make_move_iterator(words.end()));
  std::ranges::reverse(rest);  // CLI11 takes the words from the back
  try {
    app.parse(std::move(rest));
  } catch (const CLI::CallForHelp&) {
    return HelpWanted{std::move(path), true};
  } catch (const CLI::ParseError& error) {
    return UsageError{std::move(path), escape_control(error.what())};
  }
  std::variant<Call::Values, std::string> collected = collect(std::move(slots));
  if (std::string* complaint = std::get_if<std::string>(&collected))
    return UsageError{std::move(path), *complaint};
  return Call(std::move(path), std::get<Call::Values>(std::move(collected)));
}

}  // namespace wardmote::cli
