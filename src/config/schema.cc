#include "config/schema.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/format.h"
#include "base/text.h"
#include "config/failover_keys.h"
#include "config/guests_keys.h"
#include "config/node_conditions_keys.h"
#include "config/receivers/kinds.h"
#include "config/version_gates_keys.h"
#include "observe/kinds.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;
using observe::ParamType;

constexpr int kMostWeight = 1'000'000;
constexpr int kMostCount = std::numeric_limits<int>::max();
constexpr std::string_view kRoles = "viewer|operator|admin";

constexpr auto kFile = std::to_array<KeySpec>({
    {"include", Form::kTexts, false, "Further files, relative to this one; they may end in globs"},
    {"node", Form::kMap, false, "This machine", "node"},
    {"api", Form::kMap, false, "Where the page, the API, /livez, /readyz and /metrics are served",
     "api"},
    {"data", Form::kText, false, "An absolute folder for what must outlive the agent"},
    {"store", Form::kMap, false, "What several agents share", "store"},
    {"clusters", Form::kMaps, false, "Raft databases that are looked at as a whole", "cluster"},
    {"checks", Form::kMaps, false, "Single things that are looked at by a probe", "check"},
    {"reporters", Form::kMaps, false, "Programs that report their own health", "reporter"},
    {"meshes", Form::kMaps, false, "BGP daemons judged from both ends of their sessions", "mesh"},
    {"guests", Form::kMap, false, "The guests of this host, watched through their agents",
     "guests"},
    {"gates", Form::kByName, false, "Sets of checks and clusters; /readyz follows 'ready'", "gate"},
    {"public", Form::kMap, false, "A page for everybody, at /public (there is none)",
     "public_page"},
    {"version_gates", Form::kMaps, false,
     "Which releases may write, and serve on, what one leader reconciles", "version_gate"},
    {"failover", Form::kMaps, false,
     "Pairs of databases in active/backup mode that this node has a copy of", "failover"},
    {"node_conditions", Form::kMap, false,
     "Conditions of the Kubernetes Node, for the scheduler and for those who repair nodes",
     "node_conditions"},
    {"notify", Form::kMap, false, "Who is told of incidents", "notify"},
    {"silences", Form::kMaps, false, "What nobody is told of for a time", "silence"},
    {"policies", Form::kMaps, false, "What the agent may do itself", "policy"},
});
constexpr auto kPublicPage = std::to_array<KeySpec>({
    KeySpec{"title", Form::kText, false, "What the page is called"}.or_else("Status"),
    {"lines", Form::kMaps, true, "What it shows, in this order", "public_line"},
});
constexpr auto kPublicLine = std::to_array<KeySpec>({
    {"name", Form::kText, true, "As everybody may read it"},
    {"checks", Form::kTexts, true, "Names of checks and clusters; the worst of them decides"},
});
constexpr auto kNode = std::to_array<KeySpec>({
    {"name", Form::kName, false, "How this agent calls itself (the host's name)"},
    {"labels", Form::kLabels, false, "Text by name"},
});
constexpr auto kStore = std::to_array<KeySpec>({
    {"etcd", Form::kMap, true, "The etcd cluster that holds it", "etcd"},
    KeySpec{"name", Form::kName, false, "Agents of one name belong together"}.or_else("default"),
    KeySpec{"ttl", Form::kDuration, false, "Of the leader's lease, 2s to 5m"}.or_else("6s"),
});
constexpr auto kEtcd = std::to_array<KeySpec>({
    {"endpoints", Form::kTexts, true, "Of its members: host:port"},
    {"tls", Form::kMap, false, "Certificates; all endpoints then speak TLS", "ovn_tls"},
    {"user", Form::kText, false, "Where etcd asks for one by password"},
    {"password_file", Form::kText, false, "An absolute path; its first line is the password"},
});
constexpr auto kApi = std::to_array<KeySpec>({
    {"listen", Form::kEndpoint, false, "A TCP address (127.0.0.1:9470 where 'api' is absent)"},
    {"tls", Form::kMap, false, "Certificates; 'listen' then speaks TLS and nothing else",
     "api_tls"},
    {.name = "certificates",
     .form = Form::kWords,
     .required = false,
     .help = "What a client certificate lets do, by a name in it: cn:ops, dns:..., uri:...",
     .words = kRoles},
    {"socket", Form::kEndpoint, false, "A unix socket, for example /run/wardmote/api.sock"},
    {.name = "anonymous",
     .form = Form::kWord,
     .required = false,
     .help = "What somebody may do at 'listen' who shows no token (viewer where that is a "
             "loopback address, else none)",
     .words = "none|viewer"},
    {"tokens", Form::kMaps, false, "Bearer tokens, each in a file", "token"},
    {.name = "groups",
     .form = Form::kWords,
     .required = false,
     .help = "What the members of a group may do at 'socket', by its name or number",
     .words = kRoles},
    {"hosts", Form::kTexts, false, "Names of this host that browsers may use"},
});
constexpr auto kApiTls = std::to_array<KeySpec>({
    {"certificate", Form::kText, true, "PEM file with the server's certificate and its chain"},
    {"key", Form::kText, true, "PEM file with its key"},
    {"client_ca", Form::kText, false, "PEM file with the authorities of client certificates"},
});
constexpr auto kToken = std::to_array<KeySpec>({
    {"name", Form::kName, true, "For the log"},
    {.name = "role",
     .form = Form::kWord,
     .required = true,
     .help = "What it lets do",
     .words = kRoles},
    {"file", Form::kText, true, "The absolute path of the file that holds it"},
});

