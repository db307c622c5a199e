#include "config/import/nagios.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/mail.h"
#include "codec/nagios_objects.h"
#include "config/import/draft.h"
#include "config/import/format.h"
#include "config/import/nagios_command.h"
#include "config/import/nagios_directives.h"
#include "config/import/nagios_groups.h"
#include "config/import/nagios_native.h"
#include "config/import/nagios_templates.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr std::size_t kMostPairs = 20'000;  // of a host and a service

/// What nagios.cfg says where it is not among the files (nagios 4.4 include/config.h).
struct Settings {
  milliseconds interval{60'000};
  milliseconds service_timeout{60'000};
  milliseconds host_timeout{30'000};
};

class Translation {
 public:
  explicit Translation(std::span<const ForeignFile> files) : draft_(files), files_(files) {}

  Result<Imported> run() {
    std::vector<codec::NagiosFile> parsed;
    for (const ForeignFile& file : files_) {
      auto one = codec::parse_nagios_objects(file.text);
      if (!one) return with_context(one, "{}", escape_control(file.name));
      parsed.push_back(*std::move(one));
      take_settings(parsed.size() - 1, parsed.back());
    }
    const auto things = resolve_nagios(draft_, parsed);
    if (!things) return std::unexpected(things.error());
    for (const NagiosThing& thing : *things) {
      if (thing.type == "command")
        commands_.emplace(thing.get("command_name"), thing.get("command_line"));
    }
    NagiosHosts hosts(*things);
    add_hosts(hosts);
    if (auto good = add_services(*things, hosts); !good) return std::unexpected(good.error());
    add_contacts(*things);
    say_directives(draft_, *things);
    return std::move(draft_).finish();
  }

 private:
  void take_settings(std::size_t file, const codec::NagiosFile& parsed) {
    for (const std::size_t line : parsed.broken)
      draft_.say({file, line}, "", "neither a definition nor a setting: left out");
    for (const codec::NagiosSetting& setting : parsed.settings) {
      std::string_view name = setting.name;
      if (name.starts_with('$') && name.ends_with('$') && name.size() > 2) {
        users_.emplace(name.substr(1, name.size() - 2), setting.value);
      } else if (name == "interval_length") {
        seconds(setting, settings_.interval);
      } else if (name == "service_check_timeout") {
        seconds(setting, settings_.service_timeout);
      } else if (name == "host_check_timeout") {
        seconds(setting, settings_.host_timeout);
      } else if (name == "cfg_file" || name == "cfg_dir" || name == "resource_file" ||
                 name == "include_file" || name == "include_dir") {
        draft_.say({file, setting.line}, name,
                   "files that a file names are not read: name them on the command line, too");
      }
    }
  }

  static void seconds(const codec::NagiosSetting& setting, milliseconds& into) {
    const auto value = parse_number<std::int64_t>(setting.value);
    if (value && *value >= 1 && *value <= 86'400) into = milliseconds(*value * 1000);
  }

  void add_hosts(const NagiosHosts& hosts) {
    for (const NagiosThing* const host : hosts.all()) {
      if (host->get("check_command").empty()) continue;  // Nagios calls it up, and never looks
      auto check = add(*host, {*host, nullptr, users_}, std::string(host->get("host_name")));
      if (check) host_checks_.emplace(host, *std::move(check));
    }
    for (const auto& [host, check] : host_checks_) {
      std::size_t parents = 0;
      for (const std::string_view name : split(host->get("parents"), ',')) {
        if (trim(name).empty()) continue;
        const auto above = host_checks_.find(hosts.find(trim(name)));
        if (above == host_checks_.end()) {
          say_no_check(host->at, host->get("host_name"), trim(name));
          continue;
        }
        draft_.depend(check, above->second);
        ++parents;
      }
      if (parents > 1)
        draft_.say(host->at, host->get("host_name"),
                   "several parents: Nagios calls it unreachable when all of them are down, and "
                   "here each one of them explains its failure");
    }
  }

  /// A service that names its hosts is preferred to one of a group of hosts.
  Result<void> add_services(std::span<const NagiosThing> things, NagiosHosts& hosts) {
    for (const bool by_group : {false, true}) {
      for (const NagiosThing& service : things) {
        const bool is_one = service.type == "service" && service.registered;
        if (!is_one || service.get("host_name").empty() != by_group) continue;
        const auto on = hosts.of_service(service);
        if (!on) return std::unexpected(on.error());
        if (on->empty())
          draft_.say(service.at, service.get("service_description"),
                     "left out: no file has a host of it");
        for (const NagiosThing* const host : *on) add_service(service, *host);
        if (pairs_ > kMostPairs)
          return fail(Errc::kLimit, "more than {} services: split the work over several agents",
                      kMostPairs);
      }
    }
    return {};
  }

  void add_service(const NagiosThing& service, const NagiosThing& host) {
    if (++pairs_ > kMostPairs) return;
    const std::string name =
        fmt::format("{}-{}", host.get("host_name"), service.get("service_description"));
    if (!services_.insert(name).second) return;
    const auto check = add(service, {host, &service, users_}, name);
    if (!check) return;
    const auto above = host_checks_.find(&host);
    if (above != host_checks_.end()) {
      draft_.depend(*check, above->second);
    } else if (!host.get("check_command").empty()) {
      say_no_check(service.at, name, host.get("host_name"));
    }
  }

  /// Of a dependency that would be lost without a word.
  void say_no_check(ForeignPlace at, std::string_view who, std::string_view host) {
    draft_.say(at, who,
               fmt::format("depends on the host {}, which has no check here: its failure explains "
                           "none",
                           escape_control(host, 64)));
  }

  /// The name of the check; nothing, after a note, when there is none.
  std::optional<std::string> add(const NagiosThing& thing, const NagiosSubject& subject,
                                 const std::string& name) {
    const std::string_view check_command = thing.get("check_command");
    if (thing.get("active_checks_enabled") == "0" || thing.get("checks_enabled") == "0") {
      draft_.say(thing.at, name,
                 "left out: it is passive; a program that pushes its state is a reporter "
                 "(docs/reporters.md)");
      return std::nullopt;
    }
    const auto command = commands_.find(nagios_command_name(check_command));
    if (command == commands_.end()) {
      draft_.say(thing.at, name,
                 fmt::format("left out: no file defines its check_command '{}'",
                             escape_control(nagios_command_name(check_command), 64)));
      return std::nullopt;
    }
    const auto argv = nagios_argv(subject, check_command, command->second);
    if (!argv || argv->empty()) {
      draft_.say(thing.at, name,
                 fmt::format("left out: {}", argv ? "its command is empty" : argv.error()));
      return std::nullopt;
    }
    ImportedCheck check{.name = name, .kind = "exec", .params = {}};
    schedule(thing, subject.service != nullptr, check);
    if (auto native = native_probe(*argv)) {
      check.kind = std::move(native->kind);
      check.params = std::move(native->params);
      check.timeout = native->timeout;
      if (check.params.contains("body"))
        draft_.say("check_http -s: the text must be in the first 64 KiB of the body");
    } else {
      check.params["program"] = argv->front();
      json::array args;
      for (const std::string& one : std::span(*argv).subspan(1)) args.emplace_back(one);
      if (!args.empty()) check.params["args"] = std::move(args);
    }
    return draft_.add_check(thing.at, std::move(check));
  }

  /// `fall` is so that a failure is reported no sooner than there, though the agent does not look
  /// more often after the first one.
  void schedule(const NagiosThing& thing, bool service, ImportedCheck& check) const {
    const double every = number(thing, "check_interval", 5.0);
    const double retry = number(thing, "retry_interval", 1.0);
    const double attempts = std::floor(number(thing, "max_check_attempts", 3.0));
    const double length = static_cast<double>(settings_.interval.count());
    check.every = milliseconds(static_cast<std::int64_t>(std::min(every * length, 86'400'000.0)));
    check.fall = static_cast<int>(
        std::min(1.0 + std::ceil(std::max(attempts - 1.0, 0.0) * retry / every), 1000.0));
    check.rise = 1;
    check.timeout = service ? settings_.service_timeout : settings_.host_timeout;
  }

  /// Positive; `otherwise` when it is absent, zero or no number.
  static double number(const NagiosThing& thing, std::string_view name, double otherwise) {
    std::string_view text = thing.get(name);
    const auto whole = parse_number<std::int64_t>(take_until(text, '.'));
    if (!whole || *whole < 0 || *whole > 1'000'000) return otherwise;
    double value = static_cast<double>(*whole);
    double scale = 0.1;
    for (const char c : text.substr(0, 3)) {
      if (c < '0' || c > '9') return otherwise;
      value += (c - '0') * scale;
      scale /= 10;
    }
    return value > 0 ? value : otherwise;
  }

  void add_contacts(std::span<const NagiosThing> things) {
    for (const NagiosThing* const contact : used_contacts(things)) {
      const std::string_view email = contact->get("email");
      const std::string name(contact->get("contact_name"));
      if (!codec::is_mail_address(email)) {
        draft_.say(contact->at, name,
                   "no receiver is made: it has no address of mail; see docs/notifications.md");
        continue;
      }
      draft_.add_receiver(name, "mail",
                          {{"server", "127.0.0.1:25"},
                           {"from", "nagios@localhost"},
                           {"to", json::array{email}},
                           {"tls", "never"}});
      draft_.say(
          "receivers send by the mail server of this host, as /usr/bin/mail does; change "
          "`server` and `from`. Each receiver gets everything: add `routes` for less");
    }
  }

  ImportDraft draft_;
  std::span<const ForeignFile> files_;
  Settings settings_;
  NagiosUsers users_;
  std::map<std::string, std::string, std::less<>> commands_;
  std::map<const NagiosThing*, std::string> host_checks_;
  std::set<std::string> services_;  ///< hosts and services that there are
  std::size_t pairs_ = 0;
};

bool begins_definition(std::string_view line) {
  if (!consume_prefix(line, "define") || line.empty() || (line[0] != ' ' && line[0] != '\t'))
    return false;
  line = trim(line);
  const std::string_view type = line.substr(0, line.find_first_of(" \t{"));
  return type == "host" || type == "service" || type == "command" || type == "contact" ||
         type == "hostgroup" || type == "contactgroup" || type == "timeperiod" ||
         type == "servicegroup";
}

}  // namespace

bool is_nagios(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = trim(take_until(text, '\n'));
    if (begins_definition(line)) return true;
    if (line.starts_with("$USER") && line.contains("$=")) return true;
    if (line.starts_with("cfg_file=") || line.starts_with("cfg_dir=")) return true;
  }
  return false;
}

Result<Imported> import_nagios(std::span<const ForeignFile> files) {
  return Translation(files).run();
}

}  // namespace wardmote::config
