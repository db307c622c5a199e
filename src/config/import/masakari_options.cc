#include "config/import/masakari_options.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/text.h"
#include "codec/oslo_config.h"
#include "config/import/secrets.h"
#include "config/receivers/field.h"

namespace wardmote::config {
namespace {

using codec::OsloOption;

// Those of config/guests.cc and of a receiver of Masakari.
constexpr std::int64_t kLongestEvery = 3600;
constexpr std::int64_t kMostInARow = 1000;
constexpr std::int64_t kLeastTimeout = 15;
constexpr std::int64_t kLongestTimeout = 120;

/// A text that a configuration takes as it is; nothing, after a note, for others.
std::optional<std::string> clean(MasakariDraft& draft, const OsloOption& option) {
  const bool secret = text_may_hold_a_secret(option.value);
  if (!secret && !option.value.empty() && escape_control(option.value) == option.value)
    return option.value;
  draft.say(option, secret ? "it may hold a password, which is not copied: left out"
                           : "it is empty, too long or has control characters: left out");
  return std::nullopt;
}

std::optional<std::string> clean_url(MasakariDraft& draft, const OsloOption& option) {
  auto url = clean(draft, option);
  if (!url) return url;
  while (url->ends_with('/')) url->pop_back();
  const auto fault = fault_of_url(*url);
  if (!fault) return url;
  draft.say(option, fmt::format("{}: left out", *fault));
  return std::nullopt;
}

std::optional<std::int64_t> number(MasakariDraft& draft, const OsloOption& option,
                                   std::int64_t least, std::int64_t most) {
  const auto read = parse_number<std::int64_t>(option.value);
  if (read && *read >= least && *read <= most) return read;
  draft.say(option,
            fmt::format("not a whole number from {} to {}: left at the default", least, most));
  return std::nullopt;
}

bool is_true(std::string_view value) {
  std::string lower(value);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower == "true" || lower == "1" || lower == "yes" || lower == "on";
}

/// The path pattern of a regular expression that Python's re.match() begins to match at the front;
/// nothing: it says what no pattern says. `loose`: a single unescaped dot was taken for a dot.
std::optional<std::string> pattern_of(std::string_view regex, bool& loose) {
  // r'…': the notation of the sample file, which the original would take literally.
  if (regex.size() >= 3 && regex.starts_with("r'") && regex.ends_with('\''))
    regex = regex.substr(2, regex.size() - 3);
  std::string pattern;
  bool ends = false;
  while (!regex.empty()) {
    const char c = regex.front();
    regex.remove_prefix(1);
    if (c == '^' && pattern.empty()) continue;
    if (c == '$' && regex.empty()) {
      ends = true;
    } else if (c == '.' && (regex.starts_with('*') || regex.starts_with('+'))) {
      regex.remove_prefix(1);
      consume_prefix(regex, "?");
      pattern += '*';
    } else if (c == '.') {
      loose = true;
      pattern += '.';
    } else if (c == '\\') {
      // Only of a sign; \d and the like stand for many.
      if (regex.empty() || !std::string_view("./-_+()[]{}^$|? ").contains(regex.front()))
        return std::nullopt;
      pattern += regex.front();
      regex.remove_prefix(1);
    } else if (std::string_view("*+?()[]{}|^$").contains(c)) {
      return std::nullopt;
    } else {
      pattern += c;
    }
    if (!regex.empty() && std::string_view("*+?{").contains(regex.front())) return std::nullopt;
  }
  if (!ends && !pattern.ends_with('*')) pattern += '*';
  return pattern;
}

void take_interval(MasakariDraft& draft, const OsloOption& option, std::string_view) {
  draft.every = number(draft, option, 1, kLongestEvery).value_or(draft.every);
}

void take_timeout(MasakariDraft& draft, const OsloOption& option, std::string_view) {
  const auto seconds = number(draft, option, 1, kLongestEvery);
  if (seconds) draft.guests["timeout"] = fmt::format("{}s", *seconds);
}

void take_threshold(MasakariDraft& draft, const OsloOption& option, std::string_view) {
  const auto times = number(draft, option, 1, kMostInARow);
  if (times) draft.guests["threshold"] = *times;
}

void take_path(MasakariDraft& draft, const OsloOption& option, std::string_view) {
  const auto text = clean(draft, option);
  if (!text) return;
  bool loose = false;
  const auto pattern = pattern_of(*text, loose);
  if (!pattern) {
    draft.say(option,
              "this expression has no counterpart, so all agent channels are watched: write "
              "`channel_path` with * for any text if you want fewer");
    draft.guests.erase("channel_path");
    return;
  }
  if (loose) draft.say(option, "a dot that stands for any one sign was taken for a dot");
  draft.guests["channel_path"] = *pattern;
}

void take_libvirt(MasakariDraft& draft, const OsloOption& option, std::string_view) {
  if (const auto uri = clean(draft, option)) draft.guests["uri"] = *uri;
}

/// It has no counterpart, or needs none.
void only_say(MasakariDraft& draft, const OsloOption& option, std::string_view note) {
  draft.say(option, note);
}

/// It was looked at before.
void take_nothing(MasakariDraft&, const OsloOption&, std::string_view) {}

void take_hostname(MasakariDraft& draft, const OsloOption& option, std::string_view) {
  if (const auto host = clean(draft, option)) draft.masakari["host"] = *host;
}

void take_version(MasakariDraft& draft, const OsloOption& option, std::string_view) {
  if (option.value != "v1") draft.say(option, "only v1 is known, and used");
}

void take_interface(MasakariDraft& draft, const OsloOption& option, std::string_view) {
  const std::string word = option.value.substr(0, option.value.find("URL"));
  if (word == "public" || word == "internal" || word == "admin") {
    draft.keystone["interface"] = word;
  } else {
    draft.say(option, "none of public, internal, admin: left at public");
  }
}

void take_auth_type(MasakariDraft& draft, const OsloOption& option, std::string_view) {
  const std::string& type = option.value;
  draft.by_keystone = type != "none";
  constexpr auto kKnown = std::to_array<std::string_view>(
      {"none", "password", "v3password", "v3applicationcredential"});
  if (std::ranges::find(kKnown, type) == kKnown.end())
    draft.say(option, "unknown here: give the receiver a user or an application credential");
}

/// A key of `keystone`.
void take_keystone(MasakariDraft& draft, const OsloOption& option, std::string_view key) {
  if (const auto text = clean(draft, option)) draft.keystone[key] = *text;
}

void take_auth_url(MasakariDraft& draft, const OsloOption& option, std::string_view) {
  auto url = clean_url(draft, option);
  if (!url) return;
  if (url->ends_with("/v2.0")) {
    draft.say(option, "Identity v2.0 is gone from OpenStack: v3 is used");
    url->resize(url->size() - 5);
  }
  draft.keystone["url"] = *url;
}

void take_endpoint(MasakariDraft& draft, const OsloOption& option, std::string_view) {
  if (const auto url = clean_url(draft, option)) draft.masakari["url"] = *url;
}

/// Keystone knows domains by names here. The id of the first one is `default` everywhere, and its
/// name is `Default`.
void take_domain(MasakariDraft& draft, const OsloOption& option, std::string_view keys) {
  const bool is_id = option.name.ends_with("_id");
  if (is_id && option.value != "default")
    return draft.say(option, "domains are known by their names here: write the name");
  const auto name = is_id ? std::optional<std::string>("Default") : clean(draft, option);
  if (!name) return;
  for (const std::string_view key : split(keys, ' ')) draft.keystone[key] = *name;
}

void take_secret(MasakariDraft& draft, const OsloOption&, std::string_view) {
  draft.has_secret = true;
}

void take_ca(MasakariDraft& draft, const OsloOption& option, std::string_view) {
  const auto file = clean(draft, option);
  if (!file) return;
  if (!file->starts_with('/')) return draft.say(option, "not an absolute path: left out");
  draft.masakari["trust"] = *file;
}

void take_insecure(MasakariDraft& draft, const OsloOption& option, std::string_view) {
  if (is_true(option.value))
    draft.say(option, "certificates are always checked: give `trust` the CA of your cloud");
}

void take_patience(MasakariDraft& draft, const OsloOption& option, std::string_view) {
  draft.patience = number(draft, option, kLeastTimeout, kLongestTimeout).value_or(draft.patience);
}

void take_driver(MasakariDraft& draft, const OsloOption& option, std::string_view) {
  draft.say(option,
            fmt::format("hosts are watched by the agents themselves, not by {}: one on each "
                        "host, a `store`, and a receiver of the type host",
                        escape_control(option.value, 64)));
}

constexpr std::string_view kNoRetries =
    "no counterpart is needed: what is not delivered is kept, also over restarts, and tried again";
constexpr std::string_view kNoHosts =
    "no counterpart: agents that share a `store` watch each other and need no Pacemaker for it";
constexpr std::string_view kNoPython = "it concerns the Python program only";
constexpr std::string_view kNoRestarts =
    "the agent restarts no process: let its supervisor do that (Restart=, RestartSec= and "
    "StartLimitBurst= of a systemd unit)";
constexpr std::string_view kByName = "Keystone is asked by names here: give the name";
constexpr std::string_view kNoConsul =
    "no counterpart: for a host with several networks, write a check of each and a gate over them";

constexpr auto kRows = std::to_array<MasakariOption>({
    {"introspectiveinstancemonitor", "guest_monitoring_interval", take_interval, ""},
    {"introspectiveinstancemonitor", "guest_monitoring_timeout", take_timeout, ""},
    {"introspectiveinstancemonitor", "guest_monitoring_failure_threshold", take_threshold, ""},
    {"introspectiveinstancemonitor", "qemu_guest_agent_sock_path", take_path, ""},
    {"libvirt", "connection_uri", take_libvirt, ""},
    {"callback", "retry_max", only_say, kNoRetries},
    {"callback", "retry_interval", only_say, kNoRetries},
    {"DEFAULT", "hostname", take_hostname, ""},
    {"DEFAULT", "host", take_hostname, ""},
    {"DEFAULT", "tempdir", only_say, kNoPython},
    {"DEFAULT", "monkey_patch", only_say, kNoPython},
    {"DEFAULT", "monkey_patch_modules", only_say, kNoPython},
    {"DEFAULT", "instancemonitor_manager", only_say, kNoPython},
    {"DEFAULT", "introspectiveinstancemonitor_manager", only_say, kNoPython},
    {"DEFAULT", "processmonitor_manager", only_say, kNoPython},
    {"DEFAULT", "hostmonitor_manager", only_say, kNoPython},
    {"DEFAULT", "debug", only_say, "start the agent with --log-level debug"},
    {"DEFAULT", "use_json", only_say, "start the agent with --log-format json"},
    {"api", "region", take_keystone, "region"},
    {"api", "region_name", take_keystone, "region"},
    {"api", "api_version", take_version, ""},
    {"api", "api_interface", take_interface, ""},
    {"api", "auth_type", take_auth_type, ""},
    {"api", "auth_plugin", take_auth_type, ""},
    {"api", "auth_section", take_nothing, ""},
    {"api", "auth_url", take_auth_url, ""},
    {"api", "endpoint", take_endpoint, ""},
    {"api", "endpoint_override", take_endpoint, ""},
    {"api", "username", take_keystone, "user"},
    {"api", "user_name", take_keystone, "user"},
    {"api", "password", take_secret, ""},
    {"api", "application_credential_id", take_keystone, "credential"},
    {"api", "application_credential_secret", take_secret, ""},
    {"api", "application_credential_name", only_say, "give the id of the application credential"},
    {"api", "project_name", take_keystone, "project"},
    {"api", "tenant_name", take_keystone, "project"},
    // In this order: what is said of all domains is overruled by what is said of one.
    {"api", "default_domain_id", take_domain, "user_domain project_domain"},
    {"api", "default_domain_name", take_domain, "user_domain project_domain"},
    {"api", "user_domain_id", take_domain, "user_domain"},
    {"api", "user_domain_name", take_domain, "user_domain"},
    {"api", "project_domain_id", take_domain, "project_domain"},
    {"api", "project_domain_name", take_domain, "project_domain"},
    {"api", "user_id", only_say, kByName},
    {"api", "project_id", only_say, kByName},
    {"api", "tenant_id", only_say, kByName},
    {"api", "domain_id", only_say, "a token of a domain is not supported: give a project"},
    {"api", "domain_name", only_say, "a token of a domain is not supported: give a project"},
    {"api", "system_scope", only_say, "a token of the system is not supported: give a project"},
    {"api", "trust_id", only_say, "trusts are not supported: give an application credential"},
    {"api", "cafile", take_ca, ""},
    {"api", "insecure", take_insecure, ""},
    {"api", "certfile", only_say, "the receiver has no client certificate"},
    {"api", "keyfile", only_say, "the receiver has no client certificate"},
    {"api", "timeout", take_patience, ""},
    {"api", "collect_timing", only_say, kNoPython},
    {"api", "split_loggers", only_say, kNoPython},
    {"process", "check_interval", only_say, "it becomes `every` of each check that you write"},
    {"process", "restart_retries", only_say, kNoRestarts},
    {"process", "restart_interval", only_say, kNoRestarts},
    {"process", "api_retry_max", only_say, kNoRetries},
    {"process", "api_retry_interval", only_say, kNoRetries},
    {"process", "process_list_path", only_say,
     "write a check for each process of that list, for example `- {name: nova-compute, systemd: "
     "{unit: nova-compute.service}}`, and a receiver of the type process (docs/guests.md)"},
    {"host", "monitoring_driver", take_driver, ""},
    {"host", "monitoring_interval", only_say, kNoHosts},
    {"host", "monitoring_samples", only_say, kNoHosts},
    {"host", "api_retry_max", only_say, kNoRetries},
    {"host", "api_retry_interval", only_say, kNoRetries},
    {"host", "disable_ipmi_check", only_say,
     "no counterpart: the agent does not ask the host's IPMI"},
    {"host", "ipmi_timeout", only_say, "no counterpart: the agent does not ask the host's IPMI"},
    {"host", "ipmi_retry_max", only_say, "no counterpart: the agent does not ask the host's IPMI"},
    {"host", "ipmi_retry_interval", only_say,
     "no counterpart: the agent does not ask the host's IPMI"},
    {"host", "restrict_to_remotes", only_say, kNoHosts},
    {"host", "stonith_wait", only_say, kNoHosts},
    {"host", "tcpdump_timeout", only_say, kNoHosts},
    {"host", "corosync_multicast_interfaces", only_say, kNoHosts},
    {"host", "corosync_multicast_ports", only_say, kNoHosts},
    {"host", "pacemaker_node_type", only_say, kNoHosts},
    {"consul", "agent_manage", only_say, kNoConsul},
    {"consul", "agent_tenant", only_say, kNoConsul},
    {"consul", "agent_storage", only_say, kNoConsul},
    {"consul", "matrix_config_file", only_say, kNoConsul},
    {"kubernetes", "monitoring_node_labels", only_say, kNoHosts},
});

}  // namespace

void MasakariDraft::say(const OsloOption& option, std::string_view what) {
  notes.push_back(fmt::format("line {}: [{}] {}: {}", option.line, escape_control(option.group, 64),
                              escape_control(option.name, 64), what));
}

std::span<const MasakariOption> masakari_options() noexcept {
  return kRows;
}

}  // namespace wardmote::config
