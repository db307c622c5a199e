#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/url.h"
#include "config/config.h"
#include "config/etcd_cluster.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/sections.h"
#include "config/yaml.h"
#include "observe/etcd/metrics_client.h"
#include "observe/kinds.h"
#include "observe/params.h"
#include "runtime/endpoint.h"
#include "runtime/tls.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;
using observe::etcd::MetricsTarget;
using runtime::Endpoint;

constexpr std::size_t kMostMembers = 32;
// What the judge calls critical has already stood for its window, so one such verdict is enough.
constexpr ScheduleDefaults kDefaults{.every = 2s, .fall = 1, .rise = 1};

/// Where `url` leads: with certificates, as they are for all endpoints of the cluster.
MetricsTarget target_of(codec::Url url, const std::optional<runtime::TlsSettings>& tls) {
  Endpoint at = Endpoint::tcp(url.host, url.port);
  if (tls && url.scheme == "https") {
    runtime::TlsSettings settings = *tls;
    settings.protocol.clear();  // HTTP/1.1
    at = Endpoint::tls_over_tcp(url.host, url.port, std::move(settings));
  }
  return {.url = std::move(url), .at = std::move(at)};
}

std::optional<MetricsTarget> read_metrics(const YamlNode& node, bool with_tls, Problems& problems) {
  const std::string example = "write http://10.0.0.1:2381/metrics";
  const auto text = read_text(node, "metrics", problems);
  if (!text) return std::nullopt;
  Result<codec::Url> url = codec::parse_url(*text);
  if (!url) {
    problems.add(node.at, "metrics", url.error().context, example);
  } else if (url->target == "/") {
    problems.add(node.at, "metrics", "the URL has no path", example);
  } else if (url->scheme == "https" && !with_tls) {
    problems.add(node.at, "metrics", "https needs the certificates under 'tls'", example);
  } else {
    return target_of(*std::move(url), std::nullopt);
  }
  return std::nullopt;
}

EtcdMember read_member(const YamlNode& node, std::size_t number, bool with_tls,
                       Problems& problems) {
  MapReader map(node, fmt::format("member {}", number), problems);
  EtcdMember member;
  member.name = map.read_required("name", "name: etcd-1", read_name).value_or("");
  if (const YamlNode* const at = map.require("endpoint", "endpoint: 10.0.0.1:2379")) {
    auto endpoint = read_endpoint(*at, "endpoint", problems);
    if (endpoint && endpoint->kind != Endpoint::Kind::kTcp) {
      problems.add(at->at, "endpoint", "not a host and a port",
                   "write 10.0.0.1:2379, and certificates under 'tls'");
    } else if (endpoint) {
      member.endpoint = *std::move(endpoint);
    }
  }
  if (const YamlNode* const metrics = map.find("metrics"))
    member.metrics = read_metrics(*metrics, with_tls, problems);
  map.finish();
  return member;
}

/// One process would be counted as two members.
void check_unique(const EtcdMember& member, const EtcdCluster& cluster, Place at,
                  Problems& problems) {
  for (const EtcdMember& other : cluster.members) {
    const bool same_name = !member.name.empty() && other.name == member.name;
    const bool same_place = !member.endpoint.host.empty() && other.endpoint == member.endpoint;
    const bool same_metrics = member.metrics && other.metrics == member.metrics;
    if (!same_name && !same_place && !same_metrics) continue;
    const std::string_view what = same_name ? "name" : same_place ? "endpoint" : "metrics";
    problems.add(at, fmt::format("member '{}'", member.name),
                 fmt::format("member '{}' has the same {}", other.name, what),
                 "give every member its own");
  }
}

void read_members(const YamlNode& list, bool with_tls, EtcdCluster& cluster, Problems& problems) {
  if (list.kind != YamlNode::Kind::kList || list.items.empty() ||
      list.items.size() > kMostMembers) {
    problems.add(list.at, "members", fmt::format("not a list of 1 to {} members", kMostMembers),
                 "write '- {name: etcd-1, endpoint: 10.0.0.1:2379}' lines below it");
    return;
  }
  for (const YamlNode& item : list.items) {
    EtcdMember member = read_member(item, cluster.members.size() + 1, with_tls, problems);
    check_unique(member, cluster, item.at, problems);
    cluster.members.push_back(std::move(member));
  }
}

std::vector<std::string> read_expected(const YamlNode& node, Problems& problems) {
  std::vector<std::string> urls;
  for (Placed<std::string>& text : read_texts(node, "expect", problems)) {
    const bool is_url = text.value.starts_with("http://") || text.value.starts_with("https://");
    if (!is_url) {
      problems.add(text.at, fmt::format("expect '{}'", escape_control(text.value, 64)),
                   "not a peer URL",
                   "write it as 'etcdctl member list' does: http://10.0.0.1:2380");
      continue;
    }
    urls.push_back(std::move(text.value));
  }
  return urls;
}

