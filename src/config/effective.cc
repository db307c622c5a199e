#include "config/effective.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "config/config.h"
#include "config/problem.h"
#include "config/schema.h"
#include "config/version_gates.h"
#include "config/yaml.h"
#include "judge/notify/router.h"
#include "judge/version_gate/release.h"
#include "runtime/endpoint.h"
#include "serve/role.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;

constexpr std::string_view kHidden = "(hidden)";

/// Whether a header of this name, in small letters, may open a door.
bool is_secret(std::string_view header) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"token", "password", "secret", "authorization", "cookie", "key"});
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return header.find(word) != std::string_view::npos; });
}

json::value scalar(const YamlNode& node) {
  if (!node.quoted) {
    if (const auto number = parse_number<std::int64_t>(node.text)) return *number;
    if (node.text == "true" || node.text == "false") return node.text == "true";
  }
  return json::string(node.text);
}

/// `Authorization: Bearer …` of a request that a check makes: the name stays.
json::value without_value(const YamlNode& header) {
  std::string_view rest = header.text;
  const std::string name(trim(take_until(rest, ':')));
  std::string lower = name;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (!is_secret(lower)) return scalar(header);
  return json::string(name + ": " + std::string(kHidden));
}

void hide_headers(const YamlNode& headers, json::value& shown) {
  if (headers.kind == YamlNode::Kind::kScalar) shown = without_value(headers);
  if (headers.kind != YamlNode::Kind::kList) return;
  for (std::size_t i = 0; i < headers.items.size(); ++i) {
    if (headers.items[i].kind == YamlNode::Kind::kScalar)
      shown.get_array()[i] = without_value(headers.items[i]);
  }
}

/// `https://host:9093/(hidden)`: some services have their secret in the address.
json::value without_path(const json::value& url) {
  const json::string* const text = url.if_string();
  if (text == nullptr) return json::string(kHidden);
  std::string_view rest = *text;
  const std::size_t scheme = rest.find("://");
  if (scheme == std::string_view::npos) return json::string(kHidden);
  rest.remove_prefix(scheme + 3);
  std::string_view server = rest.substr(0, rest.find_first_of("/?#"));
  const std::string_view path = rest.substr(server.size());
  if (const std::size_t user = server.rfind('@'); user != std::string_view::npos) {
    server.remove_prefix(user + 1);
  }
  std::string shown = std::string(text->subview(0, scheme + 3)) + std::string(server);
  const bool known = path.empty() || path == "/" || path == "/v1" || path == "/v3";
  shown += known ? std::string(path) : "/" + std::string(kHidden);
  return json::string(shown);
}

json::value convert(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull: return nullptr;
    case YamlNode::Kind::kScalar: return scalar(node);
    case YamlNode::Kind::kList: {
      json::array list;
      for (const YamlNode& item : node.items) list.push_back(convert(item));
      return list;
    }
    case YamlNode::Kind::kMap: {
      json::object map;
      for (const YamlEntry& entry : node.entries) {
        json::value& shown = map[entry.key];
        shown = convert(entry.value);
        if (entry.key == "header") hide_headers(entry.value, shown);
      }
      return map;
    }
  }
  return nullptr;
}

std::span<const KeySpec> keys_of(std::string_view section) {
  return std::ranges::find(schema_table(), section, &Section::name)->keys;
}

/// Calls `then` with each map that the value of this key is, or holds.
template <class Then>
void each_map(json::value& value, const KeySpec& key, Then then) {
  if (key.section.empty()) return;
  const auto take = [&](json::value& item) {
    if (json::object* const map = item.if_object()) then(*map);
  };
  if (json::array* const list = value.if_array()) {
    std::ranges::for_each(*list, take);
  } else if (key.form != Form::kByName) {
    take(value);
  } else if (json::object* const by_name = value.if_object()) {
    for (auto& [name, item] : *by_name) take(item);
  }
}

/// What the tables say is an address of the web.
void hide_addresses(json::object& map, std::string_view section) {
  for (const KeySpec& key : keys_of(section)) {
    json::value* const value = map.if_contains(key.name);
    if (value == nullptr) continue;
    if (key.form == Form::kUrl) *value = without_path(*value);
    if (key.form == Form::kUrls && value->is_array()) {
      for (json::value& url : value->get_array()) url = without_path(url);
    }
    each_map(*value, key, [&](json::object& below) { hide_addresses(below, key.section); });
  }
}

/// A value of the tables, which are written as a person would write them.
json::value written(std::string_view text) {
  Problems none;
  return convert(parse_yaml(text, {}, none).root);
}

void complete(json::object& map, std::string_view section);

