#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/reading.h"
#include "cli/render/checks.h"
#include "cli/render/cluster.h"
#include "cli/render/family.h"
#include "cli/render/fields.h"
#include "cli/render/findings.h"
#include "cli/render/guests.h"
#include "cli/render/incidents.h"
#include "cli/render/style.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

/// Checks have no findings: a failed check is an incident.
constexpr const char* kNoFinding = "No cluster or mesh has a finding.\n";

std::string draw_member_list(const json::value& shown, Style style) {
  return draw_members(Fields(shown).list("members"), style);
}

std::string draw_finding_list(const json::value& shown, Style style) {
  const bool unknown = Fields(shown).raw("verdict") == "unknown";
  const std::string more =
      unknown ? paint(style, Tone::kUnknown, std::string(kNotAllIsKnown)) + "\n" : "";
  const std::string drawn = draw_findings(Fields(shown).list("findings"), style);
  if (!drawn.empty()) return drawn + more;
  const std::size_t open = Fields(shown).object("more").list("incidents").size();
  return open == 0
             ? kNoFinding + more
             : fmt::format("{}{} open: wardmote get incidents\n", kNoFinding,
                           open == 1 ? "An incident is" : fmt::format("{} incidents are", open)) +
                   more;
}

std::string draw_check_list(const json::value& shown, Style style) {
  return draw_checks(Fields(shown).list("checks"), style);
}

std::string draw_guest_list(const json::value& shown, Style style) {
  const std::string drawn = draw_guests(Fields(shown).list("guests"), style);
  return drawn.empty() ? "No guest is watched.\n" : drawn;
}

std::vector<std::string> names_of_members(const json::value& shown) {
  return names_in(shown, "members", "name");
}
std::vector<std::string> names_of_findings(const json::value& shown) {
  std::vector<std::string> codes;
  for (const json::value& finding : Fields(shown).list("findings"))
    codes.push_back(Fields(finding).text("code"));
  return codes;
}
std::vector<std::string> names_of_checks(const json::value& shown) {
  return names_in(shown, "checks", "name");
}

std::vector<std::string> names_of_guests(const json::value& shown) {
  return names_in(shown, "guests", "guest");
}

Exit worst_guest(const json::value& shown) {
  Exit worst = Exit::kGood;
  for (const json::value& guest : Fields(shown).list("guests"))
    worst = worse(worst, exit_of_guest(guest));
  return worst;
}

Exit worst_member(const json::value& shown) {
  Exit worst = Exit::kGood;
  for (const json::value& member : Fields(shown).list("members")) {
    worst = worse(worst, exit_of_verdict(Fields(member).raw("outcome")));
  }
  return worst;
}

Exit worst_finding(const json::value& shown) {
  Exit worst = Fields(shown).raw("verdict") == "unknown" ? Exit::kUnknown : Exit::kGood;
  for (const json::value& finding : Fields(shown).list("findings")) {
    worst = worse(worst, exit_of_severity(Fields(finding).raw("severity")));
  }
  return worst;
}

Exit worst_check(const json::value& shown) {
  Exit worst = Exit::kGood;
  for (const json::value& check : Fields(shown).list("checks"))
    worst = worse(worst, exit_of_check(check));
  return worst;
}

std::string draw_family(const Family& family, const json::value& shown, Style style) {
  const std::span<const json::value> things = Fields(shown).list(family.list);
  const std::string drawn = family.draw(things, style);
  if (drawn.empty()) return fmt::format("No {} is watched.\n", family.thing);
  return drawn.substr(drawn.find_first_not_of('\n'));
}

Exit worst_of(const Family& family, const json::value& shown) {
  Exit worst = Exit::kGood;
  for (const json::value& thing : Fields(shown).list(family.list))
    worst = worse(worst, exit_of_thing(thing));
  return worst;
}

}  // namespace

Exit run_get_family(const Call& call) {
  const Family& family = *std::ranges::find(families(), call.command().name, &Family::list);
  return read(call,
              {.path = fmt::format("/api/v1/{}", family.list),
               .draw = [&family](const json::value& shown,
                                 Style style) { return draw_family(family, shown, style); },
               .judge = [&family](const json::value& shown) { return worst_of(family, shown); },
               .shape = {std::string(family.list), [&family](const json::value& shown) {
                           return names_in(shown, family.list, family.thing);
                         }}});
}

Exit run_get_members(const Call& call) {
  return read(call, {.path = "/api/v1/members",
                     .draw = draw_member_list,
                     .judge = worst_member,
                     .shape = {"members", names_of_members}});
}

Exit run_get_findings(const Call& call) {
  // Programs get only the list.
  const bool for_people = !for_programs(format_of(call));
  return read(call, {.path = "/api/v1/findings",
                     .also = for_people ? std::vector<Reading::More>{{"/api/v1/incidents", "more"}}
                                        : std::vector<Reading::More>{},
                     .draw = draw_finding_list,
                     .judge = worst_finding,
                     .shape = {"findings", names_of_findings}});
}

Exit run_get_checks(const Call& call) {
  return read(call, {.path = "/api/v1/checks",
                     .draw = draw_check_list,
                     .judge = worst_check,
                     .shape = {"checks", names_of_checks}});
}

Exit run_get_guests(const Call& call) {
  return read(call, {.path = "/api/v1/guests",
                     .draw = draw_guest_list,
                     .judge = worst_guest,
                     .shape = {"guests", names_of_guests}});
}

}  // namespace wardmote::cli
