#include "cli/render/plans.h"

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "base/format.h"
#include "cli/exit_code.h"
#include "cli/render/fields.h"
#include "cli/render/style.h"
#include "cli/render/words.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

std::string number_text(const Fields& of, std::string_view key, std::string_view before = "") {
  const auto number = of.number(key);
  return number ? fmt::format("{}{}", before, *number) : std::string();
}

Cell state_word(const Fields& plan) {
  const std::string_view state = plan.raw("state");
  if (state == "unclear" || state == "failed") return {plan.text("state"), Tone::kCritical};
  if (state == "proposed" || state == "running") return {plan.text("state"), Tone::kWarning};
  return {plan.text("state"), state == "done" ? Tone::kGood : Tone::kPlain};
}

/// The first step that is not done, or why the plan does not continue.
std::string progress(const Fields& plan) {
  std::string reason = plan.text("reason");
  if (!reason.empty()) return reason;
  for (const json::value& value : plan.list("steps")) {
    const Fields step(value);
    if (step.raw("state") != "done") {
      return fmt::format("{} {}", step.text("kind"), step.text("state"));
    }
  }
  return "";
}

/// `of`: only what pauses this cluster; empty: all.
std::string pause_lines(const Fields& body, std::string_view of, Style style) {
  std::string drawn;
  for (const json::value& value : body.list("pauses")) {
    const Fields pause(value);
    const std::string_view scope = pause.raw("scope");
    if (!of.empty() && scope != "all" && scope != of) continue;
    const std::string until = pause.text("until");
    drawn += paint(style, Tone::kWarning,
                   fmt::format("Paused: {} by {} until {}", pause.text("scope"), pause.text("by"),
                               until.empty() ? "somebody resumes" : until)) +
             "\n";
  }
  return drawn;
}

}  // namespace

std::string draw_plans(const json::value& shown, Style style) {
  const Fields body(shown);
  Table table({"PLAN", "STATE", "WHAT", "CODE", "INCIDENT", "AGE", "STEP"});
  for (const json::value& value : body.list("plans")) {
    const Fields plan(value);
    table.add({{number_text(plan, "id"), Tone::kStrong},
               state_word(plan),
               {plan.text("summary")},
               {plan.text("code")},
               {number_text(plan, "incident", "#")},
               {duration_text(plan.number("age_ms"))},
               {progress(plan)}});
  }
  std::string drawn = table.empty() ? "Nothing is planned.\n" : table.draw(style);
  for (const json::value& value : body.list("refusals")) {
    const Fields refusal(value);
    drawn += fmt::format("not planned: {} of {} in {}: {}\n", refusal.text("code"),
                         refusal.text("subject"), refusal.text("cluster"), refusal.text("reason"));
  }
  for (const json::value& value : body.list("policies")) {
    const Fields policy(value);
    if (policy.raw("mode") != "act" || policy.flag("acts")) continue;
    drawn += paint(style, Tone::kWarning, policy.text("reason")) + "\n";
  }
  drawn += pause_lines(body, "", style);
  const std::string frozen = body.text("frozen");
  if (!frozen.empty()) drawn += paint(style, Tone::kWarning, "Nothing acts: " + frozen) + "\n";
  return drawn;
}

std::string draw_open_plans(const Fields& body, std::string_view thing, Style style) {
  std::string drawn;
  for (const json::value& value : body.list("plans")) {
    const Fields plan(value);
    if (!thing.empty() && plan.raw("cluster") != thing) continue;
    const Cell state = state_word(plan);
    const std::string step = progress(plan);
    drawn += fmt::format("plan {} is {}: {}{}\n", number_text(plan, "id"),
                         paint(style, state.tone, state.text), plan.text("summary"),
                         step.empty() ? "" : fmt::format(" ({})", step));
  }
  drawn += pause_lines(body, thing, style);
  return drawn.empty() ? "" : "\n" + drawn + "See 'wardmote get plans'.\n";
}

std::string draw_plan(const json::value& value, Style style) {
  const Fields plan(value);
  const Cell state = state_word(plan);
  std::string drawn =
      fmt::format("plan {} {}  {}\n  {}\n", number_text(plan, "id"),
                  paint(style, state.tone, state.text), plan.text("summary"), plan.text("why"));
  for (const json::value& each : plan.list("steps")) {
    const Fields step(each);
    drawn += fmt::format("  {:<14} {:<8} {}\n", step.text("kind"), step.text("state"),
                         step.text("detail"));
  }
  const std::string reason = plan.text("reason");
  if (!reason.empty()) drawn += fmt::format("  {}\n", reason);
  return drawn;
}

std::string draw_pauses(const json::value& shown, Style style) {
  const std::string drawn = pause_lines(Fields(shown), "", style);
  return drawn.empty() ? "Nothing is paused.\n" : drawn;
}

std::string draw_actions(const json::value& shown, Style style) {
  const Fields body(shown);
  Table table({"ROW", "AT", "PLAN", "WHAT", "STEP", "CLUSTER", "SUBJECT", "BY", "SAYS"});
  for (const json::value& value : body.list("actions")) {
    const Fields action(value);
    table.add({{number_text(action, "sequence")},
               {action.text("at"), Tone::kFaint},
               {number_text(action, "plan"), Tone::kStrong},
               {action.text("kind")},
               {action.text("step")},
               {action.text("cluster")},
               {action.text("subject")},
               {action.text("actor")},
               {action.text("detail")}});
  }
  std::string drawn = table.empty() ? "Nothing was planned or done.\n" : table.draw(style);
  if (!body.flag("stored")) {
    drawn += "Only since the agent's start: set 'data' in its configuration to keep more.\n";
  }
  return drawn;
}

Exit exit_of_plans(const json::value& shown) {
  Exit worst = Exit::kGood;
  for (const json::value& value : Fields(shown).list("plans")) {
    const std::string_view state = Fields(value).raw("state");
    if (state == "unclear") worst = worse(worst, Exit::kCritical);
    if (state == "proposed" || state == "running") worst = worse(worst, Exit::kWarning);
  }
  return worst;
}

}  // namespace wardmote::cli
