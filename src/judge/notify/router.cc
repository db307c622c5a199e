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
#include "judge/notify/naming.h"
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
/// After a notice that its receiver will never take: how long until open incidents are sent again.
constexpr Duration kAfterGivenUp = 1min;
constexpr std::string_view kStormOfGuests = "storm:guest";

void bring_forward(std::optional<TimePoint>& due, TimePoint at) {
  if (!due || at < *due) due = at;
}

/// The receiver may know the incident by a thing of it that nobody watches any more.
bool unwatched(const Member& member) {
  const auto known_as = member.known_as.find("root");
  return member.incident.unwatched ||
         (known_as != member.known_as.end() &&
          std::ranges::find(member.incident.left, known_as->second) != member.incident.left.end());
}

/// What is new for the receiver about `member`; nothing when it knows everything.
std::optional<NoticeKind> kind_of(const Member& member) {
  if (member.incident.phase == Phase::kOpen) {
    if (!member.begun) return NoticeKind::kOpened;
    return member.news > member.told ? NoticeKind::kChanged : NoticeKind::kOngoing;
  }
  if (member.incident.phase == Phase::kMerged) {
    // An incident that was merged before it was sent is sent as part of its cause.
    if (!member.begun) return std::nullopt;
    return member.news > member.told ? NoticeKind::kChanged : NoticeKind::kOngoing;
  }
  if (member.begun) return unwatched(member) ? NoticeKind::kUnwatched : NoticeKind::kResolved;
  return member.incident.merged_into == 0 ? std::optional(NoticeKind::kBrief) : std::nullopt;
}

bool over_and_silent(const Member& member) {
  return member.incident.phase != Phase::kOpen && !kind_of(member);
}

/// Between 80 % and 120 %.
Duration jittered(Duration time, std::uint64_t chance) {
  return time * 4 / 5 + time * 2 / 5 / 1000 * static_cast<std::int64_t>(chance % 1000);
}

bool repeat_is_due(const Group& group, const Route& route, TimePoint now) {
  return route.repeat_interval > Duration::zero() && group.last_sent &&
         now >= *group.last_sent + route.repeat_interval;
}

/// Returns whether there was room for it.
bool take_in(Notice& notice, NoticeItem item) {
  if (notice.items.size() >= kMostItems) {
    ++notice.left_out;
    return false;
  }
  notice.items.push_back(std::move(item));
  return true;
}

}  // namespace

void Router::recall(Group group) {
  if (group.pending) {
    group.pending->under_way = false;
    // Nobody remembers whether it was: the end of a silence is tried in any case.
    group.pending->held = group.pending->may_be_there = true;
  }
  groups_[group.id] = std::move(group);
}

void Router::hear(const Step& step, const Labels& labels, TimePoint now) {
  std::set<std::string> told;
  if (step.incident.phase == Phase::kOpen) told = routed(step.incident.id, labels);
  for (const std::string& id : told) hear_in(groups_.at(id), step, labels, now);
  // A receiver of the beginning gets what follows, whatever the routes say now.
  for (auto& [id, group] : groups_) {
    if (group.members.contains(step.incident.id) && !told.contains(id)) {
      hear_in(group, step, labels, now);
    }
  }
}

std::set<std::string> Router::routed(std::int64_t incident, const Labels& labels) {
  std::set<std::string> groups;
  const auto root = labels.find("root");
  const bool guests = root != labels.end() && root->second == kStormOfGuests;
  bool taken = false;
  for (const Route& route : policy_.routes) {
    const bool matches = !taken && match(route.match, labels);
    // What it gets of a storm is single guests, whatever the storm itself is called.
    const bool single = guests && policy_.recover.contains(route.receiver);
    if (!matches && !single) continue;
    taken = taken || (matches && !route.go_on);
    const bool leads_there = std::ranges::any_of(
        groups, [&](const std::string& id) { return groups_.at(id).receiver == route.receiver; });
    if (!leads_there) groups.insert(group_for(route, incident, labels).id);
  }
  return groups;
}

