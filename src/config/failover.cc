#include "config/failover.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

constexpr std::size_t kMostPairs = 16;
constexpr std::size_t kMostMembers = 9;
/// The kernel takes the address away in whole seconds and a little late: with less it could still
/// be there when another node has it.
constexpr Duration kShortestTtl = 6s;
constexpr Duration kLongestTtl = 5min;
constexpr std::size_t kLongestInterface = 15;
/// A look asks nobody: its manager knows.
constexpr Duration kEvery = 500ms;
// What the judge calls critical has already stood for its window, so one such verdict is enough.
constexpr judge::CheckPolicy kPolicy{.fall = 1, .rise = 1};
constexpr unsigned kLoopback = 127;

std::string read_path(MapReader& map, std::string_view key, std::string otherwise) {
  const YamlNode* const node = map.find(key);
  if (node == nullptr) return otherwise;
  auto path = read_text(*node, key, map.problems());
  if (path && !path->starts_with('/'))
    map.problems().add(node->at, std::string(key), "not an absolute path", "write " + otherwise);
  return path.value_or(std::move(otherwise));
}

bool is_ssl(const FailoverDatabase& database) {
  return database.source.starts_with("ssl:");
}

FailoverDatabase read_database(const YamlNode& node, std::string_view short_name,
                               Problems& problems) {
  MapReader map(node, std::string(short_name), problems);
  FailoverDatabase read;
  read.control = read_path(map, "control", fmt::format("/run/ovn/ovn{}_db.ctl", short_name));
  read.socket = read_path(map, "socket", fmt::format("/run/ovn/ovn{}_db.sock", short_name));
  read.pid = read_path(map, "pid", fmt::format("/run/ovn/ovn{}_db.pid", short_name));
  read.file = read_path(map, "file", fmt::format("/var/lib/ovn/ovn{}_db.db", short_name));
  if (const YamlNode* const source = map.require("source", "source: 'tcp:10.0.0.1:6641'")) {
    read.source = read_text(*source, "source", problems).value_or("");
    const auto at = runtime::parse_endpoint(read.source);
    if (!at || !(read.source.starts_with("tcp:") || is_ssl(read)))
      problems.add(source->at, "source", "no address of a server",
                   "write it as ovsdb-server does: tcp:10.0.0.1:6641 or ssl:10.0.0.1:6641");
  }
  map.finish();
  return read;
}

void read_address(MapReader& map, Failover& pair) {
  if (const YamlNode* const node = map.require("address", "address: 10.0.0.100/24")) {
    const std::string text = read_text(*node, "address", map.problems()).value_or("");
    std::string_view rest = text;
    pair.address.address = take_until(rest, '/');
    in_addr four{};
    in6_addr six{};
    const bool is_four = ::inet_pton(AF_INET, pair.address.address.c_str(), &four) == 1;
    const bool is_six = ::inet_pton(AF_INET6, pair.address.address.c_str(), &six) == 1;
    const auto prefix = parse_number<unsigned>(rest);
    const unsigned longest = is_four ? 32 : 128;
    if ((!is_four && !is_six) || !prefix || *prefix == 0 || *prefix > longest) {
      map.problems().add(node->at, "address", "not an address with the length of its prefix",
                         "write 10.0.0.100/24");
    } else if (is_four && ntohl(four.s_addr) >> 24 == kLoopback) {
      map.problems().add(node->at, "address", "every host has this address itself",
                         "take one of the network of the nodes");
    } else {
      pair.address.prefix = static_cast<std::uint8_t>(*prefix);
    }
  }
  if (const YamlNode* const node = map.require("interface", "interface: eth0")) {
    pair.address.interface = read_text(*node, "interface", map.problems()).value_or("");
    if (pair.address.interface.empty() || pair.address.interface.size() > kLongestInterface)
      map.problems().add(node->at, "interface", "no name of an interface", "write eth0");
  }
}

void read_members(MapReader& map, Failover& pair, const std::string& node_name) {
  const YamlNode* const node = map.require("members", "members: [ctl-1, ctl-2]");
  if (node == nullptr) return;
  for (Placed<std::string>& member : read_texts(*node, "members", map.problems())) {
    if (std::ranges::find(pair.members, member.value) != pair.members.end())
      map.problems().add(member.at, "members", "it is there twice", "name each node once");
    pair.members.push_back(std::move(member.value));
  }
  if (pair.members.empty() || pair.members.size() > kMostMembers)
    map.problems().add(node->at, "members",
                       fmt::format("not a list of 1 to {} nodes", kMostMembers), "name the nodes");
  const bool known = std::ranges::find(pair.members, node_name) != pair.members.end();
  if (!node_name.empty() && !known)
    map.problems().add(node->at, "members", fmt::format("this node, '{}', is not there", node_name),
                       "add it, or remove the pair here");
}

