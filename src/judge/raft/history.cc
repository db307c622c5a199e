#include "judge/raft/history.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/dialect.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/raft/removal.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostTicks = 64;
constexpr std::size_t kMostChanges = 32;
constexpr std::size_t kMostMarks = 32;
constexpr std::size_t kMostAges = 64;
/// Ages are whole milliseconds, and clocks do not run at exactly the same speed.
constexpr Milliseconds kSlack = 10ms;
/// A member that stands still for less was only slow: nobody notices.
constexpr Milliseconds kRewind = 3s;

Duration round_of(Milliseconds election_timer) noexcept {
  return election_timer + 1s;
}

/// The time between two probes of one member: by how much its ages can have grown.
struct Elapsed {
  Duration least;
  Duration most;
};

Elapsed elapsed(const Track& before, const Opinion& now) noexcept {
  return {now.begun - before.ended, now.ended - before.begun};
}

/// How many elections the member has started since the last probe. From OVS 3.3 on a candidate's
/// term may stand still; up to 2.14 it does not print when it started one.
std::uint64_t elections_since(const Track& before, const Opinion& now) noexcept {
  const Status& status = *now.status;
  const bool campaigns = status.role == Role::kCandidate && before.role == Role::kCandidate;
  const std::uint64_t terms =
      campaigns && status.term > before.term ? status.term - before.term : 0;
  if (!status.election_started) return terms;
  // After another election, nobody continues to lead in the same term.
  const bool leads_on = status.role == Role::kLeader && status.term == before.term;
  if (leads_on) return 0;
  const Milliseconds age = *status.election_started;
  const bool since_the_last_look = age <= elapsed(before, now).most;
  const bool another = !before.election_started ||
                       now.begun - age > before.ended - *before.election_started + kSlack;
  return since_the_last_look && another ? std::max<std::uint64_t>(terms, 1) : 0;
}

/// By how much an age is younger than it can be. It begins again with an event, but then it is at
/// most as old as the last probe.
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
    const auto old = std::ranges::find_if(before.ages, [&](const Age& age) {
      return age.id == server.id && age.address == server.address;
    });
    if (old != before.ages.end())
      most = std::max(most, rewound_by(old->time, *server.last_message, time));
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

/// What was committed is on the disk of each server that says so, and stays there.
void compare_log(Track& track, const Opinion& now) {
  const Status& status = *now.status;
  if (!now.dialect->keeps_committed || status.log_next == 0) return;
  const std::uint64_t end = status.log_next - 1;
  if (end < track.committed && !track.rolled_back)
    track.rolled_back = RolledBack{now.begun, track.committed, end};
  track.committed = std::max(track.committed, status.committed_index());
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
      track.ages.push_back({server.id, server.address, *server.last_message});
  }
}

/// Whether another process answers than at the last probe: there was no process in between, or its
/// counter begins again, or it is another server.
bool has_restarted(const Track& track, const Member& member) noexcept {
  if (track.down) return true;
  const Opinion& opinion = *member.opinion;
  const MemberId id = opinion.server_id();
  if (track.served.full() && id.full() && id != track.served) return true;
  return opinion.status && track.id == member.id &&
         opinion.status->disconnections < track.disconnections;
}

void note_restarts(Track& track, const Member& member) {
  const Opinion& opinion = *member.opinion;
  if (opinion.begun <= track.seen) return;
  track.seen = opinion.begun;
  if (member.presence == Presence::kDown && !member.unreachable) {
    track.down = true;
  } else if (opinion.speaks()) {
    if (has_restarted(track, member)) track.restarts.add(opinion.begun);
    track.down = false;
    if (opinion.server_id().known()) track.served = opinion.server_id();
  }
}

