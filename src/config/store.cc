#include <cstddef>
#include <optional>
#include <string>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "config/config.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/sections.h"
#include "config/yaml.h"
#include "runtime/endpoint.h"
#include "runtime/tls.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;
using runtime::Endpoint;

constexpr std::size_t kMostEndpoints = 16;

void read_endpoints(MapReader& map, Store& store) {
  const YamlNode* const list = map.require("endpoints", "endpoints: ['10.0.0.1:2379']");
  if (list == nullptr) return;
  for (const Placed<std::string>& text : read_texts(*list, "endpoints", map.problems())) {
    const auto endpoint = runtime::parse_endpoint(text.value);
    if (endpoint && endpoint->kind == Endpoint::Kind::kTcp && !text.value.starts_with('/')) {
      store.endpoints.push_back(*endpoint);
      continue;
    }
    map.problems().add(text.at, fmt::format("endpoint '{}'", escape_control(text.value, 64)),
                       "not a host and a port",
                       "write 10.0.0.1:2379, and certificates under 'tls'");
  }
  if (list->kind == YamlNode::Kind::kList &&
      (list->items.empty() || list->items.size() > kMostEndpoints)) {
    map.problems().add(list->at, "endpoints",
                       fmt::format("not a list of 1 to {} endpoints", kMostEndpoints),
                       "name the members of one etcd cluster");
  }
}

void read_tls(MapReader& map, Store& store) {
  const YamlNode* const node = map.find("tls");
  if (node == nullptr) return;
  runtime::TlsSettings tls = read_member_tls(*node, map.problems());
  tls.trust = runtime::TlsSettings::Trust::kChainAndName;
  tls.protocol = "h2";
  for (Endpoint& endpoint : store.endpoints)
    endpoint = Endpoint::tls_over_tcp(endpoint.host, endpoint.port, tls);
}

void read_user(MapReader& map, Store& store) {
  const YamlNode* const user = map.find("user");
  const YamlNode* const file = map.find("password_file");
  if ((user == nullptr) != (file == nullptr)) {
    map.problems().add(map.at(), map.what(), "'user' and 'password_file' go together",
                       "give both or neither; with client certificates etcd needs neither");
  }
  if (user != nullptr) store.user = read_text(*user, "user", map.problems()).value_or("");
  if (file == nullptr) return;
  store.password_file = read_text(*file, "password_file", map.problems()).value_or("");
  if (store.password_file.starts_with('/') || store.password_file.empty()) return;
  map.problems().add(file->at,
                     fmt::format("password_file '{}'", escape_control(store.password_file, 64)),
                     "not an absolute path", "write /etc/wardmote/etcd.password");
}

}  // namespace

Store read_store(const YamlNode& node, Problems& problems) {
  MapReader map(node, "store", problems);
  Store store;
  if (const YamlNode* const etcd = map.require("etcd", "etcd: {endpoints: ['10.0.0.1:2379']}")) {
    MapReader keys(*etcd, "etcd", problems);
    read_endpoints(keys, store);
    read_tls(keys, store);
    read_user(keys, store);
    keys.finish();
  }
  store.name = map.read("name", read_name).value_or(store.name);
  store.ttl = map.read_duration_in("ttl", 2s, 5min, store.ttl);
  map.finish();
  return store;
}

}  // namespace wardmote::config
