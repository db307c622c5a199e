#include "config/import/nagios_directives.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/text.h"
#include "config/import/draft.h"
#include "config/import/nagios_templates.h"

namespace wardmote::config {
namespace {

struct Directive {
  std::string_view name;
  std::string_view says;         ///< empty: it is translated, or nothing is lost
  std::string_view silent = {};  ///< the value that says nothing
};

constexpr std::string_view kNotice =
    "who is notified is said by `notify`: its receivers, routes and their repeat_interval";
constexpr std::string_view kFlaps = "no counterpart is needed: incidents that flap are joined";
constexpr std::string_view kHandler =
    "no counterpart: the agent runs no command when a check fails; a receiver of the type exec is "
    "told of incidents";
constexpr std::string_view kPassive =
    "results that are pushed have no counterpart by this name: see reporters (docs/reporters.md)";
constexpr std::string_view kPeriod =
    "checks run around the clock: mute notifications with `maintenance` or a silence";

constexpr auto kDirectives = std::to_array<Directive>({
    {"host_name", ""},
    {"hostgroup_name", ""},
    {"service_description", ""},
    {"address", ""},
    {"alias", ""},
    {"display_name", ""},
    {"hostgroups", ""},
    {"parents", ""},
    {"check_command", ""},
    {"check_interval", ""},
    {"retry_interval", ""},
    {"max_check_attempts", ""},
    {"contacts", ""},
    {"contact_groups", ""},
    {"contact_name", ""},
    {"contactgroups", ""},
    {"contactgroup_name", ""},
    {"contactgroup_members", ""},
    {"members", ""},
    {"hostgroup_members", ""},
    {"email", ""},
    {"command_name", ""},
    {"command_line", ""},
    {"host_notification_commands", ""},
    {"service_notification_commands", ""},
    {"active_checks_enabled", ""},
    {"checks_enabled", ""},
    {"servicegroups", ""},
    {"notes", ""},
    {"notes_url", ""},
    {"action_url", ""},
    {"icon_image", ""},
    {"icon_image_alt", ""},
    {"vrml_image", ""},
    {"statusmap_image", ""},
    {"gd2_image", ""},
    {"2d_coords", ""},
    {"3d_coords", ""},
    {"hourly_value", ""},
    {"importance", ""},
    {"minimum_value", ""},
    {"minimum_importance", ""},
    {"can_submit_commands", ""},
    {"retain_status_information", ""},
    {"retain_nonstatus_information", ""},
    {"process_perf_data", ""},
    {"parallelize_check", ""},
    {"failure_prediction_enabled", ""},
    {"failure_prediction_options", ""},
    {"passive_checks_enabled", ""},
    {"obsess", ""},
    {"obsess_over_host", ""},
    {"obsess_over_service", ""},
    {"event_handler_enabled", ""},
    {"flap_detection_enabled", ""},
    {"notifications_enabled", kNotice, "1"},
    {"host_notifications_enabled", kNotice, "1"},
    {"service_notifications_enabled", kNotice, "1"},
    {"is_volatile", "each change is one incident, and repeated by repeat_interval only", "0"},
    {"check_freshness", kPassive, "0"},
    {"freshness_threshold", kPassive, "0"},
    {"check_period", kPeriod, "24x7"},
    {"notification_period", kPeriod, "24x7"},
    {"host_notification_period", kPeriod, "24x7"},
    {"service_notification_period", kPeriod, "24x7"},
    {"notification_interval", kNotice},
    {"notification_options", kNotice},
    {"host_notification_options", kNotice},
    {"service_notification_options", kNotice},
    {"first_notification_delay", "group_wait of a route is for this", "0"},
    {"pager", "a receiver of the type exec can call a pager"},
    {"event_handler", kHandler},
    {"event_handler_period", kHandler},
    {"stalking_options", "no counterpart: every change of a check is in the history"},
    {"initial_state", "no counterpart: a check begins in discovery"},
    {"low_flap_threshold", kFlaps},
    {"high_flap_threshold", kFlaps},
    {"flap_detection_options", kFlaps},
});

constexpr auto kTypes = std::to_array<std::string_view>(
    {"host", "service", "command", "contact", "contactgroup", "hostgroup"});

struct Type {
  std::string_view name;
  std::string_view says;
};
constexpr auto kOtherTypes = std::to_array<Type>({
    {"timeperiod", kPeriod},
    {"servicegroup", "gates can join checks (docs/configuration.md)"},
    {"servicedependency", "write `depends_on` of the check"},
    {"hostdependency", "write `depends_on` of the check"},
    {"serviceescalation", "write routes of `notify`"},
    {"hostescalation", "write routes of `notify`"},
    {"hostgroupescalation", "write routes of `notify`"},
    {"hostextinfo", "nothing is lost: it is for the pages of Nagios"},
    {"serviceextinfo", "nothing is lost: it is for the pages of Nagios"},
});

void say_values(ImportDraft& draft, const NagiosThing& thing, std::set<std::string>& said) {
  for (const auto& [name, value] : thing.values) {
    if (name.starts_with('_') || name.starts_with("address")) continue;
    const auto* const row = std::ranges::find(kDirectives, name, &Directive::name);
    const bool known = row != kDirectives.end();
    if (known && (row->says.empty() || row->silent == value)) continue;
    if (!said.insert(name).second) continue;
    draft.say(thing.at, fmt::format("{} {}", thing.type, name),
              known ? row->says : "no directive that is known: left out");
  }
}

}  // namespace

void say_directives(ImportDraft& draft, std::span<const NagiosThing> things) {
  std::set<std::string> said;
  std::map<std::string_view, std::size_t> others;
  for (const NagiosThing& thing : things) {
    if (std::ranges::find(kTypes, thing.type) == kTypes.end()) {
      ++others[thing.type];
    } else if (thing.registered) {
      say_values(draft, thing, said);
    }
  }
  for (const auto& [type, count] : others) {
    const auto* const row = std::ranges::find(kOtherTypes, type, &Type::name);
    draft.say(fmt::format("{} of the type {} are left out: {}", count, escape_control(type, 32),
                          row == kOtherTypes.end() ? "it is not known" : row->says));
  }
}

}  // namespace wardmote::config
