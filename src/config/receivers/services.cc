#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/notify/secret.h"
#include "act/notify/services/service.h"
#include "config/config.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/receivers/field.h"
#include "config/receivers/kinds.h"
#include "config/schema.h"
#include "config/yaml.h"

namespace wardmote::config {
namespace {

using act::notify::Secret;
using act::notify::Service;
using act::notify::ServiceKey;
using act::notify::ServiceOptions;

constexpr KeySpec kUrlFile = {"url_file", Form::kText, false,
                              "The absolute path of a file with the address"};
constexpr KeySpec kText = {"text", Form::kText, false, "A template instead of the usual message"};
constexpr KeySpec kTrust = {"trust", Form::kText, false, "The absolute path of CA certificates"};

KeySpec key_of(const ServiceKey& key, Form form, std::string_view otherwise = {}) {
  return KeySpec{key.name, form, !key.example.empty(), key.help}.or_else(otherwise);
}

std::vector<KeySpec> keys_of_service(const Service& service) {
  std::vector<KeySpec> keys = {key_of(service.url, Form::kUrl, service.its_url)};
  if (service.url_is_secret) keys.push_back(kUrlFile);
  if (!service.token.name.empty()) keys.push_back(key_of(service.token, Form::kText));
  if (!service.to.name.empty()) keys.push_back(key_of(service.to, Form::kText));
  if (service.takes_text) keys.push_back(kText);
  keys.push_back(kTrust);
  return keys;
}

/// Reads the value of a key that the service has, and that the map has.
template <class Read>
void take(MapReader& map, const ServiceKey& key, Read read, std::string& into) {
  if (key.name.empty()) return;
  const YamlNode* const node =
      key.example.empty() ? map.find(key.name) : map.require(key.name, key.example);
  if (node == nullptr) return;
  if (auto value = read(*node, key.name, map.problems())) into = *std::move(value);
}

ReceiverOptions read_service(const Service& service, const YamlNode& node, Problems& problems) {
  MapReader map(node, std::string(service.name), problems);
  ServiceOptions options;
  options.service = &service;
  options.url = service.its_url;
  take(map, service.url, service.url_is_secret ? read_url : read_base_url, options.url);
  if (service.url_is_secret) {
    take(map, {kUrlFile.name}, read_file_name, options.url_file.file);
    if (map.is_map()) check_address(map);
  }
  if (service.url_problem != nullptr && !options.url.empty()) {
    const std::string_view problem = service.url_problem(options.url);
    if (!problem.empty()) problems.add(map.at(), "url", std::string(problem), "complete it");
  }
  take(map, service.token, read_file_name, options.token.file);
  take(map, service.to, read_line, options.to);
  if (service.takes_text) take(map, {kText.name}, read_template, options.text);
  take(map, {kTrust.name}, read_file_name, options.trust);
  map.finish();
  return options;
}

template <std::size_t At>
ReceiverOptions read_service_at(const YamlNode& node, Problems& problems) {
  return read_service(act::notify::services()[At], node, problems);
}

template <std::size_t... At>
constexpr auto readers(std::index_sequence<At...>) {
  return std::array{&read_service_at<At>...};
}

/// The kinds and what they point to.
struct Kinds {
  std::vector<std::vector<KeySpec>> keys;
  std::vector<Section> sections;
  std::vector<ReceiverKind> kinds;
};

Kinds make_kinds() {
  constexpr auto kReaders = readers(std::make_index_sequence<act::notify::kServiceCount>());
  const std::span<const Service> services = act::notify::services();
  Kinds made;
  for (const Service& service : services) made.keys.push_back(keys_of_service(service));
  for (std::size_t i = 0; i < services.size(); ++i)
    made.sections.push_back({services[i].name, made.keys[i], false});
  for (std::size_t i = 0; i < services.size(); ++i) {
    made.kinds.push_back({.name = services[i].name,
                          .help = services[i].help,
                          .sections = std::span(made.sections).subspan(i, 1),
                          .read = kReaders[i]});
  }
  return made;
}

}  // namespace

std::span<const ReceiverKind> service_kinds() {
  static const Kinds kMade = make_kinds();
  return kMade.kinds;
}

}  // namespace wardmote::config
