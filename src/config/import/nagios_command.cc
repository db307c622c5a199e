#include "config/import/nagios_command.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "config/import/nagios_templates.h"
#include "config/import/secrets.h"
#include "config/import/shell_words.h"
#include "config/import/text.h"

namespace wardmote::config {
namespace {

using Text = std::expected<std::string, std::string>;

constexpr std::size_t kLongestLine = 16 << 10;

/// `name!one!two`, in which `\!` is no separator.
std::vector<std::string> pieces_of(std::string_view check_command) {
  std::vector<std::string> pieces(1);
  for (std::size_t i = 0; i < check_command.size(); ++i) {
    const char c = check_command[i];
    if (c == '\\' && i + 1 < check_command.size() && check_command[i + 1] == '!') {
      pieces.back() += check_command[++i];
    } else if (c == '!') {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

class Macros {
 public:
  explicit Macros(const NagiosSubject& subject) : subject_(subject) {}

  void take_arguments(std::vector<std::string> arguments) { arguments_ = std::move(arguments); }

  /// Every `$NAME$` by its value; `$$` is a dollar sign. `is_line`: it begins with a program.
  Text fill(std::string_view line, bool is_line) const {
    std::string result;
    while (true) {
      const std::size_t begin = line.find('$');
      result += line.substr(0, begin);
      if (result.size() > kLongestLine) return std::unexpected("the command line is too long");
      if (begin == std::string_view::npos) return result;
      line.remove_prefix(begin + 1);
      const std::size_t end = line.find('$');
      if (end == std::string_view::npos) return std::unexpected("a macro does not end");
      const std::string_view name = line.substr(0, end);
      line.remove_prefix(end + 1);
      const Text value = name.empty() ? Text("$") : value_of(name, is_line && result.empty());
      if (!value) return value;
      result += *value;
    }
  }

 private:
  Text value_of(std::string_view name, bool at_front) const {
    if (name.starts_with("ARG")) return argument(name.substr(3));
    if (name.starts_with("USER")) return user(name, at_front);
    if (consume_prefix(name, "_HOST")) return custom(subject_.host, name);
    if (subject_.service != nullptr && consume_prefix(name, "_SERVICE"))
      return custom(*subject_.service, name);
    return standard(name);
  }

  Text argument(std::string_view number) const {
    const auto index = parse_number<std::size_t>(number);
    if (!index || *index == 0 || *index > arguments_.size()) return "";
    return arguments_[*index - 1];
  }

  /// Only the paths of plugins: the other ones are where passwords are kept.
  Text user(std::string_view name, bool at_front) const {
    const auto found = subject_.users.find(name);
    if (found == subject_.users.end()) {
      if (name == "USER1") return "/usr/lib/nagios/plugins";
      return std::unexpected(
          fmt::format("${}$ is in no resource.cfg among the files", escape_control(name, 32)));
    }
    if (at_front || found->second.starts_with('/')) return found->second;
    return std::unexpected(fmt::format("${}$ of resource.cfg may be a password, and is not copied",
                                       escape_control(name, 32)));
  }

  static Text custom(const NagiosThing& thing, std::string_view name) {
    for (const auto& [key, value] : thing.values) {
      if (!key.starts_with('_') || lower(std::string_view(key).substr(1)) != lower(name)) continue;
      if (!names_a_secret(name)) return value;
      return std::unexpected(fmt::format("the variable _{} may be a password, and is not copied",
                                         escape_control(name, 32)));
    }
    return "";
  }

  Text standard(std::string_view name) const {
    struct Row {
      std::string_view macro;
      bool of_service;
      std::string_view directive;
      std::string_view otherwise;
    };
    constexpr auto kStandard =
        std::to_array<Row>({{"HOSTNAME", false, "host_name", ""},
                            {"HOSTADDRESS", false, "address", "host_name"},
                            {"HOSTALIAS", false, "alias", "host_name"},
                            {"HOSTDISPLAYNAME", false, "display_name", "host_name"},
                            {"SERVICEDESC", true, "service_description", ""},
                            {"SERVICEDISPLAYNAME", true, "display_name", "service_description"}});
    for (const Row& row : kStandard) {
      const NagiosThing* const thing = row.of_service ? subject_.service : &subject_.host;
      if (row.macro != name || thing == nullptr) continue;
      const std::string_view value = thing->get(row.directive);
      return std::string(value.empty() ? thing->get(row.otherwise) : value);
    }
    return std::unexpected(
        fmt::format("the macro ${}$ has no value here", escape_control(name, 32)));
  }

  const NagiosSubject& subject_;
  std::vector<std::string> arguments_;
};

}  // namespace

std::string nagios_command_name(std::string_view check_command) {
  return std::string(trim(pieces_of(check_command).front()));
}

std::expected<std::vector<std::string>, std::string> nagios_argv(const NagiosSubject& subject,
                                                                 std::string_view check_command,
                                                                 std::string_view line) {
  Macros macros(subject);
  std::vector<std::string> arguments = pieces_of(check_command);
  arguments.erase(arguments.begin());
  for (std::string& argument : arguments) {
    const Text filled = macros.fill(argument, false);
    if (!filled) return std::unexpected(filled.error());
    argument = *filled;
  }
  macros.take_arguments(std::move(arguments));
  const Text filled = macros.fill(line, true);
  if (!filled) return std::unexpected(filled.error());
  ShellWords split = shell_words(*filled);
  // A list of the configuration has no empty text.
  const bool has_empty = std::ranges::any_of(split.words, &std::string::empty);
  if (split.needs_shell || has_empty) return std::vector<std::string>{"/bin/sh", "-c", *filled};
  return std::move(split.words);
}

}  // namespace wardmote::config
