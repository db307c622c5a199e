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
#include "judge/raft/sighting.h"

namespace wardmote::judge::raft {

/// The part that a configured member takes, as far as this round shows.
enum class Presence : std::uint8_t {
  kMember,
  kLeaving,
  kJoining,
  kGone,       ///< the server runs and belongs to no cluster: kicked or left
  kForeign,    ///< a member of another cluster
  kOtherMode,  ///< standalone or relay
  kDown,
  kHung,
  kUnknown,  ///< nothing certain is known about it
};

struct ListedServer;
struct ClusterSnapshot;

/// A Link of a member's report, and where it leads in the list of that report.
struct Connection {
  bool outgoing = false;
  bool up = false;
  bool nameless = false;         ///< its peer was never identified
  const Server* peer = nullptr;  ///< null: the list has none of that name
  /// Another server of the list has the same short name, and it may lead there as well.
  bool ambiguous = false;
};

/// A configured member.
struct Member {
  const Opinion* opinion = nullptr;
  std::size_t index = 0;  ///< in the opinions
  Presence presence = Presence::kUnknown;
  bool starved = false;  ///< we lacked the resources to probe it
  bool failed = false;   ///< stopped serving after an I/O error
  /// No connection could be made, which may be our fault or its own.
  bool unreachable = false;
  /// It does not answer us, and others have heard it since: only our way to it is closed.
  bool heard = false;
  /// Since when each round shows that.
  std::optional<TimePoint> heard_since{};
  /// It was heard after its place had begun to refuse, or while another server answered there, and
  /// has not answered since: its process may run somewhere else, and its host can tell nothing of
  /// it.
  bool elsewhere = false;
  const Identity* identity = nullptr;  ///< from earlier rounds
  MemberId id;                         ///< the present answer, else the remembered one
  std::string_view address;            ///< the same
  std::optional<TimePoint> silent_from;
  /// Since when it certainly serves nobody: its host says so, or it hangs or joins.
  std::optional<TimePoint> out_since;
  const Server* leader_line = nullptr;  ///< the leader that it names, in its own list
  bool hears_leader = false;            ///< and has heard lately
  bool lists_namesakes = false;         ///< two servers of its report share their short name
  std::vector<Connection> connections;  ///< of its report
  /// In the newest list: the server as which it answers, or that it must be when it is silent.
  const ListedServer* listed = nullptr;
  /// Takes part and is not in the newest list, which has a leader behind it: it was removed and
  /// does not know.
  bool zombie = false;
  /// It follows a leader that its own list lacks: it acknowledges what its log does not hold.
  bool follows_in_name = false;
  /// Leads a list of itself, while others that list it go on without it: a broken copy of the
  /// database has elected itself; or joined such a leader. No list and no leader to go by, also
  /// when the others have lost their leader since, until it comes back to one of them.
  bool outvoted = false;
  /// Has no leader, and is not in the list that a server had whose log went further: it had been
  /// removed by then, and its own list is of before.
  bool left_behind = false;
  bool outvoted_now = false;  ///< this round shows it
  /// The servers that this round shows to go on without it, as far as their lists say.
  std::vector<MemberId> outvoted_by{};
  /// Takes part, gives its status, serves, and is in the newest list as far as is known: its report
  /// can be compared with the others.
  bool comparable = false;

