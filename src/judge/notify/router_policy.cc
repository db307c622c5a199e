// Which route and which receivers a group has, and what happens to it when these change.

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/incident/incident.h"
#include "judge/notify/router.h"

namespace wardmote::judge::notify {

void Router::reroute(RouterPolicy policy, const std::set<std::string>& receivers, TimePoint now) {
  policy_ = std::move(policy);
  for (auto at = groups_.begin(); at != groups_.end();) {
    if (!receivers.contains(at->second.receiver)) {
      changed_.insert(at->first);
      at = groups_.erase(at);
      continue;
    }
    if (auto& pending = at->second.pending) {
      // The change may correct what its receiver refused.
      if (!pending->under_way) pending->next_try = std::min(pending->next_try, now);
    } else {
      rest(at->second, now);  // it may repeat itself sooner now
    }
    ++at;
  }
}

const std::string& Router::first_twin(const std::string& receiver) const {
  const auto twin = policy_.twins.find(receiver);
  return twin == policy_.twins.end() ? receiver : twin->second;
}

void Router::tell_twins(TimePoint now) {
  for (const auto& [twin, first] : policy_.twins) {
    const auto is_of = [](const std::string& receiver) {
      return [&receiver](const auto& group) { return group.second.receiver == receiver; };
    };
    if (std::ranges::any_of(groups_, is_of(twin))) continue;
    std::vector<Group> news;
    for (const auto& [id, group] : groups_) {
      if (group.receiver != first) continue;
      Group copy = group;
      copy.id = twin + id.substr(first.size());
      copy.receiver = twin;
      copy.pending.reset();
      copy.last_sent.reset();
      copy.due = now;
      std::erase_if(copy.members, [](const auto& entry) {
        return !entry.second.begun || entry.second.incident.phase != incident::Phase::kOpen;
      });
      for (auto& [number, member] : copy.members) {
        member.begun = false;
        member.told = 0;
      }
      if (!copy.members.empty()) news.push_back(std::move(copy));
    }
    for (Group& group : news) {
      changed_.insert(group.id);
      std::string id = group.id;
      groups_.insert_or_assign(std::move(id), std::move(group));
    }
  }
}

const Route& Router::route_of(const Group& group) const {
  static const Route kPlain{};
  const auto found = std::ranges::find_if(policy_.routes, [&](const Route& route) {
    return route.receiver == group.receiver && route.group_by == group.group_by;
  });
  return found == policy_.routes.end() ? kPlain : *found;
}

const RetryPolicy& Router::retry_of(const Group& group) const {
  const auto found = policy_.retries.find(group.receiver);
  return found == policy_.retries.end() ? policy_.retry : found->second;
}

}  // namespace wardmote::judge::notify
