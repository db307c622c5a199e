#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "config/config.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/sections.h"
#include "config/yaml.h"
#include "runtime/endpoint.h"
#include "runtime/tls.h"
#include "serve/role.h"

namespace wardmote::config {
namespace {

using runtime::Endpoint;
using serve::Role;

constexpr std::size_t kMostTokens = 256;

std::optional<Endpoint> read_endpoint_of_kind(MapReader& map, std::string_view key,
                                              Endpoint::Kind kind, std::string_view why,
                                              std::string_view fix) {
  const YamlNode* const node = map.find(key);
  if (node == nullptr) return std::nullopt;
  auto endpoint = read_endpoint(*node, key, map.problems());
  if (endpoint && endpoint->kind != kind) {
    map.problems().add(node->at, std::string(key), std::string(why), std::string(fix));
    return std::nullopt;
  }
  return endpoint;
}

/// One of `roles`.
template <std::size_t N>
std::optional<Role> read_role(const YamlNode& node, std::string_view what,
                              const std::array<Role, N>& roles, Problems& problems) {
  const auto text = read_text(node, what, problems);
  if (!text) return std::nullopt;
  const auto role = serve::parse_role(*text);
  if (role && std::ranges::find(roles, *role) != roles.end()) return role;
  std::vector<std::string_view> names;
  names.reserve(roles.size());
  for (const Role one : roles) names.push_back(to_string(one));
  problems.add(node.at, std::string(what),
               fmt::format("'{}' is no role here", escape_control(*text, 64)),
               fmt::format("write {}", fmt::join(names, ", ")));
  return std::nullopt;
}

constexpr std::array kRoles = {Role::kViewer, Role::kOperator, Role::kAdmin};
constexpr std::array kAnonymousRoles = {Role::kNone, Role::kViewer};

std::optional<std::string> read_path(const YamlNode& node, std::string_view what,
                                     Problems& problems) {
  auto path = read_text(node, what, problems);
  if (!path || path->starts_with('/')) return path;
  problems.add(node.at, fmt::format("{} '{}'", what, escape_control(*path, 64)),
               "not an absolute path", "begin it with '/'");
  return std::nullopt;
}

std::vector<ApiToken> read_tokens(const YamlNode& list, Problems& problems) {
  std::vector<ApiToken> tokens;
  if (list.kind != YamlNode::Kind::kList || list.items.size() > kMostTokens) {
    problems.add(list.at, "tokens", fmt::format("it is no list of up to {} tokens", kMostTokens),
                 "write - {name: grafana, role: viewer, file: /etc/wardmote/grafana.token}");
    return tokens;
  }
  Names names;
  for (const YamlNode& item : list.items) {
    MapReader map(item, fmt::format("token {}", tokens.size() + 1), problems);
    ApiToken token;
    if (auto name = map.read_required("name", "name: grafana", read_name)) {
      names.add(*name, item.at, problems);
      token.name = *std::move(name);
    }
    token.file =
        map.read_required("file", "file: /etc/wardmote/grafana.token", read_path).value_or("");
    if (const YamlNode* const role = map.require("role", "role: viewer")) {
      token.role = read_role(*role, "role", kRoles, problems).value_or(Role::kViewer);
    }
    map.finish();
    tokens.push_back(std::move(token));
  }
  return tokens;
}

std::map<std::string, Role> read_groups(const YamlNode& node, Problems& problems) {
  const MapReader map(node, "groups", problems);
  std::map<std::string, Role> groups;
  for (const YamlEntry* const entry : map.others()) {
    const std::string what = fmt::format("group '{}'", escape_control(entry->key, 64));
    if (const auto role = read_role(entry->value, what, kRoles, problems)) {
      groups.emplace(entry->key, *role);
    }
  }
  return groups;
}

/// Roles by names in client certificates, as runtime::Peer spells them.
std::map<std::string, Role> read_certificates(const YamlNode& node, Problems& problems) {
  static constexpr std::array<std::string_view, 5> kTags = {"cn:", "dns:", "ip:", "uri:", "email:"};
  const MapReader map(node, "certificates", problems);
  std::map<std::string, Role> certificates;
  for (const YamlEntry* const entry : map.others()) {
    const std::string what = fmt::format("certificate '{}'", escape_control(entry->key, 64));
    const auto tagged = [&](std::string_view tag) {
      return entry->key.starts_with(tag) && entry->key.size() > tag.size();
    };
    if (std::ranges::none_of(kTags, tagged)) {
      problems.add(entry->at, what, "it does not say which name is meant",
                   fmt::format("begin it with one of {}", fmt::join(kTags, ", ")));
      continue;
    }
    if (const auto role = read_role(entry->value, what, kRoles, problems)) {
      certificates.emplace(entry->key, *role);
    }
  }
  return certificates;
}

std::vector<std::string> read_hosts(const YamlNode& node, Problems& problems) {
  std::vector<std::string> hosts;
  for (Placed<std::string>& text : read_texts(node, "hosts", problems)) {
    if (text.value.find_first_of(":/") != std::string::npos) {
      problems.add(text.at, fmt::format("'{}'", escape_control(text.value, 64)), "not a host name",
                   "write the name alone, without scheme and port");
    }
    std::ranges::transform(text.value, text.value.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    });
    hosts.push_back(std::move(text.value));
  }
  return hosts;
}

/// `listen` speaks TLS then, and who shows a certificate has the role of its name.
void read_tls(MapReader& map, Api& api) {
  const YamlNode* const certificates = map.find("certificates");
  if (certificates != nullptr) api.certificates = read_certificates(*certificates, map.problems());
  runtime::TlsSettings settings;
  if (const YamlNode* const tls = map.find("tls")) {
    settings = read_api_tls(*tls, map.problems());
    if (api.listen) {
      api.listen = Endpoint::tls_over_tcp(api.listen->host, api.listen->port, settings);
    } else {
      map.problems().add(tls->at, "tls", "there is no 'listen' for it",
                         "add 'listen: 10.0.0.1:9470'; a unix socket needs no TLS");
    }
  }
  if (certificates != nullptr && settings.ca.empty()) {
    map.problems().add(certificates->at, "certificates", "nothing says which authority to believe",
                       "add 'client_ca: /etc/wardmote/tls/clients.pem' to 'tls'");
  }
}

bool is_loopback(const Endpoint& endpoint) {
  return endpoint.host.starts_with("127.") || endpoint.host == "::1";
}

}  // namespace