/// What an absent key means, here and in all that is below.
void complete(json::object& map, const KeySpec& key) {
  json::value* const value = map.if_contains(key.name);
  if (value == nullptr) {
    if (!key.otherwise.empty()) map[key.name] = written(key.otherwise);
    return;
  }
  each_map(*value, key, [&](json::object& below) { complete(below, key.section); });
}

void complete(json::object& map, std::string_view section) {
  const auto found = std::ranges::find(schema_table(), section, &Section::name);
  for (const KeySpec& key : found->keys) complete(map, key);
  if (!found->scheduled) return;
  for (const KeySpec& key : schedule_keys()) complete(map, key);
}

json::string spelled(Duration duration) {
  return json::string(spell_duration(duration));
}

void fill(json::object& item, const Schedule& schedule) {
  item["every"] = spelled(schedule.every);
  item["timeout"] = spelled(schedule.timeout);
  item["fall"] = schedule.policy.fall;
  item["rise"] = schedule.policy.rise;
}

void fill(json::object& item, const Cluster& cluster) {
  fill(item, cluster.schedule);
  json::value* const ovn = item.if_contains("ovn");
  if (ovn != nullptr && ovn->is_object())
    ovn->get_object()["gone_after"] = spelled(cluster.expectation.gone_after);
}
void fill(json::object& item, const Check& check) {
  fill(item, check.schedule);
}
void fill(json::object& item, const Receiver& receiver) {
  item["timeout"] = spelled(receiver.timeout);
}

void fill(json::object& item, const VersionGate& gate) {
  item["release"] = json::string(to_string(gate.own.release));
  item["state_prefix"] = json::string(gate.layout.state);
  item["nodes_prefix"] = json::string(gate.layout.nodes);
}

/// The items of a list stand in the order of the configuration, which may have more behind them:
/// checks that follow from something else.
template <class Item>
void fill(json::object& root, std::string_view key, std::span<const Item> items) {
  json::value* const list = root.if_contains(key);
  if (list == nullptr || !list->is_array()) return;
  for (std::size_t i = 0; i < list->get_array().size() && i < items.size(); ++i)
    fill(list->get_array()[i].as_object(), items[i]);
}

/// Without routes every receiver gets everything.
void fill_routes(json::object& notify, const Notify& given) {
  if (notify.contains("routes")) return;
  json::array routes;
  for (const judge::notify::Route& route : given.routes)
    routes.push_back(json::object{{"receiver", route.receiver}, {"continue", route.go_on}});
  notify["routes"] = std::move(routes);
}

json::object gate_json(const Gate& gate) {
  json::object object;
  if (!gate.all.empty()) object["all"] = json::array(gate.all.begin(), gate.all.end());
  if (gate.at_least) {
    json::object of;
    for (const auto& [name, weight] : gate.at_least->of) of[name] = weight;
    object["at_least"] = json::object{{"count", gate.at_least->count}, {"of", std::move(of)}};
  }
  return object;
}

void fill_endpoint(json::object& api, std::string_view key,
                   const std::optional<runtime::Endpoint>& endpoint) {
  if (!endpoint) return;
  runtime::Endpoint plain = *endpoint;  // `tls` beside it says the rest
  if (plain.kind == runtime::Endpoint::Kind::kTls) plain.kind = runtime::Endpoint::Kind::kTcp;
  api[key] = json::string(to_string(plain));
}

}  // namespace

json::value to_json(const YamlNode& root) {
  json::value shown = convert(root);
  if (json::object* const whole = shown.if_object())
    hide_addresses(*whole, schema_table().front().name);
  return shown;
}

json::object effective(const YamlNode& root, const Config& config) {
  json::object whole = to_json(root).as_object();
  if (!whole.contains("api")) whole["api"] = json::object();
  fill_endpoint(whole["api"].as_object(), "listen", config.api.listen);
  fill_endpoint(whole["api"].as_object(), "socket", config.api.socket);
  if (json::value* const notify = whole.if_contains("notify"); notify && notify->is_object())
    fill_routes(notify->get_object(), config.notify);
  complete(whole, schema_table().front().name);
  // What depends on other keys.
  whole["api"].as_object()["anonymous"] = json::string(to_string(config.api.anonymous));
  fill<Cluster>(whole, "clusters", config.clusters);
  // Those of clusters come first.
  fill<Check>(whole, "checks", std::span(config.checks).subspan(config.clusters.size()));
  if (json::value* const notify = whole.if_contains("notify"); notify && notify->is_object())
    fill<Receiver>(notify->get_object(), "receivers", config.notify.receivers);
  fill<VersionGate>(whole, "version_gates", config.version_gates);
  json::object gates;
  for (const Gate& gate : config.gates) gates[gate.name] = gate_json(gate);
  whole["gates"] = std::move(gates);
  return whole;
}

}  // namespace wardmote::config
