#include <algorithm>
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
#include "judge/finding.h"
#include "judge/plan/plan.h"
#include "judge/remedies.h"
#include "judge/thing.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;
using judge::Code;
using judge::plan::Policy;

constexpr std::size_t kMostPolicies = 64;

/// The codes that something can be done about.
std::vector<std::string_view> actionable() {
  std::vector<std::string_view> names;
  for (const judge::CodeInfo& info : judge::catalogue()) {
    if (judge::remedy_for(info.code) != nullptr) names.push_back(info.name);
  }
  return names;
}

std::vector<Code> read_codes(const YamlNode& node, Problems& problems) {
  std::vector<Code> codes;
  const std::vector<std::string_view> known = actionable();
  for (const Placed<std::string>& text : read_texts(node, "on", problems)) {
    const auto code = judge::parse_code(text.value);
    if (code && judge::remedy_for(*code) != nullptr) {
      codes.push_back(*code);
    } else {
      problems.add(text.at, fmt::format("on '{}'", escape_control(text.value, 64)),
                   code ? "nothing can be done about it safely" : "there is no such finding",
                   fmt::format("write one of: {}", fmt::join(known, ", ")));
    }
  }
  if (node.kind == YamlNode::Kind::kList && node.items.empty()) {
    problems.add(node.at, "on", "it names no finding",
                 fmt::format("write some of: {}", fmt::join(known, ", ")));
  }
  return codes;
}

/// What a policy is for: things of one kind, which are there.
void check_targets(const Policy& policy, const MapReader& map, const Config& config,
                   Problems& problems) {
  const auto is_for_clusters = [](Code code) {
    return judge::remedy_for(code)->target == judge::ThingKind::kCluster;
  };
  if (std::ranges::all_of(policy.on, is_for_clusters)) return;
  const std::string what = fmt::format("policy {}", policy.name);
  if (std::ranges::any_of(policy.on, is_for_clusters)) {
    problems.add(map.at(), what, "it is for clusters and for guests", "write a policy for each");
  } else if (!policy.clusters.empty()) {
    problems.add(map.at(), what, "guests belong to no cluster", "remove 'clusters'");
  }
  if (!config.guests)
    problems.add(map.at(), what, "it is for guests, and none are watched", "add 'guests'");
  // Plans are carried out by the agent that leads, and it reaches the guests of its own host only.
  if (config.store)
    problems.add(map.at(), what, "agents that share a 'store' restart no guests",
                 "remove the policy, or the store");
}

std::vector<std::string> read_cluster_names(const YamlNode& node, const Config& config,
                                            Problems& problems) {
  std::vector<std::string> names;
  for (Placed<std::string>& text : read_texts(node, "clusters", problems)) {
    const auto found = std::ranges::find(config.clusters, text.value, &Cluster::name);
    if (found == config.clusters.end()) {
      problems.add(text.at, fmt::format("cluster '{}'", escape_control(text.value, 64)),
                   "there is no such cluster", "write a name from 'clusters'");
    } else {
      names.push_back(std::move(text.value));
    }
  }
  if (node.kind == YamlNode::Kind::kList && node.items.empty()) {
    problems.add(node.at, "clusters", "it names none", "leave it out for all clusters");
  }
  return names;
}

/// Whether it acts.
bool read_mode(MapReader& map) {
  const YamlNode* const node = map.find("mode");
  if (node == nullptr) return false;
  const auto mode = read_text(*node, "mode", map.problems());
  if (!mode || *mode == "act" || *mode == "observe") return mode == "act";
  map.problems().add(node->at, fmt::format("mode '{}'", escape_control(*mode, 64)), "not a mode",
                     "write observe or act");
  return false;
}

/// Whether no other agent acts on its clusters: by the operator's word, or since the agents elect
/// one that does.
bool read_sole(MapReader& map, const Config& config) {
  const YamlNode* const node = map.find("sole");
  if (!config.store)
    return node != nullptr && read_flag(*node, "sole", map.problems()).value_or(false);
  if (node != nullptr) {
    map.problems().add(node->at, "sole", "with a 'store' the agents elect the one that acts",
                       "remove it");
  }
  return true;
}

Policy read_policy(const YamlNode& node, std::size_t number, const Config& config, Names& names,
                   Problems& problems) {
  MapReader map(node, fmt::format("policy {}", number), problems);
  Policy policy;
  if (const YamlNode* const name = map.require("name", "name: ghosts")) {
    policy.name = read_name(*name, "name", problems).value_or("");
    if (!policy.name.empty()) names.add(policy.name, name->at, problems);
  }
  if (const YamlNode* const on = map.require("on", "on: [RAFT_STALE_MEMBER]")) {
    policy.on = read_codes(*on, problems);
  }
  if (const YamlNode* const clusters = map.find("clusters")) {
    policy.clusters = read_cluster_names(*clusters, config, problems);
  }
  policy.act = read_mode(map);
  policy.sole = read_sole(map, config);
  policy.approval = map.read("approval", read_flag).value_or(true);
  policy.after = map.read_duration_in("after", 0s, 24h, 1min);
  policy.budget = static_cast<std::size_t>(map.read_integer_in("budget", 1, 100, 1));
  policy.window = map.read_duration_in("window", 1min, 24h, policy.window);
  policy.cooldown = map.read_duration_in("cooldown", 0s, 24h, policy.cooldown);
  if (policy.act && config.data.empty()) {
    problems.add(map.at(), map.what(), "it acts, and there is nowhere to write that down",
                 "add 'data: /var/lib/wardmote'");
  }
  check_targets(policy, map, config, problems);
  map.finish();
  return policy;
}

}  // namespace

std::vector<std::string> warnings(const Config& config) {
  std::vector<std::string> lines;
  for (const Policy& policy : config.policies) {
    if (policy.act && !policy.acts()) lines.push_back(policy.why_it_observes().value_or(""));
  }
  return lines;
}

std::vector<Policy> read_policies(const YamlNode& list, const Config& config, Problems& problems) {
  std::vector<Policy> policies;
  if (list.kind != YamlNode::Kind::kList || list.items.size() > kMostPolicies) {
    problems.add(list.at, "policies",
                 fmt::format("not a list of at most {} policies", kMostPolicies),
                 "write '- {name: ghosts, on: [RAFT_STALE_MEMBER]}' lines below it");
    return policies;
  }
  Names names;
  for (const YamlNode& item : list.items) {
    policies.push_back(read_policy(item, policies.size() + 1, config, names, problems));
  }
  return policies;
}

}  // namespace wardmote::config
