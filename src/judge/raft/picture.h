#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/raft/assess.h"
#include "judge/raft/history.h"
#include "judge/raft/memory.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {

/// How a configured member takes part, as far as this look shows.
enum class Presence : std::uint8_t {
  kMember,
  kLeaving,
  kJoining,
  kGone,       ///< the server runs and belongs to no cluster: kicked or left
  kForeign,    ///< a member of another cluster
  kOtherMode,  ///< standalone or relay
  kDown,
  kHung,
  kUnknown,  ///< nothing certain is known of it
};

struct Seat;

/// A configured member.
struct Member {
  const Opinion* opinion = nullptr;
  std::size_t index = 0;  ///< in the opinions
  Presence presence = Presence::kUnknown;
  bool starved = false;  ///< we were too poor to look
  bool failed = false;   ///< stopped serving after an I/O error
  /// It does not answer us, and others hear it since: only our way to it is shut.
  bool heard = false;
  const Identity* identity = nullptr;  ///< of earlier looks
  MemberId id;                         ///< as it says now, else as remembered
  std::string_view address;            ///< likewise
  std::optional<TimePoint> silent_from;
  const Server* leader_line = nullptr;  ///< the leader that it names, in its own list
  bool hears_leader = false;            ///< and has heard of late
  /// In the newest list; the one it answers for, or must be when it is silent.
  const Seat* seat = nullptr;
  /// Takes part and is not in the newest list, which a leader stands behind: it was removed and
  /// does not know.
  bool zombie = false;
  /// Takes part, gives its status, serves, and is in the newest list as far as is known: what it
  /// says can be compared with the others.
  bool comparable = false;

  [[nodiscard]] const Status* status() const noexcept {
    return opinion->status ? &*opinion->status : nullptr;
  }
  [[nodiscard]] const std::string& name() const noexcept { return opinion->member; }
  /// Speaks as a member of the judged cluster, in good standing or not.
  [[nodiscard]] bool takes_part() const noexcept {
    return presence == Presence::kMember || presence == Presence::kLeaving;
  }
  /// Silent, and never known to us: it may be any server that nobody reports.
  [[nodiscard]] bool unplaced() const noexcept;
  /// Says that it leads; a failed one too.
  [[nodiscard]] bool claims_to_lead() const noexcept;
  /// Leads as far as it can tell, or hears the leader that it follows.
  [[nodiscard]] bool anchored() const noexcept {
    return !failed && (claims_to_lead() || hears_leader);
  }
};

/// Whether a listed server lives.
enum class Life : std::uint8_t {
  kLive,
  kCutOff,  ///< answers us, while the leader and it do not hear each other
  kSilent,
  kUnasked,  ///< no configured member, and no leader to tell of it
  kUnknown,  ///< its configured member could not be asked
};

/// A server of the newest member list.
struct Seat {
  MemberId id;  ///< as much as anybody knows
  std::string_view nickname;
  std::string_view address;
  Phase phase = Phase::kNone;
  /// A server that is being added is none yet, one that is being removed still is.
  bool voter = true;
  const Server* line = nullptr;       ///< in the newest view; null when the list is remembered
  const Server* at_leader = nullptr;  ///< in the leader's view
  const Member* reporter = nullptr;   ///< the configured member that answers as this server
  /// The configured member that it must be and that does not answer as it.
  const Member* owner = nullptr;
  const Member* successor = nullptr;  ///< the member that answers at this address as another server
  bool attributed = false;  ///< belongs to a silent configured member, if only by elimination
  bool heard = false;       ///< the leader, or a follower of it, hears it
  Life life = Life::kUnasked;

  /// Whether a process runs there as this server, of use to the cluster or not.
  [[nodiscard]] bool lives() const noexcept { return life == Life::kLive || life == Life::kCutOff; }
};

/// Everything that the detectors compare, derived once. Points into the opinions and the memory.
struct Picture {
  TimePoint now;
  /// When the latest of these looks began: until then not all was seen that is compared here.
  TimePoint shown;
  const Expectation* expectation = nullptr;
  const History* history = nullptr;  ///< with this look noted
  std::vector<Member> members;       ///< by name, so that the order of the opinions does not matter
  Milliseconds election_timer{1000};  ///< the largest seen
  MemberId cluster_id;                ///< of the judged cluster
  /// Whose list is the newest; null: the list is remembered, or unknown.
  const Member* newest = nullptr;
  const Member* leader = nullptr;  ///< in the highest term that has one, if it answers
  std::vector<Seat> seats;
  bool changing = false;  ///< a server is being added or removed
  /// At least one member could not be looked at for want of our own resources.
  bool starved = false;

  Quorum quorum;
  bool quorum_proven = false;  ///< somebody hears a leader that cannot be without a majority
  std::size_t cut_off = 0;     ///< voters that live and are of no use now
  std::size_t unknown = 0;     ///< voters that may be alive: not to be asked
  std::size_t unasked = 0;     ///< voters that nobody can tell of

  Picture() = default;
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;
  Picture(Picture&&) = default;
  Picture& operator=(Picture&&) = default;

  /// Whether an age shows life: nothing is silent for longer than one election round in a healthy
  /// cluster.
  [[nodiscard]] bool fresh(Milliseconds age) const noexcept { return age <= round(); }
  /// An election round: the longest that OVSDB waits for an election.
  [[nodiscard]] Milliseconds round() const noexcept { return election_timer + Milliseconds(1000); }
  /// Whether what the two say is of about the same moment, so that it can be compared.
  [[nodiscard]] bool together(const Member& a, const Member& b) const noexcept {
    const Duration apart = a.opinion->begun - b.opinion->begun;
    return apart <= round() && -apart <= round();
  }
  /// Whether a leader stands behind the newest list.
  [[nodiscard]] bool anchored() const noexcept { return newest != nullptr && newest->anchored(); }
  /// The term of the newest view.
  [[nodiscard]] std::uint64_t term() const noexcept { return newest ? newest->status()->term : 0; }
  [[nodiscard]] bool anybody_takes_part() const noexcept;
};

Picture draw(std::span<const Opinion> opinions, const Expectation& expectation,
             const Memory& memory, TimePoint now);

/// The second half of draw(): who sits where, who lives, is there a quorum.
void fill_seats(Picture& picture, const Memory& memory);

/// The server that a member calls so (in `Leader:`, `Vote:` or a connection), in its own list.
const Server* find_named(const Status& status, std::string_view name) noexcept;

/// A server that is being added does not vote yet; one that is being removed still does.
bool is_voter(Phase phase) noexcept;

/// Whether any line tells an age; OVS 2.9 to 2.14 prints none.
bool tells_ages(const Status& status) noexcept;

/// Whether both are the same server, by id and address. Four digits may collide, so an address that
/// differs contradicts unless `lenient`.
bool same_server(const MemberId& a, std::string_view a_address, const MemberId& b,
                 std::string_view b_address, bool lenient = false) noexcept;

}  // namespace wardmote::judge::raft
