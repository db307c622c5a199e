#include "cli/render/agent.h"

#include <cstddef>
#include <span>
#include <string>

#include "base/format.h"
#include "cli/render/checks.h"
#include "cli/render/family.h"
#include "cli/render/fields.h"
#include "cli/render/style.h"
#include "cli/render/words.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

std::string title(const Fields& status, Style style) {
  const Cell verdict = verdict_word(status.raw("verdict"));
  std::string what = fmt::format("{}, {}", counted(status.list("clusters").size(), "cluster"),
                                 counted(status.list("checks").size(), "check"));
  const auto incidents = status.object("incidents").number("open").value_or(0);
  if (incidents > 0) {
    what += fmt::format(", {}", counted(static_cast<std::size_t>(incidents), "open incident"));
  }
  return fmt::format("{}  wardmote {}  {}  {}  up {}\n",
                     paint(style, Tone::kStrong, status.text("node")), status.text("version"),
                     paint(style, verdict.tone, verdict.text), what,
                     duration_text(status.number("uptime_ms")));
}

/// Empty while the configuration in use is what its files say.
std::string draw_refusal(const Fields& status, Style style) {
  const Fields refused = status.object("config").object("refused");
  const auto problems = refused.texts("problems");
  if (problems.empty()) return "";
  std::string drawn = fmt::format("{} at {}; the one before it runs on:\n",
                                  paint(style, Tone::kWarning, "a new configuration was refused"),
                                  refused.text("at"));
  for (const std::string& problem : problems) drawn += "  " + problem + "\n";
  return drawn;
}

/// What an operator has to do for the agent.
std::string draw_chores(const Fields& status, Style style) {
  std::string drawn;
  if (const auto keys = status.object("config").texts("restart_needed"); !keys.empty()) {
    drawn += fmt::format("{}: the changed {} counts from the agent's next start on\n",
                         paint(style, Tone::kWarning, "restart needed"), fmt::join(keys, ", "));
  }
  if (const std::string aside = status.object("self").text("put_aside"); !aside.empty()) {
    drawn +=
        fmt::format("{}: it lies at {}, and a new one was begun\n",
                    paint(style, Tone::kWarning, "the database was damaged at the start"), aside);
  }
  return drawn;
}

/// Empty unless the agent is called bad for an incident of which no check here tells.
std::string draw_calm_incidents(const Fields& status, Style style) {
  if (status.object("incidents").number("open").value_or(0) == 0) return "";
  for (const json::value& check : status.list("checks")) {
    if (Fields(check).number("exit_code").value_or(0) != 0) return "";
  }
  return fmt::format("{}: no check fails here now, 'wardmote get incidents' says why\n",
                     paint(style, Tone::kWarning, "an incident is open"));
}

std::string draw_gates(std::span<const json::value> gates, Style style) {
  Table table({"GATE", "STATE", "HELD-BY"});
  for (const json::value& value : gates) {
    const Fields gate(value);
    const bool ready = gate.flag("ready");
    table.add({{gate.text("name"), Tone::kStrong},
               {ready ? "ready" : "not ready", ready ? Tone::kGood : Tone::kCritical},
               {fmt::format("{}", fmt::join(gate.texts("failing"), ", "))}});
  }
  return table.empty() ? "" : "\n" + table.draw(style);
}

}  // namespace

std::string draw_agent_head(const json::value& value, Style style) {
  const Fields status(value);
  std::string drawn = title(status, style);
  const std::string complaint = status.object("self").text("complaint");
  if (!complaint.empty()) {
    drawn += fmt::format("{}: {}\n", paint(style, Tone::kWarning, "the agent itself is degraded"),
                         complaint);
  }
  return drawn + draw_calm_incidents(status, style) + draw_chores(status, style) +
         draw_refusal(status, style);
}

std::string draw_agent(const json::value& value, Style style) {
  const Fields status(value);
  std::string drawn = draw_agent_head(value, style);
  for (const Family& family : families()) drawn += family.draw(status.list(family.list), style);
  if (!status.list("checks").empty()) drawn += "\n" + draw_checks(status.list("checks"), style);
  return drawn + draw_gates(status.list("gates"), style);
}

}  // namespace wardmote::cli
