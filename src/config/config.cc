#include "config/config.h"

#include <algorithm>
#include <cstdint>
#include <expected>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/sections.h"
#include "config/yaml.h"
#include "observe/kinds.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"

namespace wardmote::config {
namespace {

constexpr std::uint16_t kDefaultPort = 9470;

Node read_node(const YamlNode& node, Problems& problems) {
  MapReader map(node, "node", problems);
  Node read;
  read.name = map.read("name", read_name).value_or("");
  if (const YamlNode* const labels = map.find("labels")) {
    const MapReader label_map(*labels, "labels", problems);
    for (const YamlEntry* const entry : label_map.others()) {
      const std::string what = fmt::format("label '{}'", escape_control(entry->key, 64));
      if (auto text = read_text(entry->value, what, problems)) {
        read.labels.emplace(entry->key, *std::move(text));
      }
    }
  }
  map.finish();
  return read;
}

/// All that a gate may wait for: what is not optional, since that may never come, and nothing that
/// is wrong between others.
Gate default_ready(const Config& config) {
  Gate ready{"ready", {}};
  ready.all.reserve(config.checks.size());
  for (const Check& check : config.checks) {
    if (check.kind == nullptr) continue;  // a problem was reported
    if (!check.schedule.optional && check.kind->of_node) ready.all.push_back(check.name);
  }
  return ready;
}

bool has_gate(const Config& config, std::string_view name) {
  for (const Gate& gate : config.gates) {
    if (gate.name == name) return true;
  }
  return false;
}

std::string read_data(const YamlNode& node, Problems& problems) {
  auto folder = read_text(node, "data", problems);
  if (!folder) return {};
  if (folder->starts_with('/')) return *std::move(folder);
  problems.add(node.at, fmt::format("data '{}'", escape_control(*folder, 64)),
               "not an absolute path", "write /var/lib/wardmote");
  return {};
}

}  // namespace

Config read_config(const YamlNode& root, std::span<const observe::ProbeKind> kinds,
                   Problems& problems) {
  MapReader map(root, "the configuration", problems);
  if (const YamlNode* const include = map.find("include")) {
    problems.add(include->at, "include", "only a file can include others", "write it into a file");
  }
  Config config;
  Names names;
  if (const YamlNode* const node = map.find("node")) config.node = read_node(*node, problems);
  const YamlNode* const api = map.find("api");
  config.api = api != nullptr ? read_api(*api, problems)
                              : Api{.listen = runtime::Endpoint::tcp("127.0.0.1", kDefaultPort)};
  if (const YamlNode* const data = map.find("data")) config.data = read_data(*data, problems);
  if (const YamlNode* const store = map.find("store")) config.store = read_store(*store, problems);
  if (config.store && config.data.empty()) {
    problems.add(map.find("store")->at, "store",
                 "there is nowhere to keep what concerns this agent alone",
                 "add 'data: /var/lib/wardmote'");
  }
  const YamlNode* const clusters = map.find("clusters");
  if (clusters != nullptr) read_clusters(*clusters, config, names, problems);
  const YamlNode* const checks = map.find("checks");
  if (checks != nullptr) {
    std::ranges::move(read_checks(*checks, kinds, names, problems),
                      std::back_inserter(config.checks));
  }
  if (const YamlNode* const reporters = map.find("reporters")) {
    read_reporters(*reporters, config, names, problems);
  }
  if (const YamlNode* const meshes = map.find("meshes")) {
    read_meshes(*meshes, config, names, problems);
  }
  if (const YamlNode* const notify = map.find("notify")) {
    config.notify = read_notify(*notify, config.node, problems);
  }
  if (const YamlNode* const guests = map.find("guests")) {
    read_guests(*guests, config, names, problems);
  }
  if (const YamlNode* const failover = map.find("failover")) {
    read_failover(*failover, config, names, problems);
  }
  check_dependencies(config.checks, names, problems);
  if (const YamlNode* const gates = map.find("gates")) {
    config.gates = read_gates(*gates, names, problems);
  }
  if (const YamlNode* const version_gates = map.find("version_gates")) {
    read_version_gates(*version_gates, config, problems);
  }
  if (const YamlNode* const page = map.find("public"))
    config.public_page = read_public_page(*page, names, problems);
  if (const YamlNode* const conditions = map.find("node_conditions"))
    config.node_conditions = read_node_conditions(*conditions, problems);
  if (const YamlNode* const silences = map.find("silences")) {
    config.notify.silences = read_silences(*silences, config.node, problems);
  }
  if (const YamlNode* const policies = map.find("policies")) {
    config.policies = read_policies(*policies, config, problems);
  }
  map.finish();
  // It is kept for as long as the agent lives.
  config.checks.shrink_to_fit();
  if (!has_gate(config, "ready")) config.gates.push_back(default_ready(config));

  const bool watches =
      !config.checks.empty() || !config.version_gates.empty() || !config.failover.empty();
  if (map.is_map() && problems.empty() && !watches) {
    problems.add(map.at(), map.what(), "it names nothing to watch",
                 "add a cluster under 'clusters', a check under 'checks', a reporter under "
                 "'reporters', 'guests', a version gate under 'version_gates' or a pair under "
                 "'failover'");
  }
  return config;
}

void Names::add(const std::string& name, Place at, Problems& problems) {
  const auto [earlier, added] = places_.emplace(name, at);
  if (added) return;
  problems.add(at, fmt::format("name '{}'", name),
               fmt::format("already used in {}", problems.line_of(earlier->second, at)),
               "choose another name");
}

std::vector<std::string_view> Names::all() const {
  std::vector<std::string_view> all;
  all.reserve(places_.size());
  for (const auto& [name, place] : places_) all.push_back(name);
  return all;
}

std::expected<Config, std::vector<Problem>> parse_config(
    std::string_view bytes, std::span<const observe::ProbeKind> kinds) {
  Problems problems;
  const YamlDocument document = parse_yaml(bytes, {}, problems);
  Config config;
  if (document.complete) config = read_config(document.root, kinds, problems);
  if (!problems.empty()) return std::unexpected(std::move(problems).take());
  return config;
}

void try_probes(const Config& config, runtime::Runtime& runtime, Problems& problems) {
  for (const Check& check : config.checks) {
    if (!check.whole || check.kind == nullptr || check.kind->make == nullptr) continue;
    const auto probe = check.kind->make(runtime, check.name, check.params);
    if (probe) continue;
    problems.add(check.at, fmt::format("check '{}'", check.name),
                 escape_control(probe.error().context),
                 fmt::format("see wardmote probe {} --help", check.kind->name));
  }
}

}  // namespace wardmote::config
