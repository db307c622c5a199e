#include "cli/config_commands.h"

#include <string>

#include "cli/command.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {
namespace {

Command config_verb(const std::string& name, const std::string& summary, const Example& example) {
  return {.name = name,
          .summary = summary,
          .arguments = {{.name = "FILE",
                         .help = "the configuration file (default: /etc/wardmote/wardmote.yaml)",
                         .required = false,
                         .completes = Completes::kFiles}},
          .examples = {example},
          .run = run_config};
}

}  // namespace

Command config_group() {
  Command check =
      config_verb("check", "print 'ok', or every problem with its place",
                  {"wardmote config check wardmote.yaml", "before you install the file"});
  Command format =
      config_verb("fmt", "normalise white space; comments and order stay",
                  {"wardmote config fmt --write wardmote.yaml", "change the file itself"});
  format.options = {
      {.name = "write", .value = "", .help = "write the result back into the file", .letter = 'w'}};
  Command show = config_verb("show", "print the configuration of all files together, as YAML",
                             {"wardmote config show --effective", "with every default"});
  show.options = {{.name = "effective", .value = "", .help = "also print every default"}};
  Command diff =
      config_verb("diff", "show what a change would do; exits with 1 if there is a difference",
                  {"wardmote config diff new.yaml", "compare the installed file with this one"});
  diff.arguments = {
      {.name = "FILE",
       .help = "the new file, to compare with the installed one; if TO is given, the old file",
       .completes = Completes::kFiles},
      {.name = "TO", .help = "the new file", .required = false, .completes = Completes::kFiles}};
  Command foreign = config_verb(
      "import", "print another program's configuration as one of the agent",
      {"wardmote config import masakarimonitors.conf > wardmote.yaml", "of Masakari's monitors"});
  foreign.description =
      "Reads masakarimonitors.conf of OpenStack Masakari's monitors; blackbox.yml of Prometheus' "
      "blackbox_exporter, with the prometheus.yml of its jobs; object files of Nagios and Icinga "
      "1, "
      "with resource.cfg; control files of Monit; and the Deployments of the KubeOVN plunger and "
      "of "
      "ovn-central. The format is known by the text. Files that a file includes are not read: name "
      "them, too. What could not be translated, and what is left to do, goes to standard error. No "
      "password is copied.";
  foreign.arguments = {{.name = "FILE",
                        .help = "the files of that program, all together",
                        .completes = Completes::kFiles,
                        .repeats = true}};
  foreign.examples.push_back({"wardmote config import blackbox.yml prometheus.yml > wardmote.yaml",
                              "each target of each job"});
  foreign.examples.push_back(
      {"wardmote config import /etc/nagios4/objects/*.cfg /etc/nagios4/resource.cfg > "
       "wardmote.yaml",
       "hosts, services and contacts of Nagios"});
  Command schema = config_verb("schema", "print a JSON schema for editors",
                               {"wardmote config schema > wardmote.schema.json", "for an editor"});
  schema.arguments.clear();
  return {.name = "config",
          .summary = "check, format, show and compare configurations; needs no agent",
          .description = "Runs wardmoted, which must be in the same folder or in PATH.",
          .commands = {check, format, show, diff, foreign, schema}};
}

}  // namespace wardmote::cli
