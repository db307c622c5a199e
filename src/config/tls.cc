#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/sections.h"
#include "config/yaml.h"
#include "runtime/tls.h"

namespace wardmote::config {

using runtime::TlsSettings;

namespace {

/// The path of a PEM file; empty when absent or wrong.
std::string read_file(MapReader& map, std::string_view key, bool required) {
  const std::string example = fmt::format("{0}: /etc/wardmote/tls/{0}.pem", key);
  const YamlNode* const node = required ? map.require(key, example) : map.find(key);
  if (node == nullptr) return {};
  auto path = read_text(*node, key, map.problems());
  if (!path) return {};
  if (path->starts_with('/')) return *std::move(path);
  map.problems().add(node->at, fmt::format("{} '{}'", key, escape_control(*path, 64)),
                     "not an absolute path", fmt::format("write {}", example));
  return {};
}

}  // namespace

TlsSettings read_member_tls(const YamlNode& node, Problems& problems) {
  MapReader map(node, "tls", problems);
  const bool paired = (map.find("certificate") == nullptr) == (map.find("key") == nullptr);
  TlsSettings settings{.ca = read_file(map, "ca", true),
                       .certificate = read_file(map, "certificate", false),
                       .key = read_file(map, "key", false),
                       .trust = TlsSettings::Trust::kChain};
  if (!paired)
    problems.add(node.at, "tls", "'certificate' and 'key' go together", "give both or neither");
  map.finish();
  return settings;
}

TlsSettings read_api_tls(const YamlNode& node, Problems& problems) {
  MapReader map(node, "tls", problems);
  TlsSettings settings{.ca = read_file(map, "client_ca", false),
                       .certificate = read_file(map, "certificate", true),
                       .key = read_file(map, "key", true)};
  map.finish();
  return settings;
}

}  // namespace wardmote::config
