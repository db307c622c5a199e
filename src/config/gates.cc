#include <algorithm>
#include <cstddef>
#include <cstdint>
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

namespace wardmote::config {
namespace {

constexpr std::int64_t kMostWeight = 1'000'000;

/// Whether a check or cluster has this name.
bool check_name(const Placed<std::string>& name, const Names& names, Problems& problems) {
  if (names.contains(name.value)) return true;
  const auto guess = did_you_mean(name.value, names.all());
  problems.add(name.at, fmt::format("'{}'", escape_control(name.value, 64)),
               "no check or cluster has this name",
               guess ? fmt::format("did you mean '{}'?", *guess) : "define it or remove it here");
  return false;
}

/// `what` is the key of the list.
std::vector<std::string> read_all(const YamlNode& list, std::string_view what,
                                  const MapReader& owner, const Names& names, Problems& problems) {
  std::vector<std::string> all;
  if (list.kind == YamlNode::Kind::kList && list.items.empty()) {
    problems.add(list.at, owner.what(), "it names no check, so it would always pass",
                 "name at least one, or remove it");
  }
  for (Placed<std::string>& text : read_texts(list, what, problems)) {
    if (check_name(text, names, problems)) all.push_back(std::move(text.value));
  }
  return all;
}

using Weights = std::vector<std::pair<std::string, std::uint32_t>>;

/// A list of names, which update one each, or a map from names to weights.
Weights read_weights(const YamlNode& of, const Names& names, Problems& problems) {
  Weights weights;
  if (of.kind != YamlNode::Kind::kMap) {
    for (Placed<std::string>& text : read_texts(of, "of", problems)) {
      if (check_name(text, names, problems)) weights.emplace_back(std::move(text.value), 1);
    }
    return weights;
  }
  const MapReader map(of, "of", problems);
  for (const YamlEntry* const entry : map.others()) {
    const auto weight = read_integer(entry->value, entry->key, problems);
    if (!weight || !check_name({entry->key, entry->at}, names, problems)) continue;
    if (*weight >= 1 && *weight <= kMostWeight) {
      weights.emplace_back(entry->key, static_cast<std::uint32_t>(*weight));
      continue;
    }
    problems.add(entry->value.at, fmt::format("weight {}", *weight),
                 fmt::format("not from 1 to {}", kMostWeight), "give it the weight 1");
  }
  return weights;
}

/// A name that stands twice would count twice.
void check_twice(const Weights& weights, Place at, Problems& problems) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (weights[i].first != weights[j].first) continue;
      problems.add(at, fmt::format("'{}'", weights[i].first),
                   "named twice, so it would count twice",
                   "remove one, or write {NAME: 2} for a weight");
    }
  }
}

/// A number that the weights can reach, and that nothing cannot.
void check_count(const Gate::AtLeast& least, Place at, Problems& problems) {
  std::uint64_t sum = 0;
  for (const auto& [name, weight] : least.of) sum += weight;
  if (least.count >= 1 && least.count <= sum) return;
  problems.add(at, fmt::format("count {}", least.count),
               least.count < 1 ? std::string("it would always pass")
                               : fmt::format("it would never pass: all together update {}", sum),
               fmt::format("write 1 to {}", sum));
}

Gate::AtLeast read_at_least(const YamlNode& node, const Names& names, Problems& problems) {
  MapReader map(node, "at_least", problems);
  Gate::AtLeast least;
  const YamlNode* const of = map.require("of", "of: [a, b, c]");
  if (of != nullptr) {
    least.of = read_weights(*of, names, problems);
    check_twice(least.of, of->at, problems);
  }
  const YamlNode* const count = map.require("count", "count: 2");
  const auto number = count == nullptr ? std::nullopt : read_integer(*count, "count", problems);
  map.finish();
  if (!number || of == nullptr) return least;
  least.count = *number < 1 ? 0 : static_cast<std::uint64_t>(*number);
  // A name that is wrong has been complained about; its weight is missing here.
  if (least.of.size() == std::max(of->items.size(), of->entries.size()))
    check_count(least, count->at, problems);
  return least;
}

Gate read_gate(const YamlEntry& entry, const Names& names, Problems& problems) {
  MapReader map(entry.value, fmt::format("gate '{}'", escape_control(entry.key, 64)), problems);
  Gate gate{entry.key, {}};
  const YamlNode* const all = map.find("all");
  const YamlNode* const at_least = map.find("at_least");
  if (all != nullptr) gate.all = read_all(*all, "all", map, names, problems);
  if (at_least != nullptr) gate.at_least = read_at_least(*at_least, names, problems);
  if (all == nullptr && at_least == nullptr && map.is_map()) {
    problems.add(map.at(), map.what(), "it does not say what must pass",
                 "add 'all: [NAME, ...]' or 'at_least: {count: 2, of: [NAME, ...]}'");
  }
  map.finish();
  return gate;
}

}  // namespace

std::vector<Gate> read_gates(const YamlNode& map, const Names& names, Problems& problems) {
  const MapReader gates_map(map, "gates", problems);
  std::vector<Gate> gates;
  for (const YamlEntry* const entry : gates_map.others()) {
    YamlNode name;
    name.kind = YamlNode::Kind::kScalar;
    name.at = entry->at;
    name.text = entry->key;
    if (read_name(name, "gate", problems)) gates.push_back(read_gate(*entry, names, problems));
  }
  return gates;
}

PublicPage read_public_page(const YamlNode& node, const Names& names, Problems& problems) {
  constexpr std::size_t kMostLines = 100;
  MapReader map(node, "public", problems);
  PublicPage page;
  page.title = map.read("title", read_text).value_or("Status");
  const YamlNode* const lines = map.require("lines", "lines: [{name: Network, checks: [ovn-nb]}]");
  if (lines != nullptr && (lines->kind != YamlNode::Kind::kList || lines->items.empty() ||
                           lines->items.size() > kMostLines)) {
    problems.add(lines->at, "lines", fmt::format("not a list of 1 to {} lines", kMostLines),
                 "write '- {name: Network, checks: [ovn-nb]}' below it");
  } else if (lines != nullptr) {
    for (const YamlNode& item : lines->items) {
      MapReader one(item, fmt::format("line {} of the public page", page.lines.size() + 1),
                    problems);
      PublicPage::Line& line = page.lines.emplace_back();
      line.name = one.read_required("name", "name: Network", read_text).value_or("");
      if (const YamlNode* const checks = one.require("checks", "checks: [ovn-nb]"))
        line.checks = read_all(*checks, "checks", one, names, problems);
      one.finish();
    }
  }
  map.finish();
  return page;
}

}  // namespace wardmote::config