constexpr auto kCluster = std::to_array<KeySpec>({
    {"name", Form::kName, true, "Unique among clusters and checks"},
    {"ovn", Form::kMap, false, "An OVN database cluster", "ovn"},
    {"etcd", Form::kMap, false, "An etcd cluster", "etcd_cluster"},
});
constexpr auto kEtcdCluster = std::to_array<KeySpec>({
    {"members", Form::kMaps, true, "1 to 32 members", "etcd_member"},
    {"tls", Form::kMap, false, "Certificates; all endpoints then speak TLS", "ovn_tls"},
    {"expect", Form::kTexts, false, "Peer URLs as 'etcdctl member list' prints them"},
    {"quota", Form::kText, false, "The members' --quota-backend-bytes: 2GiB"},
});
constexpr auto kEtcdMember = std::to_array<KeySpec>({
    {"name", Form::kName, true, "Unique in its cluster"},
    {"endpoint", Form::kText, true, "A client address of it: host:port"},
    {"metrics", Form::kText, false,
     "The URL of its metrics, as http://10.0.0.1:2381/metrics (they are not read)"},
});
constexpr auto kOvn = std::to_array<KeySpec>({
    {"database", Form::kName, true, "OVN_Northbound, OVN_Southbound or another clustered database"},
    {"members", Form::kMaps, true, "1 to 32 members", "member"},
    {"expect", Form::kTexts, false, "Raft addresses as cluster/status prints them"},
    {"tls", Form::kMap, false, "Certificates, where a member is asked over ssl:", "ovn_tls"},
    {"replicas", Form::kNumber, false, "Expected voters (the number of 'expect')", {}, 1, 32},
    KeySpec{"gone_after", Form::kDuration, false,
            "How long nobody must have heard a server that may be removed: 10s to 24h"}
        .or_else("10m"),
});
constexpr auto kOvnTls = std::to_array<KeySpec>({
    {"ca", Form::kText, true, "PEM file with the authorities of the servers"},
    {"certificate", Form::kText, false, "PEM file with our own certificate and its chain"},
    {"key", Form::kText, false, "PEM file with its key"},
});
constexpr auto kMember = std::to_array<KeySpec>({
    {"name", Form::kName, true, "Unique in its cluster"},
    {"control", Form::kWay, false, "The control socket of its ovsdb-server, or ovn-appctl"},
    {"ovsdb", Form::kWay, false, "Its OVSDB socket or port, or ovsdb-client"},
    {"repair", Form::kMap, false, "What is run to rebuild it", "repair"},
});
constexpr auto kRepair = std::to_array<KeySpec>({
    {"copy", Form::kMap, true, "Copies its database aside; may run twice", "command"},
    {"report", Form::kMap, false, "Says what 'copy' says, and copies nothing", "command"},
    {"rejoin", Form::kMap, true, "Has it join anew with an empty database", "command"},
    KeySpec{"timeout", Form::kDuration, false, "The end of each, 1s to 1h"}.or_else("2m"),
});
constexpr auto kPolicy = std::to_array<KeySpec>({
    {"name", Form::kName, true, "Unique among policies"},
    {"on", Form::kTexts, true,
     "RAFT_STALE_MEMBER, RAFT_DEAD_MEMBER, RAFT_MEMBER_DOWN, RAFT_JOINING_STUCK; or GUEST_PANIC, "
     "GUEST_DIED, GUEST_SPINNING, GUEST_IDLE_HUNG, GUEST_BOOT_STUCK"},
    {"clusters", Form::kTexts, false, "Names of clusters (all)"},
    {.name = "mode",
     .form = Form::kWord,
     .required = false,
     .help = "Whether it acts, or only shows what it would do",
     .words = "observe|act",
     .otherwise = "observe"},
    {"sole", Form::kFlag, false,
     "Your word that no other agent may act on its clusters; without a 'store' 'mode: act' needs "
     "it"},
    KeySpec{"approval", Form::kFlag, false, "Somebody must approve each plan"}.or_else("true"),
    KeySpec{"after", Form::kDuration, false, "How long the finding must have stood"}.or_else("1m"),
    KeySpec{"budget", Form::kNumber, false, "Plans that begin within the window", {}, 1, 100}
        .or_else("1"),
    KeySpec{"window", Form::kDuration, false, "1m to 24h"}.or_else("1h"),
    KeySpec{"cooldown", Form::kDuration, false,
            "In a cluster, or of a guest, after the end of a plan, 0s to 24h"}
        .or_else("10m"),
});
constexpr auto kCommand = std::to_array<KeySpec>({
    {"command", Form::kTexts, true, "A program and its arguments; no shell reads it"},
});
constexpr auto kCheck = std::to_array<KeySpec>({
    {"name", Form::kName, true, "Unique among clusters and checks"},
    {"depends_on", Form::kTexts, false, "Checks and clusters whose failure explains its own"},
});
constexpr auto kNotify = std::to_array<KeySpec>({
    {"receivers", Form::kMaps, false, "Who is told, and how", "receiver"},
    {"routes", Form::kMaps, false, "Of what, and when (everybody of everything)", "route"},
    {"maintenance", Form::kMaps, false, "Times of the week in which nothing begins", "maintenance"},
});
constexpr auto kRoute = std::to_array<KeySpec>({
    {"receiver", Form::kName, true, "Its name"},
    {"match", Form::kTexts, false, "label=pattern, !=pattern, =~regex or !~regex; all must hold"},
    KeySpec{"group_by", Form::kTexts, false, "Labels; what has the same is told together"}.or_else(
        "[root]"),
    KeySpec{"group_wait", Form::kDuration, false,
            "From a group's first incident to its first notice"}
        .or_else("30s"),
    KeySpec{"group_interval", Form::kDuration, false, "Between two notices of a group"}.or_else(
        "5m"),
    KeySpec{"repeat_interval", Form::kDuration, false,
            "Until what still stands is told again; 0s: never"}
        .or_else("4h"),
    KeySpec{"continue", Form::kFlag, false, "Look at the next route too"}.or_else("false"),
    {"active", Form::kMaps, false, "When it tells of beginnings and changes; without: always",
     "window"},
});
constexpr auto kWindow = std::to_array<KeySpec>({
    KeySpec{"days", Form::kTexts, false, "mon to sun"}.or_else(
        "[mon, tue, wed, thu, fri, sat, sun]"),
    {"from", Form::kText, true, "A time of day, in quotes"},
    {"for", Form::kDuration, true, "1m to 24h"},
    KeySpec{"time_zone", Form::kText, false, "Whose time of day, as Europe/Berlin"}.or_else("UTC"),
});
constexpr auto kMaintenance = std::to_array<KeySpec>({
    {"name", Form::kName, true, "For people"},
    {"match", Form::kTexts, false, "label=pattern, !=pattern, =~regex or !~regex; all must hold"},
    KeySpec{"days", Form::kTexts, false, "mon to sun"}.or_else(
        "[mon, tue, wed, thu, fri, sat, sun]"),
    {"from", Form::kText, true, "A time of day, in quotes"},
    {"for", Form::kDuration, true, "1m to 24h"},
    KeySpec{"time_zone", Form::kText, false, "Whose time of day, as Europe/Berlin"}.or_else("UTC"),
});
constexpr auto kSilence = std::to_array<KeySpec>({
    {"name", Form::kName, true, "Unique among silences"},
    {"match", Form::kTexts, true, "label=pattern, !=pattern, =~regex or !~regex; all must hold"},
    {"from", Form::kText, true, "A moment in UTC, 2026-11-21T02:00:00Z"},
    {"until", Form::kText, true, "A moment in UTC, at most a year later"},
    {"comment", Form::kText, false, "For people"},
});
constexpr auto kSchedule = std::to_array<KeySpec>({
    {"every", Form::kDuration, false,
     "From one look to the next, 100ms to 24h (checks 5s, clusters 1s)"},
    {"timeout", Form::kDuration, false,
     "The end of one look, at most 'every' (2s, or nine tenths of 'every')"},
    {"fall",
     Form::kNumber,
     false,
     "Failures in a row until it is reported (checks 3, clusters 1)",
     {},
     1,
     1000},
    {"rise",
     Form::kNumber,
     false,
     "Successes in a row until it is healthy again (checks 2, clusters 1)",
     {},
     1,
     1000},
    KeySpec{"optional", Form::kFlag, false, "Holds no gate back while it was never seen good"}
        .or_else("false"),
    KeySpec{"unknown_limit", Form::kDuration, false, "Unknown for longer is blind: not ready"}
        .or_else("1m"),
    KeySpec{"start_period", Form::kDuration, false,
            "After the start failures do not count for so long"}
        .or_else("0s"),
});
constexpr auto kReporter = std::to_array<KeySpec>({
    {"name", Form::kName, true, "Its checks are NAME.live and NAME.ready"},
    KeySpec{"timeout", Form::kDuration, false, "A report holds for so long; 0s: for ever"}.or_else(
        "30s"),
    {"override", Form::kDuration, false, "Instead of the timeout that it reports itself"},
    KeySpec{"reports", Form::kTexts, false, "live, ready or both"}.or_else("[live, ready]"),
    {"socket", Form::kEndpoint, false, "A unix socket at which its reports come in"},
    KeySpec{"optional", Form::kFlag, false, "Holds no gate back while it was never seen good"}
        .or_else("false"),
});
constexpr auto kMesh = std::to_array<KeySpec>({
    {"name", Form::kName, true, "Unique among clusters and checks; it is a check too"},
    {"members", Form::kMaps, true, "2 to 64 daemons", "mesh_member"},
    KeySpec{"sparse", Form::kFlag, false, "Not everybody has a session with everybody"}.or_else(
        "false"),
    KeySpec{"settle", Form::kDuration, false, "How long two ends may say different things"}.or_else(
        "10s"),
    KeySpec{"optional", Form::kFlag, false, "Holds no gate back while it was never seen good"}
        .or_else("false"),
});
constexpr auto kMeshMember = std::to_array<KeySpec>({
    {"check", Form::kName, true, "A check of the kind bird or frr"},
    {"addresses", Form::kTexts, false, "Further addresses by which the others know it"},
});
constexpr auto kGate = std::to_array<KeySpec>({
    {"all", Form::kTexts, false, "Names of checks and clusters that must all be ready"},
    {"at_least", Form::kMap, false, "So many of some", "at_least"},
});
constexpr auto kAtLeast = std::to_array<KeySpec>({
    {"of", Form::kWeights, true, "Names of checks and clusters, or their weights by name"},
    {"count", Form::kNumber, true, "So many of them, or so much weight", {}, 1, kMostCount},
});

