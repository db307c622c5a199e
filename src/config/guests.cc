#include "config/guests.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "act/notify/masakari_client.h"
#include "base/format.h"
#include "base/time.h"
#include "config/config.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/sections.h"
#include "config/yaml.h"
#include "judge/check_machine.h"
#include "judge/guest/inside.h"
#include "judge/guest/instance_event.h"
#include "judge/guest/machine.h"
#include "judge/guest/maintenance.h"
#include "judge/notify/matcher.h"
#include "observe/guests/instance_events.h"
#include "observe/kinds.h"
#include "runtime/hypervisor.h"

namespace wardmote::config {
namespace {

using act::notify::MasakariOptions;
using namespace std::chrono_literals;

constexpr std::size_t kMostPatterns = 1000;
constexpr Duration kLeastEvery = 500ms;
constexpr Duration kLeastTimeout = 100ms;
constexpr Duration kLongestEvery = 1h;
constexpr Duration kLongestDeadline = 24h;
constexpr Duration kLongestResponse = 60s;
constexpr Duration kLongestWindow = 7 * 24h;
constexpr int kMostInARow = 1000;
constexpr int kMostAlarms = 100;
constexpr std::size_t kMostWindows = 100;
constexpr std::string_view kWindow = "2026-11-25T02:00:00Z for 2h every 168h";
constexpr judge::CheckPolicy kHypervisorPolicy{.fall = 3, .rise = 1};

judge::guest::Policy read_policy(MapReader& map) {
  judge::guest::Policy policy;
  policy.interval = map.read_duration_in("every", kLeastEvery, kLongestEvery, policy.interval);
  const Duration usual = std::min<Duration>(policy.timeout, policy.interval * 9 / 10);
  policy.timeout = map.read_duration_in("timeout", kLeastTimeout, kLongestEvery, usual);
  const YamlNode* const timeout = map.find("timeout");
  if (timeout != nullptr && policy.timeout > policy.interval) {
    map.problems().add(timeout->at, fmt::format("timeout {}", spell_duration(policy.timeout)),
                       fmt::format("longer than every ({})", spell_duration(policy.interval)),
                       fmt::format("write at most {}", spell_duration(policy.interval)));
  }
  policy.threshold =
      static_cast<int>(map.read_integer_in("threshold", 1, kMostInARow, policy.threshold));
  policy.boot_deadline =
      map.read_duration_in("boot_deadline", 1s, kLongestDeadline, policy.boot_deadline);
  if (const YamlNode* const rules = map.find("rules")) {
    const auto word = read_text(*rules, "rules", map.problems());
    policy.compat = word == "masakari";
    if (word && word != "masakari" && word != "standard") {
      map.problems().add(rules->at, "rules", "there are no such rules",
                         "write standard or masakari");
    }
  }
  policy.max_alarms =
      static_cast<int>(map.read_integer_in("max_alarms", 0, kMostAlarms, policy.max_alarms));
  policy.alarm_window =
      map.read_duration_in("alarm_window", 1min, kLongestWindow, policy.alarm_window);
  policy.compat_pause_resets = map.read("pause_resets", read_flag).value_or(false);
  return policy;
}

judge::guest::InsidePolicy read_inside(const YamlNode& node, Problems& problems) {
  MapReader map(node, "inside", problems);
  judge::guest::InsidePolicy inside;
  inside.freeze = map.read("freeze", read_flag).value_or(inside.freeze);
  inside.frozen_after =
      map.read_duration_in("frozen_after", 1min, kLongestDeadline, inside.frozen_after);
  inside.clock = map.read("clock", read_flag).value_or(inside.clock);
  inside.clock_drift = map.read_duration_in("clock_drift", 100ms, 1h, inside.clock_drift);
  inside.file_systems = map.read("file_systems", read_flag).value_or(inside.file_systems);
  inside.full_percent =
      static_cast<int>(map.read_integer_in("full_percent", 50, 100, inside.full_percent));
  map.finish();
  return inside;
}

judge::guest::RestartPolicy read_restart(const YamlNode& node, Problems& problems) {
  MapReader map(node, "restart", problems);
  judge::guest::RestartPolicy restart;
  restart.nova = map.read("nova", read_flag).value_or(false);
  restart.dump = map.read_duration_in("dump", Duration::zero(), 1h, Duration::zero());
  map.finish();
  return restart;
}

/// One window of a few guests, or of all.
void read_maintenance(const YamlNode& node, Guests& guests, Problems& problems) {
  MapReader map(node, "maintenance", problems);
  Maintenance work;
  if (const YamlNode* const names = map.find("guests")) {
    for (Placed<std::string>& pattern : read_texts(*names, "guests", problems))
      work.guests.push_back(std::move(pattern.value));
  } else {
    work.guests = {"*"};
  }
  const YamlNode* const window = map.require("window", kWindow);
  map.finish();
  if (window == nullptr) return;
  const auto text = read_text(*window, "window", problems);
  const auto read = text ? judge::guest::parse_window(*text) : std::nullopt;
  if (text && !read)
    problems.add(window->at, "window", "it is none",
                 fmt::format("write for example '{}'", kWindow));
  if (!read) return;
  work.window = *read;
  guests.maintenance.push_back(std::move(work));
}

void read_maintenances(const YamlNode& list, Guests& guests, Problems& problems) {
  if (list.kind != YamlNode::Kind::kList || list.items.size() > kMostWindows) {
    problems.add(list.at, "maintenance",
                 fmt::format("not a list of at most {} windows", kMostWindows),
                 fmt::format("write '- {{window: {}}}' lines below it", kWindow));
    return;
  }
  for (const YamlNode& item : list.items) read_maintenance(item, guests, problems);
}

const MasakariOptions* masakari_of(const Notify& notify, std::string_view name) noexcept {
  const auto found = std::ranges::find(notify.receivers, name, &Receiver::name);
  return found == notify.receivers.end() ? nullptr : std::get_if<MasakariOptions>(&found->options);
}

std::string read_receiver(const YamlNode& node, const Notify& notify, Problems& problems) {
  const std::string name = read_name(node, "masakari", problems).value_or("");
  if (!name.empty() && masakari_of(notify, name) == nullptr)
    problems.add(node.at, "masakari", fmt::format("'{}' is no masakari receiver", name),
                 "write the name of one under 'receivers' of 'notify'");
  return name;
}

std::vector<std::string> read_events(const YamlNode& node, Problems& problems) {
  const auto names = judge::guest::instance_event_names();
  std::vector<std::string> patterns;
  for (Placed<std::string>& pattern : read_texts(node, "masakari_events", problems)) {
    const bool known = std::ranges::any_of(
        names, [&](std::string_view name) { return judge::notify::like(pattern.value, name); });
    if (!known)
      problems.add(pattern.at, "masakari_events",
                   fmt::format("no event is called '{}'", pattern.value),
                   "write names like SUSPENDED_IOERROR, REBOOT or WATCHDOG_*");
    patterns.push_back(std::move(pattern.value));
  }
  return patterns;
}

Check check_of(const Guests& guests, Place at) {
  Check check;
  check.name = guests.name;
  check.at = at;
  check.kind = &guests_kind();
  check.params["uri"] = guests.uri;
  check.schedule = {5s, 2s, kHypervisorPolicy, guests.optional};
  return check;
}

}  // namespace

const observe::ProbeKind& guests_kind() noexcept {
  static constexpr observe::ProbeKind kKind{"hypervisor", "whether libvirt answers", {}, nullptr};
  return kKind;
}

void read_guests(const YamlNode& node, Config& config, Names& names, Problems& problems) {
  MapReader map(node, "guests", problems);
  Guests guests;
  const YamlNode* const name = map.find("name");
  if (name != nullptr) guests.name = read_name(*name, "name", problems).value_or(guests.name);
  guests.uri = map.read("uri", read_text).value_or(guests.uri);
  guests.policy = read_policy(map);
  const YamlNode* const inside = map.find("inside");
  // The original asks for nothing but pings.
  if (inside == nullptr && guests.policy.compat) {
    guests.policy.inside = {.freeze = false, .clock = false, .file_systems = false};
  } else if (inside != nullptr) {
    guests.policy.inside = read_inside(*inside, problems);
  }
  if (const YamlNode* const restart = map.find("restart"))
    guests.policy.restart = read_restart(*restart, problems);
  if (const YamlNode* const works = map.find("maintenance"))
    read_maintenances(*works, guests, problems);
  if (const YamlNode* const receiver = map.find("masakari"))
    guests.masakari = read_receiver(*receiver, config.notify, problems);
  if (const YamlNode* const events = map.find("masakari_events"))
    guests.masakari_events = read_events(*events, problems);
  if (const YamlNode* const ignore = map.find("ignore")) {
    for (Placed<std::string>& pattern : read_texts(*ignore, "ignore", problems))
      guests.ignore.push_back(std::move(pattern.value));
    if (guests.ignore.size() > kMostPatterns)
      problems.add(ignore->at, "ignore", fmt::format("more than {} patterns", kMostPatterns),
                   "use * for what they have in common");
  }
  guests.channel_path = map.read("channel_path", read_text).value_or("");
  guests.response_timeout = map.read_duration_in("response_timeout", Duration::zero(),
                                                 kLongestResponse, Duration::zero());
  guests.optional = map.read("optional", read_flag).value_or(false);
  map.finish();
  if (!map.is_map()) return;
  config.checks.push_back(check_of(guests, map.at()));
  names.add(config.checks.back().name, name != nullptr ? name->at : map.at(), problems);
  config.guests = std::move(guests);
}

const act::notify::MasakariOptions* maintenance_source(const Config& config) noexcept {
  if (!config.guests || config.guests->masakari.empty()) return nullptr;
  return masakari_of(config.notify, config.guests->masakari);
}

std::vector<judge::guest::InstanceEvent> events_for_masakari(
    const Config& config, const runtime::HypervisorEvent& event) {
  if (maintenance_source(config) == nullptr) return {};
  auto events = observe::guests::instance_events(event);
  std::erase_if(events, [&](const judge::guest::InstanceEvent& one) {
    const bool chosen = std::ranges::any_of(
        config.guests->masakari_events,
        [&](const std::string& pattern) { return judge::notify::like(pattern, one.name()); });
    return !chosen || one.vir_domain_event == "STOPPED_FAILED";
  });
  return events;
}

}  // namespace wardmote::config
