#include <string>
#include <utility>
#include <vector>

#include "agent/config/config.h"
#include "agent/config/problem.h"
#include "agent/config/reader.h"
#include "agent/config/sections.h"
#include "agent/config/yaml.h"
#include "base/format.h"
#include "base/text.h"

namespace wardmote::agent::config {
namespace {

Gate read_gate(const YamlEntry& entry, const Names& names, Problems& problems) {
  MapReader map(entry.value, fmt::format("gate '{}'", escape_control(entry.key, 64)), problems);
  Gate gate{entry.key, {}};
  const YamlNode* const all = map.require("all", "all: [ovn-nb]");
  if (all != nullptr) {
    const bool empty = all->kind == YamlNode::Kind::kList && all->items.empty();
    if (empty) {
      problems.add(all->at, map.what(), "it names no check, so it would always pass",
                   "name at least one, or remove the gate");
    }
    for (Placed<std::string>& text : read_texts(*all, "all", problems)) {
      if (names.contains(text.value)) {
        gate.all.push_back(std::move(text.value));
        continue;
      }
      const auto guess = did_you_mean(text.value, names.all());
      problems.add(
          text.at, fmt::format("'{}'", escape_control(text.value, 64)),
          "no check or cluster has this name",
          guess ? fmt::format("did you mean '{}'?", *guess) : "define it or remove it here");
    }
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

}  // namespace wardmote::agent::config