constexpr auto kSections = std::to_array<Section>({
    {"file", kFile, false},
    {"node", kNode, false},
    {"api", kApi, false},
    {"api_tls", kApiTls, false},
    {"token", kToken, false},
    {"cluster", kCluster, true},
    {"ovn", kOvn, false},
    {"etcd_cluster", kEtcdCluster, false},
    {"etcd_member", kEtcdMember, false},
    {"ovn_tls", kOvnTls, false},
    {"member", kMember, false},
    {"repair", kRepair, false},
    {"command", kCommand, false},
    {"check", kCheck, true},
    {"reporter", kReporter, false},
    {"mesh", kMesh, false},
    {"mesh_member", kMeshMember, false},
    {"guests", kGuestsKeys, false},
    {"inside", kInsideKeys, false},
    {"restart", kRestartKeys, false},
    {"guest_maintenance", kMaintenanceKeys, false},
    {"public_page", kPublicPage, false},
    {"public_line", kPublicLine, false},
    {"gate", kGate, false},
    {"at_least", kAtLeast, false},
    {"version_gate", kVersionGateKeys, false},
    {"reconcile", kReconcileKeys, false},
    {"reconcile_git", kReconcileGitKeys, false},
    {"reconcile_config_map", kReconcileConfigMapKeys, false},
    {"reconcile_kubernetes", kReconcileKubernetesKeys, false},
    {"reconcile_files", kReconcileFilesKeys, false},
    {"node_conditions", kNodeConditionsKeys, false},
    {"failover", kFailoverKeys, false},
    {"failover_database", kFailoverDatabaseKeys, false},
    {"failover_hooks", kFailoverHookKeys, false},
    {"notify", kNotify, false},
    {"route", kRoute, false},
    {"window", kWindow, false},
    {"maintenance", kMaintenance, false},
    {"silence", kSilence, false},
    {"policy", kPolicy, false},
    {"store", kStore, false},
    {"etcd", kEtcd, false},
});

