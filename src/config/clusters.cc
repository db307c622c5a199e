#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/raft_address.h"
#include "config/config.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/sections.h"
#include "config/yaml.h"
#include "judge/raft/assess.h"
#include "observe/kinds.h"
#include "runtime/endpoint.h"
#include "runtime/tls.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostClusters = 4'096;
constexpr std::size_t kMostMembers = 32;
/// For tests of a cluster that nobody needs; a host takes longer to restart.
constexpr Duration kShortestGone = 10s;
// What the judge calls critical has already stood for its window, so one such verdict is enough.
constexpr ScheduleDefaults kDefaults{.every = 1s, .fall = 1, .rise = 1};

/// A misspelt database would look like a member that was removed from its cluster, so near misses
/// are refused.
std::optional<std::string> read_database(const YamlNode& node, std::string_view what,
                                         Problems& problems) {
  static const std::vector<std::string_view> kKnown = {"OVN_Northbound", "OVN_Southbound",
                                                       "OVN_IC_Northbound", "OVN_IC_Southbound"};
  auto name = read_name(node, what, problems);
  if (!name || std::ranges::find(kKnown, *name) != kKnown.end()) return name;
  const auto guess = did_you_mean(*name, kKnown);
  if (!guess) return name;
  problems.add(node.at, fmt::format("{} '{}'", what, *name), "no database of OVN has this name",
               fmt::format("did you mean '{}'?", *guess));
  return std::nullopt;
}

constexpr std::size_t kMostWords = 64;
constexpr std::string_view kControlExample =
    "command: [ssh, ctl-2, ovn-appctl, -t, /run/ovn/ovnnb_db.ctl]";
constexpr std::string_view kOvsdbExample =
    "command: [kubectl, exec, POD, --, ovsdb-client, query, 'unix:/run/ovn/ovnnb_db.sock']";
/// Within the time after which a silent server is gone for good.
constexpr int kLooksAtSilence = 4;
constexpr std::string_view kCopyExample = "copy: {command: [/usr/local/sbin/copy-ovn-db]}";
constexpr std::string_view kReportExample = "report: {command: [/usr/local/sbin/report-ovn-db]}";
constexpr std::string_view kRejoinExample = "rejoin: {command: [/usr/local/sbin/rejoin-ovn-db]}";

/// `{command: [ssh, ctl-2, ovn-appctl, -t, /run/ovn/ovnnb_db.ctl]}`: a list of arguments, for no
/// shell reads it.
std::vector<std::string> read_command(const YamlNode& node, std::string_view what,
                                      std::string_view example, Problems& problems) {
  MapReader map(node, std::string(what), problems);
  std::vector<std::string> words;
  const YamlNode* const command = map.require("command", example);
  if (command != nullptr) {
    for (Placed<std::string>& word : read_texts(*command, "command", problems))
      words.push_back(std::move(word.value));
  }
  const bool is_list = command != nullptr && command->kind == YamlNode::Kind::kList;
  if (is_list && (words.empty() || words.front().empty() || words.size() > kMostWords)) {
    problems.add(command->at, fmt::format("command of '{}'", what),
                 fmt::format("not a program and at most {} arguments", kMostWords - 1),
                 fmt::format("write for example {}", example));
    words.clear();
  }
  map.finish();
  return words;
}

std::optional<runtime::Endpoint> read_control(const YamlNode& node, std::string_view what,
                                              Problems& problems) {
  auto endpoint = read_endpoint(node, what, problems);
  if (!endpoint) return std::nullopt;
  if (endpoint->kind == runtime::Endpoint::Kind::kUnix && endpoint->path.starts_with('/'))
    return endpoint;
  problems.add(node.at, std::string(what), "not the absolute path of a unix socket",
               "write for example /run/ovn/ovnnb_db.ctl");
  return std::nullopt;
}

/// Reports a socket that an earlier member has too: one process would be counted as two members.
class Sockets {
 public:
  void add(const std::optional<runtime::Endpoint>& socket, Place at, const std::string& member,
           Problems& problems) {
    if (!socket) return;
    const std::string address = to_string(*socket);
    const auto [owner, added] = owners_.emplace(address, member);
    if (added) return;
    problems.add(at, fmt::format("socket '{}'", escape_control(address)),
                 fmt::format("member '{}' has it already", owner->second),
                 "give every member its own");
  }

 private:
  std::map<std::string, std::string> owners_;
};

Repair read_repair(const YamlNode& node, Problems& problems) {
  MapReader map(node, "repair", problems);
  Repair repair;
  if (const YamlNode* const copy = map.require("copy", kCopyExample)) {
    repair.copy = read_command(*copy, "copy", kCopyExample, problems);
  }
  if (const YamlNode* const report = map.find("report")) {
    repair.report = read_command(*report, "report", kReportExample, problems);
  }
  if (const YamlNode* const rejoin = map.require("rejoin", kRejoinExample)) {
    repair.rejoin = read_command(*rejoin, "rejoin", kRejoinExample, problems);
  }
  repair.timeout = map.read_duration_in("timeout", 1s, 1h, repair.timeout);
  map.finish();
  return repair;
}