  [[nodiscard]] const Status* status() const noexcept {
    return opinion->status ? &*opinion->status : nullptr;
  }
  [[nodiscard]] const std::string& name() const noexcept { return opinion->member; }
  [[nodiscard]] const Dialect& dialect() const noexcept { return *opinion->dialect; }
  /// Answers as a member of the judged cluster, in good standing or not.
  [[nodiscard]] bool takes_part() const noexcept {
    return presence == Presence::kMember || presence == Presence::kLeaving;
  }
  /// It answers as a member of another cluster than the judged one, or did so last: its database
  /// may have data that no other member has.
  [[nodiscard]] bool is_foreign(const MemberId& judged) const noexcept;
  /// Silent, and its server id was never known: it may be any server that no member reports.
  [[nodiscard]] bool unplaced() const noexcept;
  /// The server has no such database, and nothing shows that it was removed from the cluster: the
  /// name may be wrong, or the database detached.
  [[nodiscard]] bool lacks_database(const ClusterSnapshot& snapshot) const noexcept;
  /// Says that it leads; a failed one too.
  [[nodiscard]] bool claims_to_lead() const noexcept;
  /// Says that it is in contact with a majority (`connected` of _Server, ovsdb-server(5)), and
  /// gives no status, which would say more: that lags behind by one election.
  [[nodiscard]] bool says_connected() const noexcept {
    return takes_part() && !status() && opinion->local && opinion->local->connected;
  }
  /// Leads as far as it can know, or hears the leader that it follows.
  [[nodiscard]] bool anchored() const noexcept {
    return !failed && !outvoted && (claims_to_lead() || hears_leader);
  }
};

/// Whether a listed server is alive.
enum class Life : std::uint8_t {
  kLive,
  kCutOff,  ///< answers us, while the leader and it do not hear each other
  kSilent,
  kUnasked,  ///< has no configured member, and no leader reports on it
  kUnknown,  ///< its configured member could not be asked
};

/// A server of the newest member list.
struct ListedServer {
  const Dialect* dialect = &kOvsdb;
  MemberId id;  ///< as much of it as any member knows
  std::string_view nickname;
  std::string_view address;
  Phase phase = Phase::kNone;
  /// A server that is being added is no voter yet; one that is being removed still is.
  bool voter = true;
  const Server* line = nullptr;       ///< in the newest list; null when the list is remembered
  const Server* at_leader = nullptr;  ///< in the leader's list
  const Member* reporter = nullptr;   ///< the configured member that answers as this server
  /// The configured member that it must be and that does not answer as it.
  const Member* owner = nullptr;
  const Member* successor = nullptr;  ///< the member that answers at this address as another server
  bool attributed = false;  ///< belongs to a silent configured member, if only by elimination
  bool guessed = false;     ///< `owner` is known by elimination alone
  bool heard = false;       ///< the leader, or a follower of it, hears it
  /// A member that does not lead hears it, or it answers somebody else, whatever the leader says.
  bool witnessed = false;
  bool linked = false;   ///< a member has a connection with it, so its process must run
  bool stalled = false;  ///< the leader's log grows, and it acknowledges nothing of that
  /// What anybody but the members tells of it (Memory::elsewhere): that it still answers, else the
  /// latest; null: nobody tells of it.
  const Sighting* seen_elsewhere = nullptr;
  /// Somebody who is no member asks a server that may be this one, and gets no answer now; null:
  /// nobody does. One who was once answered by it comes before one who never was answered.
  const Sighting* awaited_elsewhere = nullptr;
  Life life = Life::kUnasked;
  /// When it first appeared in the list; nothing: it was there when the agent started.
  std::optional<TimePoint> listed_since;
  /// When the list of a leader last did not have it; nothing: this agent has never seen that.
  std::optional<TimePoint> unlisted_at;
  /// Since when nobody has heard it or had a connection with it, by what the agent itself has seen
  /// and by every age that any member reports. Nothing while somebody hears it, or while no leader
  /// confirms the silence.
  std::optional<TimePoint> silent_since;
  /// When it was alive first, as far as members have shown; nothing: they never have.
  std::optional<TimePoint> alive_since;
  std::optional<Reached> reached;  ///< as the last looks in a row have shown
  /// It and another server of its address were alive at once, so that the address tells nothing of
  /// which of them is there.
  bool shares_address = false;
  /// It may have been so before this agent looked, or between two looks: nobody saw it silent
  /// before the other one of its address was listed.
  bool may_have_shared = false;
  /// It was heard while nobody listened in its place (Member::elsewhere), and has not answered
  /// there since.
  bool displaced = false;

  /// Whether it may be anywhere, whoever is at its address.
  [[nodiscard]] bool is_loose() const noexcept { return shares_address || displaced; }
  /// Whether a process runs there as this server, whether the cluster can use it or not.
  [[nodiscard]] bool lives() const noexcept { return life == Life::kLive || life == Life::kCutOff; }
  /// Whether it answers somebody who is no member, as far as the last look there showed.
  [[nodiscard]] bool answers_elsewhere() const noexcept {
    return seen_elsewhere != nullptr && seen_elsewhere->still;
  }
  /// Whether any member, or the server itself, shows that it runs.
  [[nodiscard]] bool shows_life() const noexcept {
    return reporter || heard || witnessed || linked;
  }
};

/// Everything that the detectors compare, derived once. Points into the opinions and the memory.
struct ClusterSnapshot {
  TimePoint now;
  /// When the latest of these probes began: before that, not everything compared here was seen.
  TimePoint shown;
  const Dialect* dialect = &kOvsdb;
  const Expectation* expectation = nullptr;
  const History* history = nullptr;  ///< including this round
  std::vector<Member> members;       ///< by name, so that the order of the opinions does not matter
  Milliseconds election_timer{1000};  ///< the largest seen
  MemberId cluster_id;                ///< of the judged cluster
  /// The member whose list is the newest; null: the list is remembered, or unknown.
  const Member* newest = nullptr;
  const Member* leader = nullptr;  ///< in the highest term that has one, if it answers
  std::vector<ListedServer> servers;
  bool list_in_doubt = false;  ///< the remembered list may never have been committed
  bool changing = false;       ///< a server is being added or removed
  /// At least one member could not be probed because we lacked resources.
  bool starved = false;
  /// The leader reports ages and hears a majority: a server that it does not hear is silent. A
  /// leader that hears none may itself be cut off, together with us.
  bool leader_vouches = false;

