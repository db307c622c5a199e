#include "cli/render/mesh.h"

#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "cli/render/fields.h"
#include "cli/render/findings.h"
#include "cli/render/style.h"
#include "cli/render/words.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

Cell cell_of(const std::string& word) {
  if (word == "self") return {"."};
  if (word == "up") return {word, Tone::kGood};
  if (word == "down") return {word, Tone::kCritical};
  if (word == "blind") return {"?", Tone::kUnknown};
  return {word, Tone::kWarning};
}

std::string draw_matrix(const Fields& mesh, Style style) {
  std::vector<std::string> headings{"SAYS \\ OF"};
  for (const json::value& node : mesh.list("nodes")) headings.push_back(Fields(node).text("name"));
  const std::size_t columns = headings.size();
  Table table(std::move(headings));
  const auto nodes = mesh.list("nodes");
  const auto matrix = mesh.list("matrix");
  for (std::size_t i = 0; i < nodes.size() && i < matrix.size(); ++i) {
    std::vector<Cell> row{{Fields(nodes[i]).text("name"), Tone::kStrong}};
    if (const json::array* const cells = matrix[i].if_array()) {
      for (const json::value& cell : *cells) row.push_back(cell_of(text_of(cell)));
    }
    row.resize(columns);
    table.add(std::move(row));
  }
  return table.empty() ? "" : table.draw(style);
}

std::string draw_problem(const Fields& problem, Style style) {
  const Cell severity = severity_word(problem.text("severity"));
  std::string drawn = fmt::format("\n{}  {}: {}\n", paint(style, severity.tone, severity.text),
                                  problem.text("fault"), problem.text("summary"));
  if (const auto suppressed = problem.number("suppressed"); suppressed.value_or(0) != 0)
    drawn += fmt::format("  {} down because of it\n",
                         counted(static_cast<std::size_t>(*suppressed), "session"));
  for (const json::value& value : problem.list("evidence")) {
    const Fields evidence(value);
    drawn += fmt::format("  {}: {}\n", evidence.text("by"), evidence.text("says"));
  }
  return drawn;
}

}  // namespace

std::string draw_mesh(const json::value& value, Style style) {
  const Fields mesh(value);
  const std::string verdict = mesh.text("verdict");
  std::string drawn =
      fmt::format("{}  BGP mesh of {}\n", paint(style, tone_of_outcome(verdict), verdict),
                  counted(mesh.list("nodes").size(), "node"));
  drawn += draw_matrix(mesh, style);
  for (const json::value& problem : mesh.list("problems"))
    drawn += draw_problem(Fields(problem), style);
  return drawn;
}

std::string draw_watched_mesh(const json::value& value, Style style) {
  const Fields mesh(value);
  const std::string outcome = mesh.text("outcome");
  std::string drawn = fmt::format(
      "{}  BGP mesh of {}  {}\n", paint(style, Tone::kStrong, mesh.text("mesh")),
      counted(mesh.list("nodes").size(), "node"), paint(style, tone_of_outcome(outcome), outcome));
  drawn += draw_matrix(mesh, style);
  drawn += draw_findings(mesh.list("findings"), style);
  return drawn + draw_observed(mesh.list("observed"), style);
}

}  // namespace wardmote::cli