json::object reference(std::string_view section) {
  return {{"$ref", "#/definitions/" + std::string(section)}};
}

/// YAML readers take an unquoted 3 or true for something other than text; the agent does not.
json::object text() {
  return {{"type", json::array{"string", "number", "boolean"}}, {"minLength", 1}};
}

json::object name() {
  json::object schema = text();
  schema["pattern"] = "^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$";
  return schema;
}

json::object list_of(json::object items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}

json::object one_of(std::string_view words) {
  json::array choices;
  for (const std::string_view word : split(words, '|')) choices.emplace_back(word);
  return {{"enum", std::move(choices)}};
}

json::object value_schema(const KeySpec& key) {
  switch (key.form) {
    case Form::kName: return name();
    case Form::kText:
    case Form::kUrl:
    case Form::kEndpoint: return text();
    case Form::kNumber: return {{"type", "integer"}, {"minimum", key.least}, {"maximum", key.most}};
    case Form::kDuration: return {{"type", "string"}, {"pattern", "^[0-9]+(ms|s|m|h)$"}};
    case Form::kFlag: return {{"type", "boolean"}};
    case Form::kTexts:
    case Form::kUrls: return list_of(text());
    case Form::kLabels: return {{"type", "object"}, {"additionalProperties", text()}};
    case Form::kWeights: {
      json::object weight = {{"type", "integer"}, {"minimum", 1}, {"maximum", kMostWeight}};
      return {{"oneOf", json::array{list_of(text()),
                                    json::object{{"type", "object"},
                                                 {"additionalProperties", std::move(weight)}}}}};
    }
    case Form::kWay: return {{"oneOf", json::array{text(), reference("command")}}};
    case Form::kWord: return one_of(key.words);
    case Form::kWords: return {{"type", "object"}, {"additionalProperties", one_of(key.words)}};
    case Form::kMap: return reference(key.section);
    case Form::kMaps: return list_of(reference(key.section));
    case Form::kByName:
      return {{"type", "object"}, {"additionalProperties", reference(key.section)}};
  }
  return {};
}

