#include "cli/failover/pair.h"

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "cli/exit_code.h"
#include "cli/render/fields.h"
#include "cli/render/findings.h"
#include "cli/render/style.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

std::string line(std::string_view label, const std::string& text) {
  return text.empty() ? "" : fmt::format("  {}: {}\n", label, text);
}

std::string headline(const Fields& pair, Style style) {
  std::string active = paint(style, Tone::kCritical, "nobody is active");
  if (pair.has("active")) {
    active = paint(style, Tone::kGood, pair.text("active") + " is active");
  } else if (pair.raw("lock") == "unknown") {
    active = paint(style, Tone::kWarning, "who is active is not known here");
  }
  return fmt::format("pair {}: {}, epoch {}\n", pair.text("pair"), active,
                     pair.number("epoch").value_or(0));
}

bool is_good(const Fields& member, std::string_view active) {
  const bool is_active = member.raw("name") == active;
  const std::string_view wanted = is_active ? "active" : "following";
  return member.raw("nb") == wanted && member.raw("sb") == wanted && !member.has("unfit");
}

std::string note_of(const Fields& member) {
  std::string note = member.text("unfit");
  if (note.empty() && member.flag("nofailover")) note = "nofailover";
  if (note.empty() && member.raw("mode") == "observe") note = "observes";
  if (!member.has("edited_by")) return note;
  return fmt::format("{}{}edited by {}", note, note.empty() ? "" : ", ", member.text("edited_by"));
}

/// What an operator has changed of a member that says nothing.
std::string edits_of(const std::string& name, const Fields& pair) {
  for (const json::value& one : pair.list("edited")) {
    const Fields edited(one);
    if (edited.text("name") != name) continue;
    std::string text;
    if (edited.has("nofailover"))
      text += edited.flag("nofailover") ? ", nofailover" : ", may take over";
    if (const auto priority = edited.number("priority"))
      text += fmt::format(", priority {}", *priority);
    return text + ", edited by " + edited.text("edited_by");
  }
  return "";
}

}  // namespace

std::string draw_pair(const json::value& shown, Style style) {
  const Fields pair(shown);
  const bool active = pair.has("active");
  std::string text = headline(pair, style);
  text += line("address", pair.text("address") + (pair.flag("has_address") ? ", here" : ""));
  const Fields next = pair.object("next");
  text += line("this node", fmt::format("{} ({}); next: {}: {}", pair.text("node"),
                                        pair.text("mode"), next.text("duty"), next.text("why")));
  const Fields candidate = pair.object("candidate");
  if (!active)
    text += line("may it be promoted",
                 fmt::format("{}: {}", candidate.text("verdict"), candidate.text("why")));
  text += line("paused by", pair.text("paused_by"));
  text += line("order", pair.text("order"));
  if (pair.has("scheduled_at"))
    text += line("scheduled switchover",
                 fmt::format("{}, by {}", pair.text("scheduled_at"), pair.text("scheduled")));
  for (const std::string& complaint : pair.texts("complaints"))
    text += line("complaint", complaint);
  Table table({"NODE", "NB", "SB", "EPOCH", "BEHIND", "PRIORITY", "NOTE"});
  for (const json::value& one : pair.list("members")) {
    const Fields member(one);
    const Tone tone = is_good(member, pair.raw("active")) ? Tone::kGood : Tone::kWarning;
    const auto lag = member.number("lag");
    table.add({{member.text("name")},
               {member.text("nb"), tone},
               {member.text("sb"), tone},
               {std::to_string(member.number("epoch").value_or(0))},
               {lag ? std::to_string(*lag) : ""},
               {std::to_string(member.number("priority").value_or(0))},
               {note_of(member)}});
  }
  for (const std::string& name : pair.texts("missing")) {
    const std::string note = "says nothing" + edits_of(name, pair);
    table.add({{name}, {"", Tone::kCritical}, {}, {}, {}, {}, {note, Tone::kCritical}});
  }
  text += "\n" + table.draw(style);
  text += draw_findings(pair.list("findings"), style);
  return text + draw_observed(pair.list("observed"), style);
}

std::string draw_pair_reasons(const json::value& shown, Style style) {
  const Fields pair(shown);
  std::string text = headline(pair, style);
  const Fields next = pair.object("next");
  text += line("next on this node", fmt::format("{}: {}", next.text("duty"), next.text("why")));
  text += line("paused by", pair.text("paused_by"));
  Table table({"NODE", "COULD TAKE OVER", "WHY"});
  for (const json::value& one : pair.list("members")) {
    const Fields member(one);
    const Fields reason = member.object("take_over");
    const bool is_active = member.raw("name") == pair.raw("active");
    const bool may = reason.raw("verdict") == "go";
    const std::string word = may ? "yes" : reason.raw("verdict") == "wait" ? "not yet" : "no";
    table.add({{member.text("name")},
               {is_active ? "" : word, may ? Tone::kGood : Tone::kWarning},
               {reason.text("why")}});
  }
  for (const std::string& name : pair.texts("missing"))
    table.add({{name}, {"no", Tone::kCritical}, {"its agent says nothing"}});
  return text + "\n" + table.draw(style);
}

std::string draw_pair_history(const json::value& shown, Style style) {
  Table table({"EPOCH", "AT", "NODE", "WHY"});
  for (const json::value& one : Fields(shown).list("history")) {
    const Fields past(one);
    table.add({{std::to_string(past.number("epoch").value_or(0))},
               {past.text("at")},
               {past.text("node")},
               {past.text("why")}});
  }
  return table.empty() ? "nobody was promoted yet\n" : table.draw(style);
}

Exit exit_of_pair(const json::value& shown) {
  const Fields pair(shown);
  if (!pair.has("age_ms")) return Exit::kUnknown;
  if (!pair.has("active")) return pair.raw("lock") == "unknown" ? Exit::kUnknown : Exit::kCritical;
  bool good = pair.list("missing").empty() && !pair.has("paused_by");
  for (const json::value& one : pair.list("members"))
    good = good && is_good(Fields(one), pair.raw("active"));
  return good ? Exit::kGood : Exit::kWarning;
}

Exit exit_good(const json::value&) {
  return Exit::kGood;
}

}  // namespace wardmote::cli
