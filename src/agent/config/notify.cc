#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/notify/payload.h"
#include "agent/config/config.h"
#include "agent/config/problem.h"
#include "agent/config/reader.h"
#include "agent/config/sections.h"
#include "agent/config/yaml.h"
#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/notify/matcher.h"
#include "judge/notify/muting.h"
#include "judge/notify/router.h"

namespace wardmote::agent::config {
namespace {

using namespace std::chrono_literals;
using judge::notify::Maintenance;
using judge::notify::Matcher;
using judge::notify::Route;

constexpr std::string_view kDays[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr std::string_view kKinds[] = {"webhook", "alertmanager", "exec", "log"};

const YamlNode* list_of_maps(MapReader& map, std::string_view key) {
  const YamlNode* const list = map.find(key);
  if (list == nullptr || list->kind == YamlNode::Kind::kList) return list;
  map.problems().add(list->at, std::string(key), "not a list", "write '- {...}' lines below it");
  return nullptr;
}

std::string read_url(const YamlNode& node, std::string_view what, Problems& problems) {
  auto url = read_text(node, what, problems);
  if (!url) return {};
  const bool good = url->starts_with("http://") || url->starts_with("https://");
  if (good && url->find_first_of(" \r\n\t") == std::string::npos) return *std::move(url);
  // It may carry a secret: it is not repeated here.
  problems.add(node.at, std::string(what), "not an http:// or https:// address",
               "write for example https://hooks.example.org/wardmote");
  return {};
}

std::string read_file_name(MapReader& map, std::string_view key) {
  auto name = map.read(key, read_text);
  if (!name) return {};
  if (name->starts_with('/')) return *std::move(name);
  map.problems().add(map.at(), fmt::format("{} '{}'", key, escape_control(*name, 64)),
                     "not an absolute path", "write the path of a file that only root may read");
  return {};
}

void read_webhook(const YamlNode& node, Receiver& receiver, Problems& problems) {
  MapReader map(node, "webhook", problems);
  if (const YamlNode* const url = map.require("url", "url: https://hooks.example.org/x")) {
    receiver.urls = {read_url(*url, "url", problems)};
  }
  receiver.token_file = read_file_name(map, "token_file");
  receiver.secret_file = read_file_name(map, "secret_file");
  receiver.trust = read_file_name(map, "trust");
  if (const YamlNode* const body = map.find("body")) {
    receiver.body = read_text(*body, "body", problems).value_or("");
    if (const auto checked = act::notify::check_template(receiver.body); !checked) {
      problems.add(body->at, "body", checked.error().context, "see docs/notifications.md");
    }
  }
  map.finish();
}

void read_alertmanager(const YamlNode& node, Receiver& receiver, Problems& problems) {
  MapReader map(node, "alertmanager", problems);
  const YamlNode* const urls = map.require("urls", "urls: [http://127.0.0.1:9093]");
  if (urls != nullptr) {
    if (urls->kind == YamlNode::Kind::kList && !urls->items.empty()) {
      for (const YamlNode& url : urls->items) {
        std::string text = read_url(url, "item of urls", problems);
        while (text.ends_with('/')) text.pop_back();
        receiver.urls.push_back(std::move(text));
      }
    } else {
      problems.add(urls->at, "urls", "not a list of addresses",
                   "write urls: [http://127.0.0.1:9093]");
    }
  }
  receiver.token_file = read_file_name(map, "token_file");
  receiver.trust = read_file_name(map, "trust");
  map.finish();
}

void read_exec(const YamlNode& node, Receiver& receiver, Problems& problems) {
  MapReader map(node, "exec", problems);
  if (const YamlNode* const command = map.require("command", "command: [/usr/local/bin/page]")) {
    for (Placed<std::string>& word : read_texts(*command, "command", problems)) {
      receiver.command.push_back(std::move(word.value));
    }
    if (receiver.command.empty() || !receiver.command.front().starts_with('/')) {
      problems.add(command->at, "command", "it does not begin with an absolute path",
                   "write command: [/usr/local/bin/page, argument]; there is no shell");
    }
  }
  map.finish();
}

void read_log(const YamlNode& node, Receiver&, Problems& problems) {
  MapReader map(node, "log", problems);
  map.finish();
}

struct KindReader {
  std::string_view name;
  Receiver::Kind kind;
  void (*read)(const YamlNode& node, Receiver& receiver, Problems& problems);
};

constexpr KindReader kKindReaders[] = {
    {"webhook", Receiver::Kind::kWebhook, read_webhook},
    {"alertmanager", Receiver::Kind::kAlertmanager, read_alertmanager},
    {"exec", Receiver::Kind::kExec, read_exec},
    {"log", Receiver::Kind::kLog, read_log},
};

Receiver read_receiver(const YamlNode& node, std::size_t number, Names& names, Problems& problems) {
  MapReader map(node, fmt::format("receiver {}", number), problems);
  Receiver receiver;
  if (const YamlNode* const name = map.require("name", "name: oncall")) {
    receiver.name = read_name(*name, "name", problems).value_or("");
    if (!receiver.name.empty()) names.add(receiver.name, name->at, problems);
  }
  receiver.timeout = map.read_duration_in("timeout", 1s, 2min, 15s);
  int kinds = 0;
  for (const KindReader& each : kKindReaders) {
    const YamlNode* const options = map.find(each.name);
    if (options == nullptr) continue;
    ++kinds;
    receiver.kind = each.kind;
    each.read(*options, receiver, problems);
  }
  if (kinds != 1 && map.is_map()) {
    problems.add(map.at(), map.what(),
                 kinds == 0 ? "it does not say how" : "it says more than one way",
                 fmt::format("give one of: {}", fmt::join(kKinds, ", ")));
  }
  map.finish();
  return receiver;
}

std::vector<Matcher> read_matchers(MapReader& map) {
  std::vector<Matcher> matchers;
  const YamlNode* const list = map.find("match");
  if (list == nullptr) return matchers;
  for (const Placed<std::string>& text : read_texts(*list, "match", map.problems())) {
    auto matcher = judge::notify::parse_matcher(text.value);
    if (matcher) {
      matchers.push_back(*std::move(matcher));
    } else {
      map.problems().add(text.at, "match", matcher.error().context,
                         "write for example severity=critical or root!=check:web-*");
    }
  }
  return matchers;
}

Route read_route(const YamlNode& node, std::size_t number, const Names& receivers,
                 Problems& problems) {
  MapReader map(node, fmt::format("route {}", number), problems);
  Route route;
  if (const YamlNode* const receiver = map.require("receiver", "receiver: oncall")) {
    route.receiver = read_name(*receiver, "receiver", problems).value_or("");
    if (!route.receiver.empty() && !receivers.contains(route.receiver)) {
      const auto guess = did_you_mean(route.receiver, receivers.all());
      problems.add(receiver->at, fmt::format("receiver '{}'", route.receiver),
                   "there is no such receiver",
                   guess ? fmt::format("did you mean '{}'?", *guess) : "define it");
    }
  }
  route.match = read_matchers(map);
  route.group_by = {"root"};
  if (const YamlNode* const labels = map.find("group_by")) {
    route.group_by.clear();
    for (Placed<std::string>& label : read_texts(*labels, "group_by", problems)) {
      route.group_by.push_back(std::move(label.value));
    }
  }
  route.group_wait = map.read_duration_in("group_wait", 0s, 1h, route.group_wait);
  route.group_interval = map.read_duration_in("group_interval", 1s, 24h, route.group_interval);
  route.repeat_interval =
      map.read_duration_in("repeat_interval", 0s, 24h * 30, route.repeat_interval);
  route.go_on = map.read("continue", read_flag).value_or(false);
  map.finish();
  return route;
}

/// `02:30`.
std::optional<Duration> read_time_of_day(const YamlNode& node, std::string_view what,
                                         Problems& problems) {
  const auto text = read_text(node, what, problems);
  if (!text) return std::nullopt;
  const auto hours = parse_number<std::uint8_t>(std::string_view(*text).substr(0, 2));
  const bool shaped = text->size() == 5 && (*text)[2] == ':';
  const auto minutes =
      shaped ? parse_number<std::uint8_t>(std::string_view(*text).substr(3)) : std::nullopt;
  if (shaped && hours && minutes && *hours < 24 && *minutes < 60) {
    return std::chrono::hours(*hours) + std::chrono::minutes(*minutes);
  }
  problems.add(node.at, fmt::format("{} '{}'", what, escape_control(*text, 64)),
               "not a time of day", "write it in UTC and in quotes: \"02:30\"");
  return std::nullopt;
}

std::uint8_t read_days(const YamlNode& node, Problems& problems) {
  std::uint8_t days = 0;
  for (const Placed<std::string>& text : read_texts(node, "days", problems)) {
    const auto* const day = std::ranges::find(kDays, text.value);
    if (day == std::end(kDays)) {
      problems.add(text.at, fmt::format("'{}'", escape_control(text.value, 64)), "not a day",
                   fmt::format("write one of: {}", fmt::join(kDays, ", ")));
      continue;
    }
    days = static_cast<std::uint8_t>(days | (1U << static_cast<unsigned>(day - std::begin(kDays))));
  }
  return days;
}

Maintenance read_maintenance(const YamlNode& node, std::size_t number, Problems& problems) {
  MapReader map(node, fmt::format("maintenance {}", number), problems);
  Maintenance maintenance;
  maintenance.name = map.read_required("name", "name: nightly", read_name).value_or("");
  maintenance.match = read_matchers(map);
  if (const YamlNode* const days = map.find("days")) maintenance.days = read_days(*days, problems);
  maintenance.begins =
      map.read_required("from", "from: \"02:00\"", read_time_of_day).value_or(Duration::zero());
  if (map.require("for", "for: 2h") != nullptr) {
    maintenance.length = map.read_duration_in("for", 1min, 24h, 1h);
  }
  map.finish();
  return maintenance;
}

}  // namespace

Notify read_notify(const YamlNode& node, Problems& problems) {
  MapReader map(node, "notify", problems);
  Notify notify;
  Names receivers;
  if (const YamlNode* const list = list_of_maps(map, "receivers")) {
    for (const YamlNode& item : list->items) {
      notify.receivers.push_back(
          read_receiver(item, notify.receivers.size() + 1, receivers, problems));
    }
  }
  if (const YamlNode* const list = list_of_maps(map, "routes")) {
    for (const YamlNode& item : list->items) {
      notify.routes.push_back(read_route(item, notify.routes.size() + 1, receivers, problems));
    }
  } else {
    // Without routes everybody hears of everything.
    for (const Receiver& receiver : notify.receivers) {
      Route route;
      route.receiver = receiver.name;
      route.group_by = {"root"};
      route.go_on = true;
      notify.routes.push_back(std::move(route));
    }
  }
  if (const YamlNode* const list = list_of_maps(map, "maintenance")) {
    for (const YamlNode& item : list->items) {
      notify.maintenance.push_back(read_maintenance(item, notify.maintenance.size() + 1, problems));
    }
  }
  map.finish();
  return notify;
}

}  // namespace wardmote::agent::config
