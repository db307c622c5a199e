#include "config/schema.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "act/notify/services/service.h"
#include "base/format.h"
#include "base/text.h"
#include "config/config.h"
#include "config/effective.h"
#include "config/yaml.h"
#include "unit/config/schema_validator.h"

namespace wardmote::config {
namespace {

using Keys = std::set<std::string>;

/// Everything that a map of this section may have, as the parser says when it meets another key.
Keys parser_knows(const std::string& yaml) {
  const auto config = parse_config(yaml, observe::probe_kinds());
  EXPECT_FALSE(config) << yaml;
  for (const Problem& problem : config.error()) {
    std::string_view fix = problem.fix;
    if (!problem.what.contains("zzzzzzzzzzzz") || !consume_prefix(fix, "it may have: ")) continue;
    Keys keys;
    for (const std::string_view key : split(fix, ',')) keys.emplace(trim(key));
    keys.erase("");  // nothing at all
    return keys;
  }
  ADD_FAILURE() << "the parser does not complain about the unknown key of " << yaml;
  return {};
}

/// One map of every section, with a key that none has.
const std::map<std::string, std::string> kStrange = {
    {"file", "zzzzzzzzzzzz: 1"},
    {"node", "node: {zzzzzzzzzzzz: 1}"},
    {"api", "api: {zzzzzzzzzzzz: 1}"},
    {"api_tls", "api: {tls: {zzzzzzzzzzzz: 1}}"},
    {"ovn_tls", "clusters: [{ovn: {members: [{ovsdb: \"ssl:h:1\"}], tls: {zzzzzzzzzzzz: 1}}}]"},
    {"notify", "notify: {zzzzzzzzzzzz: 1}"},
    {"receiver", "notify: {receivers: [{zzzzzzzzzzzz: 1}]}"},
    {"webhook", "notify: {receivers: [{webhook: {zzzzzzzzzzzz: 1}}]}"},
    {"alertmanager", "notify: {receivers: [{alertmanager: {zzzzzzzzzzzz: 1}}]}"},
    {"masakari", "notify: {receivers: [{masakari: {zzzzzzzzzzzz: 1}}]}"},
    {"keystone", "notify: {receivers: [{masakari: {keystone: {zzzzzzzzzzzz: 1}}}]}"},
    {"kubernetes", "notify: {receivers: [{kubernetes: {zzzzzzzzzzzz: 1}}]}"},
    {"mail", "notify: {receivers: [{mail: {zzzzzzzzzzzz: 1}}]}"},
    {"journal", "notify: {receivers: [{journal: {zzzzzzzzzzzz: 1}}]}"},
    {"exec", "notify: {receivers: [{exec: {zzzzzzzzzzzz: 1}}]}"},
    {"log", "notify: {receivers: [{log: {zzzzzzzzzzzz: 1}}]}"},
    {"route", "notify: {routes: [{zzzzzzzzzzzz: 1}]}"},
    {"window", "notify: {routes: [{active: [{zzzzzzzzzzzz: 1}]}]}"},
    {"maintenance", "notify: {maintenance: [{zzzzzzzzzzzz: 1}]}"},
    {"silence", "silences: [{zzzzzzzzzzzz: 1}]"},
    {"token", "api: {tokens: [{zzzzzzzzzzzz: 1}]}"},
    {"cluster", "clusters: [{zzzzzzzzzzzz: 1}]"},
    {"ovn", "clusters: [{ovn: {zzzzzzzzzzzz: 1}}]"},
    {"etcd_cluster", "clusters: [{etcd: {zzzzzzzzzzzz: 1}}]"},
    {"etcd_member", "clusters: [{etcd: {members: [{zzzzzzzzzzzz: 1}]}}]"},
    {"member", "clusters: [{ovn: {members: [{zzzzzzzzzzzz: 1}]}}]"},
    {"repair", "clusters: [{ovn: {members: [{repair: {zzzzzzzzzzzz: 1}}]}}]"},
    {"policy", "policies: [{zzzzzzzzzzzz: 1}]"},
    {"store", "store: {zzzzzzzzzzzz: 1}"},
    {"etcd", "store: {etcd: {zzzzzzzzzzzz: 1}}"},
    {"command", "clusters: [{ovn: {members: [{control: {zzzzzzzzzzzz: 1}}]}}]"},
    {"check", "checks: [{zzzzzzzzzzzz: 1}]"},
    {"reporter", "reporters: [{zzzzzzzzzzzz: 1}]"},
    {"mesh", "meshes: [{zzzzzzzzzzzz: 1}]"},
    {"mesh_member", "meshes: [{members: [{zzzzzzzzzzzz: 1}, {zzzzzzzzzzzz: 1}]}]"},
    {"guests", "guests: {zzzzzzzzzzzz: 1}"},
    {"inside", "guests: {inside: {zzzzzzzzzzzz: 1}}"},
    {"restart", "guests: {restart: {zzzzzzzzzzzz: 1}}"},
    {"guest_maintenance", "guests: {maintenance: [{zzzzzzzzzzzz: 1}]}"},
    {"version_gate", "data: /d\nversion_gates: [{zzzzzzzzzzzz: 1}]"},
    {"reconcile", "data: /d\nversion_gates: [{reconcile: {zzzzzzzzzzzz: 1}}]"},
    {"reconcile_git",
     "data: /d\nversion_gates: [{reconcile: {git: {zzzzzzzzzzzz: 1}, kubernetes: {}}}]"},
    {"reconcile_config_map",
     "data: /d\nversion_gates: [{reconcile: {config_map: {zzzzzzzzzzzz: 1}, kubernetes: {}}}]"},
    {"reconcile_kubernetes",
     "data: /d\nversion_gates: [{reconcile: {manifests: /m, kubernetes: {zzzzzzzzzzzz: 1}}}]"},
    {"reconcile_files",
     "data: /d\nversion_gates: [{reconcile: {manifests: /m, files: {zzzzzzzzzzzz: 1}}}]"},
    {"node_conditions", "node_conditions: {zzzzzzzzzzzz: 1}"},
    {"failover", "failover: [{zzzzzzzzzzzz: 1}]"},
    {"failover_database", "failover: [{nb: {zzzzzzzzzzzz: 1}}]"},
    {"failover_hooks", "failover: [{hooks: {zzzzzzzzzzzz: 1}}]"},
    {"public_page", "public: {zzzzzzzzzzzz: 1}"},
    {"public_line", "public: {lines: [{zzzzzzzzzzzz: 1}]}"},
    {"gate", "gates: {a: {zzzzzzzzzzzz: 1}}"},
    {"at_least", "gates: {a: {at_least: {zzzzzzzzzzzz: 1}}}"},
};

std::string strange(std::string_view section) {
  for (const act::notify::Service& service : act::notify::services()) {
    if (service.name == section)
      return fmt::format("notify: {{receivers: [{{{}: {{zzzzzzzzzzzz: 1}}}}]}}", section);
  }
  const auto found = kStrange.find(std::string(section));
  if (found != kStrange.end()) return found->second;
  ADD_FAILURE() << "write a map of section " << section;
  return {};
}

TEST(Schema, HasTheKeysThatTheParserReads) {
  for (const Section& section : schema_table()) {
    Keys keys;
    for (const KeySpec& key : section.keys) keys.emplace(key.name);
    if (section.scheduled) {
      for (const KeySpec& key : schedule_keys()) keys.emplace(key.name);
    }
    if (section.name == "check") {
      for (const observe::ProbeKind& kind : observe::probe_kinds()) keys.emplace(kind.name);
    }
    EXPECT_EQ(keys, parser_knows(strange(section.name))) << section.name;
  }
}

// `config show` shows every value; a secret stands in a file of its own.
TEST(Schema, NoKeyHoldsASecret) {
  for (const Section& section : schema_table()) {
    for (const KeySpec& key : section.keys) {
      const bool text = key.form == Form::kText || key.form == Form::kTexts;
      if (!text || key.name.ends_with("_file")) continue;
      for (const char* const word : {"token", "password", "secret"})
        EXPECT_FALSE(key.name.contains(word)) << section.name << ": " << key.name;
    }
  }
}

bool schema_accepts(const std::string& yaml) {
  Problems problems;
  const YamlDocument document = parse_yaml(yaml, {}, problems);
  EXPECT_TRUE(document.complete) << yaml;
  const boost::json::object schema = json_schema(observe::probe_kinds());
  return testing::SchemaValidator(schema).valid(to_json(document.root));
}

constexpr const char* kGood[] = {
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}}]",
    "node: {name: ctl-1, labels: {zone: a, rack: 3}}\n"
    "api: {listen: 127.0.0.1:9470, socket: /run/wardmote/api.sock, anonymous: none, hosts: "
    "[ctl-1],\n"
    "      tokens: [{name: grafana, role: viewer, file: /etc/t}], groups: {adm: operator, 4: "
    "admin}}\n"
    "clusters:\n"
    "  - name: ovn-nb\n"
    "    ovn:\n"
    "      database: OVN_Northbound\n"
    "      members:\n"
    "        - {name: 1, control: /run/ovn/ovnnb_db.ctl, ovsdb: 'unix:/run/ovn/ovnnb_db.sock'}\n"
    "        - {name: ctl-2, ovsdb: 'tcp:10.0.0.2:6641'}\n"
    "        - {name: ctl-3, control: {command: [ssh, ctl-3, ovn-appctl, -t, /run/x.ctl]},\n"
    "           repair: {copy: {command: [/c]}, rejoin: {command: [/r, 3]}, timeout: 5m}}\n"
    "      expect: ['tcp:10.0.0.1:6643', 'tcp:10.0.0.2:6643']\n"
    "      replicas: 2\n"
    "    every: 1s\n"
    "    timeout: 900ms\n"
    "data: /var/lib/wardmote\n"
    "policies:\n"
    "  - {name: ghosts, on: [RAFT_STALE_MEMBER, RAFT_DEAD_MEMBER], mode: act, sole: true, "
    "approval: false,\n"
    "     after: 5m, budget: 2, window: 2h, cooldown: 0s}\n"
    "  - {name: repair, on: [RAFT_MEMBER_DOWN], clusters: [ovn-nb]}\n"
    "checks:\n"
    "  - {name: sb, ovn: {control: /run/x.ctl, database: OVN_Southbound}, every: 2m, fall: 3,\n"
    "     rise: 2, optional: true, unknown_limit: 1h, start_period: 30s}\n"
    "  - {name: bird-1, bird: {socket: /run/1.ctl}}\n"
    "  - {name: bird-2, frr: {socket: /run/2.vty}}\n"
    "meshes: [{name: bgp, members: [{check: bird-1}, {check: bird-2, addresses: [10.0.0.2]}],\n"
    "          sparse: true, settle: 20s, optional: true}]\n"
    "reporters: [{name: felix, timeout: 90s, reports: [live], socket: /run/f.sock, optional: "
    "true}]\n"
    "gates: {ready: {all: [ovn-nb, sb]}, live: {all: [sb]},\n"
    "        most: {at_least: {count: 2, of: {ovn-nb: 2, sb: 1}}}, some: {at_least: {count: 1, of: "
    "[sb]}}}\n",
};

