#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "base/time_zone.h"
#include "config/config.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/receivers/kinds.h"
#include "config/sections.h"
#include "config/time_zone.h"
#include "config/yaml.h"
#include "judge/notify/matcher.h"
#include "judge/notify/muting.h"
#include "judge/notify/router.h"
#include "judge/notify/weekly.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;
using judge::notify::Maintenance;
using judge::notify::Matcher;
using judge::notify::Route;
using judge::notify::WeeklyWindow;

constexpr std::string_view kDays[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

const YamlNode* list_of_maps(MapReader& map, std::string_view key) {
  const YamlNode* const list = map.find(key);
  if (list == nullptr || list->kind == YamlNode::Kind::kList) return list;
  map.problems().add(list->at, std::string(key), "not a list", "write '- {...}' lines below it");
  return nullptr;
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
               "not a time of day", "write it in quotes: \"02:30\"");
  return std::nullopt;
}

std::uint8_t read_days(const YamlNode& node, Problems& problems) {
  std::uint8_t days = 0;
  const auto texts = read_texts(node, "days", problems);
  if (texts.empty()) problems.add(node.at, "days", "no day", "leave 'days' out for every day");
  for (const Placed<std::string>& text : texts) {
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

std::optional<TimeZone> read_time_zone(const YamlNode& node, std::string_view what,
                                       Problems& problems) {
  const auto name = read_text(node, what, problems);
  if (!name) return std::nullopt;
  if (*name == "UTC") return TimeZone{};
  auto zone = load_time_zone(*name);
  if (zone) return *std::move(zone);
  problems.add(
      node.at, fmt::format("{} '{}'", what, escape_control(*name, 64)), zone.error().context,
      "write one of 'timedatectl list-timezones', as Europe/Berlin; 'tzdata' must be there");
  return std::nullopt;
}

WeeklyWindow read_window(MapReader& map) {
  WeeklyWindow window;
  if (const YamlNode* const days = map.find("days")) {
    window.days = read_days(*days, map.problems());
  }
  window.begins =
      map.read_required("from", "from: \"02:00\"", read_time_of_day).value_or(Duration::zero());
  if (map.require("for", "for: 2h") != nullptr) {
    window.length = map.read_duration_in("for", 1min, 24h, 1h);
  }
  window.zone = map.read("time_zone", read_time_zone).value_or(TimeZone{});
  return window;
}

Route read_route(const YamlNode& node, std::size_t number, const Names& receivers, const Node& own,
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
  route.match = read_matchers(map, own);
  route.group_by = {"root"};
  if (const YamlNode* const labels = map.find("group_by")) {
    route.group_by.clear();
    for (Placed<std::string>& label : read_texts(*labels, "group_by", problems)) {
      const auto known =
          judge::notify::check_label({.label = label.value, .pattern = {}}, own.labels);
      if (!known) {
        problems.add(label.at, "group_by", known.error().context,
                     "write one of these, or add it to 'labels' of 'node'");
        continue;
      }
      route.group_by.push_back(std::move(label.value));
    }
  }
  route.group_wait = map.read_duration_in("group_wait", 0s, 1h, route.group_wait);
  route.group_interval = map.read_duration_in("group_interval", 1s, 24h, route.group_interval);
  route.repeat_interval =
      map.read_duration_in("repeat_interval", 0s, 24h * 30, route.repeat_interval);
  route.go_on = map.read("continue", read_flag).value_or(false);
  if (const YamlNode* const list = list_of_maps(map, "active")) {
    for (const YamlNode& item : list->items) {
      MapReader window(item, fmt::format("time {} of route {}", route.active.size() + 1, number),
                       problems);
      route.active.push_back(read_window(window));
      window.finish();
    }
  }
  map.finish();
  return route;
}

Maintenance read_maintenance(const YamlNode& node, std::size_t number, const Node& own,
                             Problems& problems) {
  MapReader map(node, fmt::format("maintenance {}", number), problems);
  Maintenance maintenance;
  maintenance.name = map.read_required("name", "name: nightly", read_name).value_or("");
  maintenance.match = read_matchers(map, own);
  maintenance.window = read_window(map);
  map.finish();
  return maintenance;
}

}  // namespace

std::vector<Matcher> read_matchers(MapReader& map, const Node& own) {
  std::vector<Matcher> matchers;
  const YamlNode* const list = map.find("match");
  if (list == nullptr) return matchers;
  for (const Placed<std::string>& text : read_texts(*list, "match", map.problems())) {
    auto matcher = judge::notify::parse_matcher(text.value);
    if (!matcher) {
      map.problems().add(text.at, "match", matcher.error().context,
                         "write for example severity=critical or root!=check:web-*");
      continue;
    }
    if (const auto known = judge::notify::check_label(*matcher, own.labels); !known) {
      map.problems().add(text.at, "match", known.error().context,
                         "write one of these, or add it to 'labels' of 'node'");
      continue;
    }
    matchers.push_back(*std::move(matcher));
  }
  return matchers;
}

Notify read_notify(const YamlNode& node, const Node& own, Problems& problems) {
  MapReader map(node, "notify", problems);
  Notify notify;
  Names receivers;
  if (const YamlNode* const list = list_of_maps(map, "receivers")) {
    notify.receivers = read_receivers(*list, receivers, problems);
  }
  if (const YamlNode* const list = list_of_maps(map, "routes")) {
    for (const YamlNode& item : list->items) {
      notify.routes.push_back(read_route(item, notify.routes.size() + 1, receivers, own, problems));
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
      notify.maintenance.push_back(
          read_maintenance(item, notify.maintenance.size() + 1, own, problems));
    }
  }
  map.finish();
  return notify;
}

}  // namespace wardmote::config
