#include "cli/render/incidents.h"

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "cli/exit_code.h"
#include "cli/render/fields.h"
#include "cli/render/style.h"
#include "cli/render/words.h"
#include "judge/condition/condition.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

constexpr std::string_view kStormRages =
    "A storm is going on: the agent runs no repairs until it ends.";
/// The things have a known cause, so that there is no storm, or they are good again.
constexpr std::string_view kMuchAtOnce =
    "Many things of one kind failed at once: the agent runs no repairs until none has begun to "
    "fail for five minutes.";

std::string number_of_incident(const Fields& incident) {
  return fmt::format("#{}", incident.number("id").value_or(0));
}

/// `open`, `open, flapping, acknowledged by ann`, `merged, part of #3`.
std::string phase_words(const Fields& incident) {
  std::vector<std::string> words = {incident.text("phase")};
  if (incident.flag("flapping")) words.emplace_back("flapping");
  if (incident.flag("storm")) words.emplace_back("storm");
  if (const auto into = incident.number("merged_into")) {
    words.push_back(fmt::format("part of #{}", *into));
  }
  const std::string by = incident.object("acknowledged").text("by");
  if (!by.empty()) words.push_back("acknowledged by " + by);
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string summary_of(const Fields& incident) {
  std::string summary = incident.text("summary");
  if (!incident.flag("confirmed")) summary += judge::kUnconfirmed;
  return summary;
}

}  // namespace

std::string draw_incidents(const json::value& shown, Style style) {
  Table table({"INCIDENT", "SEVERITY", "CODE", "ROOT", "AGE", "STATE", "SUMMARY"});
  const Fields body(shown);
  bool storm = false;
  for (const json::value& value : body.list("incidents")) {
    const Fields incident(value);
    storm = storm || (incident.flag("storm") && incident.raw("phase") == "open");
    table.add({{number_of_incident(incident), Tone::kStrong},
               severity_word(incident.raw("severity")),
               {incident.text("code")},
               {incident.text("root")},
               {duration_text(incident.number("age_ms"))},
               {phase_words(incident)},
               {summary_of(incident)}});
  }
  const bool stale = body.has("stale");
  std::string drawn = table.empty() ? (stale ? "No incident is known.\n" : "No incident is open.\n")
                                    : table.draw(style);
  if (stale)
    drawn +=
        paint(style, Tone::kCritical, "this may be old, and not all: " + body.text("stale")) + "\n";
  if (!stale && body.raw("verdict") == "unknown")
    drawn += paint(style, Tone::kUnknown, std::string(kNotAllIsKnown)) + "\n";
  if (body.flag("acts_frozen")) {
    drawn += paint(style, Tone::kWarning, storm ? kStormRages : kMuchAtOnce) + "\n";
  }
  return drawn;
}

Exit exit_of_incidents(const json::value& shown) {
  const Fields body(shown);
  const bool unknown = body.has("stale") || body.raw("verdict") == "unknown";
  Exit worst = unknown ? Exit::kUnknown : Exit::kGood;
  for (const json::value& value : body.list("incidents")) {
    const Fields incident(value);
    if (incident.raw("phase") != "open") continue;
    const Exit exit = exit_of_severity(incident.raw("severity"));
    const bool known = incident.has("acknowledged") && exit == Exit::kCritical;
    worst = worse(worst, known ? Exit::kWarning : exit);
  }
  return worst;
}

std::string draw_incident(const json::value& value, Style style) {
  const Fields incident(value);
  const Cell severity = severity_word(incident.raw("severity"));
  std::string drawn = fmt::format("{} {} {}  {}  {}\n", number_of_incident(incident),
                                  paint(style, severity.tone, severity.text), incident.text("code"),
                                  incident.text("root"), phase_words(incident));
  drawn += fmt::format("  {}\n  since: {}\n", summary_of(incident), incident.text("since"));
  for (const json::value& each : incident.list("standing")) {
    const Fields symptom(each);
    drawn += fmt::format("  {}  {}  {}\n", symptom.text("code"), symptom.text("component"),
                         symptom.text("summary"));
  }
  return drawn;
}

}  // namespace wardmote::cli
