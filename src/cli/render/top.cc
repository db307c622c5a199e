#include "cli/render/top.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "cli/exit_code.h"
#include "cli/render/agent.h"
#include "cli/render/checks.h"
#include "cli/render/family.h"
#include "cli/render/fields.h"
#include "cli/render/findings.h"
#include "cli/render/style.h"
#include "cli/render/words.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

std::string draw_clusters(std::span<const json::value> clusters, Style style) {
  Table table({"CLUSTER", "DATABASE", "VERDICT", "LEADER", "VOTERS", "ANSWER", "FINDINGS"});
  for (const json::value& value : clusters) {
    const Fields cluster(value);
    const Fields quorum = cluster.object("quorum");
    const Cell verdict = verdict_word(cluster.raw("verdict"));
    const auto members = cluster.list("members");
    const auto answer = std::ranges::count_if(
        members, [](const json::value& one) { return Fields(one).raw("outcome") == "ok"; });
    table.add({{cluster.text("cluster"), Tone::kStrong},
               {cluster.text("database")},
               verdict,
               {cluster.text("leader")},
               {fmt::format("{}/{}", quorum.number("live").value_or(0),
                            quorum.number("voters").value_or(0))},
               {fmt::format("{}/{}", answer, members.size())},
               {fmt::format("{}", cluster.list("findings").size())}});
  }
  return table.empty() ? "" : "\n" + table.draw(style);
}

std::string draw_all_findings(const Fields& status, Style style) {
  std::vector<json::value> findings;
  for (const Family& family : families()) {
    for (const json::value& thing : status.list(family.list)) {
      for (const json::value& finding : Fields(thing).list("findings"))
        findings.emplace_back(named_in(family, Fields(thing), finding));
    }
  }
  return findings.empty() ? "" : "\n" + draw_findings(findings, style);
}

/// The checks of clusters are already shown above.
std::vector<json::value> worst_first(std::span<const json::value> checks) {
  std::vector<json::value> sorted;
  for (const Exit exit : {Exit::kCritical, Exit::kWarning, Exit::kUnknown, Exit::kGood}) {
    for (const json::value& check : checks) {
      const bool here = exit_of_check(check) == exit && Fields(check).raw("kind") != "cluster";
      if (here) sorted.push_back(check);
    }
  }
  return sorted;
}

}  // namespace

std::string draw_top(const json::value& value, Style style) {
  const Fields status(value);
  std::string drawn = draw_agent_head(value, style);
  drawn += draw_clusters(status.list("clusters"), style);
  drawn += draw_all_findings(status, style);
  const std::vector<json::value> checks = worst_first(status.list("checks"));
  if (!checks.empty()) drawn += "\n" + draw_checks(checks, style);
  return drawn;
}

}  // namespace wardmote::cli
