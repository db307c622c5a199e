#include "config/import/plunger.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <expected>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "config/import/draft.h"
#include "config/import/format.h"
#include "config/import/plunger_command.h"
#include "config/import/text.h"
#include "runtime/endpoint.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongestAddress = 45;  // of IPv6
constexpr std::size_t kMostMembers = 32;     // of a cluster

struct Flag {
  std::string_view name;
  std::string_view silent;  ///< the value that says nothing
  std::string_view says;    ///< empty: it is translated
};
// cmd/kubeovn-plunger/main.go of cozystack 1.6, and the flags of controller-runtime.
constexpr auto kFlags = std::to_array<Flag>({
    {"metrics-bind-address", "", ""},
    {"health-probe-bind-address", ":8081", "/livez and /readyz are at `api.listen`, too"},
    {"kube-ovn-namespace", "",
     "no counterpart is needed: agents on the nodes of the database servers need no right in the "
     "cluster"},
    {"ovn-central-name", "", "no counterpart is needed: `members` say where the servers are"},
    {"leader-elect", "false",
     "agents that share a `store` elect a leader, which alone notifies (docs/coordination.md)"},
    {"metrics-secure", "false",
     "write `api.tls` and `api.tokens` for HTTPS and authorization (docs/security.md)"},
    {"enable-http2", "false", "no counterpart: the API speaks HTTP/1.1"},
    {"disable-telemetry", "", "no counterpart is needed: the agent sends no telemetry"},
    {"kubeconfig", "", "no counterpart is needed: the agent asks the servers themselves"},
    {"zap-log-level", "info", "start the agent with --log-level"},
    {"zap-encoder", "", "start the agent with --log-format json, if it is json"},
    {"zap-devel", "false", "it concerns the Go program only"},
    {"zap-stacktrace-level", "", "it concerns the Go program only"},
    {"zap-time-encoding", "", "it concerns the Go program only"},
});

/// The databases of Kube-OVN and their ports (dist/images/start-db.sh).
struct Database {
  std::string_view cluster;
  std::string_view name;
  std::string_view socket;
  std::string_view port;
  std::string_view raft_port;
};
constexpr auto kDatabases =
    std::to_array<Database>({{"ovn-nb", "OVN_Northbound", "ovnnb_db", "6641", "6643"},
                             {"ovn-sb", "OVN_Southbound", "ovnsb_db", "6642", "6644"}});

class Translation {
 public:
  Translation(std::span<const ForeignFile> files, PlungerCommand command)
      : draft_(files), command_(std::move(command)) {}

  Result<Imported> run() {
    tls_ = get("ENABLE_SSL") == "true";
    if (auto good = read_nodes(); !good) return std::unexpected(good.error());
    json::array clusters;
    for (const Database& database : kDatabases) clusters.emplace_back(cluster(database));
    add_api();
    draft_.root()["clusters"] = std::move(clusters);
    say_flags();
    say_nodes();
    draft_.say(
        "alerts and dashboards keep the names of their metrics "
        "(docs/migrating-from-plunger.md)");
    return std::move(draft_).finish();
  }

 private:
  [[nodiscard]] std::string get(std::string_view name) const {
    const auto found = command_.environment.find(name);
    return found == command_.environment.end() ? std::string() : found->second;
  }

  Result<void> read_nodes() {
    std::set<std::string> seen;
    const std::string list = get("NODE_IPS");
    for (const std::string_view one : split(list, ',')) {
      const std::string node(trim(one));
      if (node.empty() || !seen.insert(node).second) continue;
      const bool clean = node.size() <= kLongestAddress && node.front() != '.' &&
                         node.find_first_not_of("0123456789.:abcdefABCDEF") == std::string::npos;
      if (!clean || !runtime::parse_endpoint("tcp:" + host_and_port(node, "6641"))) {
        draft_.say("NODE_IPS: an item is no address: left out");
        continue;
      }
      if (nodes_.size() == kMostMembers)
        return fail(Errc::kLimit, "NODE_IPS: more than {} addresses", kMostMembers);
      nodes_.push_back(node);
    }
    return {};
  }

  [[nodiscard]] std::string address(const std::string& node, std::string_view port) const {
    return (tls_ ? "ssl:" : "tcp:") + host_and_port(node, port);
  }

