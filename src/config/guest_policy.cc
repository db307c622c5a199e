#include "config/guest_policy.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/domain_xml.h"
#include "config/guests.h"
#include "judge/guest/machine.h"
#include "judge/guest/maintenance.h"
#include "judge/notify/matcher.h"

namespace wardmote::config {
namespace {

using judge::guest::Policy;
using namespace std::chrono_literals;

bool is_one_of(const codec::DomainXml& xml, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return judge::notify::like(pattern, xml.name) || judge::notify::like(pattern, xml.uuid) ||
           (xml.nova && judge::notify::like(pattern, xml.nova->name));
  });
}

void read_duration(std::string_view text, Duration least, Duration most, Duration& into,
                   std::vector<std::string>& complaints) {
  const auto read = parse_duration(text);
  if (read && *read >= least && *read <= most) {
    into = *read;
  } else {
    complaints.push_back(fmt::format("'{}' is no duration from {} to {}", escape_control(text, 64),
                                     spell_duration(least), spell_duration(most)));
  }
}

void apply(std::string_view name, std::string_view value, Policy& policy,
           std::vector<std::string>& complaints) {
  if (name == "interval") return read_duration(value, 500ms, 1h, policy.interval, complaints);
  if (name == "timeout") return read_duration(value, 100ms, 1h, policy.timeout, complaints);
  if (name == "maintenance") {
    const auto window = judge::guest::parse_window(value);
    if (window) return policy.maintenance.push_back(*window);
    return complaints.push_back(fmt::format(
        "maintenance='{}' is no window: write 2026-11-25T02:00:00Z for 2h, and every 168h if it "
        "comes again",
        escape_control(value, 64)));
  }
  if (name == "boot_deadline")
    return read_duration(value, 1s, 24h, policy.boot_deadline, complaints);
  const auto number = parse_number<int>(value);
  if (name == "threshold" && number && *number >= 1 && *number <= 1000) {
    policy.threshold = *number;
  } else if (name == "max_alarms" && number && *number >= 0 && *number <= 100) {
    policy.max_alarms = *number;
  } else if (name == "watch" && (value == "no" || value == "yes")) {
    policy.watched = value == "yes";
  } else if (name == "restart" && (value == "no" || value == "yes")) {
    policy.restart.wanted = value == "yes";
  } else if (name == "inside" && value == "no") {
    policy.inside.freeze = policy.inside.clock = policy.inside.file_systems = false;
  } else {
    complaints.push_back(fmt::format("{}='{}' is not understood", escape_control(name, 64),
                                     escape_control(value, 64)));
  }
}

}  // namespace

Policy guest_policy(const codec::DomainXml& xml, const Guests& all,
                    std::vector<std::string>& complaints) {
  Policy policy = all.policy;
  policy.watched = !is_one_of(xml, all.ignore);
  for (const Maintenance& work : all.maintenance) {
    if (is_one_of(xml, work.guests)) policy.maintenance.push_back(work.window);
  }
  if (xml.policy) {
    for (const auto& [name, value] : xml.policy->attributes) apply(name, value, policy, complaints);
  }
  policy.timeout = std::min(policy.timeout, policy.interval);
  return policy;
}

}  // namespace wardmote::config