Api read_api(const YamlNode& node, Problems& problems) {
  using enum Endpoint::Kind;
  MapReader map(node, "api", problems);
  Api api;
  api.listen = read_endpoint_of_kind(map, "listen", kTcp, "not a TCP address",
                                     "write 127.0.0.1:9470, and a unix socket under 'socket'");
  api.socket =
      read_endpoint_of_kind(map, "socket", kUnix, "not a unix socket",
                            "write /run/wardmote/api.sock, and a TCP address under 'listen'");
  // From elsewhere nobody reads without showing who he is, unless the operator says so.
  api.anonymous = api.listen && !is_loopback(*api.listen) ? Role::kNone : Role::kViewer;
  if (const YamlNode* const anonymous = map.find("anonymous")) {
    api.anonymous =
        read_role(*anonymous, "anonymous", kAnonymousRoles, problems).value_or(api.anonymous);
  }
  if (const YamlNode* const tokens = map.find("tokens")) {
    api.tokens = read_tokens(*tokens, problems);
  }
  if (const YamlNode* const groups = map.find("groups")) {
    api.groups = read_groups(*groups, problems);
  }
  read_tls(map, api);
  if (const YamlNode* const hosts = map.find("hosts")) api.hosts = read_hosts(*hosts, problems);
  map.finish();
  if (map.is_map() && !map.find("listen") && !map.find("socket")) {
    problems.add(node.at, "api", "it says not where to serve",
                 "give 'listen', 'socket' or both, or remove it");
  }
  return api;
}

}  // namespace wardmote::config