Member read_member(const YamlNode& node, std::size_t number, Names& names, Sockets& sockets,
                   Problems& problems) {
  MapReader map(node, fmt::format("member {}", number), problems);
  Member member;
  member.name = map.read_required("name", "name: ctl-1", read_name).value_or("");
  if (!member.name.empty()) names.add(member.name, map.at(), problems);
  const YamlNode* const control = map.find("control");
  const YamlNode* const ovsdb = map.find("ovsdb");
  if (control != nullptr && control->kind == YamlNode::Kind::kMap) {
    member.control_command = read_command(*control, "control", kControlExample, problems);
  } else if (control != nullptr) {
    member.control = read_control(*control, "control", problems);
  }
  if (ovsdb != nullptr && ovsdb->kind == YamlNode::Kind::kMap) {
    member.ovsdb_command = read_command(*ovsdb, "ovsdb", kOvsdbExample, problems);
  } else if (ovsdb != nullptr) {
    member.ovsdb = read_endpoint(*ovsdb, "ovsdb", problems);
  }
  if (const YamlNode* const repair = map.find("repair")) {
    member.repair = read_repair(*repair, problems);
  }
  sockets.add(member.control, control != nullptr ? control->at : map.at(), member.name, problems);
  sockets.add(member.ovsdb, ovsdb != nullptr ? ovsdb->at : map.at(), member.name, problems);
  if (map.is_map() && control == nullptr && ovsdb == nullptr) {
    problems.add(
        map.at(), map.what(), "neither 'control' nor 'ovsdb'",
        "add 'control: /run/ovn/ovnnb_db.ctl', 'ovsdb: unix:/run/ovn/ovnnb_db.sock' or both");
  }
  map.finish();
  return member;
}

std::vector<Member> read_members(const YamlNode& list, Problems& problems) {
  std::vector<Member> members;
  if (list.kind != YamlNode::Kind::kList || list.items.empty() ||
      list.items.size() > kMostMembers) {
    problems.add(list.at, "members", fmt::format("not a list of 1 to {} members", kMostMembers),
                 "write '- {name: ctl-1, control: /run/ovn/ovnnb_db.ctl}' lines below it");
    return members;
  }
  Names names;
  Sockets sockets;
  for (const YamlNode& item : list.items) {
    members.push_back(read_member(item, members.size() + 1, names, sockets, problems));
  }
  return members;
}

/// Gives the members that are asked over `ssl:` what `tls` says. Each needs the other.
void take_tls(const YamlNode* tls, Place at, std::vector<Member>& members, Problems& problems) {
  const auto is_tls = [](const Member& member) {
    return member.ovsdb && member.ovsdb->kind == runtime::Endpoint::Kind::kTls;
  };
  const auto asked = std::ranges::find_if(members, is_tls);
  if (tls == nullptr) {
    if (asked == members.end()) return;
    problems.add(at, fmt::format("member '{}'", asked->name),
                 "it is asked over ssl:, and nothing says whom to believe",
                 "add 'tls: {ca: ..., certificate: ..., key: ...}' beside 'members'");
    return;
  }
  const auto settings =
      std::make_shared<const runtime::TlsSettings>(read_member_tls(*tls, problems));
  if (asked == members.end()) {
    problems.add(tls->at, "tls", "no member is asked over ssl:",
                 "write a member's ovsdb as ssl:HOST:PORT, or remove 'tls'");
  }
  for (Member& member : members) {
    if (is_tls(member)) member.ovsdb->tls = settings;
  }
}

/// `tcp:10.0.0.1:6643`, `ssl:10.0.0.1:6643`, or `unix:` with the absolute path of a socket.
bool is_raft_address(std::string_view text) {
  if (consume_prefix(text, "unix:")) return text.starts_with('/') && text.size() > 1;
  const bool known = consume_prefix(text, "tcp:") || consume_prefix(text, "ssl:");
  return known && runtime::parse_endpoint(text) && !text.starts_with('/');
}

/// Raft addresses as OVSDB prints them.
std::vector<std::string> read_expected(const YamlNode& node, Problems& problems) {
  std::vector<std::string> addresses;
  for (Placed<std::string>& text : read_texts(node, "expect", problems)) {
    if (!is_raft_address(text.value)) {
      problems.add(text.at, fmt::format("expect '{}'", escape_control(text.value, 64)),
                   "not a raft address",
                   "write it as cluster/status does: tcp:10.0.0.1:6643, ssl:10.0.0.1:6643 or "
                   "unix:/run/ovn/nb.raft");
      continue;
    }
    std::string address = codec::normal_address(text.value);
    if (std::ranges::find(addresses, address) != addresses.end()) {
      problems.add(text.at, fmt::format("expect '{}'", text.value), "listed twice", "remove one");
    } else {
      addresses.push_back(std::move(address));
    }
  }
  return addresses;
}

