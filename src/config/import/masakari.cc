#include "config/import/masakari.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/oslo_config.h"
#include "codec/yaml_text.h"
#include "config/import/format.h"
#include "config/import/masakari_options.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;
using codec::OsloConfig;
using codec::OsloOption;
using Draft = MasakariDraft;

constexpr std::string_view kSecretFile = "/etc/wardmote/keystone.secret";
constexpr auto kGroups = std::to_array<std::string_view>(
    {"introspectiveinstancemonitor", "callback", "process", "host", "consul", "libvirt", "api"});
constexpr auto kLibraryGroups =
    std::to_array<std::string_view>({"cors", "healthcheck", "oslo_middleware", "cache"});

bool is_known(const OsloOption& option) {
  return std::ranges::any_of(masakari_options(), [&](const MasakariOption& row) {
    return row.group == option.group && row.name == option.name;
  });
}

/// Of oslo.log, which every OpenStack service has.
bool is_of_logging(const OsloOption& option) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"publish_errors", "instance_format", "instance_uuid_format", "fatal_deprecations"});
  return option.group == "DEFAULT" &&
         (option.name.contains("log") || option.name.starts_with("use_") ||
          option.name.starts_with("rate_limit_") ||
          std::ranges::find(kNames, option.name) != kNames.end());
}

void say_unknown(Draft& draft, const OsloOption& option) {
  const bool library = std::ranges::find(kLibraryGroups, option.group) != kLibraryGroups.end() ||
                       is_of_logging(option);
  draft.say(option, library ? "an option of a library of the Python program"
                            : "no option that is known: left out");
}

/// The end of an expression, and any sign of a password.
bool may_have_dollar(const MasakariOption& row) {
  return row.name == "qemu_guest_agent_sock_path" || row.name.contains("password") ||
         row.name.contains("secret");
}

/// By the order of the table, so that the result does not depend on that of the file.
void take_all(Draft& draft, const OsloConfig& config) {
  for (const MasakariOption& row : masakari_options()) {
    const OsloOption* const option = codec::find_option(config, row.group, row.name);
    if (option == nullptr) continue;
    // Another option's value, which may be of the command line.
    if (option->value.contains('$') && !may_have_dollar(row)) {
      draft.say(*option, "it refers to another option with '$': left out");
    } else {
      row.take(draft, *option, row.text);
    }
  }
  for (const OsloOption& option : config.options) {
    if (!is_known(option)) say_unknown(draft, option);
  }
  for (const std::size_t line : config.broken)
    draft.notes.push_back(fmt::format("line {}: neither an option nor a group: left out", line));
}

/// `auth_section` says that the login stands in another group.
void join_login(OsloConfig& config) {
  const OsloOption* const section = codec::find_option(config, "api", "auth_section");
  if (section == nullptr) return;
  const std::string name = section->value;
  if (std::ranges::find(kGroups, name) != kGroups.end()) return;
  for (OsloOption& option : config.options) {
    if (option.group == name) option.group = "api";
  }
}

json::object guests_of(Draft& draft) {
  json::object guests;
  if (const json::value* const uri = draft.guests.if_contains("uri")) guests["uri"] = *uri;
  guests["every"] = fmt::format("{}s", draft.every);
  const json::value* const timeout = draft.guests.if_contains("timeout");
  if (timeout != nullptr) {
    const std::string_view text = timeout->as_string();
    const auto seconds = parse_number<std::int64_t>(text.substr(0, text.size() - 1)).value_or(1);
    if (seconds > draft.every)
      draft.notes.push_back(
          "guest_monitoring_timeout: longer than guest_monitoring_interval: shortened to it");
    guests["timeout"] = fmt::format("{}s", std::min(seconds, draft.every));
  }
  if (const json::value* const times = draft.guests.if_contains("threshold"))
    guests["threshold"] = *times;
  guests["rules"] = "masakari";
  if (const json::value* const path = draft.guests.if_contains("channel_path"))
    guests["channel_path"] = *path;
  draft.notes.push_back(
      "guests are reported by the original's rules; without `rules` and `channel_path` they are "
      "reported sooner, each time, and with what is dead (docs/guests.md)");
  return guests;
}

/// Nothing: the file does not say where Masakari is, or who asks.
std::optional<json::object> receiver_of(Draft& draft) {
  json::object& keystone = draft.keystone;
  const bool who = keystone.contains("credential") ||
                   (keystone.contains("user") && keystone.contains("project"));
  if (draft.by_keystone && keystone.contains("url") && who) {
    // An application credential has a project of its own.
    if (keystone.contains("credential")) {
      keystone.erase("user");
      keystone.erase("project");
    }
    keystone["secret_file"] = kSecretFile;
    draft.masakari["keystone"] = keystone;
    draft.notes.push_back(
        fmt::format("the {} is not copied: write it into {}, readable by the agent "
                    "only",
                    draft.has_secret ? "password" : "password (the file has none)", kSecretFile));
  } else if (draft.by_keystone || !draft.masakari.contains("url")) {
    draft.notes.push_back(
        "[api] does not say where Masakari is and who asks (auth_url, username, project_name): "
        "there is no receiver; add one as docs/notifications.md shows");
    return std::nullopt;
  }
  draft.masakari["type"] = "instance";
  return json::object{{"name", "masakari"},
                      {"timeout", fmt::format("{}s", draft.patience)},
                      {"masakari", draft.masakari}};
}

}  // namespace

bool is_masakari(std::string_view text) {
  const auto config = codec::parse_oslo_config(text);
  if (!config) return false;
  while (!text.empty()) {
    const std::string_view line = trim(take_until(text, '\n'));
    if (line == "[introspectiveinstancemonitor]") return true;
  }
  return std::ranges::any_of(config->options, [](const OsloOption& option) {
    return std::ranges::find(kGroups, option.group) != kGroups.end() && is_known(option);
  });
}

Result<Imported> import_masakari(std::string_view text) {
  auto config = codec::parse_oslo_config(text);
  if (!config) return std::unexpected(config.error());
  join_login(*config);
  Draft draft;
  take_all(draft, *config);
  json::object whole{{"data", "/var/lib/wardmote"}};
  whole["guests"] = guests_of(draft);
  if (auto receiver = receiver_of(draft)) {
    const json::object route{{"receiver", "masakari"},
                             {"match", json::array{"scope=guest", "code=GUEST_*"}},
                             {"group_wait", "0s"},
                             {"repeat_interval", "0s"}};
    whole["notify"] = json::object{{"receivers", json::array{*std::move(receiver)}},
                                   {"routes", json::array{route}}};
  }
  return Imported{codec::yaml_text(whole), std::move(draft.notes)};
}

}  // namespace wardmote::config
