#include "config/reload_plan.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace wardmote::config {
namespace {

// Copies without some parts, so that a key that a later version adds is compared without anybody
// having to think of it here.

config::Check without_place(config::Check check) {
  check.at = {};
  return check;
}

// What changes how a thing is judged, or when it is looked at, and not what is looked at.
config::Check without_schedule(config::Check check) {
  check.schedule = {};
  check.depends_on = {};
  return check;
}

/// How it is asked, and by which name it goes: the same server, as far as anybody can tell.
bool same_member(const config::Member& a, const config::Member& b) {
  return a.name == b.name && asked_in_the_same_way(a, b);
}

/// A cluster goes on while one member of it does. What is done to repair a member is nothing that
/// is looked at.
ReloadAction compare(const config::Cluster& from, const config::Cluster& to) {
  config::Cluster before = from;
  config::Cluster after = to;
  for (config::Cluster* const cluster : {&before, &after}) {
    for (config::Member& member : cluster->members) member.repair = {};
  }
  if (before == after) return ReloadAction::kKept;
  const bool goes_on = from.expectation.database == to.expectation.database &&
                       std::ranges::any_of(from.members, [&](const config::Member& old) {
                         return std::ranges::any_of(to.members, [&](const config::Member& member) {
                           return same_member(old, member);
                         });
                       });
  return goes_on ? ReloadAction::kRetimed : ReloadAction::kBegun;
}

template <class Item>
ReloadAction compare(const Item& from, const Item& to) {
  const Item before = without_place(from);
  const Item after = without_place(to);
  if (before == after) return ReloadAction::kKept;
  return without_schedule(before) == without_schedule(after) ? ReloadAction::kRetimed
                                                             : ReloadAction::kBegun;
}

template <class Item>
std::vector<Arrival> arrivals(const std::vector<Item>& from, const std::vector<Item>& to) {
  std::map<std::string_view, std::size_t> indexes;
  for (std::size_t i = 0; i < from.size(); ++i) indexes.emplace(from[i].name, i);
  std::vector<Arrival> arrivals;
  arrivals.reserve(to.size());
  for (const Item& item : to) {
    const auto found = indexes.find(item.name);
    Arrival arrival;
    if (found != indexes.end()) arrival = {compare(from[found->second], item), found->second};
    arrivals.push_back(arrival);
  }
  return arrivals;
}

/// What stands for a cluster goes on as the cluster does.
void follow_clusters(ReloadPlan& plan, const config::Config& to) {
  for (std::size_t i = 0; i < to.clusters.size(); ++i) {
    const auto check = std::ranges::find(to.checks, to.clusters[i].name, &config::Check::name);
    if (check == to.checks.end()) continue;
    Arrival& arrival = plan.checks[static_cast<std::size_t>(check - to.checks.begin())];
    arrival.action = std::max(arrival.action, plan.clusters[i].action);
  }
}

}  // namespace

std::size_t ReloadPlan::count(ReloadAction action) const noexcept {
  return static_cast<std::size_t>(std::ranges::count(checks, action, &Arrival::action));
}

ReloadPlan plan_reload(const config::Config& from, const config::Config& to) {
  ReloadPlan plan;
  plan.clusters = arrivals(from.clusters, to.clusters);
  plan.checks = arrivals(from.checks, to.checks);
  follow_clusters(plan, to);
  std::vector<bool> kept(from.checks.size());
  for (const Arrival& arrival : plan.checks) {
    if (arrival.action == ReloadAction::kKept) kept[arrival.was] = true;
  }
  for (std::size_t i = 0; i < from.checks.size(); ++i) {
    if (!kept[i]) plan.ended.push_back(from.checks[i].name);
  }
  return plan;
}

FromTheStart::FromTheStart(const Config& config)
    : data(config.data),
      store(config.store),
      version_gates(config.version_gates),
      failover(config.failover),
      node_conditions(config.node_conditions) {}

std::vector<std::string> FromTheStart::differs_in(const Config& now) const {
  std::vector<std::string> keys;
  if (now.data != data) keys.emplace_back("data");
  if (now.store != store) keys.emplace_back("store");
  if (now.version_gates != version_gates) keys.emplace_back("version_gates");
  if (now.failover != failover) keys.emplace_back("failover");
  if (now.node_conditions != node_conditions) keys.emplace_back("node_conditions");
  return keys;
}

}  // namespace wardmote::config
