#include "config/diff.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "base/format.h"
#include "base/text.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;

/// Single values by their path below an item: `tcp.address`.
using Flat = std::map<std::string, std::string>;

std::string spelled(const json::value& value) {
  if (const json::string* const text = value.if_string()) return escape_control(*text);
  return escape_control(json::serialize(value));
}

void flatten(const json::value& value, const std::string& path, Flat& into) {
  if (const json::object* const map = value.if_object()) {
    for (const auto& [key, below] : *map)
      flatten(below,
              path.empty() ? std::string(key) : fmt::format("{}.{}", path, std::string_view(key)),
              into);
    return;
  }
  into.emplace(path, spelled(value));
}

Flat flat(const json::value& value) {
  Flat into;
  flatten(value, "", into);
  return into;
}

std::vector<std::string> changes(const json::value& from, const json::value& to) {
  const Flat before = flat(from);
  const Flat after = flat(to);
  std::vector<std::string> lines;
  for (const auto& [path, value] : before) {
    const auto now = after.find(path);
    if (now == after.end()) {
      lines.push_back(fmt::format("{}: {} -> nothing", path, value));
    } else if (now->second != value) {
      lines.push_back(fmt::format("{}: {} -> {}", path, value, now->second));
    }
  }
  for (const auto& [path, value] : after) {
    if (!before.contains(path)) lines.push_back(fmt::format("{}: nothing -> {}", path, value));
  }
  return lines;
}

using Items = std::vector<std::pair<std::string, const json::value*>>;

/// What has a life of its own: each cluster, check and gate, and each other section.
Items items_of(const json::object& config) {
  Items items;
  for (const auto& [key, value] : config) {
    const std::string section(key);
    if (section == "clusters" || section == "checks") {
      const std::string one = section.substr(0, section.size() - 1);
      for (const json::value& item : value.as_array())
        items.emplace_back(fmt::format("{} {}", one, spelled(item.at("name"))), &item);
    } else if (section == "gates") {
      for (const auto& [name, gate] : value.as_object())
        items.emplace_back(fmt::format("gate {}", std::string_view(name)), &gate);
    } else {
      items.emplace_back(section, &value);
    }
  }
  return items;
}

}  // namespace

std::vector<Difference> differences(const json::object& from, const json::object& to) {
  std::map<std::string, const json::value*> before;
  const Items old_items = items_of(from);
  for (const auto& [what, item] : old_items) before.emplace(what, item);
  std::map<std::string, const json::value*> after;
  std::vector<Difference> found;
  for (const auto& [what, item] : items_of(to)) {
    after.emplace(what, item);
    const auto earlier = before.find(what);
    if (earlier == before.end()) {
      found.push_back({what, '+', {}});
    } else if (auto lines = changes(*earlier->second, *item); !lines.empty()) {
      found.push_back({what, '~', std::move(lines)});
    }
  }
  for (const auto& [what, item] : old_items) {
    if (!after.contains(what)) found.push_back({what, '-', {}});
  }
  return found;
}

}  // namespace wardmote::config
