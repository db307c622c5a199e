// The effective configuration: every default, and nothing that means something else.

#include "config/effective.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <boost/json/value.hpp>

#include "base/format.h"
#include "codec/yaml_text.h"
#include "config/config.h"
#include "config/problem.h"
#include "config/schema.h"
#include "config/yaml.h"
#include "observe/kinds.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;

/// Each section that has a default, and none of its keys that has one.
constexpr std::string_view kBare = R"(
node: {name: ctl-1}
data: /var/lib/wardmote
store: {etcd: {endpoints: ["10.0.0.1:2379"]}}
clusters:
  - name: nb
    ovn:
      database: OVN_Northbound
      members:
        - name: ctl-1
          control: /run/1.ctl
          repair: {copy: {command: [/c]}, rejoin: {command: [/r]}}
checks:
  - {name: web, tcp: {address: "127.0.0.1:1"}}
  - {name: b1, bird: {socket: /run/b1.ctl}}
  - {name: b2, bird: {socket: /run/b2.ctl}}
reporters: [{name: felix}]
meshes: [{name: mesh, members: [{check: b1}, {check: b2}]}]
guests:
  every: 10s
  inside: {freeze: true}
  restart: {nova: false}
  maintenance: [{window: "2026-11-25T02:00:00Z for 2h"}]
gates: {both: {all: [b1, b2]}}
version_gates:
  - {name: g, reconcile: {command: [/c]}}
  - {name: k, reconcile: {manifests: /m, kubernetes: {set: s}}}
  - {name: f, reconcile: {manifests: /m, files: {folder: /f}}}
  - {name: h, reconcile: {git: {work_tree: /r}, files: {folder: /h}}}
node_conditions: {kubeconfig: /k}
public: {lines: [{name: Network, checks: [nb, web]}]}
failover:
  - name: ovn
    members: [ctl-1, ctl-2]
    nb: {source: "tcp:10.0.0.1:6641"}
    sb: {source: "tcp:10.0.0.1:6642"}
    address: 10.0.0.100/24
    interface: eth0
    hooks: {pre_promote: [/x]}
notify:
  receivers:
    - {name: hook, webhook: {url: "http://h:1"}}
    - {name: am, alertmanager: {urls: ["http://h:1"]}}
    - {name: masakari, masakari: {keystone: {url: "https://k", user: u, project: p, secret_file: /s}}}
    - {name: kube, kubernetes: {server: "https://k", token_file: /t}}
    - {name: duty, pagerduty: {routing_key_file: /k}}
    - {name: genie, opsgenie: {key_file: /k}}
    - {name: chat, telegram: {token_file: /t, chat: "1"}}
    - {name: post, mail: {server: "m:25", from: a@example.org, to: [b@example.org]}}
  routes: [{receiver: hook, active: [{from: "09:00", for: 8h}]}]
  maintenance: [{name: nightly, from: "02:00", for: 1h}]
silences: [{name: s, match: [code=x], from: "2026-11-21T02:00:00Z", until: "2026-11-22T02:00:00Z"}]
policies: [{name: p, on: [RAFT_DEAD_MEMBER]}]
)";

YamlNode tree_of(std::string_view text) {
  Problems problems;
  const YamlDocument document = parse_yaml(text, {}, problems);
  EXPECT_TRUE(problems.empty()) << text;
  return document.root;
}

Config config_of(std::string_view text) {
  auto config = parse_config(text, observe::probe_kinds());
  if (config) return *std::move(config);
  for (const Problem& problem : config.error())
    ADD_FAILURE() << problem.what << ": " << problem.why << "\nin\n" << text;
  return {};
}

std::string effective_text(std::string_view text) {
  return codec::yaml_text(effective(tree_of(text), config_of(text)));
}

/// Sections by name that `value` has, and `section.key` of keys with a default that are not there.
void visit(const json::value& value, const Section& section, std::set<std::string>& seen,
           std::set<std::string>& missing) {
  if (const json::array* const list = value.if_array()) {
    for (const json::value& item : *list) visit(item, section, seen, missing);
    return;
  }
  const json::object& map = value.as_object();
  seen.emplace(section.name);
  for (const KeySpec& key : section.keys) {
    const json::value* const found = map.if_contains(key.name);
    if (found == nullptr && !key.otherwise.empty())
      missing.insert(fmt::format("{}.{}", section.name, key.name));
    if (found == nullptr || key.section.empty() || found->is_string()) continue;
    const Section& below = *std::ranges::find(schema_table(), key.section, &Section::name);
    if (key.form != Form::kByName) {
      visit(*found, below, seen, missing);
    } else {
      for (const auto& [name, item] : found->as_object()) visit(item, below, seen, missing);
    }
  }
}

bool has_default(const Section& section) {
  return std::ranges::any_of(section.keys,
                             [](const KeySpec& key) { return !key.otherwise.empty(); });
}

TEST(Effective, ShowsEveryDefaultOfEverySection) {
  std::set<std::string> seen;
  std::set<std::string> missing;
  visit(effective(tree_of(kBare), config_of(kBare)), schema_table().front(), seen, missing);
  EXPECT_EQ(missing, std::set<std::string>{});
  for (const Section& section : schema_table()) {
    if (has_default(section)) {
      EXPECT_TRUE(seen.contains(std::string(section.name))) << section.name << ": add it to kBare";
    }
  }
}

/// The tables say what the readers do.
TEST(Effective, ADefaultThatIsWrittenDownMeansWhatAnAbsentKeyMeans) {
  const Config bare = config_of(kBare);
  const std::string shown = effective_text(kBare);
  Config again = config_of(shown);
  ASSERT_EQ(again.checks.size(), bare.checks.size());
  for (std::size_t i = 0; i < bare.checks.size(); ++i) again.checks[i].at = bare.checks[i].at;
  EXPECT_EQ(again.node, bare.node);
  EXPECT_EQ(again.api, bare.api);
  EXPECT_EQ(again.clusters, bare.clusters);
  EXPECT_EQ(again.checks, bare.checks);
  EXPECT_EQ(again.reporters, bare.reporters);
  EXPECT_EQ(again.meshes, bare.meshes);
  EXPECT_EQ(again.guests, bare.guests);
  EXPECT_EQ(again.gates, bare.gates);
  EXPECT_EQ(again.notify.receivers, bare.notify.receivers);
  EXPECT_EQ(again.notify.routes, bare.notify.routes);
  EXPECT_EQ(again.notify.maintenance, bare.notify.maintenance);
  EXPECT_EQ(again.notify.silences, bare.notify.silences);
  EXPECT_EQ(again.policies, bare.policies);
  EXPECT_EQ(effective_text(shown), shown);
}

TEST(Effective, WithoutRoutesItShowsThatEveryReceiverGetsEverything) {
  const std::string shown = effective_text(
      "checks: [{name: a, tcp: {address: \"127.0.0.1:1\"}}]\n"
      "notify: {receivers: [{name: hook, log: {}}, {name: other, log: {}}]}\n");
  EXPECT_TRUE(shown.contains("    - receiver: other\n      continue: true\n")) << shown;
}

}  // namespace
}  // namespace wardmote::config
