#include "daemon/options.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstddef>
#include <expected>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "base/time.h"
#include "base/version.h"
#include "daemon/config_command.h"
#include "daemon/guest_probe.h"
#include "daemon/reconcile_command.h"
#include "net/log_line.h"

namespace wardmote::daemon {
namespace {

constexpr int kUsage = 64;

constexpr const char* kExamples = R"(Examples:
  wardmoted config check wardmote.yaml         print ok, or every problem with its place
  wardmoted --config wardmote.yaml             run in the foreground and log to standard error
  wardmoted --log-format json --log-level warning

A changed file takes effect within seconds, or at once with SIGHUP. The agent refuses a file with an
error as a whole, and keeps the old configuration. SIGTERM and SIGINT end the agent in order.
Exit codes: 0 ended in order, 64 usage, 65 bad configuration, 69 the agent cannot serve the API
address, or cannot use the data folder (for example because another agent has it).)";

/// The verbs of `wardmoted config`.
struct VerbRow {
  const char* name;
  ConfigVerb verb;
  int files;  ///< how many it takes at most
  const char* help;
};
constexpr int kMostForeignFiles = 10'000;
constexpr VerbRow kVerbs[] = {
    {"check", ConfigVerb::kCheck, 1, "Print 'ok' or every problem with its place"},
    {"fmt", ConfigVerb::kFormat, 1, "Normalise white space; comments and order stay"},
    {"show", ConfigVerb::kShow, 1, "Print the configuration of all files together, as YAML"},
    {"diff", ConfigVerb::kDiff, 2, "Show what a change from the first file to the second would do"},
    {"import", ConfigVerb::kImport, kMostForeignFiles,
     "Print another program's configuration as one of the agent"},
    {"schema", ConfigVerb::kSchema, 0, "Print a JSON schema for editors"},
};

void add_config_verbs(CLI::App& app, ConfigOrder& order) {
  CLI::App* const group = app.add_subcommand("config", "Check, show and compare configurations");
  group->require_subcommand(1);
  group->footer("");
  for (const VerbRow& row : kVerbs) {
    CLI::App* const verb = group->add_subcommand(row.name, row.help);
    verb->footer("");  // the examples of the program are not those of the verb
    verb->callback([&order, &row] { order.verb = row.verb; });
    if (row.files > 0) {
      const bool foreign = row.verb == ConfigVerb::kImport;
      const char* const help =
          row.files == 2
              ? "The new file, to compare with that of --config; or the old and the new file"
              : "The file (default: that of --config)";
      verb->add_option("FILE", order.files, foreign ? "That program's files" : help)
          ->expected(foreign ? 1 : 0, row.files)
          ->required(foreign);
    }
    if (row.verb == ConfigVerb::kShow)
      verb->add_flag("--effective", order.effective, "Also print every default");
    if (row.verb == ConfigVerb::kFormat)
      verb->add_flag("-w,--write", order.write, "Write the result back into the file");
  }
}

/// The verbs of `wardmoted reconcile`.
struct ReconcileRow {
  const char* name;
  ReconcileVerb verb;
  const char* help;
};
constexpr ReconcileRow kReconcileVerbs[] = {
    {"diff", ReconcileVerb::kDiff,
     "Show what 'apply' would change, as a diff; exit code 1 if anything differs"},
    {"apply", ReconcileVerb::kApply, "Make all objects as the folder says, once"},
    {"status", ReconcileVerb::kStatus, "Say which objects are not as the folder says"},
};

void add_reconcile_verbs(CLI::App& app, ReconcileOrder& order) {
  CLI::App* const group = app.add_subcommand(
      "reconcile", "Compare a folder of manifests with a kube-apiserver, or apply it, once");
  group->require_subcommand(1);
  group->footer("");
  for (const ReconcileRow& row : kReconcileVerbs) {
    CLI::App* const verb = group->add_subcommand(row.name, row.help);
    verb->footer("");
    verb->callback([&order, &row] { order.verb = row.verb; });
    verb->add_option("FOLDER", order.folder, "Manifests: *.yaml, *.yml and *.json, also below it")
        ->required();
    verb->add_option("--set", order.kubernetes.set, "The set that the objects belong to")
        ->type_name("NAME")
        ->required();
    verb->add_option("--kubeconfig", order.kubernetes.login.kubeconfig,
                     "Where the server is (default: $KUBECONFIG, else that of this pod)")
        ->type_name("FILE")
        ->envname("KUBECONFIG");
    verb->add_option("--context", order.kubernetes.login.context,
                     "In the kubeconfig (default: its current-context)")
        ->type_name("NAME");
    verb->add_option("--namespace", order.kubernetes.space, "Of objects that name none")
        ->type_name("NAME");
    verb->add_option("--inventory-namespace", order.kubernetes.inventory_space,
                     "Of the ConfigMap that notes the kinds of the set (default: kube-system)")
        ->type_name("NAME");
    verb->add_option("--prune-limit", order.kubernetes.prune_limit,
                     "How many per cent of the objects may be deleted (default: 50)")
        ->check(CLI::Range(0, 100))
        ->type_name("0-100");
    verb->add_option("--timeout", order.timeout_seconds, "The end of it all (default: 300)")
        ->check(CLI::Range(1, 3600))
        ->type_name("SECONDS");
    verb->add_flag("--adopt", order.kubernetes.adopt,
                   "Take over objects that are there and belong to no set");
    if (row.verb == ReconcileVerb::kApply)
      verb->add_flag("--dry-run", order.dry, "Ask the server what would change, and write nothing");
  }
}

/// `probe qga`: of what only this program has the libraries for.
CLI::App* add_probe(CLI::App& app, GuestProbeOrder& order, std::string& timeout,
                    std::string& output) {
  CLI::App* const group = app.add_subcommand("probe", "Look at something once; needs no agent");
  group->require_subcommand(1);
  group->footer("");
  CLI::App* const qga = group->add_subcommand("qga", "Ask the guest agent of a libvirt guest");
  qga->footer("");
  qga->add_option("URI", order.uri, "How libvirt calls the hypervisor, as qemu:///system")
      ->required();
  qga->add_option("DOMAIN", order.domain, "The name or the UUID of the guest")->required();
  qga->add_option("--timeout", timeout, "How long each command waits, 100ms to 1m (default: 2s)")
      ->type_name("DURATION")
      ->check([](const std::string& text) {
        const auto read = parse_duration(text);
        const bool good =
            read && *read >= std::chrono::milliseconds(100) && *read <= std::chrono::minutes(1);
        return good ? std::string() : std::string("not a duration from 100ms to 1m");
      });
  qga->add_option("-o,--output", output, "As text, or as JSON (default: table)")
      ->type_name("table|json")
      ->check(CLI::IsMember({"table", "json"}).description(""));
  return qga;
}

/// Those that were not given are the configured one.
void complete(ConfigOrder& order, const std::string& configured) {
  const std::size_t wanted = order.verb == ConfigVerb::kDiff ? 2 : 1;
  while (order.files.size() < wanted) order.files.insert(order.files.begin(), configured);
}

/// Text for man(7) in which nothing is a request or an escape, line for line.
std::string verbatim(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    const bool begins = safe.empty() || safe.back() == '\n';
    if (begins && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\' || c == '-') safe += '\\';
    safe += c == '\\' ? 'e' : c;
  }
  return safe;
}

/// From the same table as --help.
std::string man_page(const CLI::App& app) {
  // App::help() would be that of the verb that was asked for.
  std::string help =
      app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
  for (const char* const group : {"config", "journal", "probe", "reconcile"}) {
    for (const CLI::App* const verb : app.get_subcommand(group)->get_subcommands({}))
      help += "\n" + verb->help();
  }
  return fmt::format(
      ".TH wardmoted 8 \"\" \"wardmote {}\" \"System Administration\"\n"
      ".SH NAME\nwardmoted \\- the agent of wardmote\n"
      ".SH SYNOPSIS\n.B wardmoted\n[options] [config VERB | reconcile VERB]\n"
      ".SH DESCRIPTION\n{}\n.SH OPTIONS\n.nf\n{}.fi\n"
      ".SH FILES\n.TP\n/etc/wardmote/wardmote.yaml\nThe configuration.\n"
      ".SH ENVIRONMENT\n.TP\nWARDMOTE_API_..., WARDMOTE_NODE_...\n"
      "Override keys of the configuration: WARDMOTE_API_LISTEN is listen in api.\n"
      ".SH SEE ALSO\n.BR wardmote (1)\n",
      kVersion, app.get_description(), verbatim(help));
}

}  // namespace

