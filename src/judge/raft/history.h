#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {

struct Member;
struct ClusterSnapshot;
struct ListedServer;

/// How often something happened, and when. Bounded: of many events, the oldest are forgotten.
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

/// The log of a server ended before what it had committed: its disk was put back.
struct RolledBack {
  TimePoint at;
  std::uint64_t committed = 0;  ///< what it had said before
  std::uint64_t end = 0;        ///< of its log then
  /// The members that had all of that, by the round before.
  std::vector<MemberId> whole{};
};

/// The time since a member heard another server. Lists show four digits of an id, which two servers
/// may share.
struct Age {
  MemberId id;
  std::string address;
  Milliseconds time{};
};

/// What the statuses of a member showed one after the other.
struct Track {
  std::string member;
  MemberId id;  ///< a server with another id begins a new track
  /// From the last probe that had its status.
  TimePoint begun;
  TimePoint ended;
  std::uint64_t term = 0;
  Role role = Role::kUnknown;
  std::uint64_t disconnections = 0;
  std::optional<Milliseconds> election_started;
  std::vector<Age> ages;
  std::uint64_t committed = 0;  ///< the highest index of all
  /// The first time, until it is another id, or follows a leader that had all that it had
  /// committed.
  std::optional<RolledBack> rolled_back;

  TimePoint seen;     ///< when the last probe began, with an answer or without
  bool down = false;  ///< the last probe showed that no process served its sockets
  MemberId served;    ///< the id of its last answer, in any cluster
  Ticks restarts;     ///< within flap_window()

  Ticks elections;                   ///< elections that it started, within storm_window()
  Ticks lost_connections;            ///< within kChurnWindow
  std::optional<TimePoint> rewound;  ///< when its ages were last younger than they can be
  Milliseconds rewound_by{};
};

/// The leader changed, or the same one won another term.
struct LeaderChange {
  TimePoint at;
  std::string member;
  std::string id;  ///< in short
  std::uint64_t term = 0;
  std::string reason;  ///< reason of its election: `timeout`, `leadership_transfer`, or unknown

  [[nodiscard]] bool planned() const noexcept { return reason == "leadership_transfer"; }
};

/// How far a follower was behind the leader's log in two earlier rounds, at least one election
/// round apart.
struct Follower {
  struct Sample {
    TimePoint at;
    std::uint64_t lag = 0;
    std::uint64_t index = 0;  ///< what it had acknowledged
  };
  MemberId id;
  std::string address;
  Sample older;
  Sample newer;
};

inline constexpr Duration kChurnWindow = std::chrono::seconds(60);

/// Facts that only a series of rounds shows: elections, changes of the leader, lost connections,
/// the speed of the log. Bounded by the configured members and the listed servers; a value.
class History {
 public:
  /// Adds one round. An opinion that was added before adds nothing.
  void note(const ClusterSnapshot& snapshot);
  /// From now on the member may be another server.
  void forget(std::string_view member);
  /// From now on the member has another name.
  void rename(std::string_view from, const std::string& to);

  [[nodiscard]] const Track* of(const Member& member) const noexcept;
  /// The first member whose log went back, as the server that it still is; null: none.
  [[nodiscard]] const Track* rolled_back() const noexcept;
  /// The furthest entry that the server is known to have committed; 0: nothing is known.
  [[nodiscard]] std::uint64_t committed_by(const MemberId& id) const noexcept;
  /// Within flap_window(), oldest first.
  [[nodiscard]] std::span<const LeaderChange> leader_changes() const noexcept { return changes_; }
  /// The last round in which a server was being added or removed.
  [[nodiscard]] std::optional<TimePoint> reconfigured() const noexcept { return reconfigured_; }
  /// The first round under this leader at which its log had passed `index`. A new leader does not
  /// know how far the others are.
  [[nodiscard]] std::optional<TimePoint> passed(std::uint64_t index) const noexcept;
  /// The last round under this leader at which its log ended at `index` or before.
  [[nodiscard]] std::optional<TimePoint> within(std::uint64_t index) const noexcept;
  [[nodiscard]] const Follower* of(const ListedServer& listed) const noexcept;
  /// Number of entries of all kinds, for tests of the bound.
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  struct Mark {
    TimePoint at;
    std::uint64_t end = 0;
  };

  void note_members(const ClusterSnapshot& snapshot);
  void note_healed(const ClusterSnapshot& snapshot);
  void note_leader(const ClusterSnapshot& snapshot);
  void note_log(const ClusterSnapshot& snapshot);

  std::vector<Track> tracks_;  // by member name
  MemberId cluster_id_;
  MemberId leader_;
  std::uint64_t leader_term_ = 0;
  TimePoint leads_since_;
  std::vector<LeaderChange> changes_;
  std::optional<TimePoint> reconfigured_;
  std::vector<Mark> marks_;  // the leader's log, whenever it grew
  std::vector<Follower> followers_;
};

/// How far back elections count for a storm: a minute, or ten rounds if that is longer.
Duration storm_window(Milliseconds election_timer) noexcept;
/// How far back changes of the leader count: ten minutes, or thirty rounds if that is longer.
Duration flap_window(Milliseconds election_timer) noexcept;

/// The last index of the leader's log; of its applied log if only its local view is known.
std::optional<std::uint64_t> end_of_log(const ClusterSnapshot& snapshot) noexcept;
/// How much of the log the server has by the leader's report, else by its own.
std::optional<std::uint64_t> acknowledged(const ClusterSnapshot& snapshot,
                                          const ListedServer& listed) noexcept;

}  // namespace wardmote::judge::raft
