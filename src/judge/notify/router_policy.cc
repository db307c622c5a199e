// Which route and which receivers a group has, and what happens to it when these change.

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/incident/incident.h"
#include "judge/notify/matcher.h"
#include "judge/notify/muting.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"
#include "judge/notify/weekly.h"

namespace wardmote::judge::notify {

namespace {

/// A receiver that somebody takes out for longer than this is not missed.
constexpr Duration kKeepDormant = std::chrono::hours(24);

}  // namespace

std::string group_name(const Route& route, const Labels& labels) {
  std::string name = route.receiver + "{";
  std::string_view separator;
  for (const std::string& by : route.group_by) {
    const auto label = labels.find(by);
    if (label == labels.end()) continue;
    name += std::string(separator) + by + "=" + label->second;
    separator = ",";
  }
  return name + "}";
}

void Router::reroute(RouterPolicy policy, const std::set<std::string>& receivers, TimePoint now) {
  policy_ = std::move(policy);
  set_receivers(receivers, now);
  for (auto& [id, group] : groups_) {
    if (auto& pending = group.pending) {
      // The change may correct what its receiver refused.
      if (!pending->under_way) pending->next_try = std::min(pending->next_try, now);
    } else {
      rest(group, now);  // it may repeat itself sooner now
    }
  }
}

void Router::set_receivers(const std::set<std::string>& receivers, TimePoint now) {
  for (auto& [id, group] : groups_) {
    const bool there = receivers.contains(group.receiver);
    if (there != group.dormant_until.has_value()) continue;
    there ? wake(group, now) : fall_asleep(group, now);
    changed_.insert(id);
  }
}

void Router::fall_asleep(Group& group, TimePoint now) {
  group.dormant_until = now + kKeepDormant;
  if (!group.pending) return;
  // What it refused is composed anew, as things are then.
  const bool refused = !group.pending->under_way && group.pending->attempts > 0;
  group.pending->under_way = false;
  if (refused) group.pending.reset();
}

/// What its receiver missed is due.
void Router::wake(Group& group, TimePoint now) {
  group.dormant_until.reset();
  if (group.pending) {
    // In the meantime nobody tried.
    group.pending->since = group.pending->next_try = now;
  } else {
    plan(group, now);
  }
}

void Router::consider(const incident::Incident& incident, const Labels& labels, TimePoint now) {
  for (const std::string& id : routed(incident.id, labels)) {
    Group& group = groups_.at(id);
    if (!group.members.contains(incident.id)) {
      hear_in(group, {incident::StepKind::kOpened, incident}, labels, now);
    }
  }
  for (auto& [id, group] : groups_) {
    const auto member = group.members.find(incident.id);
    if (member == group.members.end() || member->second.labels == labels) continue;
    member->second.labels = labels;
    changed_.insert(id);
  }
}

bool Router::goes_on_elsewhere(const Group& group, const Member& member) const {
  if (member.incident.phase != incident::Phase::kMerged) return false;
  return std::ranges::any_of(groups_, [&](const auto& entry) {
    const auto whole = entry.second.members.find(member.incident.merged_into);
    return entry.second.receiver == group.receiver && whole != entry.second.members.end() &&
           whole->second.begun;
  });
}

const std::string& Router::configured_name(const std::string& receiver) const {
  const auto name = policy_.configured_as.find(receiver);
  return name == policy_.configured_as.end() ? receiver : name->second;
}

const Route& Router::route_of(const Group& group) const {
  static const Route kPlain{};
  const Route* of_receiver = &kPlain;
  for (const Route& route : policy_.routes) {
    if (route.receiver != group.receiver) continue;
    if (route.group_by == group.group_by) return route;
    if (of_receiver == &kPlain) of_receiver = &route;
  }
  return *of_receiver;
}

std::optional<WallTime> Route::rests_until(WallTime now) const noexcept {
  std::optional<WallTime> begin;
  for (const WeeklyWindow& window : active) {
    if (window.until(now)) return std::nullopt;
    const auto next = window.next(now);
    if (next) begin = std::min(begin.value_or(*next), *next);
  }
  return begin;
}

std::optional<WallTime> Router::rests_until(const std::string& receiver, const Labels& labels,
                                            WallTime now) const {
  std::optional<WallTime> begin;
  for (const Route& route : policy_.routes) {
    if (!match(route.match, labels)) continue;
    if (route.receiver == receiver) {
      const auto next = route.rests_until(now);
      if (!next) return std::nullopt;
      begin = std::min(begin.value_or(*next), *next);
    }
    if (!route.go_on) break;
  }
  return begin;
}

bool Router::leads_to(const std::string& receiver, const Labels& labels) const {
  for (const Route& route : policy_.routes) {
    if (!match(route.match, labels)) continue;
    if (route.receiver == receiver) return true;
    if (!route.go_on) break;
  }
  return false;
}

bool Router::storm_holds(const Group& group, const Member& member) const {
  return member.incident.storm && member.incident.phase == incident::Phase::kOpen &&
         policy_.recover.contains(group.receiver) && raging_ && raging_(member.incident);
}

std::optional<TimePoint> Router::look_again(const Group& group, const Member& member,
                                            NoticeKind kind, const Muting& muting, TimePoint now,
                                            WallTime wall_now) const {
  if (const auto muted = muted_until(group, member.labels, kind, muting, wall_now))
    return now + std::min(kMutedPause, Duration(*muted - wall_now));
  if (kind == NoticeKind::kOpened && member.not_before && now < *member.not_before)
    return member.not_before;
  return storm_holds(group, member) ? std::optional(now + kMutedPause) : std::nullopt;
}

void Router::forget_ended(Group& group, TimePoint now) {
  if (!group.pending || group.pending->under_way || !policy_.recover.contains(group.receiver))
    return;
  std::vector<NoticeItem>& items = group.pending->notice.items;
  const auto ended = std::erase_if(items, [&](const NoticeItem& item) {
    const auto member = group.members.find(item.incident.id);
    return item.kind == NoticeKind::kOpened && member != group.members.end() &&
           member->second.incident.phase == incident::Phase::kResolved;
  });
  if (ended == 0) return;
  changed_.insert(group.id);
  if (!items.empty()) return;
  group.pending.reset();
  plan(group, now);
}

/// An end that a receiver waits for is sent in any case.
std::optional<WallTime> Router::muted_until(const Group& group, const Labels& labels,
                                            NoticeKind kind, const Muting& muting,
                                            WallTime wall_now) const {
  if (ends(kind)) return std::nullopt;
  return std::max(muting.until(labels, wall_now), rests_until(group.receiver, labels, wall_now));
}

std::optional<WallTime> Router::held_until(const Group& group, const Muting& muting,
                                           WallTime wall_now) const {
  const Notice& notice = group.pending->notice;
  std::optional<WallTime> until;
  for (const NoticeItem& item : notice.items) {
    if (item.kind == NoticeKind::kOngoing && !notice.repeats) continue;
    const auto muted = muted_until(group, item.labels, item.kind, muting, wall_now);
    if (!muted) return std::nullopt;
    until = std::min(until.value_or(*muted), *muted);
  }
  return until;
}

const RetryPolicy& Router::retry_of(const Group& group) const {
  const auto found = policy_.retries.find(group.receiver);
  return found == policy_.retries.end() ? policy_.retry : found->second;
}

}  // namespace wardmote::judge::notify
