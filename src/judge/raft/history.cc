#include "judge/raft/history.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/raft/picture.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostTicks = 64;
constexpr std::size_t kMostChanges = 32;
constexpr std::size_t kMostMarks = 32;
constexpr std::size_t kMostAges = 64;
/// Ages are whole milliseconds, and clocks do not run at quite the same pace.
constexpr Milliseconds kSlack = 10ms;
/// Who stands still for less was only slow: nobody notices.
constexpr Milliseconds kRewind = 3s;

Duration round_of(Milliseconds election_timer) noexcept {
  return election_timer + 1s;
}

/// Between two looks at one member: by what its ages can have grown.
struct Elapsed {
  Duration least;
  Duration most;
};

Elapsed elapsed(const Track& before, const Opinion& now) noexcept {
  return {now.begun - before.ended, now.ended - before.begun};
}

/// How many elections the member has started since the last look. From OVS 3.3 on a candidate's
/// term may stand still, and up to 2.14 it does not tell when it started one.
std::uint64_t elections_since(const Track& before, const Opinion& now) noexcept {
  const Status& status = *now.status;
  const bool campaigns = status.role == Role::kCandidate && before.role == Role::kCandidate;
  const std::uint64_t terms =
      campaigns && status.term > before.term ? status.term - before.term : 0;
  if (!status.election_started) return terms;
  // Nobody leads on in the same term after another election.
  const bool leads_on = status.role == Role::kLeader && status.term == before.term;
  if (leads_on) return 0;
  const Milliseconds age = *status.election_started;
  const bool since_the_last_look = age <= elapsed(before, now).most;
  const bool another = !before.election_started ||
                       now.begun - age > before.ended - *before.election_started + kSlack;
  return since_the_last_look && another ? std::max<std::uint64_t>(terms, 1) : 0;
}

/// By how much an age is younger than it can be. It begins anew with an event, but then it is no
/// older than the last look.
Milliseconds rewound_by(Milliseconds before, Milliseconds now, const Elapsed& time) noexcept {
  if (now <= time.most + kSlack) return {};
  const Duration missing = before + time.least - now;
  return missing > kRewind ? std::chrono::duration_cast<Milliseconds>(missing) : Milliseconds{};
}

Milliseconds rewound_by(const Track& before, const Opinion& now) noexcept {
  const Status& status = *now.status;
  const Elapsed time = elapsed(before, now);
  Milliseconds most{};
  if (status.election_started && before.election_started)
    most = rewound_by(*before.election_started, *status.election_started, time);
  for (const Server& server : status.servers) {
    if (!server.last_message) continue;
    const auto old =
        std::ranges::find(before.ages, server.id, &std::pair<MemberId, Milliseconds>::first);
    if (old != before.ages.end())
      most = std::max(most, rewound_by(old->second, *server.last_message, time));
  }
  return most;
}

void compare(Track& track, const Opinion& now) {
  const Status& status = *now.status;
  if (const std::uint64_t count = elections_since(track, now))
    track.elections.add(now.begun, count);
  if (status.disconnections > track.disconnections)
    track.lost_connections.add(now.begun, status.disconnections - track.disconnections);
  if (const Milliseconds by = rewound_by(track, now); by > 0ms) {
    track.rewound = now.begun;
    track.rewound_by = by;
  }
}

void take_over(Track& track, const Opinion& now) {
  const Status& status = *now.status;
  track.begun = now.begun;
  track.ended = now.ended;
  track.term = status.term;
  track.role = status.role;
  track.disconnections = status.disconnections;
  track.election_started = status.election_started;
  track.ages.clear();
  for (const Server& server : status.servers) {
    if (server.last_message && track.ages.size() < kMostAges)
      track.ages.emplace_back(server.id, *server.last_message);
  }
}

void note_look(Track& track, const Member& member) {
  const Opinion& opinion = *member.opinion;
  if (!member.takes_part() || !opinion.status || opinion.begun <= track.begun) return;
  if (track.id.known() && track.id == member.id) {
    compare(track, opinion);
  } else {
    track = Track{.member = std::move(track.member), .id = member.id};
  }
  take_over(track, opinion);
}

}  // namespace

void Ticks::add(TimePoint at, std::uint64_t count) {
  if (ticks_.size() == kMostTicks) ticks_.erase(ticks_.begin());
  ticks_.emplace_back(at, count);
}

void Ticks::forget_before(TimePoint at) {
  std::erase_if(ticks_, [&](const auto& tick) { return tick.first < at; });
}

std::uint64_t Ticks::total() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& [at, count] : ticks_) sum += count;
  return sum;
}

std::optional<TimePoint> Ticks::first() const noexcept {
  if (ticks_.empty()) return std::nullopt;
  return ticks_.front().first;
}

std::optional<TimePoint> Ticks::last() const noexcept {
  if (ticks_.empty()) return std::nullopt;
  return ticks_.back().first;
}

Duration storm_window(Milliseconds election_timer) noexcept {
  return std::max<Duration>(60s, 10 * round_of(election_timer));
}

