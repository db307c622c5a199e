#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {

struct Member;
struct Picture;
struct Seat;

/// How often something happened, and when. Bounded: of many, the oldest are forgotten.
class Ticks {
 public:
  void add(TimePoint at, std::uint64_t count = 1);
  void forget_before(TimePoint at);

  [[nodiscard]] std::uint64_t total() const noexcept;
  [[nodiscard]] std::optional<TimePoint> first() const noexcept;
  [[nodiscard]] std::optional<TimePoint> last() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return ticks_.size(); }

 private:
  std::vector<std::pair<TimePoint, std::uint64_t>> ticks_;
};

/// What a member's statuses told one after the other.
struct Track {
  std::string member;
  MemberId id;  ///< a server with another id begins anew
  /// Of the last look that had its status.
  TimePoint begun;
  TimePoint ended;
  std::uint64_t term = 0;
  Role role = Role::kUnknown;
  std::uint64_t disconnections = 0;
  std::optional<Milliseconds> election_started;
  std::vector<std::pair<MemberId, Milliseconds>> ages;  ///< since it heard the others

  Ticks elections;                   ///< that it started, within storm_window()
  Ticks lost_connections;            ///< within kChurnWindow
  std::optional<TimePoint> rewound;  ///< when its ages last were younger than they can be
  Milliseconds rewound_by{};
};

/// The leader changed, or the same one won another term.
struct LeaderChange {
  TimePoint at;
  std::string member;
  std::string id;  ///< four digits
  std::uint64_t term = 0;
  std::string reason;  ///< of its election: `timeout`, `leadership_transfer`, or not known

  [[nodiscard]] bool planned() const noexcept { return reason == "leadership_transfer"; }
};

/// How far a follower was behind the leader's log at two earlier looks, at least one election round
/// apart.
struct Follower {
  struct Sample {
    TimePoint at;
    std::uint64_t lag = 0;
  };
  MemberId id;
  std::string address;
  Sample older;
  Sample newer;
};

inline constexpr Duration kChurnWindow = std::chrono::seconds(60);

/// What tells only over time: elections, changes of the leader, lost connections, the pace of the
/// log. Bounded by the configured members and the listed servers; a value.
class History {
 public:
  /// Takes in one look. An opinion that was taken in before adds nothing.
  void note(const Picture& picture);

  [[nodiscard]] const Track* of(const Member& member) const noexcept;
  /// Within flap_window(), oldest first.
  [[nodiscard]] std::span<const LeaderChange> leader_changes() const noexcept { return changes_; }
  /// The first look under this leader at which its log had gone beyond `index`. A new leader knows
  /// of nobody how far he is.
  [[nodiscard]] std::optional<TimePoint> passed(std::uint64_t index) const noexcept;
  [[nodiscard]] const Follower* of(const Seat& seat) const noexcept;
  /// Entries of all kinds, for tests of the bound.
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  struct Mark {
    TimePoint at;
    std::uint64_t end = 0;
  };

  void note_members(const Picture& picture);
  void note_leader(const Picture& picture);
  void note_log(const Picture& picture);

  std::vector<Track> tracks_;  // by member name
  MemberId cluster_id_;
  MemberId leader_;
  std::uint64_t leader_term_ = 0;
  TimePoint leads_since_;
  std::vector<LeaderChange> changes_;
  std::vector<Mark> marks_;  // the leader's log, where it grew
  std::vector<Follower> followers_;
};

/// How far back elections count for a storm: a minute, or ten rounds if that is longer.
Duration storm_window(Milliseconds election_timer) noexcept;
/// How far back changes of the leader count: ten minutes, or thirty rounds if that is longer.
Duration flap_window(Milliseconds election_timer) noexcept;

/// The last index of the leader's log; of its applied log where only its local view is known.
std::optional<std::uint64_t> end_of_log(const Picture& picture) noexcept;
/// How much of it the server has by the leader's word, else by its own.
std::optional<std::uint64_t> acknowledged(const Picture& picture, const Seat& seat) noexcept;

}  // namespace wardmote::judge::raft
