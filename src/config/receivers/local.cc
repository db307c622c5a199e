#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/notify/channels.h"
#include "act/notify/journal.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/receivers/field.h"
#include "config/receivers/kinds.h"
#include "config/schema.h"
#include "config/yaml.h"

namespace wardmote::config {
namespace {

using act::notify::ExecOptions;
using act::notify::JournalOptions;
using act::notify::LogOptions;

std::optional<std::vector<std::string>> read_command(const YamlNode& node, std::string_view what,
                                                     Problems& problems) {
  std::vector<std::string> command;
  for (Placed<std::string>& word : read_texts(node, what, problems)) {
    command.push_back(std::move(word.value));
  }
  if (!command.empty() && command.front().starts_with('/')) return command;
  problems.add(node.at, std::string(what), "it does not begin with an absolute path",
               "write command: [/usr/local/bin/page, argument]; there is no shell");
  return std::nullopt;
}

constexpr auto kExec = std::to_array<Field<ExecOptions>>({
    {{"command", Form::kTexts, true, "A program and its arguments; no shell reads it"},
     into<&ExecOptions::command, read_command>,
     "command: [/usr/local/bin/page]"},
});
constexpr auto kExecKeys = keys_of(kExec);
constexpr Section kExecSections[] = {{"exec", kExecKeys, false}};
constexpr std::array<Field<JournalOptions>, 0> kJournal = {};
constexpr Section kJournalSections[] = {{"journal", {}, false}};
constexpr std::array<Field<LogOptions>, 0> kLog = {};
constexpr Section kLogSections[] = {{"log", {}, false}};

}  // namespace

constexpr ReceiverKind kExecKind = {.name = "exec",
                                    .help = "A program with JSON on its standard input",
                                    .sections = kExecSections,
                                    .read = [](const YamlNode& node, Problems& problems) {
                                      return read_options(node, "exec", kExec, problems);
                                    }};

constexpr ReceiverKind kJournalKind = {.name = "journal",
                                       .help = "An entry in systemd's journal",
                                       .sections = kJournalSections,
                                       .read = [](const YamlNode& node, Problems& problems) {
                                         return read_options(node, "receiver", kJournal, problems);
                                       }};

constexpr ReceiverKind kLogKind = {.name = "log",
                                   .help = "A line in the agent's own log",
                                   .sections = kLogSections,
                                   .read = [](const YamlNode& node, Problems& problems) {
                                     return read_options(node, "receiver", kLog, problems);
                                   }};

}  // namespace wardmote::config
