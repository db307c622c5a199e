// What an agent watches no more: others that share the store may go on, or else nobody will see it
// good.

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "incidents/incident_manager.h"
#include "judge/incident/incident.h"

namespace wardmote::incidents {

using judge::incident::Symptom;

bool IncidentManager::is_left(const std::string& owner) const {
  const auto has_left = [&](const auto& peer) {
    const auto& [node, watches] = peer;
    return watches && !watches->contains(owner) && !doubted_.contains(node);
  };
  if (!owner.starts_with("check:")) return std::ranges::all_of(peers_watch_, has_left);
  const std::size_t at = owner.find('@');
  const auto its = peers_watch_.find(at == std::string::npos ? "" : owner.substr(at + 1));
  return its != peers_watch_.end() && has_left(*its);
}

bool IncidentManager::is_root_left(const std::string& root) const {
  if (root.starts_with("check:")) return is_left(root);
  return known_.lacks(root) && is_left(known_.whole_of(root));
}

IncidentManager::Owners IncidentManager::watched() const {
  std::set<std::string> owners;
  for (const config::Check& check : config_.checks) owners.insert(known_.owner_of(check.name));
  for (const auto& [kind, things] : discovered_) {
    for (const DiscoveredThing& thing : things) owners.insert(thing.node);
  }
  return owners;
}

IncidentManager::Symptoms IncidentManager::leave_to_others(std::vector<std::string>& gone) {
  Symptoms seen_well;
  const auto is_watched = [this](const std::string& owner) {
    return std::ranges::any_of(peers_watch_, [&](const auto& peer) {
      return peer.second && peer.second->contains(owner) && !doubted_.contains(peer.first);
    });
  };
  const auto [first, last] = std::ranges::partition(gone, std::not_fn(is_watched));
  for (const Symptom& symptom : here_) {
    if (std::ranges::find(first, last, symptom.owner) != last && !is_said(symptom))
      seen_well.push_back(symptom);
  }
  for (const std::string& owner : gone)
    std::erase_if(here_, [&](const Symptom& symptom) { return symptom.owner == owner; });
  gone.erase(first, last);
  return seen_well;
}

void IncidentManager::raise_of_others() {
  for (const auto& [node, symptoms] : peers_) {
    if (doubted_.contains(node)) continue;
    for (const Symptom& symptom : symptoms) {
      if (!is_ours(symptom) && is_to_raise(symptom)) raise(symptom);
    }
  }
}

}  // namespace wardmote::incidents
