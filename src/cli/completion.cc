#include "cli/completion.h"

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "cli/command.h"
#include "judge/finding.h"

namespace wardmote::cli {
namespace {

/// A command and the words that lead to it.
struct Place {
  std::string where;  ///< `wardmote get members`
  const Command* command;
};

void walk(const Command& command, const std::string& above, std::vector<Place>& places) {
  const std::string where = above.empty() ? command.name : above + ' ' + command.name;
  places.push_back({where, &command});
  for (const Command& child : command.commands) walk(child, where, places);
}

std::vector<Place> places_of(const Command& program) {
  std::vector<Place> places;
  walk(program, "", places);
  return places;
}

/// Understood by all three shells.
std::string quoted(std::string_view text) {
  std::string safe = "'";
  for (const char c : text) {
    if (c == '\'') safe += "'\\'";
    safe += c;
  }
  return safe + "'";
}

/// The possible values, separated by spaces.
std::string offered(const std::vector<std::string>& choices, Completes completes) {
  if (completes != Completes::kCodes) return fmt::format("{}", fmt::join(choices, " "));
  std::vector<std::string_view> names;
  for (const judge::CodeInfo& row : judge::catalogue()) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, " "));
}

/// Commands, values of the first argument, and options: everything that can follow the command
/// itself.
std::string words_after(const Command& command) {
  std::vector<std::string> words;
  words.reserve(command.commands.size() + command.arguments.size());
  for (const Command& child : command.commands) words.push_back(child.name);
  for (const Argument& argument : command.arguments) {
    const std::string values = offered(argument.choices, argument.completes);
    if (!values.empty()) words.push_back(values);
  }
  for (const Option& option : command.options) words.push_back("--" + option.name);
  words.emplace_back("--help");
  return fmt::format("{}", fmt::join(words, " "));
}

bool wants_file(const Command& command) {
  return !command.arguments.empty() && command.arguments.front().completes == Completes::kFiles;
}

bool takes_next_word(const Option& option) {
  return !option.value.empty() && option.implied.empty();
}

/// `'wardmote get'|'wardmote get members'`: every place but the program itself.
std::string known_places(const std::vector<Place>& places, std::string_view separator) {
  std::vector<std::string> names;
  for (const Place& place : places) {
    if (place.where.contains(' ')) names.push_back(quoted(place.where));
  }
  return fmt::format("{}", fmt::join(names, separator));
}

/// bash and zsh scripts have the same shape: two case statements, one over "place and word before",
/// one over the place.
struct CaseArms {
  std::string options;
  std::string places;
};

CaseArms case_arms(const std::vector<Place>& places,
                   const std::function<std::string(std::string, bool)>& action) {
  CaseArms arms;
  for (const auto& [where, command] : places) {
    for (const Option& option : command->options) {
      if (!takes_next_word(option)) continue;
      std::string pattern = quoted(fmt::format("{} --{}", where, option.name));
      if (option.letter != 0) pattern += '|' + quoted(fmt::format("{} -{}", where, option.letter));
      arms.options += fmt::format(
          "    {}) {} ;;\n", pattern,
          action(offered(option.choices, option.completes), option.completes == Completes::kFiles));
    }
    arms.places += fmt::format("      {}) {} ;;\n", quoted(where),
                               action(words_after(*command), wants_file(*command)));
  }
  return arms;
}

constexpr std::string_view kBash =
    R"(# bash completion for wardmote; source it, or put it into /usr/share/bash-completion/completions/wardmote
_wardmote() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local where=wardmote word words='' files=''
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$where $word" in
      {known}) where="$where $word" ;;
    esac
  done
  case "$where $before" in
{options}    *) case "$where" in
{places}    esac ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  if [[ -n $files && ${{#COMPREPLY[@]}} -eq 0 || -n $files && -z $current ]]; then
    compopt -o default 2>/dev/null
    mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -f -- "$current")
  fi
}}
complete -F _wardmote wardmote
)";

constexpr std::string_view kZsh = R"(#compdef wardmote
# zsh completion for wardmote; put it as _wardmote into a folder of $fpath
_wardmote() {{
  local before=$words[CURRENT-1] where=wardmote word offer='' files=''
  for word in $words[2,CURRENT-1]; do
    case "$where $word" in
      ({known}) where="$where $word" ;;
    esac
  done
  case "$where $before" in
{options}    *) case "$where" in
{places}    esac ;;
  esac
  compadd -- ${{=offer}}
  [[ -n $files ]] && _files
}}
if [[ $funcstack[1] == _wardmote ]]; then _wardmote "$@"; else compdef _wardmote wardmote; fi
)";

std::string bash_script(const std::vector<Place>& places) {
  const CaseArms arms = case_arms(places, [](const std::string& words, bool files) {
    return fmt::format("words={}{}", quoted(words), files ? " files=1" : "");
  });
  return fmt::format(kBash, fmt::arg("known", known_places(places, "|")),
                     fmt::arg("options", arms.options), fmt::arg("places", arms.places));
}

std::string zsh_script(const std::vector<Place>& places) {
  const CaseArms arms = case_arms(places, [](const std::string& words, bool files) {
    return fmt::format("offer={}{}", quoted(words), files ? " files=1" : "");
  });
  return fmt::format(kZsh, fmt::arg("known", known_places(places, "|")),
                     fmt::arg("options", arms.options), fmt::arg("places", arms.places));
}

std::string fish_option(const std::string& condition, const Option& option) {
  std::string line = fmt::format("complete -c wardmote -n {} -l {}", condition, option.name);
  if (option.letter != 0) line += fmt::format(" -s {}", option.letter);
  if (takes_next_word(option)) line += option.completes == Completes::kFiles ? " -r -F" : " -x";
  const std::string values = offered(option.choices, option.completes);
  if (!values.empty()) line += " -a " + quoted(values);
  return fmt::format("{} -d {}\n", line, quoted(option.help));
}

std::string fish_script(const std::vector<Place>& places) {
  std::string script = fmt::format(
      R"(# fish completion for wardmote; put it into ~/.config/fish/completions/wardmote.fish
function __wardmote_at
    set -l where wardmote
    set -l typed (commandline -opc)
    set -e typed[1]
    for word in $typed
        switch "$where $word"
            case {}
                set where "$where $word"
        end
    end
    test "$where" = "$argv[1]"
end
complete -c wardmote -f
)",
      known_places(places, " "));
  for (const auto& [where, command] : places) {
    const std::string condition = quoted(fmt::format("__wardmote_at \"{}\"", where));
    for (const Command& child : command->commands) {
      script += fmt::format("complete -c wardmote -n {} -a {} -d {}\n", condition, child.name,
                            quoted(child.summary));
    }
    for (const Argument& argument : command->arguments) {
      const std::string values = offered(argument.choices, argument.completes);
      if (!values.empty())
        script += fmt::format("complete -c wardmote -n {} -a {}\n", condition, quoted(values));
    }
    if (wants_file(*command)) script += fmt::format("complete -c wardmote -n {} -F\n", condition);
    for (const Option& option : command->options) script += fish_option(condition, option);
  }
  return script;
}

constexpr auto kShells = std::to_array<std::string_view>({"bash", "zsh", "fish"});

}  // namespace

std::span<const std::string_view> completion_shells() noexcept {
  return kShells;
}

std::string completion_script(const Command& program, std::string_view shell) {
  const std::vector<Place> places = places_of(program);
  if (shell == "bash") return bash_script(places);
  if (shell == "zsh") return zsh_script(places);
  check(shell == "fish", "completion was asked for another shell");
  return fish_script(places);
}

}  // namespace wardmote::cli
