#include "cli/init/report.h"

#include <span>
#include <string>

#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/init/detect.h"
#include "cli/render/style.h"

namespace wardmote::cli {
namespace {

Tone tone_of(const std::string& outcome) {
  if (outcome == "ok") return Tone::kGood;
  if (outcome == "warn") return Tone::kWarning;
  if (outcome == "fail") return Tone::kCritical;
  return Tone::kUnknown;
}

}  // namespace

std::string draw_found(std::span<const Found> found, Style style) {
  if (found.empty()) {
    return "Nothing was found on this host that Wardmote knows by itself.\n"
           "`wardmote probe --help` shows what can be probed.\n";
  }
  Table table({"NAME", "KIND", "FOUND", "STATE", "SAYS"});
  for (const Found& one : found) {
    table.add({{one.name, Tone::kStrong},
               {one.kind},
               {escape_control(one.why)},
               {one.outcome.empty() ? "not asked" : one.outcome, tone_of(one.outcome)},
               {one.said}});
  }
  return table.draw(style) +
         "\n`wardmote init` writes a configuration that watches this; wardmoted runs it.\n";
}

Exit exit_of_found(std::span<const Found> found) {
  if (found.empty()) return Exit::kWarning;
  Exit worst = Exit::kGood;
  for (const Found& one : found) {
    if (!one.outcome.empty()) worst = worse(worst, exit_of_verdict(one.outcome));
  }
  return worst;
}

}  // namespace wardmote::cli
