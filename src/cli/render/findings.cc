#include "cli/render/findings.h"

#include <span>
#include <string>

#include "base/format.h"
#include "cli/render/family.h"
#include "cli/render/fields.h"
#include "cli/render/style.h"
#include "cli/render/words.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

/// `do: kick … (run on ctl-1)`, and the command on a line of its own, ready to be copied.
std::string draw_advice(const Fields& finding, Style style) {
  const Fields advice = finding.object("advice");
  if (!advice.has("text")) return {};
  std::string drawn = fmt::format("  do: {}\n", advice.text("text"));
  const std::string command = shell_line(advice.texts("command"));
  if (command.empty()) return drawn;
  const std::string where = advice.text("run_on");
  drawn += fmt::format("      {}{}\n", where.empty() ? "" : fmt::format("on {}: ", where),
                       paint(style, Tone::kStrong, command));
  return drawn;
}

/// `CRITICAL RAFT_STALE_MEMBER  ovn-sb  for 3m12s  summary`.
std::string headline(const Fields& finding, Style style) {
  const Cell severity = severity_word(finding.raw("severity"));
  const std::string stands = duration_text(finding.number("age_ms"));
  std::string line = fmt::format("{} {}", paint(style, severity.tone, severity.text),
                                 paint(style, Tone::kStrong, finding.text("code")));
  for (const Family& family : families()) {
    if (finding.has(family.thing)) line += "  " + finding.text(family.thing);
  }
  if (!stands.empty()) line += "  for " + stands;
  return fmt::format("{}  {}\n", line, finding.text("summary"));
}

}  // namespace

std::string draw_findings(std::span<const json::value> findings, Style style) {
  std::string drawn;
  for (const json::value& value : findings) {
    const Fields finding(value);
    if (style.wide) {
      drawn += draw_finding_in_full(value, style);
      continue;
    }
    drawn += headline(finding, style);
    drawn += draw_advice(finding, style);
  }
  return drawn;
}

std::string draw_observed(std::span<const json::value> observed, Style style) {
  std::string drawn;
  for (const json::value& value : observed) {
    const Fields condition(value);
    const std::string subject = condition.text("subject");
    const std::string due = duration_text(condition.number("due_ms"));
    drawn += fmt::format("{} {}{}  a finding in {} if it lasts\n",
                         paint(style, Tone::kFaint, "SEEN"), condition.text("code"),
                         subject.empty() ? "" : "  " + subject, due.empty() ? "a while" : due);
  }
  return drawn;
}

std::string draw_finding_in_full(const json::value& value, Style style) {
  const Fields finding(value);
  std::string drawn = headline(finding, style);
  if (finding.has("since")) drawn += fmt::format("  since: {}\n", finding.text("since"));
  drawn += fmt::format("  about: {}\n", fmt::join(finding.texts("subjects"), ", "));
  for (const json::value& quote : finding.list("evidence")) {
    drawn +=
        fmt::format("  {} says: \"{}\"\n", Fields(quote).text("by"), Fields(quote).text("says"));
  }
  return drawn + draw_advice(finding, style);
}

}  // namespace wardmote::cli
