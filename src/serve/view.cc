#include "serve/view.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "judge/thing.h"
#include "serve/thing_view.h"

namespace wardmote::serve {
std::size_t count_of(const AgentView& agent, judge::ThingKind kind) {
  const auto fits = [kind](const auto& thing) { return thing->id.kind == kind; };
  return static_cast<std::size_t>(std::ranges::count_if(agent.things, fits));
}

const ThingView* find_thing(const AgentView& agent, const judge::ThingId& id) {
  const auto found =
      std::ranges::find(agent.things, id, [](const auto& thing) { return thing->id; });
  return found == agent.things.end() ? nullptr : found->get();
}

std::vector<std::string> names_of(const std::vector<CheckView>& checks,
                                  std::span<const std::uint32_t> positions) {
  std::vector<std::string> names;
  names.reserve(positions.size());
  for (const std::uint32_t position : positions) names.push_back(checks.at(position).name);
  return names;
}

}  // namespace wardmote::serve