std::optional<std::string> read_quota(const YamlNode& node, Problems& problems) {
  auto text = read_text(node, "quota", problems);
  if (!text) return std::nullopt;
  const auto bytes = observe::bytes_param(observe::Params{{"quota", *text}}, "quota");
  if (bytes && *bytes && **bytes > 0) return text;
  problems.add(node.at, fmt::format("quota '{}'", escape_control(*text, 64)), "not a size",
               "write for example 2GiB, which is etcd's default");
  return std::nullopt;
}

/// What was read, as the parameters of its check.
observe::Params read_etcd(const YamlNode& node, Problems& problems) {
  MapReader map(node, "etcd", problems);
  observe::Params params;
  EtcdCluster cluster;
  const YamlNode* const tls = map.find("tls");
  if (const YamlNode* const members = map.require("members", "members: [...]"))
    read_members(*members, tls != nullptr, cluster, problems);
  std::vector<std::string> members;
  std::vector<std::string> metrics;
  members.reserve(cluster.members.size());
  for (const EtcdMember& member : cluster.members) {
    members.push_back(member.name + "=" + to_string(member.endpoint));
    if (member.metrics) metrics.push_back(member.name + "=" + to_string(member.metrics->url));
  }
  params["members"] = std::move(members);
  if (!metrics.empty()) params["metrics"] = std::move(metrics);
  if (tls != nullptr) {
    const runtime::TlsSettings settings = read_member_tls(*tls, problems);
    params["tls_ca"] = settings.ca;
    params["tls_certificate"] = settings.certificate;
    params["tls_key"] = settings.key;
  }
  if (const YamlNode* const expect = map.find("expect"))
    params["expect"] = read_expected(*expect, problems);
  if (const YamlNode* const quota = map.find("quota")) {
    if (auto text = read_quota(*quota, problems)) params["quota"] = *std::move(text);
  }
  map.finish();
  return params;
}

EtcdCluster cluster_of(const Check& check) {
  EtcdCluster cluster;
  cluster.name = check.name;
  const observe::Params& params = check.params;
  std::optional<runtime::TlsSettings> tls;
  if (const auto ca = observe::param<std::string>(params, "tls_ca")) {
    tls =
        runtime::TlsSettings{.ca = *ca,
                             .certificate = *observe::param<std::string>(params, "tls_certificate"),
                             .key = *observe::param<std::string>(params, "tls_key"),
                             .trust = runtime::TlsSettings::Trust::kChainAndName,
                             .protocol = "h2"};
  }
  const auto members = observe::param<std::vector<std::string>>(params, "members");
  for (const std::string& member : members.value_or(std::vector<std::string>())) {
    std::string_view rest = member;
    const std::string_view name = take_until(rest, '=');
    auto endpoint = runtime::parse_endpoint(rest);
    if (!endpoint) continue;  // it was no endpoint in the file either, which is a problem of it
    if (tls) endpoint = Endpoint::tls_over_tcp(endpoint->host, endpoint->port, *tls);
    cluster.members.push_back({std::string(name), *std::move(endpoint), std::nullopt});
  }
  const auto metrics = observe::param<std::vector<std::string>>(params, "metrics");
  for (const std::string& each : metrics.value_or(std::vector<std::string>())) {
    std::string_view rest = each;
    const std::string_view name = take_until(rest, '=');
    const auto member = std::ranges::find(cluster.members, name, &EtcdMember::name);
    Result<codec::Url> url = codec::parse_url(rest);
    if (url && member != cluster.members.end()) member->metrics = target_of(*std::move(url), tls);
  }
  cluster.expect = observe::param<std::vector<std::string>>(params, "expect")
                       .value_or(std::vector<std::string>());
  if (const auto quota = observe::bytes_param(params, "quota")) cluster.quota = *quota;
  return cluster;
}

}  // namespace

const observe::ProbeKind& etcd_cluster_kind() noexcept {
  static constexpr observe::ProbeKind kKind{
      "etcd_cluster", "An etcd cluster, judged by what all its members say", {}, nullptr};
  return kKind;
}

std::vector<EtcdCluster> etcd_clusters(const Config& config) {
  std::vector<EtcdCluster> clusters;
  for (const Check& check : config.checks) {
    if (check.kind == &etcd_cluster_kind()) clusters.push_back(cluster_of(check));
  }
  return clusters;
}

void read_etcd_cluster(const YamlNode& node, Config& config, Names& names, Problems& problems) {
  MapReader map(node, "etcd cluster", problems);
  Check check;
  check.kind = &etcd_cluster_kind();
  check.at = map.at();
  const YamlNode* const name = map.require("name", "name: etcd");
  if (name != nullptr) check.name = read_name(*name, "name", problems).value_or("");
  if (const YamlNode* const etcd = map.require("etcd", "etcd: {members: [...]}"))
    check.params = read_etcd(*etcd, problems);
  if (const YamlNode* const ovn = map.find("ovn")) {
    problems.add(ovn->at, "ovn", "a cluster is either of OVN or of etcd",
                 "write two clusters with names of their own");
  }
  check.schedule = read_schedule(map, kDefaults);
  map.finish();
  if (check.name.empty()) return;
  names.add(check.name, name->at, problems);
  config.checks.push_back(std::move(check));
}

}  // namespace wardmote::config
