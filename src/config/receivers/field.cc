#include "config/receivers/field.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "act/notify/template.h"
#include "base/format.h"
#include "base/text.h"
#include "codec/url.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/schema.h"
#include "config/yaml.h"

namespace wardmote::config {
namespace {

bool has_good_server(std::string_view url) {
  const std::size_t server = url.find("://") + 3;
  return codec::parse_url(url.substr(0, url.find_first_of("/?#", server))).has_value();
}

}  // namespace

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.starts_with('"') && text.ends_with('"');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::optional<std::size_t> read_word(const YamlNode& node, const KeySpec& key, Problems& problems) {
  const auto text = read_text(node, key.name, problems);
  if (!text) return std::nullopt;
  const std::vector<std::string_view> words = split(key.words, '|');
  const auto found = std::ranges::find(words, std::string_view(*text));
  if (found != words.end()) return std::distance(words.begin(), found);
  problems.add(node.at, fmt::format("{} '{}'", key.name, escape_control(*text, 64)),
               "not one of those", fmt::format("write one of: {}", fmt::join(words, ", ")));
  return std::nullopt;
}

std::optional<std::string> read_line(const YamlNode& node, std::string_view what,
                                     Problems& problems) {
  auto text = read_text(node, what, problems);
  if (!text || escape_control(*text) == *text) return text;
  problems.add(node.at, std::string(what), "it is too long or has control characters",
               "write it in one line");
  return std::nullopt;
}

std::optional<std::string_view> fault_of_url(std::string_view url) {
  const bool known = url.starts_with("http://") || url.starts_with("https://");
  if (!known || url.find_first_of(" \r\n\t") != std::string_view::npos)
    return "not an http:// or https:// address";
  if (has_good_server(url)) return std::nullopt;
  return "no host in it, a port that is not 1 to 65535, or a user, who does not belong there";
}

std::optional<std::string> read_url(const YamlNode& node, std::string_view what,
                                    Problems& problems) {
  auto url = read_text(node, what, problems);
  if (!url) return std::nullopt;
  const auto fault = fault_of_url(*url);
  if (!fault) return url;
  problems.add(node.at, std::string(what), std::string(*fault),
               "write for example https://hooks.example.org:8443/wardmote");
  return std::nullopt;
}

std::optional<std::string> read_base_url(const YamlNode& node, std::string_view what,
                                         Problems& problems) {
  auto url = read_url(node, what, problems);
  while (url && url->ends_with('/')) url->pop_back();
  return url;
}

std::optional<std::string> read_file_name(const YamlNode& node, std::string_view what,
                                          Problems& problems) {
  auto name = read_text(node, what, problems);
  if (!name || name->starts_with('/')) return name;
  problems.add(node.at, fmt::format("{} '{}'", what, escape_control(*name, 64)),
               "not an absolute path", "write the path of a file that only root may read");
  return std::nullopt;
}

std::optional<std::string> read_template(const YamlNode& node, std::string_view what,
                                         Problems& problems) {
  auto text = read_text(node, what, problems);
  if (!text) return std::nullopt;
  if (const auto checked = act::notify::check_template(*text); !checked) {
    problems.add(node.at, std::string(what), checked.error().context, "see docs/notifications.md");
    return std::nullopt;
  }
  return text;
}

void check_address(MapReader& map) {
  const bool has_url = map.find("url") != nullptr;
  const bool has_file = map.find("url_file") != nullptr;
  if (has_url != has_file) return;
  map.problems().add(map.at(), map.what(),
                     !has_url ? "url is missing" : "url and url_file are the same thing",
                     "give url, or url_file: the path of a file that only root may read");
}

}  // namespace wardmote::config