json::object closed_map() {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"properties", json::object()},
          {"required", json::array()}};
}

void add(json::object& map, const KeySpec& key) {
  json::object value = value_schema(key);
  value["description"] = key.otherwise.empty() ? std::string(key.help)
                                               : fmt::format("{} ({})", key.help, key.otherwise);
  map["properties"].as_object()[key.name] = std::move(value);
  if (key.required) map["required"].as_array().emplace_back(key.name);
}

KeySpec key_of(const observe::ParamSpec& param) {
  KeySpec key{param.name, Form::kText, param.required, param.help};
  switch (param.type) {
    case ParamType::kText: break;
    case ParamType::kEndpoint: key.form = Form::kEndpoint; break;
    case ParamType::kInteger:
      key.form = Form::kNumber;
      key.least = std::numeric_limits<int>::min();
      key.most = std::numeric_limits<int>::max();
      break;
    case ParamType::kDuration: key.form = Form::kDuration; break;
    case ParamType::kFlag: key.form = Form::kFlag; break;
    case ParamType::kList: key.form = Form::kTexts; break;
  }
  return key;
}

/// A check has exactly one of the kinds.
void add_kinds(json::object& check, std::span<const observe::ProbeKind> kinds) {
  json::array one_of;
  for (const observe::ProbeKind& kind : kinds) {
    json::object params = closed_map();
    for (const observe::ParamSpec& param : kind.params) add(params, key_of(param));
    params["description"] = kind.summary;
    check["properties"].as_object()[kind.name] = std::move(params);
    one_of.push_back(json::object{{"required", json::array{kind.name}}});
  }
  check["oneOf"] = std::move(one_of);
}

