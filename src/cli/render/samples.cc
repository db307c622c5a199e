#include "cli/render/samples.h"

#include <array>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "cli/render/fields.h"
#include "cli/render/style.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

constexpr double kUsOfMs = 1000;
constexpr double kPercent = 100;

struct Point {
  std::int64_t count = 0;
  std::int64_t sum = 0;
  std::int64_t most = 0;
};

/// By the name of the measure.
using Moment = std::map<std::string, Point, std::less<>>;

constexpr std::array<std::string_view, 3> kOfRaft{"log_entries", "uncommitted", "unapplied"};

double mean(const Point& point) {
  return static_cast<double>(point.sum) / static_cast<double>(point.count);
}

Cell good(const Moment& moment) {
  const auto found = moment.find("good");
  if (found == moment.end()) return {};
  const Point& point = found->second;
  const Tone tone = point.sum == point.count ? Tone::kGood : Tone::kWarning;
  return {fmt::format("{:.4g} %", kPercent * mean(point)), tone};
}

Cell most(const Moment& moment, std::string_view measure) {
  const auto found = moment.find(measure);
  return found == moment.end() ? Cell{} : Cell{fmt::to_string(found->second.most)};
}

std::map<std::string, Moment> moments_of(const Fields& body) {
  std::map<std::string, Moment> moments;
  for (const json::value& one : body.list("series")) {
    const Fields series(one);
    for (const json::value& value : series.list("samples")) {
      const Fields sample(value);
      const Point point{sample.number("count").value_or(0), sample.number("sum").value_or(0),
                        sample.number("max").value_or(0)};
      if (point.count > 0) moments[sample.text("at")][series.text("measure")] = point;
    }
  }
  return moments;
}

std::vector<std::string> headings(bool raft) {
  std::vector<std::string> names = {"FROM", "LOOKS", "GOOD", "TOOK", "AT MOST"};
  if (raft) names.insert(names.end(), {"LOG", "UNCOMMITTED", "UNAPPLIED"});
  return names;
}

}  // namespace

std::string draw_samples(const json::value& shown, Style style) {
  const Fields body(shown);
  if (!body.flag("stored"))
    return "Nothing is measured: set 'data' in the agent's configuration.\n";
  if (body.has("subjects")) {
    Table names({"SUBJECT"});
    for (const std::string& name : body.texts("subjects")) names.add({{name}});
    return names.empty() ? "Nothing was measured yet: it takes a minute.\n" : names.draw(style);
  }
  const auto moments = moments_of(body);
  bool raft = false;
  for (const auto& [at, moment] : moments) raft = raft || moment.contains(kOfRaft.front());
  Table table(headings(raft));
  for (const auto& [at, moment] : moments) {
    std::vector<Cell> row = {{at, Tone::kFaint}, {}, good(moment), {}, {}};
    if (const auto took = moment.find("took_us"); took != moment.end()) {
      row[1].text = fmt::to_string(took->second.count);
      row[3].text = fmt::format("{:.1f} ms", mean(took->second) / kUsOfMs);
      row[4].text = fmt::format("{:.1f} ms", static_cast<double>(took->second.most) / kUsOfMs);
    }
    for (std::size_t i = 0; raft && i < kOfRaft.size(); ++i)
      row.push_back(most(moment, kOfRaft.at(i)));
    table.add(std::move(row));
  }
  if (table.empty()) {
    return fmt::format(
        "Nothing was measured of '{}' in that time: it takes the name of a check or "
        "a cluster, or CLUSTER/MEMBER, and a minute.\n",
        body.text("subject"));
  }
  return table.draw(style);
}

}  // namespace wardmote::cli