  [[nodiscard]] json::object cluster(const Database& database) const {
    json::object ovn{{"database", database.name}};
    json::array members;
    json::array expect;
    for (const std::string& node : nodes_) {
      std::string name = node;
      std::ranges::replace(name, ':', '-');
      if (name.starts_with('-')) name.insert(0, "ip");
      members.emplace_back(
          json::object{{"name", name.substr(0, 63)}, {"ovsdb", address(node, database.port)}});
      expect.emplace_back(address(node, database.raft_port));
    }
    if (nodes_.empty()) {
      members.emplace_back(
          json::object{{"name", "here"},
                       {"control", fmt::format("/run/ovn/{}.ctl", database.socket)},
                       {"ovsdb", fmt::format("unix:/run/ovn/{}.sock", database.socket)}});
    }
    ovn["members"] = std::move(members);
    if (!expect.empty()) ovn["expect"] = std::move(expect);
    if (tls_ && !nodes_.empty())
      ovn["tls"] = json::object{{"ca", "/var/run/tls/cacert"},
                                {"certificate", "/var/run/tls/cert"},
                                {"key", "/var/run/tls/key"}};
    return json::object{{"name", database.cluster}, {"ovn", std::move(ovn)}};
  }

  /// Go's `:8080` is every address of the host.
  void add_api() {
    std::string listen;
    for (const auto& [name, value] : command_.flags) {
      if (name == "metrics-bind-address") listen = value;
    }
    if (listen.empty() || listen == "0") return;
    if (listen.starts_with(':')) listen.insert(0, "0.0.0.0");
    const auto endpoint = runtime::parse_endpoint(listen);
    const bool is_tcp = endpoint && endpoint->kind == runtime::Endpoint::Kind::kTcp;
    if (!is_tcp ||
        endpoint->host.find_first_not_of("0123456789.:abcdefABCDEF") != std::string::npos ||
        endpoint->host.find_first_of(".:") == std::string::npos)
      return draft_.say("metrics-bind-address: not an address and a port: left out");
    draft_.root()["api"] = json::object{{"listen", listen}, {"socket", "/run/wardmote/api.sock"}};
    draft_.say(
        "metrics-bind-address: `api.listen` has the whole API: beyond loopback a caller needs "
        "a token (`tokens`), unless `anonymous: viewer` shows everything to everybody");
  }

  void say_flags() {
    for (const auto& [name, value] : command_.flags) {
      const auto* const row = std::ranges::find(kFlags, name, &Flag::name);
      const std::string title = "--" + escape_control(name, 64);
      if (row == kFlags.end()) {
        draft_.say(fmt::format("{}: no flag that is known: left out", title));
      } else if (!row->says.empty() && (row->silent.empty() || value != row->silent)) {
        draft_.say(fmt::format("{}: {}", title, row->says));
      }
    }
  }

  void say_nodes() {
    if (nodes_.empty()) {
      return draft_.say(
          "no file has NODE_IPS: name the Deployment of ovn-central, too. Until then an agent on "
          "each node of a database server looks at its own server, and nothing is expected");
    }
    draft_.say(
        "on the node of a server, give its member `control: /run/ovn/ovnnb_db.ctl` "
        "(ovnsb_db.ctl), which tells everything (docs/configuration.md)");
    if (tls_)
      draft_.say(
          "ENABLE_SSL: the files of `tls` are those of the pod: copy them out of the Secret "
          "kube-ovn-tls, readable by the agent only, and write their paths");
  }

  ImportDraft draft_;
  PlungerCommand command_;
  std::vector<std::string> nodes_;
  bool tls_ = false;
};

}  // namespace

bool is_plunger(std::string_view text) {
  const bool named = text.contains("kubeovn-plunger") || text.contains("kube-ovn-plunger") ||
                     text.contains("--ovn-central-name") || text.contains("--kube-ovn-namespace");
  return named || (text.contains("NODE_IPS") && text.contains("ovn-central"));
}

Result<Imported> import_plunger(std::span<const ForeignFile> files) {
  auto command = read_plunger(files);
  if (!command) return std::unexpected(command.error());
  if (command->flags.empty() && !command->environment.contains("NODE_IPS"))
    return fail(Errc::kInvalid,
                "neither flags of the KubeOVN plunger nor NODE_IPS of ovn-central are in it");
  return Translation(files, *std::move(command)).run();
}

}  // namespace wardmote::config