json::object map_schema(const Section& section, std::span<const observe::ProbeKind> kinds) {
  json::object map = closed_map();
  for (const KeySpec& key : section.keys) add(map, key);
  if (section.scheduled) {
    for (const KeySpec& key : kSchedule) add(map, key);
  }
  if (section.name == "check") add_kinds(map, kinds);
  return map;
}

}  // namespace

std::span<const Section> schema_table() noexcept {
  static const std::vector<Section> kAll = [] {
    std::vector<Section> all(kSections.begin(), kSections.end());
    const std::vector<Section> receivers = receiver_sections();
    const auto behind = std::ranges::find(all, std::string_view("notify"), &Section::name) + 1;
    all.insert(behind, receivers.begin(), receivers.end());
    return all;
  }();
  return kAll;
}

std::span<const KeySpec> schedule_keys() noexcept {
  return kSchedule;
}

json::object json_schema(std::span<const observe::ProbeKind> kinds) {
  const std::span<const Section> sections = schema_table();
  json::object schema = map_schema(sections.front(), kinds);
  json::object definitions;
  for (const Section& section : sections.subspan(1))
    definitions[section.name] = map_schema(section, kinds);
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "Configuration of wardmoted";
  schema["definitions"] = std::move(definitions);
  return schema;
}

}  // namespace wardmote::config
