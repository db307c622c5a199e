#include "judge/notify/router.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
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

namespace wardmote::judge::notify {
namespace {

using incident::Incident;
using incident::Phase;
using incident::Step;
using incident::StepKind;
using namespace std::chrono_literals;

constexpr std::size_t kMostItems = 100;
constexpr Duration kLongestRetryAfter = 1h;
/// How often what is muted is looked at again.
constexpr Duration kMutedPause = 1min;

void bring_forward(std::optional<TimePoint>& due, TimePoint at) {
  if (!due || at < *due) due = at;
}

/// What the receiver is to hear of `member`; nothing when it knows all of it.
std::optional<Tidings> tidings_of(const Member& member) {
  if (member.incident.phase == Phase::kOpen) {
    if (!member.begun) return Tidings::kBegan;
    return member.news > member.told ? Tidings::kChanged : Tidings::kStands;
  }
  if (member.begun) return Tidings::kEnded;
  // What was merged before it was told of is told of as part of its cause.
  return member.incident.merged_into == 0 ? std::optional(Tidings::kCameAndWent) : std::nullopt;
}

bool over_and_silent(const Member& member) {
  return member.incident.phase == Phase::kResolved && !tidings_of(member);
}

/// Between 80 % and 120 %.
Duration jittered(Duration time, std::uint64_t chance) {
  return time * 4 / 5 + time * 2 / 5 / 1000 * static_cast<std::int64_t>(chance % 1000);
}

}  // namespace

std::string_view to_string(Tidings tidings) noexcept {
  switch (tidings) {
    case Tidings::kBegan: return "began";
    case Tidings::kChanged: return "changed";
    case Tidings::kStands: return "stands";
    case Tidings::kEnded: return "ended";
    case Tidings::kCameAndWent: return "came_and_went";
  }
  return "stands";
}

bool any_open(const Notice& notice) noexcept {
  return std::ranges::any_of(
      notice.items, [](const NoticeItem& item) { return item.incident.phase == Phase::kOpen; });
}

void Router::recall(Group group) {
  if (group.pending) group.pending->under_way = false;
  groups_[group.id] = std::move(group);
}

void Router::hear(const Step& step, const Labels& labels, TimePoint now) {
  std::set<std::string> told;
  if (step.incident.phase == Phase::kOpen) {
    for (const Route& route : policy_.routes) {
      if (!match(route.match, labels)) continue;
      Group& group = group_for(route, step.incident.id, labels);
      if (told.insert(group.id).second) hear_in(group, step, labels, now);
      if (!route.go_on) break;
    }
  }
  // Who heard of it before hears how it goes on, wherever it would go now.
  for (auto& [id, group] : groups_) {
    if (group.members.contains(step.incident.id) && !told.contains(id)) {
      hear_in(group, step, labels, now);
    }
  }
}

Group& Router::group_for(const Route& route, std::int64_t incident, const Labels& labels) {
  // Its labels may have changed since (another root was found): whoever knows it under the former
  // ones must not hear of a second beginning.
  for (auto& [id, group] : groups_) {
    const bool of_route = group.receiver == route.receiver && group.group_by == route.group_by;
    if (of_route && group.members.contains(incident)) return group;
  }
  Labels common;
  std::string id = route.receiver + "{";
  for (const std::string& name : route.group_by) {
    const auto label = labels.find(name);
    if (label == labels.end()) continue;
    if (!common.empty()) id += ",";
    common.insert(*label);
    id += name + "=" + label->second;
  }
  id += "}";
  bool overflow = false;
  if (!groups_.contains(id) && groups_.size() >= policy_.groups) {
    overflow = true;
    id = route.receiver + "{overflow}";
    common = {{"overflow", "true"}};
  }
  const auto [at, added] = groups_.try_emplace(id);
  if (added) {
    at->second.id = id;
    at->second.receiver = route.receiver;
    at->second.labels = std::move(common);
    at->second.group_by = route.group_by;
    at->second.overflow = overflow;
  }
  return at->second;
}

void Router::hear_in(Group& group, const Step& step, const Labels& labels, TimePoint now) {
  Member& member = group.members[step.incident.id];
  member.incident = step.incident;
  member.labels = labels;
  changed_.insert(group.id);
  if (step.kind == StepKind::kAcknowledged) return;
  member.news = step.incident.revision;
  const Route& route = route_of(group);
  TimePoint at = now + route.group_wait;
  if (group.last_sent) at = std::max(at, *group.last_sent + route.group_interval);
  // What the group waits with already is not put off by more of the same.
  bring_forward(group.due, at);
}

void Router::reroute(RouterPolicy policy, const std::set<std::string>& receivers, TimePoint now) {
  policy_ = std::move(policy);
  for (auto at = groups_.begin(); at != groups_.end();) {
    if (!receivers.contains(at->second.receiver)) {
      changed_.insert(at->first);
      at = groups_.erase(at);
      continue;
    }
    // It may repeat itself sooner now.
    if (!at->second.pending) rest(at->second, now);
    ++at;
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

std::vector<Notice> Router::take(const Muting& muting, TimePoint now, WallTime wall_now) {
  std::vector<Notice> notices;
  std::vector<std::string> idle;
  for (auto& [id, group] : groups_) {
    if (!group.pending && group.due && now >= *group.due) {
      group.due.reset();
      changed_.insert(id);
      if (auto notice = compose(group, muting, now, wall_now)) {
        group.pending = Group::Pending{.notice = *std::move(notice), .since = now, .next_try = now};
      } else {
        rest(group, now);
      }
    }
    if (group.pending && !group.pending->under_way && now >= group.pending->next_try) {
      group.pending->under_way = true;
      notices.push_back(group.pending->notice);
    }
    if (group.members.empty() && !group.pending) idle.push_back(id);
  }
  for (const std::string& id : idle) {
    groups_.erase(id);
    changed_.insert(id);
  }
  return notices;
}

std::optional<Notice> Router::compose(Group& group, const Muting& muting, TimePoint now,
                                      WallTime wall_now) {
  const Route& route = route_of(group);
  Notice notice;
  bool news = false;
  bool unknown_to_people = false;
  std::vector<NoticeItem> standing;
  std::vector<std::int64_t> unheard;
  for (const auto& [id, member] : group.members) {
    const auto tidings = tidings_of(member);
    if (!tidings) continue;
    // An end of which somebody waits to hear is told in any case.
    if (*tidings != Tidings::kEnded && muting.by(member.labels, wall_now)) {
      if (*tidings == Tidings::kCameAndWent) {
        unheard.push_back(id);
      } else {
        bring_forward(group.due, now + kMutedPause);
      }
      continue;
    }
    NoticeItem item{*tidings, member.incident, member.labels};
    if (*tidings == Tidings::kStands) {
      unknown_to_people = unknown_to_people || !member.incident.acknowledged;
      standing.push_back(std::move(item));
      continue;
    }
    news = true;
    if (notice.items.size() < kMostItems) {
      notice.items.push_back(std::move(item));
    } else {
      // It stays news, for the next notice.
      ++notice.left_out;
      bring_forward(group.due, now + route.group_interval);
    }
  }
  for (const std::int64_t id : unheard) group.members.erase(id);
  const bool repeat = !news && unknown_to_people && route.repeat_interval > Duration::zero() &&
                      group.last_sent && now >= *group.last_sent + route.repeat_interval;
  if (!news && !repeat) return std::nullopt;
  for (NoticeItem& item : standing) {
    if (notice.items.size() < kMostItems) {
      notice.items.push_back(std::move(item));
    } else {
      ++notice.left_out;
    }
  }
  notice.group = group.id;
  // A group that is over is forgotten, and its next one must not use its numbers again.
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(wall_now.time_since_epoch());
  group.notices = std::max(group.notices + 1, static_cast<std::uint64_t>(ms.count()));
  notice.number = group.notices;
  notice.receiver = group.receiver;
  notice.labels = group.labels;
  notice.repeats = repeat;
  return notice;
}

void Router::delivered(const std::string& id, std::uint64_t number, TimePoint now) {
  const auto found = groups_.find(id);
  if (found == groups_.end() || !found->second.pending) return;
  Group& group = found->second;
  if (group.pending->notice.number != number) return;
  for (const NoticeItem& item : group.pending->notice.items) {
    const auto at = group.members.find(item.incident.id);
    if (at == group.members.end()) continue;
    Member& member = at->second;
    member.told = std::max(member.told, item.incident.revision);
    member.begun = item.incident.phase == Phase::kOpen;
    const bool over = member.incident.phase == Phase::kResolved &&
                      member.incident.revision == item.incident.revision;
    if (over) group.members.erase(at);
  }
  group.pending.reset();
  group.last_sent = now;
  plan(group, now);
}

std::optional<DeadLetter> Router::refused(const std::string& id, std::uint64_t number,
                                          const Refusal& refusal, TimePoint now,
                                          std::uint64_t chance) {
  const auto found = groups_.find(id);
  if (found == groups_.end() || !found->second.pending) return std::nullopt;
  Group& group = found->second;
  Group::Pending& pending = *group.pending;
  if (pending.notice.number != number) return std::nullopt;
  changed_.insert(id);
  ++pending.attempts;
  pending.under_way = false;
  pending.last_refusal = refusal.reason;
  const RetryPolicy& retry = retry_of(group);
  if (!refusal.for_ever && now - pending.since < retry.give_up) {
    Duration pause = retry.first;
    for (int i = retry.steady; i < pending.attempts && pause < retry.longest; ++i) pause *= 2;
    pause = jittered(std::min(pause, retry.longest), chance);
    if (refusal.retry_after) {
      pause = std::max(pause, std::min(*refusal.retry_after, kLongestRetryAfter));
    }
    pending.next_try = now + pause;
    return std::nullopt;
  }
  DeadLetter letter{std::move(pending.notice), refusal.reason, now, pending.attempts};
  group.pending.reset();
  // What is over is in the letter; what stands is told anew, later.
  for (const NoticeItem& item : letter.notice.items) {
    const auto at = group.members.find(item.incident.id);
    if (at == group.members.end()) continue;
    if (at->second.incident.phase == Phase::kResolved &&
        at->second.incident.revision == item.incident.revision) {
      group.members.erase(at);
    }
  }
  plan(group, now);
  if (group.due) group.due = std::max(*group.due, now + retry.longest);
  return letter;
}

void Router::plan(Group& group, TimePoint now) {
  changed_.insert(group.id);
  const Route& route = route_of(group);
  for (const auto& [id, member] : group.members) {
    const auto tidings = tidings_of(member);
    if (tidings && *tidings != Tidings::kStands) {
      const TimePoint earliest =
          group.last_sent ? *group.last_sent + route.group_interval : now + route.group_wait;
      bring_forward(group.due, std::max(earliest, now));
    }
  }
  rest(group, now);
}

/// With nothing to tell now: until it is time to repeat what stands.
void Router::rest(Group& group, TimePoint now) {
  std::erase_if(group.members, [](const auto& entry) { return over_and_silent(entry.second); });
  const Duration repeat = route_of(group).repeat_interval;
  const bool unacknowledged = std::ranges::any_of(group.members, [](const auto& entry) {
    return entry.second.begun && !entry.second.incident.acknowledged;
  });
  if (!unacknowledged || !group.last_sent || repeat <= Duration::zero()) return;
  const TimePoint at = *group.last_sent + repeat;
  // Time to repeat and yet nothing was told: it is muted.
  bring_forward(group.due, at > now ? at : now + kMutedPause);
}

void Router::muting_changed(TimePoint now) {
  for (auto& [id, group] : groups_) {
    const bool news = std::ranges::any_of(group.members, [](const auto& entry) {
      const auto tidings = tidings_of(entry.second);
      return tidings && *tidings != Tidings::kStands;
    });
    if (!news) continue;
    const Route& route = route_of(group);
    TimePoint at = now + route.group_wait;
    if (group.last_sent) at = std::max(now, *group.last_sent + route.group_interval);
    bring_forward(group.due, at);
  }
}

std::optional<TimePoint> Router::next_due() const {
  std::optional<TimePoint> next;
  for (const auto& [id, group] : groups_) {
    if (group.pending) {
      if (!group.pending->under_way) bring_forward(next, group.pending->next_try);
    } else if (group.due) {
      bring_forward(next, *group.due);
    } else if (group.members.empty()) {
      bring_forward(next, TimePoint::min());
    }
  }
  return next;
}

std::set<std::string> Router::take_changed() {
  return std::exchange(changed_, {});
}

}  // namespace wardmote::judge::notify
