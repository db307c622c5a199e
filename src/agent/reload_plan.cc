#include "agent/reload_plan.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/config/config.h"

namespace wardmote::agent {
namespace {

// Copies without some parts, so that a key that a later version adds is compared without anybody
// having to think of it here.

config::Cluster without_place(config::Cluster cluster) {
  return cluster;
}
config::Check without_place(config::Check check) {
  check.at = {};
  return check;
}

template <class Item>
Item without_schedule(Item item) {
  item.schedule = {};
  return item;
}

template <class Item>
Fate compare(const Item& from, const Item& to) {
  const Item before = without_place(from);
  const Item after = without_place(to);
  if (before == after) return Fate::kKept;
  return without_schedule(before) == without_schedule(after) ? Fate::kRetimed : Fate::kBegun;
}

template <class Item>
std::vector<Arrival> plan(const std::vector<Item>& from, const std::vector<Item>& to,
                          std::vector<std::string>& ended) {
  std::map<std::string_view, std::size_t> indexes;
  for (std::size_t i = 0; i < from.size(); ++i) indexes.emplace(from[i].name, i);
  std::vector<bool> kept(from.size());
  std::vector<Arrival> arrivals;
  arrivals.reserve(to.size());
  for (const Item& item : to) {
    const auto found = indexes.find(item.name);
    Arrival arrival;
    if (found != indexes.end()) arrival = {compare(from[found->second], item), found->second};
    if (arrival.fate == Fate::kKept) kept[arrival.was] = true;
    arrivals.push_back(arrival);
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!kept[i]) ended.push_back(from[i].name);
  }
  return arrivals;
}

}  // namespace

std::size_t ReloadPlan::count(Fate fate) const noexcept {
  return static_cast<std::size_t>(std::ranges::count(clusters, fate, &Arrival::fate) +
                                  std::ranges::count(checks, fate, &Arrival::fate));
}

ReloadPlan plan_reload(const config::Config& from, const config::Config& to) {
  ReloadPlan way;
  way.clusters = plan(from.clusters, to.clusters, way.ended);
  way.checks = plan(from.checks, to.checks, way.ended);
  return way;
}

}  // namespace wardmote::agent