void note_look(Track& track, const Member& member) {
  const Opinion& opinion = *member.opinion;
  if (!member.takes_part() || !opinion.status || opinion.begun <= track.begun) return;
  if (track.id.known() && track.id == member.id) {
    compare(track, opinion);
  } else {
    track = Track{.member = std::move(track.member),
                  .id = member.id,
                  .seen = track.seen,
                  .down = track.down,
                  .served = track.served,
                  .restarts = std::move(track.restarts)};
  }
  compare_log(track, opinion);
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

std::optional<std::uint64_t> end_of_log(const ClusterSnapshot& snapshot) noexcept {
  if (!snapshot.leader) return std::nullopt;
  if (const Status* const status = snapshot.leader->status())
    return status->log_next > 0 ? status->log_next - 1 : 0;
  return snapshot.leader->opinion->local ? snapshot.leader->opinion->local->index : std::nullopt;
}

std::optional<std::uint64_t> acknowledged(const ClusterSnapshot& snapshot,
                                          const ListedServer& listed) noexcept {
  if (listed.at_leader && listed.at_leader->match_index) return listed.at_leader->match_index;
  if (!listed.reporter || !snapshot.leader || snapshot.leader->status()) return std::nullopt;
  const std::optional<Local>& local = listed.reporter->opinion->local;
  return local ? local->index : std::nullopt;
}

void History::note(const ClusterSnapshot& snapshot) {
  if (snapshot.cluster_id.known() && snapshot.cluster_id != cluster_id_) {
    // Another history: the old one cannot be compared.
    *this = History();
    cluster_id_ = snapshot.cluster_id;
  }
  note_members(snapshot);
  note_healed(snapshot);
  note_leader(snapshot);
  note_log(snapshot);
  if (is_reconfiguring(snapshot)) reconfigured_ = snapshot.now;
}

void History::forget(std::string_view member) {
  std::erase_if(tracks_, [&](const Track& track) { return track.member == member; });
}

void History::rename(std::string_view from, const std::string& to) {
  const auto track = std::ranges::find(tracks_, from, &Track::member);
  if (track == tracks_.end()) return;
  track->member = to;
  std::ranges::sort(tracks_, {}, &Track::member);
}

void History::note_members(const ClusterSnapshot& snapshot) {
  const auto same = [](const Track& t, const Member& m) { return t.member == m.name(); };
  if (!std::ranges::equal(tracks_, snapshot.members, same)) {
    std::vector<Track> next;
    next.reserve(snapshot.members.size());
    for (const Member& member : snapshot.members) {
      const auto old = std::ranges::find(tracks_, member.name(), &Track::member);
      next.push_back(old == tracks_.end() ? Track{.member = member.name()} : std::move(*old));
    }
    tracks_ = std::move(next);
  }
  std::vector<std::pair<MemberId, std::uint64_t>> before;
  before.reserve(tracks_.size());
  for (const Track& track : tracks_) before.emplace_back(track.id, track.committed);
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    Track& track = tracks_[i];
    const bool known = track.rolled_back.has_value();
    note_restarts(track, snapshot.members[i]);
    note_look(track, snapshot.members[i]);
    if (track.rolled_back && !known) {
      for (const auto& [id, committed] : before) {
        if (id.known() && id != track.id && committed >= track.rolled_back->committed)
          track.rolled_back->whole.push_back(id);
      }
    }
    track.restarts.forget_before(snapshot.now - flap_window(snapshot.election_timer));
    track.elections.forget_before(snapshot.now - storm_window(snapshot.election_timer));
    track.lost_connections.forget_before(snapshot.now - kChurnWindow);
  }
}

/// Raft gives a server again what it has lost, if its leader has it.
void History::note_healed(const ClusterSnapshot& snapshot) {
  if (!snapshot.leader_vouches) return;
  const Member& leader = *snapshot.leader;
  const Track* const its = of(leader);
  if (its == nullptr || its->id != leader.id || its->rolled_back) return;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    const Member& member = snapshot.members[i];
    std::optional<RolledBack>& back = tracks_[i].rolled_back;
    if (!back || tracks_[i].id != member.id || !member.hears_leader) continue;
    const bool has_all = std::ranges::find(back->whole, leader.id) != back->whole.end();
    const bool follows = compatible(member.leader_line->id, leader.id);
    if (has_all && follows && member.status()->committed_index() >= back->committed) back.reset();
  }
}

