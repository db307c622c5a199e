#include "cli/render/explanation.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "base/format.h"
#include "cli/render/checks.h"
#include "cli/render/cluster.h"
#include "cli/render/family.h"
#include "cli/render/fields.h"
#include "cli/render/findings.h"
#include "cli/render/guests.h"
#include "cli/render/incidents.h"
#include "cli/render/style.h"
#include "cli/render/words.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

/// `  how to check: role, term`; nothing when the text is empty.
std::string labelled(std::string_view label, const std::string& text) {
  return text.empty() ? "" : fmt::format("  {}: {}\n", label, text);
}

/// The present findings in full, and the conditions that may become findings.
std::string draw_standing(const Fields& explained, std::string_view when_none, Style style) {
  std::string drawn;
  for (const json::value& finding : explained.list("findings"))
    drawn += "\n" + draw_finding_in_full(finding, style);
  if (drawn.empty() && !when_none.empty()) drawn = fmt::format("\n{}\n", when_none);
  return drawn + draw_observed(explained.list("observed"), style);
}

/// What is wrong with it is shown in full below.
json::value without_standing(const json::value& thing) {
  json::object shown = thing.as_object();
  shown["findings"] = json::array();
  shown["observed"] = json::array();
  return shown;
}

std::string draw_sightings(const Fields& explained) {
  std::string drawn;
  for (const json::value& value : explained.list("seen_by")) {
    const Fields line(value);
    const std::string last_message = duration_text(line.number("last_msg_ms"));
    drawn += fmt::format("  {} lists {} at {}", line.text("by"),
                         line.text(line.has("id") ? "id" : "nickname"), line.text("address"));
    if (line.has("phase")) drawn += fmt::format(" ({})", line.text("phase"));
    if (const auto match = line.number("match_index"))
      drawn += fmt::format(", match index {}", *match);
    if (!last_message.empty()) drawn += fmt::format(", last message {} ago", last_message);
    drawn += "\n";
  }
  return drawn.empty() ? "" : "\nwhat others say about it:\n" + drawn;
}

std::string draw_own_words(const Fields& explained) {
  std::string drawn;
  for (const json::value& value : explained.list("members")) {
    const Fields member(value);
    drawn += fmt::format("\n{} of {}:\n", member.text("name"), member.text("cluster"));
    drawn += labelled("server id", member.text("server_id"));
    drawn += labelled("cluster id", member.text("cluster_id"));
    drawn += labelled("status", member.text("status"));
    drawn += labelled("mode", member.text("mode"));
    drawn +=
        labelled("connections", fmt::format("{}", fmt::join(member.texts("connections"), " ")));
    drawn += labelled(
        "probed", member.has("age_ms") ? duration_text(member.number("age_ms")) + " ago" : "never");
  }
  return drawn;
}

}  // namespace

std::string draw_code(const json::value& explained, Style style) {
  const Fields code(explained);
  const Cell severity = severity_word(code.raw("severity"));
  std::string drawn =
      fmt::format("{}  {}, raised {}", paint(style, Tone::kStrong, code.text("code")),
                  paint(style, severity.tone, severity.text), code.text("raised"));
  if (code.has("critical")) drawn += fmt::format(", critical {}", code.text("critical"));
  drawn += fmt::format("\n{}\n", code.text("meaning"));
  drawn += labelled("how to check", code.text("evidence"));
  // The advice of what stands is of that case, and may say the contrary.
  const bool advised = std::ranges::any_of(code.list("findings"), [](const json::value& finding) {
    return !Fields(finding).object("advice").text("text").empty();
  });
  if (!advised) drawn += labelled("what to do", code.text("advice"));
  drawn += labelled("what the agent does itself", code.text("agent_may"));
  if (!code.has("findings")) return drawn;
  for (const json::value& incident : code.list("incidents"))
    drawn += "\n" + draw_incident(incident, style);
  const bool known = !code.list("incidents").empty();
  return drawn + draw_standing(code, known ? "" : "Nothing has this code now.", style);
}

std::string draw_explained_incident(const json::value& explained, Style style) {
  std::string drawn = draw_incident(explained, style);
  for (const json::value& code : Fields(explained).list("explained")) {
    drawn += "\n" + draw_code(code, style);
  }
  return drawn;
}

std::string draw_subject(const json::value& explained, Style style) {
  const Fields subject(explained);
  std::string drawn = paint(style, Tone::kStrong, subject.text("subject")) + "\n";
  for (const json::value& cluster : subject.list("clusters"))
    drawn += "\n" + draw_cluster_head(cluster, style);
  if (!subject.list("members").empty())
    drawn += "\n" + draw_members(subject.list("members"), style);
  if (!subject.list("checks").empty()) drawn += "\n" + draw_checks(subject.list("checks"), style);
  if (!subject.list("guests").empty()) drawn += "\n" + draw_guests(subject.list("guests"), style);
  for (const json::value& thing : subject.list("things"))
    drawn += "\n" + draw_thing(without_standing(thing), style);
  for (const json::value& incident : subject.list("incidents"))
    drawn += "\n" + draw_incident(incident, style);
  drawn += draw_own_words(subject);
  drawn += draw_sightings(subject);
  return drawn + draw_standing(subject,
                               subject.list("incidents").empty() ? "No finding names it." : "",
                               style);
}

}  // namespace wardmote::cli
