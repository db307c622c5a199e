#include "incidents/dependencies.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "config/config.h"
#include "config/reload_plan.h"
#include "judge/incident/book.h"
#include "judge/incident/graph.h"
#include "judge/incident/news.h"

namespace wardmote::incidents {

using judge::incident::check_node;
using judge::incident::Dependencies;

namespace {

constexpr std::string_view kCheck = "check:";
constexpr std::string_view kNode = "node";

}  // namespace

std::string_view check_in(std::string_view component) {
  take_until(component, ':');
  return component.substr(0, component.find('@'));
}

std::string node_in_graph(std::string_view node) {
  return "node:" + std::string(node);
}

Dependencies dependencies(const config::Config& config, const Depends& depends,
                          const std::string& node) {
  Dependencies known;
  for (const config::Check& check : config.checks) {
    if (check.schedule.optional) known.checks[check.name].optional = true;
  }
  for (const Depend depend : depends) depend(config, known);
  // What stands for a thing of a domain is that thing.
  std::vector<const config::Check*> plain;
  for (const config::Check& check : config.checks) {
    if (known.owner_of(check.name) != check_node(check.name)) continue;
    plain.push_back(&check);
    if (!node.empty()) known.checks[check.name].owner = check_node(check.name) + "@" + node;
  }
  if (!node.empty()) known.graph.add(node_in_graph(node), std::string(kNode));
  for (const config::Check* const check : plain) {
    std::vector<std::string> above = known.place_of(check->name).above;
    for (const std::string& name : check->depends_on) above.push_back(known.owner_of(name));
    if (!node.empty()) above.push_back(node_in_graph(node));
    known.graph.add(known.owner_of(check->name), std::string(check->kind->name), std::move(above));
  }
  return known;
}

judge::incident::Departures departures(const config::Config& before, const config::Config& next,
                                       const config::ReloadPlan& plan, const Depends& depends,
                                       const std::string& node) {
  const Dependencies known = dependencies(before, depends, node);
  const Dependencies later = dependencies(next, depends, node);
  judge::incident::Departures left;
  for (const config::Check& check : before.checks) {
    const auto at = std::ranges::find(next.checks, check.name, &config::Check::name);
    const auto index = static_cast<std::size_t>(at - next.checks.begin());
    const std::string owner = known.owner_of(check.name);
    if (at == next.checks.end() || later.owner_of(check.name) != owner) {
      left.gone.push_back(owner);
    } else if (plan.checks[index].action == config::ReloadAction::kBegun) {
      left.replaced.push_back(owner);
    }
  }
  return left;
}

bool is_gone(std::string_view root, const config::Config& config, const Dependencies& known,
             std::string_view node) {
  std::string_view name = root;
  // Another agent may watch it.
  if (!consume_prefix(name, kCheck)) return node.empty() && known.lacks(root);
  if (const std::size_t at = name.find('@'); at != std::string_view::npos) {
    if (name.substr(at + 1) != node) return false;
    name = name.substr(0, at);
  }
  return std::ranges::find(config.checks, name, &config::Check::name) == config.checks.end();
}

judge::incident::BookPolicy book_policy(const config::Config& config) {
  judge::incident::BookPolicy policy;
  const auto consider = [&](const config::Schedule& schedule) {
    const Duration longest = std::max(schedule.policy.start_period, schedule.policy.unknown_limit);
    policy.settle = std::max(policy.settle, longest + schedule.every * (schedule.policy.fall + 2));
  };
  for (const config::Check& check : config.checks) consider(check.schedule);
  return policy;
}

}  // namespace wardmote::incidents
