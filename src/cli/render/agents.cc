#include "cli/render/agents.h"

#include <algorithm>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "cli/exit_code.h"
#include "cli/render/fields.h"
#include "cli/render/style.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

/// After so long what is shown of the others is old.
constexpr std::int64_t kOldMs = 10'000;
constexpr const char* kAlone =
    "This agent shares no store with others: it notifies and acts alone.\n";

std::string age_text(std::int64_t ms) {
  return format_duration(std::chrono::milliseconds(ms));
}

Cell state_of(const Fields& agent) {
  if (!agent.flag("present")) return {"away", Tone::kCritical};
  if (agent.flag("leads")) return {"leads", Tone::kStrong};
  return {"there", Tone::kGood};
}

}  // namespace

std::string draw_agents(const json::value& shown, Style style) {
  if (!Fields(shown).flag("shared")) return kAlone;
  Table table(style.wide ? std::vector<std::string>{"AGENT", "STATE", "FOR", "RELEASE", "LABELS",
                                                    "STARTED", "BOOT"}
                         : std::vector<std::string>{"AGENT", "STATE", "FOR", "RELEASE", "LABELS"});
  for (const json::value& one : Fields(shown).list("agents")) {
    const Fields agent(one);
    std::vector<Cell> row = {{agent.text("name") + (agent.flag("here") ? " (here)" : "")},
                             state_of(agent),
                             {age_text(agent.number("for_ms").value_or(0))},
                             {agent.text("release")},
                             {agent.pairs("labels")}};
    if (style.wide) {
      row.push_back({agent.text("started")});
      row.push_back({agent.text("boot")});
    }
    table.add(std::move(row));
  }
  return draw_isolation(shown, style) + table.draw(style);
}

Exit exit_of_agents(const json::value& shown) {
  if (!Fields(shown).flag("shared")) return Exit::kGood;
  const std::optional<std::int64_t> age = Fields(shown).number("age_ms");
  if (!age || *age > kOldMs) return Exit::kUnknown;
  const auto agents = Fields(shown).list("agents");
  const bool all = std::ranges::all_of(
      agents, [](const json::value& one) { return Fields(one).flag("present"); });
  return all ? Exit::kGood : Exit::kWarning;
}

std::string draw_isolation(const json::value& shown, Style style) {
  const Fields view(shown);
  if (!view.flag("shared")) return {};
  const std::optional<std::int64_t> age = view.number("age_ms");
  if (age && *age <= kOldMs) return {};
  const auto agents = view.list("agents");
  const auto others = static_cast<std::size_t>(std::ranges::count_if(
      agents, [](const json::value& one) { return !Fields(one).flag("here"); }));
  const std::string since = age ? "for " + age_text(*age) : "since this agent started";
  return paint(style, Tone::kCritical,
               fmt::format("my view alone: {} of {} agents not heard {}", others,
                           std::max(agents.size(), others + 1), since)) +
         "\n";
}

std::string draw_all_agents(const json::value& shown, Style style) {
  std::string text = draw_agents(shown, style);
  Table table({"SAYS", "SEVERITY", "CODE", "OF", "AGE", "SUMMARY"});
  for (const json::value& one : Fields(shown).list("agents")) {
    const Fields agent(one);
    if (agent.flag("doubted")) {
      table.add({{agent.text("name")},
                 {"unknown", Tone::kUnknown},
                 {"-"},
                 {"-"},
                 {"-"},
                 {"it has not spoken since the store was set back to an older copy"}});
    }
    for (const json::value& said : agent.list("symptoms")) {
      const Fields symptom(said);
      const bool critical = symptom.raw("severity") == "critical";
      table.add({{agent.text("name")},
                 {symptom.text("severity"), critical ? Tone::kCritical : Tone::kWarning},
                 {symptom.text("code")},
                 {symptom.text("component")},
                 {age_text(symptom.number("age_ms").value_or(0))},
                 {symptom.text("summary")}});
    }
  }
  if (!Fields(shown).flag("shared")) return text;
  return text + "\n" +
         (table.empty() ? "no agent says that anything is wrong\n" : table.draw(style));
}

Exit exit_of_all_agents(const json::value& shown) {
  Exit worst = exit_of_agents(shown);
  for (const json::value& agent : Fields(shown).list("agents")) {
    for (const json::value& symptom : Fields(agent).list("symptoms"))
      worst = worse(worst, exit_of_severity(Fields(symptom).raw("severity")));
  }
  return worst;
}

namespace {

/// The agent does not say so of one that has a lease, if it is of an earlier release.
bool can_lead(const Fields& candidate) {
  return !candidate.has("leased") || candidate.flag("leased");
}

bool is_led(const Fields& election) {
  const auto queue = election.list("candidates");
  return !queue.empty() && can_lead(Fields(queue.front()));
}

Cell state_in_queue(const Fields& candidate, bool first) {
  if (!can_lead(candidate)) return {"cannot lead", Tone::kWarning};
  return first ? Cell{"leads", Tone::kStrong} : Cell{"waits"};
}

}  // namespace

std::string draw_election(const json::value& shown, Style style) {
  const Fields election(shown);
  if (!election.flag("shared")) return kAlone;
  std::string text;
  const auto queue = election.list("candidates");
  const std::optional<std::int64_t> age = election.number("age_ms");
  if (!age || *age > kOldMs) {
    text +=
        paint(style, Tone::kUnknown,
              age ? fmt::format("the store was not heard for {}: this may be old\n", age_text(*age))
                  : "the store has not answered yet\n");
  }
  if (const std::string complaint = election.text("complaint"); !complaint.empty())
    text += paint(style, Tone::kWarning, complaint) + "\n";
  if (queue.empty()) return text + "nobody leads\n";
  if (!is_led(election))
    text += "nobody leads: the record of the first has no lease, and is removed soon\n";
  Table table({"CANDIDATE", "STATE", "TOKEN", "KEY"});
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Fields one(queue[i]);
    table.add({{one.text("name") + (one.flag("here") ? " (here)" : "")},
               state_in_queue(one, i == 0),
               {fmt::to_string(one.number("token").value_or(0))},
               {one.text("key")}});
  }
  return text + table.draw(style);
}

Exit exit_of_election(const json::value& shown) {
  const Fields election(shown);
  if (!election.flag("shared")) return Exit::kGood;
  const std::optional<std::int64_t> age = election.number("age_ms");
  if (!age || *age > kOldMs) return Exit::kUnknown;
  return is_led(election) ? Exit::kGood : Exit::kCritical;
}

}  // namespace wardmote::cli