void History::note_leader(const ClusterSnapshot& snapshot) {
  const TimePoint oldest = snapshot.now - flap_window(snapshot.election_timer);
  std::erase_if(changes_, [&](const LeaderChange& change) { return change.at < oldest; });
  const Member* const leader = snapshot.leader;
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
                        .id = leader->dialect().short_id(leader->id),
                        .term = term,
                        .reason = status ? status->election_reason : std::string()});
  }
  if (another || again || !leader_.known()) leads_since_ = leader->opinion->begun;
  leader_ = leader->id;
  leader_term_ = term;
}

void History::note_log(const ClusterSnapshot& snapshot) {
  const std::optional<std::uint64_t> end = end_of_log(snapshot);
  if (!end) return;
  const TimePoint at = snapshot.leader->opinion->begun;
  // A new leader may have fewer entries than the old one had written.
  std::erase_if(marks_, [&](const Mark& mark) { return mark.end > *end; });
  if (marks_.empty() || marks_.back().end < *end) {
    if (marks_.size() == kMostMarks) marks_.erase(marks_.begin());
    marks_.push_back({at, *end});
  }
  std::vector<Follower> next;
  next.reserve(snapshot.servers.size());
  for (const ListedServer& listed : snapshot.servers) {
    const std::optional<std::uint64_t> has = acknowledged(snapshot, listed);
    if (!has || *has >= *end) continue;
    const Follower::Sample now{at, *end - *has, *has};
    const Follower* const old = of(listed);
    Follower follower = old ? *old : Follower{listed.id, std::string(listed.address), now, now};
    if (at - follower.newer.at >= round_of(snapshot.election_timer))
      follower.older = std::exchange(follower.newer, now);
    next.push_back(std::move(follower));
  }
  followers_ = std::move(next);
}

const Track* History::of(const Member& member) const noexcept {
  const auto found = std::ranges::lower_bound(tracks_, member.name(), {}, &Track::member);
  return found != tracks_.end() && found->member == member.name() ? &*found : nullptr;
}

const Track* History::rolled_back() const noexcept {
  const auto found = std::ranges::find_if(
      tracks_, [](const Track& track) { return track.rolled_back.has_value(); });
  return found == tracks_.end() ? nullptr : &*found;
}

std::uint64_t History::committed_by(const MemberId& id) const noexcept {
  std::uint64_t most = 0;
  for (const Track& track : tracks_) {
    if (track.id.known() && compatible(track.id, id)) most = std::max(most, track.committed);
  }
  return most;
}

const Follower* History::of(const ListedServer& listed) const noexcept {
  const auto found = std::ranges::find_if(followers_, [&](const Follower& follower) {
    return same_server(follower.id, follower.address, listed.id, listed.address);
  });
  return found == followers_.end() ? nullptr : &*found;
}

std::optional<TimePoint> History::passed(std::uint64_t index) const noexcept {
  for (const Mark& mark : marks_) {
    if (mark.end > index) return std::max(mark.at, leads_since_);
  }
  return std::nullopt;
}

std::optional<TimePoint> History::within(std::uint64_t index) const noexcept {
  std::optional<TimePoint> last;
  for (const Mark& mark : marks_) {
    if (mark.end <= index && mark.at >= leads_since_) last = mark.at;
  }
  return last;
}

std::size_t History::size() const noexcept {
  std::size_t size = tracks_.size() + changes_.size() + marks_.size() + followers_.size();
  for (const Track& track : tracks_)
    size += track.ages.size() + track.elections.size() + track.lost_connections.size() +
            track.restarts.size();
  return size;
}

}  // namespace wardmote::judge::raft