  Quorum quorum;
  bool quorum_proven = false;  ///< somebody hears a leader that cannot be without a majority
  std::size_t cut_off = 0;     ///< voters that are alive and cannot be used now
  std::size_t unknown = 0;     ///< voters that may be alive: they could not be asked
  std::size_t unasked = 0;     ///< voters about which nobody can report
  std::size_t stalled = 0;     ///< voters that are alive and acknowledge nothing

  ClusterSnapshot() = default;
  ClusterSnapshot(const ClusterSnapshot&) = delete;
  ClusterSnapshot& operator=(const ClusterSnapshot&) = delete;
  ClusterSnapshot(ClusterSnapshot&&) = default;
  ClusterSnapshot& operator=(ClusterSnapshot&&) = default;

  /// Whether an age shows life: in a healthy cluster no server is silent for longer than one
  /// election round.
  [[nodiscard]] bool fresh(Milliseconds age) const noexcept { return age <= round(); }
  /// The same for the ages of a member that does not lead: it hears a server that is cut off from
  /// the leader only when that server campaigns, at most once in a round.
  [[nodiscard]] bool fresh_at_follower(Milliseconds age) const noexcept {
    return age <= 2 * round();
  }
  [[nodiscard]] Milliseconds round() const noexcept { return election_round(election_timer); }
  /// Whether the two reports are of about the same moment, so that they can be compared.
  [[nodiscard]] bool together(const Member& a, const Member& b) const noexcept {
    const Duration apart = a.opinion->begun - b.opinion->begun;
    return apart <= round() && -apart <= round();
  }
  /// Whether a leader stands behind the newest list.
  [[nodiscard]] bool anchored() const noexcept { return newest != nullptr && newest->anchored(); }
  /// The term of the newest list.
  [[nodiscard]] std::uint64_t term() const noexcept { return newest ? newest->status()->term : 0; }
  [[nodiscard]] bool anybody_takes_part() const noexcept;
  /// Voters that may be alive, as far as anybody knows.
  [[nodiscard]] std::size_t possible() const noexcept {
    return quorum.live + stalled + cut_off + unknown + unasked;
  }
};

ClusterSnapshot take_snapshot(std::span<const Opinion> opinions, const Expectation& expectation,
                              const Memory& memory, TimePoint now);

/// The second half of take_snapshot(): which member is which server, which servers are alive, and
/// whether there is a quorum.
void fill_servers(ClusterSnapshot& snapshot, const Memory& memory);
/// When a member last heard it, by any age in any list with its id.
std::optional<TimePoint> heard_by_members(const ClusterSnapshot& snapshot,
                                          const ListedServer& listed) noexcept;
/// Its last part but one: since when unheard servers are silent, and which ones acknowledge
/// nothing.
void fill_times(ClusterSnapshot& snapshot, const Memory& memory);
/// Which members may run in another place than theirs (Member::elsewhere). Of a process
/// that has just been killed a peer may print the connection for a moment; that is no sign.
void find_elsewhere(ClusterSnapshot& snapshot) noexcept;

/// The last part of take_snapshot(): ListedServer::reached.
void find_reached(ClusterSnapshot& snapshot, const Memory& memory) noexcept;

/// Whether its host says that nobody listens where the member was asked. One that hangs, or that
/// could not be reached, is none of these.
bool is_refusal(const Opinion& opinion) noexcept;

/// The server that a member names so (in `Leader:`, `Vote:` or a connection), in its own list.
const Server* find_named(const Status& status, std::string_view name) noexcept;

/// Whether another server of that list has the same short name: a connection with "it" may be with
/// either.
bool shares_its_name(const Status& status, const Server& server) noexcept;

/// Whether what is known of its id may be that of another listed server.
bool is_ambiguous(const ClusterSnapshot& snapshot, const ListedServer& listed) noexcept;

/// Whether the connection shows that a process of this server runs. A connection to an address
/// reaches whichever server runs there, so it proves nothing if several are listed, or if another
/// answers there.
bool shows_life(const ClusterSnapshot& snapshot, const Connection& connection,
                const ListedServer& listed) noexcept;

/// Whether its control socket and its OVSDB socket lead to two servers.
bool answers_as_two(const Member& member) noexcept;
/// Whether both answer with the same server id.
bool answer_as_one(const Member& a, const Member& b) noexcept;

/// A server that is being added does not vote yet; one that is being removed still does.
bool is_voter(Phase phase) noexcept;

/// Whether any line has an age; OVS 2.9 to 2.14 prints none.
bool tells_ages(const Status& status) noexcept;

/// Whether both are the same server, by id and address. Four digits may belong to two servers, so
/// another address contradicts unless `lenient`.
bool same_server(const MemberId& a, std::string_view a_address, const MemberId& b,
                 std::string_view b_address, bool lenient = false) noexcept;

}  // namespace wardmote::judge::raft