/// What both must refuse.
constexpr const char* kBad[] = {
    "- a",
    "checks: 3",
    "checks: [3]",
    "checks: [{tcp: {address: 127.0.0.1:1}}]",
    "checks: [{name: a}]",
    "checks: [{name: '', tcp: {address: 127.0.0.1:1}}]",
    "checks: [{name: a b, tcp: {address: 127.0.0.1:1}}]",
    "checks: [{name: a, tcp: {}}]",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1, adress: x}}]",
    "checks: [{name: a, tcp: {address: [127.0.0.1:1]}}]",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}, ovn: {control: /x, database: X}}]",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}, every: 5}]",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}, every: 5 s}]",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}, every: 1.5s}]",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}, fall: 0}]",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}, fall: 1001}]",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}, fall: '3'}]",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}, optional: yes}]",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}}]\ngates: {ready: [a]}",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}}]\ngates: {ready: {al: [a]}}",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}}]\ngates: {ready: {at_least: {count: 0, of: "
    "[a]}}}",
    "reporters: [{name: a, timeout: 3}]",
    "checks: [{name: a, bird: {}}, {name: b, bird: {}}]\nmeshes: [{members: [{check: a}, {check: "
    "b}]}]",
    "checks: [{name: a, bird: {}}, {name: b, bird: {}}]\nmeshes: [{name: m, members: [{check: a}, "
    "{chekc: b}]}]",
    "checks: [{name: a, bird: {}}, {name: b, bird: {}}]\nmeshes: [{name: m, settle: 3, members: "
    "[{check: a}, {check: b}]}]",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}}]\npolicies: [{name: p}]",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}}]\npolicies: [{on: [RAFT_STALE_MEMBER]}]",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}}]\npolicies: [{name: p, on: "
    "[RAFT_STALE_MEMBER], mode: maybe}]",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}}]\npolicies: [{name: p, on: "
    "[RAFT_STALE_MEMBER], budget: 0}]",
    "clusters: [{name: a, ovn: {database: X, members: [{name: m, control: /x, repair: {copy: "
    "{command: [/c]}}}]}}]",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}}]\nnode: x",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}}]\napi: {listen: 127.0.0.1:1, anonymous: "
    "admin}",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}}]\napi: {listen: 127.0.0.1:1, tokens: [{name: "
    "a, file: /t}]}",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}}]\napi: {listen: 127.0.0.1:1, groups: {a: "
    "boss}}",
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}}]\nnode: {labels: {a: {}}}",
    "clusters: [{name: a, ovn: {database: X}}]",
    "clusters: [{name: a, ovn: {database: X, members: {}}}]",
    "clusters: [{name: a, ovn: {database: X, members: [{name: m, control: {comand: [x]}}]}}]",
    "clusters: [{name: a, ovn: {database: X, members: [{name: m, control: [x]}]}}]",
    "clusters: [{name: a, ovn: {database: X, replicas: 33, members: [{name: m, control: /x}]}}]",
};

TEST(Schema, AcceptsWhatTheParserAccepts) {
  for (const std::string yaml : kGood) {
    EXPECT_TRUE(parse_config(yaml, observe::probe_kinds())) << yaml;
    EXPECT_TRUE(schema_accepts(yaml)) << yaml;
  }
}

TEST(Schema, RefusesWhatTheParserRefuses) {
  for (const std::string yaml : kBad) {
    EXPECT_FALSE(parse_config(yaml, observe::probe_kinds())) << yaml;
    EXPECT_FALSE(schema_accepts(yaml)) << yaml;
  }
}

}  // namespace
}  // namespace wardmote::config
