#include "agent/dependencies.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/domains.h"
#include "base/text.h"
#include "base/time.h"
#include "config/config.h"
#include "config/reload_plan.h"
#include "judge/incident/book.h"
#include "judge/incident/graph.h"
#include "judge/incident/news.h"

namespace wardmote::agent {

using judge::incident::check_node;
using judge::incident::Dependencies;

namespace {

constexpr std::string_view kCheck = "check:";
constexpr std::string_view kNode = "node";

}  // namespace

std::string_view check_in(std::string_view component) {
  consume_prefix(component, kCheck);
  return component.substr(0, component.find('@'));
}

std::string node_in_graph(std::string_view node) {
  return "node:" + std::string(node);
}

Dependencies dependencies(const config::Config& config, Domains domains, const std::string& node) {
  Dependencies known;
  for (const config::Check& check : config.checks) {
    if (check.schedule.optional) known.checks[check.name].optional = true;
  }
  for (const DomainRow& domain : domains) {
    if (domain.depend != nullptr) domain.depend(config, known);
  }
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
                                       const config::ReloadPlan& plan, Domains domains,
                                       const std::string& node) {
  const Dependencies known = dependencies(before, domains, node);
  const Dependencies later = dependencies(next, domains, node);
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

bool is_gone(std::string_view root, const config::Config& config, std::string_view node) {
  std::string_view name = root;
  const std::string_view scope = take_until(name, ':');
  if (const std::size_t at = name.find('@'); scope == "check" && at != std::string_view::npos) {
    if (name.substr(at + 1) != node) return false;
    name = name.substr(0, at);
  }
  const auto lacks = [&](const auto& things, auto named) {
    return std::ranges::find(things, name, named) == things.end();
  };
  if (scope == "check") return lacks(config.checks, &config::Check::name);
  if (scope == "member") name = take_until(name, '/');
  if (scope != "member" && scope != "cluster") return false;
  return lacks(config.clusters, &config::Cluster::name);
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

}  // namespace wardmote::agent