std::vector<std::string> read_program(MapReader& map, std::string_view key) {
  std::vector<std::string> argv;
  const YamlNode* const node = map.find(key);
  if (node == nullptr) return argv;
  for (Placed<std::string>& word : read_texts(*node, key, map.problems()))
    argv.push_back(std::move(word.value));
  return argv;
}

/// What the nodes ask each other over `ssl:` with. Each needs the other.
void read_tls(MapReader& map, Failover& pair) {
  const bool asked = is_ssl(pair.nb) || is_ssl(pair.sb);
  const YamlNode* const tls = map.find("tls");
  if (tls != nullptr) pair.tls = read_member_tls(*tls, map.problems());
  if (asked && tls == nullptr)
    map.problems().add(map.at(), map.what(),
                       "its servers are asked over ssl:, and nothing says whom to believe",
                       "add 'tls: {ca: ..., certificate: ..., key: ...}'");
  if (!asked && tls != nullptr)
    map.problems().add(tls->at, "tls", "no source is of ssl:",
                       "write sources as ssl:10.0.0.1:6641, or remove 'tls'");
}

void read_hooks(MapReader& map, Failover& pair) {
  const YamlNode* const node = map.find("hooks");
  if (node == nullptr) return;
  MapReader hooks(*node, "hooks", map.problems());
  pair.hooks.pre_promote = read_program(hooks, "pre_promote");
  pair.hooks.on_role_change = read_program(hooks, "on_role_change");
  pair.hooks.timeout = hooks.read_duration_in("timeout", 1s, 5min, pair.hooks.timeout);
  hooks.finish();
}

void read_mode(MapReader& map, Failover& pair) {
  const YamlNode* const mode = map.find("mode");
  if (mode == nullptr) return;
  const auto word = read_text(*mode, "mode", map.problems());
  pair.acts = word == "act";
  if (word && word != "act" && word != "observe")
    map.problems().add(mode->at, "mode", "there is no such mode", "write observe or act");
}

Check check_of(const Failover& pair, Place at) {
  Check check;
  check.name = pair.name;
  check.at = at;
  check.kind = &failover_pair_kind();
  check.schedule = {kEvery, kEvery, kPolicy, false};
  return check;
}

}  // namespace

const observe::ProbeKind& failover_pair_kind() noexcept {
  static constexpr observe::ProbeKind kKind{
      "failover_pair", "A pair of databases in active/backup mode", {}, nullptr, false};
  return kKind;
}

void read_failover(const YamlNode& list, Config& config, Names& names, Problems& problems) {
  if (list.kind != YamlNode::Kind::kList || list.items.size() > kMostPairs) {
    problems.add(list.at, "failover", fmt::format("not a list of at most {} pairs", kMostPairs),
                 "write '- {name: ovn, members: [ctl-1, ctl-2], …}' below it");
    return;
  }
  if (!config.store)
    problems.add(list.at, "failover", "there is no store that the nodes share",
                 "add 'store': without it nobody can know that only one node is active");
  if (config.node.name.empty())
    problems.add(list.at, "failover", "this node has no name that stays", "add 'node: {name: …}'");
  for (const YamlNode& item : list.items) {
    Failover pair;
    MapReader map(item, fmt::format("failover pair {}", config.failover.size() + 1), problems);
    if (const YamlNode* const name = map.require("name", "name: ovn")) {
      pair.name = read_name(*name, "name", problems).value_or("");
      if (!pair.name.empty()) names.add(pair.name, name->at, problems);
    }
    read_members(map, pair, config.node.name);
    read_mode(map, pair);
    if (const YamlNode* const nb = map.require("nb", "nb: {source: 'tcp:10.0.0.1:6641'}"))
      pair.nb = read_database(*nb, "nb", problems);
    if (const YamlNode* const sb = map.require("sb", "sb: {source: 'tcp:10.0.0.1:6642'}"))
      pair.sb = read_database(*sb, "sb", problems);
    read_address(map, pair);
    pair.ttl = map.read_duration_in("ttl", kShortestTtl, kLongestTtl, pair.ttl);
    pair.priority = static_cast<int>(map.read_integer_in("priority", -1000, 1000, 0));
    pair.nofailover = map.read("nofailover", read_flag).value_or(false);
    pair.fence = read_program(map, "fence");
    pair.fence_timeout = map.read_duration_in("fence_timeout", 1s, 5min, pair.fence_timeout);
    read_hooks(map, pair);
    read_tls(map, pair);
    map.finish();
    const bool by_address = pair.nb.source.contains(pair.address.address + ":") ||
                            pair.sb.source.contains(pair.address.address + ":");
    if (by_address && !pair.address.address.empty())
      problems.add(item.at, map.what(), "the others would copy from the address that moves",
                   "let 'source' have this node's own address");
    if (!pair.name.empty()) config.checks.push_back(check_of(pair, item.at));
    config.failover.push_back(std::move(pair));
  }
}

}  // namespace wardmote::config