void Router::catch_up(const Incident& incident, TimePoint now) {
  for (auto& [id, group] : groups_) {
    const auto member = group.members.find(incident.id);
    if (member == group.members.end()) continue;
    if (member->second.incident.revision >= incident.revision) continue;
    const bool over = incident.phase == Phase::kResolved;
    const Labels labels = member->second.labels;
    hear_in(group, {over ? StepKind::kResolved : StepKind::kChanged, incident}, labels, now);
  }
}

void Router::renew(const Incident& incident) {
  for (auto& [id, group] : groups_) {
    const auto member = group.members.find(incident.id);
    if (member == group.members.end()) continue;
    if (member->second.incident.revision == incident.revision) member->second.incident = incident;
  }
}

std::vector<Notice> Router::reminders(const std::string& receiver, const Muting& muting,
                                      WallTime wall_now) const {
  std::vector<Notice> notices;
  std::set<std::int64_t> told;  // perhaps by several routes
  for (const auto& [id, group] : groups_) {
    // The most important incidents come first.
    if (group.receiver != receiver || group.pending) continue;
    for (const auto& [incident, member] : group.members) {
      const bool known = member.begun && member.incident.phase != Phase::kResolved;
      if (!known || muting.until(member.labels, wall_now)) continue;
      if (!told.insert(incident).second) continue;
      if (notices.empty() || notices.back().items.size() == kMostItems) {
        notices.push_back({.group = receiver, .receiver = receiver, .repeats = true});
        notices.back().reminds = true;
      }
      notices.back().items.push_back(
          {NoticeKind::kOngoing, member.incident, member.labels, member.known_as});
    }
  }
  for (Notice& notice : notices) notice.labels = common_labels(notice.items);
  return notices;
}

Group& Router::group_for(const Route& route, std::int64_t incident, const Labels& labels) {
  // The labels may have changed since (another root was found): a receiver that knows the incident
  // by the old ones must not get a second beginning. Neither must one whose route groups otherwise
  // now, or that another of its routes leads to.
  for (auto& [id, group] : groups_) {
    if (group.receiver == route.receiver && group.members.contains(incident)) return group;
  }
  Labels common;
  for (const std::string& name : route.group_by) {
    if (const auto label = labels.find(name); label != labels.end()) common.insert(*label);
  }
  std::string id = group_name(route, labels);
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
  if (step.kind == StepKind::kAcknowledged || step.kind == StepKind::kUnacknowledged) return;
  // A message that waited had the number of later already.
  const bool is_number = step.kind == StepKind::kChanged && step.incident.storm;
  if (is_number && member.begun && member.said == step.incident.summary) return;
  member.news = step.incident.revision;
  const Route& route = route_of(group);
  TimePoint at = now + route.group_wait;
  if (group.last_sent) at = std::max(at, *group.last_sent + route.group_interval);
  // More of the same does not delay what the group waits with already.
  bring_forward(group.due, at);
}

std::vector<Notice> Router::take(const Muting& muting, TimePoint now, WallTime wall_now) {
  std::vector<Notice> notices;
  std::vector<std::string> idle;
  for (auto& [id, group] : groups_) {
    if (group.dormant_until) {
      if (now >= *group.dormant_until) idle.push_back(id);
      continue;
    }
    if (!group.pending && group.due && now >= *group.due) {
      group.due.reset();
      changed_.insert(id);
      if (auto notice = compose(group, muting, now, wall_now)) {
        group.pending = Group::Pending{.notice = *std::move(notice), .since = now, .next_try = now};
      } else {
        rest(group, now);
      }
    }
    forget_ended(group, now);
    if (group.pending && !group.pending->under_way && now >= group.pending->next_try) {
      if (const auto until = held_until(group, muting, wall_now)) {
        hold(group, now, Duration(*until - wall_now));
      } else {
        group.pending->held = false;
        group.pending->under_way = true;
        notices.push_back(group.pending->notice);
      }
    }
    if (group.members.empty() && !group.pending) idle.push_back(id);
  }
  for (const std::string& id : idle) {
    groups_.erase(id);
    changed_.insert(id);
  }
  return notices;
}