Duration flap_window(Milliseconds election_timer) noexcept {
  return std::max<Duration>(10min, 30 * round_of(election_timer));
}

std::optional<std::uint64_t> end_of_log(const Picture& picture) noexcept {
  if (!picture.leader) return std::nullopt;
  if (const Status* const status = picture.leader->status())
    return status->log_next > 0 ? status->log_next - 1 : 0;
  return picture.leader->opinion->local ? picture.leader->opinion->local->index : std::nullopt;
}

std::optional<std::uint64_t> acknowledged(const Picture& picture, const Seat& seat) noexcept {
  if (seat.at_leader && seat.at_leader->match_index) return seat.at_leader->match_index;
  if (!seat.reporter || !picture.leader || picture.leader->status()) return std::nullopt;
  const std::optional<Local>& local = seat.reporter->opinion->local;
  return local ? local->index : std::nullopt;
}

void History::note(const Picture& picture) {
  if (picture.cluster_id.known() && picture.cluster_id != cluster_id_) {
    // Another history: nothing of the old one can be compared.
    *this = History();
    cluster_id_ = picture.cluster_id;
  }
  note_members(picture);
  note_leader(picture);
  note_log(picture);
}

void History::note_members(const Picture& picture) {
  const auto same = [](const Track& t, const Member& m) { return t.member == m.name(); };
  if (!std::ranges::equal(tracks_, picture.members, same)) {
    std::vector<Track> next;
    next.reserve(picture.members.size());
    for (const Member& member : picture.members) {
      const auto old = std::ranges::find(tracks_, member.name(), &Track::member);
      next.push_back(old == tracks_.end() ? Track{.member = member.name()} : std::move(*old));
    }
    tracks_ = std::move(next);
  }
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    Track& track = tracks_[i];
    note_look(track, picture.members[i]);
    track.elections.forget_before(picture.now - storm_window(picture.election_timer));
    track.lost_connections.forget_before(picture.now - kChurnWindow);
  }
}

void History::note_leader(const Picture& picture) {
  const TimePoint oldest = picture.now - flap_window(picture.election_timer);
  std::erase_if(changes_, [&](const LeaderChange& change) { return change.at < oldest; });
  const Member* const leader = picture.leader;
  if (!leader || !leader->id.known()) return;
  const Status* const status = leader->status();
  const std::uint64_t term = status ? status->term : leader_term_;
  if (term < leader_term_) return;
  const bool another = leader_.known() && !compatible(leader_, leader->id);
  const bool again = leader_.known() && term > leader_term_;
  if (another || again) {
    if (changes_.size() == kMostChanges) changes_.erase(changes_.begin());
    changes_.push_back({.at = leader->opinion->begun,
                        .member = leader->name(),
                        .id = short_name(leader->id),
                        .term = term,
                        .reason = status ? status->election_reason : std::string()});
  }
  if (another || again || !leader_.known()) leads_since_ = leader->opinion->begun;
  leader_ = leader->id;
  leader_term_ = term;
}

void History::note_log(const Picture& picture) {
  const std::optional<std::uint64_t> end = end_of_log(picture);
  if (!end) return;
  const TimePoint at = picture.leader->opinion->begun;
  // A new leader may have less than the old one had written.
  std::erase_if(marks_, [&](const Mark& mark) { return mark.end > *end; });
  if (marks_.empty() || marks_.back().end < *end) {
    if (marks_.size() == kMostMarks) marks_.erase(marks_.begin());
    marks_.push_back({at, *end});
  }
  std::vector<Follower> next;
  next.reserve(picture.seats.size());
  for (const Seat& seat : picture.seats) {
    const std::optional<std::uint64_t> has = acknowledged(picture, seat);
    if (!has || *has >= *end) continue;
    const Follower::Sample now{at, *end - *has};
    const Follower* const old = of(seat);
    Follower follower = old ? *old : Follower{seat.id, std::string(seat.address), now, now};
    if (at - follower.newer.at >= round_of(picture.election_timer))
      follower.older = std::exchange(follower.newer, now);
    next.push_back(std::move(follower));
  }
  followers_ = std::move(next);
}

const Track* History::of(const Member& member) const noexcept {
  const auto found = std::ranges::lower_bound(tracks_, member.name(), {}, &Track::member);
  return found != tracks_.end() && found->member == member.name() ? &*found : nullptr;
}

const Follower* History::of(const Seat& seat) const noexcept {
  const auto found = std::ranges::find_if(followers_, [&](const Follower& follower) {
    return same_server(follower.id, follower.address, seat.id, seat.address);
  });
  return found == followers_.end() ? nullptr : &*found;
}

std::optional<TimePoint> History::passed(std::uint64_t index) const noexcept {
  for (const Mark& mark : marks_) {
    if (mark.end > index) return std::max(mark.at, leads_since_);
  }
  return std::nullopt;
}

std::size_t History::size() const noexcept {
  std::size_t size = tracks_.size() + changes_.size() + marks_.size() + followers_.size();
  for (const Track& track : tracks_)
    size += track.ages.size() + track.elections.size() + track.lost_connections.size();
  return size;
}

}  // namespace wardmote::judge::raft
