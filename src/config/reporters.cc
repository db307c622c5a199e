#include "judge/report/reporters.h"
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "config/config.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/sections.h"
#include "config/yaml.h"
#include "judge/check_machine.h"
#include "observe/kinds.h"
#include "runtime/endpoint.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostReporters = 10'000;
constexpr Duration kDefaultTimeout = 30s;
constexpr Duration kLongestTimeout = 24h;
/// Reports are already what somebody believes of himself: one is enough, either way.
constexpr judge::CheckPolicy kPolicy{.fall = 1, .rise = 1};

void read_qualities(MapReader& map, judge::ReporterRule& rule) {
  const YamlNode* const list = map.find("reports");
  if (list == nullptr) return;
  rule.live = rule.ready = false;
  for (const Placed<std::string>& text : read_texts(*list, "reports", map.problems())) {
    if (text.value == "live") {
      rule.live = true;
    } else if (text.value == "ready") {
      rule.ready = true;
    } else {
      map.problems().add(text.at, fmt::format("'{}'", escape_control(text.value, 64)),
                         "nobody reports that", "write live, ready or both");
    }
  }
  if (!rule.live && !rule.ready)
    map.problems().add(list->at, "reports", "it is empty", "write live, ready or both");
}

std::optional<runtime::Endpoint> read_socket(MapReader& map) {
  const YamlNode* const node = map.find("socket");
  if (node == nullptr) return std::nullopt;
  auto endpoint = read_endpoint(*node, "socket", map.problems());
  if (endpoint && endpoint->kind != runtime::Endpoint::Kind::kUnix) {
    map.problems().add(node->at, "socket", "not a unix socket",
                       "write a path; over the network, reports come by HTTP");
    return std::nullopt;
  }
  return endpoint;
}

Check check_of(const Reporter& reporter, std::string_view quality, bool optional, Place at) {
  Check check;
  check.name = fmt::format("{}.{}", reporter.name, quality);
  check.at = at;
  check.kind = &reporter_kind();
  check.params["reporter"] = reporter.name;
  check.params["quality"] = std::string(quality);
  check.schedule = {1s, 900ms, kPolicy, optional};
  return check;
}

}  // namespace

const observe::ProbeKind& reporter_kind() noexcept {
  static constexpr observe::ProbeKind kKind{
      "reporter", "what somebody reports of itself", {}, nullptr};
  return kKind;
}

void read_reporters(const YamlNode& list, Config& config, Names& names, Problems& problems) {
  if (list.kind != YamlNode::Kind::kList || list.items.size() > kMostReporters) {
    problems.add(list.at, "reporters",
                 fmt::format("not a list of at most {} reporters", kMostReporters),
                 "write '- {name: ..., timeout: 30s}' lines below it");
    return;
  }
  for (const YamlNode& item : list.items) {
    MapReader map(item, fmt::format("reporter {}", config.reporters.size() + 1), problems);
    Reporter reporter;
    const YamlNode* const name = map.require("name", "name: felix");
    if (name != nullptr) reporter.name = read_name(*name, "name", problems).value_or("");
    reporter.rule.timeout =
        map.read_duration_in("timeout", Duration::zero(), kLongestTimeout, kDefaultTimeout);
    if (map.find("override") != nullptr) {
      reporter.rule.override =
          map.read_duration_in("override", Duration::zero(), kLongestTimeout, kDefaultTimeout);
    }
    read_qualities(map, reporter.rule);
    reporter.socket = read_socket(map);
    const bool optional = map.read("optional", read_flag).value_or(false);
    map.finish();
    if (reporter.name.empty()) continue;
    for (const auto& [quality, reports] : {std::pair(std::string_view("live"), reporter.rule.live),
                                           {"ready", reporter.rule.ready}}) {
      if (!reports) continue;
      Check check = check_of(reporter, quality, optional, map.at());
      // Who times out is neither, and that is one thing.
      if (quality == "ready" && reporter.rule.live)
        check.depends_on.push_back(config.checks.back().name);
      config.checks.push_back(std::move(check));
      names.add(config.checks.back().name, name->at, problems);
    }
    for (const Reporter& other : config.reporters) {
      if (reporter.socket && other.socket == reporter.socket)
        problems.add(map.at(), fmt::format("reporter '{}'", reporter.name),
                     fmt::format("its socket is that of '{}'", other.name),
                     "give each its own: the socket tells who reports");
    }
    config.reporters.push_back(std::move(reporter));
  }
}

}  // namespace wardmote::config