/// All that is new in what waits is muted for so long.
void Router::hold(Group& group, TimePoint now, Duration time) {
  changed_.insert(group.id);
  Group::Pending& pending = *group.pending;
  if (pending.attempts > 0 && !pending.may_be_there) {
    // What else is new must not wait for it, as an end that is sent at any time.
    group.pending.reset();
    plan(group, now);
    return;
  }
  // Meanwhile nobody tries, and it is not given up.
  pending.held = true;
  pending.since = now;
  pending.next_try = now + std::min(kMutedPause, time);
}

std::optional<Notice> Router::compose(Group& group, const Muting& muting, TimePoint now,
                                      WallTime wall_now) {
  const Route& route = route_of(group);
  Notice notice;
  bool news = false;
  bool unknown_to_people = false;
  std::vector<NoticeItem> standing;
  std::vector<std::int64_t> unheard;
  for (auto& [id, member] : group.members) {
    const auto kind = kind_of(member);
    if (!kind || (*kind == NoticeKind::kOngoing && goes_on_elsewhere(group, member))) continue;
    if (const auto later = look_again(group, member, *kind, muting, now, wall_now)) {
      if (*kind == NoticeKind::kBrief) unheard.push_back(id);
      bring_forward(group.due, *later);
      continue;
    }
    if (member.known_as.empty()) member.known_as = labels_for(group, id, member.labels);
    NoticeItem item = item_of(*kind, member);
    item.confirmed = !confirmed_ || confirmed_(member.incident);
    if (*kind == NoticeKind::kOngoing) {
      unknown_to_people = unknown_to_people || !member.incident.acknowledged;
      standing.push_back(std::move(item));
      continue;
    }
    news = true;
    // An incident that finds no room stays new, for the next notice.
    if (!take_in(notice, std::move(item))) {
      bring_forward(group.due, now + route.group_interval);
    }
  }
  for (const std::int64_t id : unheard) group.members.erase(id);
  const bool repeat = !news && unknown_to_people && repeat_is_due(group, route, now);
  if (!news && !repeat) return std::nullopt;
  for (NoticeItem& item : standing) take_in(notice, std::move(item));
  notice.group = group.id;
  // A group that has ended is forgotten, and the next one with its name must not use its numbers
  // again.
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(wall_now.time_since_epoch());
  group.notices = std::max(group.notices + 1, static_cast<std::uint64_t>(ms.count()));
  notice.number = group.notices;
  notice.receiver = group.receiver;
  notice.labels = group.overflow ? group.labels : common_labels(notice.items);
  notice.repeats = repeat;
  return notice;
}

Labels Router::labels_for(const Group& group, std::int64_t incident, const Labels& labels) const {
  // Another route to the receiver, or another member of it, may have sent it already, when its
  // labels were others.
  const std::string& receiver = configured_name(group.receiver);
  const auto routes = std::ranges::count_if(policy_.routes, [&](const Route& route) {
    return configured_name(route.receiver) == receiver;
  });
  if (routes < 2) return labels;
  for (const auto& [id, other] : groups_) {
    if (configured_name(other.receiver) != receiver) continue;
    const auto member = other.members.find(incident);
    if (member != other.members.end() && !member->second.known_as.empty()) {
      return member->second.known_as;
    }
  }
  return labels;
}