/// One list says who should be there, and a number that differs from it says something else: then
/// nobody knows whether one of the listed may be removed.
void compare_expected(const judge::raft::Expectation& expectation, Place at, Problems& problems) {
  const std::size_t listed = expectation.addresses.size();
  if (listed == 0 || expectation.replicas == 0 || expectation.replicas == listed) return;
  problems.add(at, "replicas",
               fmt::format("{} voters are expected, and 'expect' lists {} addresses",
                           expectation.replicas, listed),
               "correct 'expect', and leave 'replicas' out: it is their number");
}

void read_ovn(const YamlNode& node, Cluster& cluster, Problems& problems) {
  MapReader map(node, "ovn", problems);
  judge::raft::Expectation& expectation = cluster.expectation;
  expectation.database =
      map.read_required("database", "database: OVN_Northbound", read_database).value_or("");
  const YamlNode* const tls = map.find("tls");
  if (const YamlNode* const members = map.require("members", "members: [...]")) {
    cluster.members = read_members(*members, problems);
    take_tls(tls, members->at, cluster.members, problems);
  }
  if (const YamlNode* const expect = map.find("expect")) {
    expectation.addresses = read_expected(*expect, problems);
  }
  expectation.replicas =
      static_cast<std::size_t>(map.read_integer_in("replicas", 1, kMostMembers, 0));
  if (const YamlNode* const replicas = map.find("replicas"))
    compare_expected(expectation, replicas->at, problems);
  expectation.gone_after =
      map.read_duration_in("gone_after", kShortestGone, 24h, expectation.gone_after);
  map.finish();
}

Cluster read_cluster(const YamlNode& node, std::size_t number, Names& names, Problems& problems) {
  MapReader map(node, fmt::format("cluster {}", number), problems);
  Cluster cluster;
  if (const YamlNode* const name = map.require("name", "name: ovn-nb")) {
    cluster.name = read_name(*name, "name", problems).value_or("");
    if (!cluster.name.empty()) names.add(cluster.name, name->at, problems);
  }
  if (const YamlNode* const ovn = map.require("ovn", "ovn: {database: ..., members: [...]}")) {
    read_ovn(*ovn, cluster, problems);
  }
  map.find("etcd");  // a key that a cluster may have; one that has it is read elsewhere
  cluster.schedule = read_schedule(map, kDefaults);
  // Between looks that are farther apart nobody can say that a silence went on.
  cluster.expectation.gone_after =
      std::max<Duration>(cluster.expectation.gone_after, kLooksAtSilence * cluster.schedule.every);
  map.finish();
  return cluster;
}

}  // namespace

Check check_of(const Cluster& cluster, Place at) {
  Check made;
  made.name = cluster.name;
  made.at = at;
  made.kind = &cluster_kind();
  made.schedule = cluster.schedule;
  return made;
}

bool asked_in_the_same_way(const Member& a, const Member& b) {
  return a.control == b.control && a.ovsdb == b.ovsdb && a.control_command == b.control_command &&
         a.ovsdb_command == b.ovsdb_command;
}

const Member* find_asked_alike(std::span<const Member> members, const Member& member) {
  const auto alike = [&](const Member& its) { return asked_in_the_same_way(its, member); };
  const auto same = std::ranges::find(members, member.name, &Member::name);
  if (same != members.end() && alike(*same)) return &*same;
  const auto other = std::ranges::find_if(members, alike);
  return other == members.end() ? nullptr : &*other;
}

const observe::ProbeKind& cluster_kind() noexcept {
  static constexpr observe::ProbeKind kKind{
      "cluster", "A raft cluster, judged by what all its members say", {}, nullptr};
  return kKind;
}

void read_clusters(const YamlNode& list, Config& config, Names& names, Problems& problems) {
  if (list.kind != YamlNode::Kind::kList || list.items.size() > kMostClusters) {
    problems.add(list.at, "clusters",
                 fmt::format("not a list of at most {} clusters", kMostClusters),
                 "write '- name: ovn-nb' lines below it");
    return;
  }
  const auto is_etcd = [](const YamlNode& item) {
    return std::ranges::find(item.entries, "etcd", &YamlEntry::key) != item.entries.end();
  };
  for (const YamlNode& item : list.items) {
    if (is_etcd(item)) continue;
    Cluster cluster = read_cluster(item, config.clusters.size() + 1, names, problems);
    config.checks.push_back(check_of(cluster, item.at));
    config.clusters.push_back(std::move(cluster));
  }
  for (const YamlNode& item : list.items) {
    if (is_etcd(item)) read_etcd_cluster(item, config, names, problems);
  }
}

}  // namespace wardmote::config
