#include "judge/incident/graph.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wardmote::judge::incident {

std::string check_node(std::string_view name) {
  return "check:" + std::string(name);
}

void Graph::add(const std::string& name, std::string kind, std::vector<std::string> above) {
  const auto [at, added] = things_.try_emplace(name);
  if (added) ++population_[kind];
  uppers_.insert(above.begin(), above.end());
  at->second = {std::move(kind), std::move(above)};
}

void Graph::add_part(const std::string& name, std::string kind) {
  things_.insert_or_assign(name, Thing{std::move(kind), {}});
}

std::vector<std::string> Graph::above(const std::string& name) const {
  std::vector<std::string> found;
  const auto add_above = [&](const std::string& lower) {
    const auto thing = things_.find(lower);
    if (thing == things_.end()) return;
    for (const std::string& upper : thing->second.above) {
      if (upper != name && std::ranges::find(found, upper) == found.end()) found.push_back(upper);
    }
  };
  add_above(name);
  for (std::size_t i = 0; i < found.size(); ++i) add_above(std::string(found[i]));
  return found;
}

bool Graph::is_above(const std::string& upper, const std::string& lower) const {
  const std::vector<std::string> all = above(lower);
  return std::ranges::find(all, upper) != all.end();
}

std::string_view Graph::kind(const std::string& name) const {
  const auto thing = things_.find(name);
  return thing == things_.end() ? std::string_view() : std::string_view(thing->second.kind);
}

std::size_t Graph::population(std::string_view kind) const {
  const auto in = [&](const auto& counts) {
    const auto count = counts.find(std::string(kind));
    return count == counts.end() ? 0 : count->second;
  };
  return std::max(in(population_), in(expected_));
}

}  // namespace wardmote::judge::incident
