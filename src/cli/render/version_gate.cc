#include "cli/render/version_gate.h"

#include <algorithm>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "base/format.h"
#include "cli/exit_code.h"
#include "cli/gate/gate_line.h"
#include "cli/render/fields.h"
#include "cli/render/style.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

std::string line(std::string_view label, const std::string& text) {
  return text.empty() ? "" : fmt::format("  {}: {}\n", label, text);
}

std::string status_text(const Fields& gate, std::string_view field) {
  if (!gate.has(field)) return "none";
  const Fields status = gate.object(field);
  if (status.raw("state") == "unreadable") return "unreadable: " + status.text("why");
  return fmt::format("{}, of release {}, for nodes of {} or newer", status.text("state"),
                     status.text("version"), status.text("minimum"));
}

std::string leader_text(const Fields& gate) {
  if (!gate.has("leader")) return "none";
  const Fields leader = gate.object("leader");
  std::string text = leader.text("name");
  if (!leader.has("step")) return text;
  return text + fmt::format(", {} since {}: {}", leader.text("step"), leader.text("since"),
                            leader.text("why"));
}

/// What makes a node one that somebody waits for.
Cell standing(const Fields& gate, const Fields& node) {
  if (!node.has("release")) return {"unknown: " + node.text("why"), Tone::kCritical};
  const auto blockers = gate.object("leader").texts("blocked_by");
  if (std::ranges::find(blockers, node.text("name")) != blockers.end())
    return {"blocks the leader", Tone::kCritical};
  return {"registered", Tone::kGood};
}

/// Empty: there is none.
std::string pass_text(const Fields& pass) {
  if (!pass.has("begun")) return {};
  const auto objects = pass.number("objects").value_or(0);
  std::string since = fmt::format("since {}", pass.text("begun"));
  if (objects == 0) return since;
  return fmt::format("{} of {} objects, {}", pass.number("treated").value_or(0), objects, since);
}

std::string serving_text(const json::value& shown, Style style) {
  if (!is_ready(shown)) return paint(style, Tone::kCritical, "may not serve");
  if (is_heard(shown)) return paint(style, Tone::kGood, "may serve");
  return paint(style, Tone::kWarning, "could serve when the store last answered");
}

}  // namespace

std::string draw_version_gate(const json::value& shown, Style style) {
  const Fields gate(shown);
  std::string text = fmt::format("version gate {}: {} of release {} ", gate.text("name"),
                                 gate.text("node"), gate.text("release"));
  text += serving_text(shown, style);
  text += fmt::format(", since {}\n", gate.text("since"));
  text += line("why", gate.text("why"));
  text += line("until", gate.text("unblocks"));
  text += line("status", status_text(gate, "status"));
  if (gate.has("before_set_back"))
    text += line("before the store was set back", status_text(gate, "before_set_back"));
  text +=
      line(is_heard(shown) ? "leader" : "leader when the store last answered", leader_text(gate));
  if (gate.has("mode")) {
    text += line("this node reconciles",
                 fmt::format("{} ({})", gate.text("mode"), gate.text("in_the_way")));
  }
  text += line("pass under way", pass_text(gate.object("pass_under_way")));
  text += line("fence", gate.object("reconcile").object("fence").text("says"));
  if (gate.has("preserved")) {
    const Fields preserved = gate.object("preserved");
    text += line("preserved", preserved.has("release")
                                  ? fmt::format("release {}, by {}: newer ones do not write",
                                                preserved.text("release"), preserved.text("by"))
                                  : "its record cannot be read: nobody writes");
  }
  if (gate.has("paused_by")) {
    const char* const what = gate.flag("all_paused") ? "everything is paused by" : "paused by";
    text += line(what, gate.text("paused_by"));
  }
  text += line("complaint", gate.text("complaint"));
  Table table({"NODE", "RELEASE", "STATE"});
  for (const json::value& one : gate.list("nodes")) {
    const Fields node(one);
    table.add({{node.text("name")}, {node.text("release")}, standing(gate, node)});
  }
  return table.empty() ? text : text + "\n" + table.draw(style);
}

Exit exit_of_version_gate(const json::value& shown) {
  if (!is_settled(shown)) return Exit::kUnknown;
  return is_ready(shown) ? Exit::kGood : Exit::kCritical;
}

}  // namespace wardmote::cli