std::expected<Options, Farewell> parse_options(int argc, const char* const* argv) {
  static const std::map<std::string, LogLevel> kLevels = {{"debug", LogLevel::kDebug},
                                                          {"info", LogLevel::kInfo},
                                                          {"warning", LogLevel::kWarning},
                                                          {"error", LogLevel::kError}};
  static const std::map<std::string, net::LogFormat> kFormats = {{"kv", net::LogFormat::kKeyValue},
                                                                 {"json", net::LogFormat::kJson}};
  Options options;
  CLI::App app("Watches control planes, compares what their members say, and serves the verdict.",
               "wardmoted");
  app.footer(kExamples);
  app.set_version_flag("--version", "wardmoted " + std::string(kVersion));
  app.add_option("--config", options.config, "Configuration file")
      ->type_name("FILE")
      ->capture_default_str();
  bool check = false;
  app.add_flag("--check", check, "The same as 'config check'");
  ConfigOrder order;
  add_config_verbs(app, order);
  ReconcileOrder reconcile;
  add_reconcile_verbs(app, reconcile);
  CLI::App* const journal =
      app.add_subcommand("journal", "Verify or export the journal of repairs");
  journal->require_subcommand(1);
  journal->footer("");
  std::string folder;
  CLI::App* const verify = journal->add_subcommand(
      "verify", "Check that no row was changed or removed; exit code 2 if one was");
  verify->footer("");
  verify->add_option("FOLDER", folder, "The data folder (default: 'data' in the file of --config)");
  CLI::App* const rows =
      journal->add_subcommand("export", "Print all rows, oldest first, as lines of JSON");
  rows->footer("");
  rows->add_option("FOLDER", folder, "The data folder (default: 'data' in the file of --config)");
  GuestProbeOrder probe;
  std::string probe_timeout = "2s";
  std::string probe_output = "table";
  const CLI::App* const qga = add_probe(app, probe, probe_timeout, probe_output);
  app.add_subcommand("man", "Print the manual page of this program");
  app.add_option("--log-level", options.log_level,
                 "Log entries of this level and above (default: info)")
      ->type_name("debug|info|warning|error")
      ->transform(CLI::CheckedTransformer(kLevels).description(""));
  app.add_option("--log-format", options.log_format, "Log key=value or JSON lines (default: kv)")
      ->type_name("kv|json")
      ->transform(CLI::CheckedTransformer(kFormats).description(""));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const bool asked = app.exit(error, out, err) == 0;
    return std::unexpected(asked ? Farewell{0, out.str()} : Farewell{kUsage, err.str()});
  }
  if (app.got_subcommand("man")) return std::unexpected(Farewell{0, man_page(app)});
  if (app.got_subcommand("journal")) options.journal = std::move(folder);
  options.journal_rows = rows->parsed();
  if (app.got_subcommand("reconcile")) options.reconcile = std::move(reconcile);
  if (qga->parsed()) {
    probe.timeout = parse_duration(probe_timeout).value_or(probe.timeout);
    probe.json = probe_output == "json";
    options.probe = std::move(probe);
  }
  if (check || app.got_subcommand("config")) {
    complete(order, options.config);
    options.order = std::move(order);
  }
  return options;
}

}  // namespace wardmote::daemon
