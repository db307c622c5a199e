// What an agent watches no more: others that share the store may go on, or else nobody will see it
// good.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "config/config.h"
#include "incidents/incident_manager.h"
#include "judge/incident/book.h"
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
  return all_heard_ && known_.lacks(root) && is_left(known_.whole_of(root));
}

IncidentManager::Owners IncidentManager::watched() const {
  std::set<std::string> owners = ours_;
  for (const auto& [kind, things] : discovered_) {
    for (const DiscoveredThing& thing : things) owners.insert(thing.node);
  }
  return owners;
}

void IncidentManager::leave_to_others(judge::incident::Departures& left) {
  for (const std::string& owner : left.gone)
    std::erase_if(here_, [&](const Symptom& symptom) { return symptom.owner == owner; });
  const auto is_watched = [this](const std::string& owner) {
    return std::ranges::any_of(peers_watch_, [&](const auto& peer) {
      return peer.second && peer.second->contains(owner) && !doubted_.contains(peer.first);
    });
  };
  const auto watched = std::ranges::partition(left.gone, std::not_fn(is_watched));
  std::ranges::move(watched, std::back_inserter(left.replaced));
  left.gone.erase(watched.begin(), watched.end());
}

void IncidentManager::raise_of_others(void (IncidentManager::*how)(const Symptom&)) {
  for (const auto& [node, symptoms] : peers_) {
    if (doubted_.contains(node)) continue;
    for (const Symptom& symptom : symptoms) {
      if (!is_ours(symptom) && is_to_raise(symptom)) (this->*how)(symptom);
    }
  }
}

void IncidentManager::note_ours() {
  ours_.clear();
  for (const config::Check& check : config_.checks) ours_.insert(known_.owner_of(check.name));
  placed_.clear();
}

}  // namespace wardmote::incidents