void Router::delivered(const std::string& id, std::uint64_t number, TimePoint now,
                       const Dropped& dropped) {
  const auto found = groups_.find(id);
  if (found == groups_.end() || !found->second.pending) return;
  Group& group = found->second;
  if (group.pending->notice.number != number) return;
  for (const NoticeItem& item : group.pending->notice.items) {
    const auto at = group.members.find(item.incident.id);
    if (at == group.members.end()) continue;
    Member& member = at->second;
    if (dropped.incidents.contains(at->first)) {
      member.not_before = now + dropped.again_in;
      continue;
    }
    member.told = std::max(member.told, item.incident.revision);
    member.begun = item.incident.phase != Phase::kResolved;
    remember_name(member, item.incident);
    if (item.incident.storm) member.said = item.incident.summary;
    const bool over = member.incident.phase == Phase::kResolved &&
                      member.incident.revision == item.incident.revision;
    if (over) group.members.erase(at);
  }
  group.pending.reset();
  group.last_sent = now;
  group.given_up = 0;
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
  pending.may_be_there |= !refusal.answered;
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
  // Ended incidents are in the dead letter; open ones are sent again later.
  for (const NoticeItem& item : letter.notice.items) {
    const auto at = group.members.find(item.incident.id);
    if (at == group.members.end()) continue;
    if (at->second.incident.phase == Phase::kResolved &&
        at->second.incident.revision == item.incident.revision) {
      group.members.erase(at);
    }
  }
  plan(group, now);
  Duration pause = retry.longest;
  if (refusal.for_ever) {
    // The error of this notice need not be the error of the next one.
    pause = kAfterGivenUp;
    for (int i = 0; i < group.given_up && pause < retry.longest; ++i) pause *= 2;
    pause = jittered(std::min(pause, retry.longest), chance);
    ++group.given_up;
  }
  if (group.due) group.due = std::max(*group.due, now + pause);
  return letter;
}

void Router::plan(Group& group, TimePoint now) {
  changed_.insert(group.id);
  const Route& route = route_of(group);
  for (const auto& [id, member] : group.members) {
    const auto kind = kind_of(member);
    if (kind && *kind != NoticeKind::kOngoing) {
      const TimePoint earliest =
          group.last_sent ? *group.last_sent + route.group_interval : now + route.group_wait;
      bring_forward(group.due, std::max({earliest, now, member.not_before.value_or(now)}));
    }
  }
  rest(group, now);
}

/// Nothing to send now: until it is time to repeat what is open.
void Router::rest(Group& group, TimePoint now) {
  std::erase_if(group.members, [](const auto& entry) { return over_and_silent(entry.second); });
  const Duration repeat = route_of(group).repeat_interval;
  const bool unacknowledged = std::ranges::any_of(group.members, [&](const auto& entry) {
    return entry.second.begun && !entry.second.incident.acknowledged &&
           !goes_on_elsewhere(group, entry.second);
  });
  if (!unacknowledged || !group.last_sent || repeat <= Duration::zero()) return;
  const TimePoint at = *group.last_sent + repeat;
  // It was time to repeat and nothing was sent: the incident is muted.
  bring_forward(group.due, at > now ? at : now + kMutedPause);
}

void Router::muting_changed(TimePoint now) {
  for (auto& [id, group] : groups_) {
    if (group.pending && group.pending->held) group.pending->next_try = now;
    const Route& route = route_of(group);
    std::optional<TimePoint> at;
    for (const auto& [incident, member] : group.members) {
      const auto kind = kind_of(member);
      if (!kind || *kind == NoticeKind::kOngoing) continue;
      // An incident that was muted for longer has waited long enough for more of the same.
      bring_forward(at, std::max(now, member.incident.changed + route.group_wait));
    }
    if (!at) continue;
    if (group.last_sent) at = std::max(*at, *group.last_sent + route.group_interval);
    bring_forward(group.due, *at);
  }
}

std::optional<TimePoint> Router::next_due() const {
  std::optional<TimePoint> next;
  for (const auto& [id, group] : groups_) {
    if (group.dormant_until) {
      bring_forward(next, *group.dormant_until);
    } else if (group.pending) {
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
