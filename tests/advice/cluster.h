#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "runtime/random.h"

namespace wardmote::advice {

using judge::raft::MemberId;
using judge::raft::Milliseconds;
using judge::raft::Phase;
using judge::raft::Role;

/// The index of a host, and of a raft server, in the cluster's lists. Neither is ever removed.
using HostIndex = std::size_t;
using ServerIndex = std::size_t;

enum class Process : std::uint8_t {
  kRuns,
  kStopped,  ///< its host refuses connections
  kHung,     ///< its host accepts connections and nothing answers
};

/// A machine with at most one database server, whose disk holds at most one raft server.
struct Host {
  std::string name;     ///< `ctl-1`
  std::string address;  ///< `tcp:10.0.0.1:6643`
  bool up = true;
  bool gone = false;  ///< and never comes back
  Process process = Process::kRuns;
  std::optional<ServerIndex> disk;   ///< the server whose database lies there
  std::optional<ServerIndex> shelf;  ///< one whose disk was taken out and is kept
  bool attached = true;              ///< else the process runs without the database
  bool damaged = false;              ///< the process cannot start on this database
  bool walled = false;               ///< nobody outside can tell whether its process runs
  bool stalled = false;              ///< its disk takes no writes: it acknowledges nothing
  std::size_t callers = 0;           ///< strangers that hold a connection to its raft port
  TimePoint stalled_since;
  TimePoint hung_since;
  TimePoint started;  ///< when its process did last
  TimePoint swapped;  ///< when its disks were last
};

/// A membership change that the leader has under way.
struct Change {
  bool adding = false;
  ServerIndex server = 0;
  Phase phase = Phase::kNone;
  TimePoint next;  ///< when its phase can end
  TimePoint ends;  ///< when the leader gives it up
};

enum class Standing : std::uint8_t { kJoining, kMember, kLeft };

/// Disks of a majority were put back to an older copy.
struct Loss {
  ServerIndex keeper = 0;  ///< alone has what was committed since the copy
};

/// A raft server: an id, its database file, and what its process knows while it runs.
struct Server {
  MemberId id;
  HostIndex host = 0;
  Standing standing = Standing::kMember;
  std::vector<ServerIndex> config;  ///< whom its log lists
  std::uint64_t log = 10;           ///< the last index
  std::uint64_t committed = 10;
  std::uint64_t term = 1;
  std::optional<ServerIndex> voted_for;

  Role role = Role::kFollower;
  std::optional<ServerIndex> leader;
  bool retrying = false;  ///< an election of its own has failed
  bool alone = false;     ///< it lists nobody else and leads, though the others list it
  TimePoint patience;     ///< when it begins an election, unless it hears a leader
  TimePoint majority;     ///< a leader: when it last heard one
  std::optional<TimePoint> election_started;
  std::optional<TimePoint> election_won;
  std::vector<std::optional<TimePoint>> heard;  ///< the last RPC of each server
  std::vector<std::uint64_t> match;             ///< a leader: what each has acknowledged
  std::optional<Change> change;                 ///< a leader: under way
};

/// The connection that the server on one host opens to another host.
struct Dial {
  bool up = false;
  std::optional<TimePoint> dying;  ///< the other end does not answer: closed by the probe then
  TimePoint retry;                 ///< when it is tried again
  Duration backoff = std::chrono::milliseconds(500);
};

/// What lies between two hosts, in one direction.
struct Path {
  bool cut = false;      ///< packets are lost
  bool blocked = false;  ///< no new connection comes through
};

/// A raft cluster that knows the truth: servers on hosts, as ovsdb-server behaves and as far as an
/// agent can notice it. Pure: time is stepped, chance is given.
class Cluster {
 public:
  static constexpr Duration kStep = std::chrono::milliseconds(500);

  Cluster(std::size_t size, Milliseconds election_timer, bool prevote, runtime::Random& random);

  [[nodiscard]] TimePoint now() const noexcept { return now_; }
  [[nodiscard]] const std::vector<Host>& hosts() const noexcept { return hosts_; }
  [[nodiscard]] const std::vector<Server>& servers() const noexcept { return servers_; }
  [[nodiscard]] Host& host(HostIndex i) { return hosts_[i]; }
  [[nodiscard]] Path& path(HostIndex from, HostIndex to) { return paths_[from][to]; }
  [[nodiscard]] const Path& path(HostIndex from, HostIndex to) const { return paths_[from][to]; }
  [[nodiscard]] const Dial& dial(HostIndex from, HostIndex to) const { return dials_[from][to]; }
  [[nodiscard]] Milliseconds election_timer() const noexcept { return timer_; }
  [[nodiscard]] const MemberId& cluster_id() const noexcept { return cluster_id_; }

  void step();

  HostIndex add_host(std::string name, std::string address);
  /// Whatever stops the process, it starts with what its disk holds.
  void start(HostIndex host);
  void stop(HostIndex host);
  void hang(HostIndex host, bool hung);
  /// An empty disk and a new id that asks to be let in.
  ServerIndex join(HostIndex host);
  void wipe(HostIndex host);
  /// Stops the process, and puts the disk into another host, where nothing runs yet.
  void move_disk(HostIndex from, HostIndex to);
  /// Stops the process, and puts the disk in that was taken out.
  void swap_disks(HostIndex host);
  /// What its disk holds goes back to what `copy` says.
  void put_back(HostIndex host, const Server& copy);
  /// The server there leads a list of itself from now on, and talks to nobody.
  void lead_alone(HostIndex host);
  /// All that lists show of their ids is the same from now on.
  void share_four_digits(ServerIndex one, ServerIndex other);
  /// The leader is asked to remove it: why it does not, else nothing.
  std::optional<std::string> kick(ServerIndex server);
  /// The leader gives way, as when its database is compacted.
  void transfer();
  /// At rest, nobody writes.
  void set_at_rest(bool at_rest) noexcept { at_rest_ = at_rest; }
  void heal_network();

  /// The raft server that runs there now, answering or not.
  [[nodiscard]] std::optional<ServerIndex> active(HostIndex host) const;
  /// Whether its database exists and its host will run it again.
  [[nodiscard]] bool lives(ServerIndex server) const;
  /// The leader that a majority follows at this moment.
  [[nodiscard]] std::optional<ServerIndex> leader() const;
  /// How many voters of that list acknowledge what `leader` writes.
  [[nodiscard]] std::size_t acknowledging(ServerIndex leader,
                                          const std::vector<ServerIndex>& config) const;
  /// Since when a leader with a majority has been there without a break.
  [[nodiscard]] std::optional<TimePoint> served_since() const noexcept { return served_since_; }
  [[nodiscard]] bool lists(ServerIndex by, ServerIndex whom) const;
  /// `ctl-2 (1a2b)`.
  [[nodiscard]] std::string name(ServerIndex server) const;

  std::optional<Loss> loss;
  std::optional<TimePoint> alone_since;  ///< a server leads a list of itself
  Duration catch_up{};                   ///< so much longer a joiner needs for what the others have

  /// What happened, for people; the caller takes it.
  std::vector<std::string> news;

 private:
  [[nodiscard]] bool running(ServerIndex s) const;
  [[nodiscard]] bool flows(ServerIndex from, ServerIndex to) const;
  [[nodiscard]] bool wants(HostIndex from, HostIndex to) const;
  [[nodiscard]] TimePoint random_patience();
  [[nodiscard]] TimePoint just_now();
  void note_rpc(ServerIndex at, ServerIndex from);
  MemberId make_id();
  ServerIndex add_server(HostIndex host);
  void part(HostIndex host);
  void update_dials();
  void update_dial(HostIndex from, HostIndex to);
  void lead(ServerIndex leader);
  void beat(ServerIndex leader, ServerIndex follower);
  void step_down(ServerIndex leader, std::uint64_t term);
  void campaign(ServerIndex candidate);
  [[nodiscard]] bool poll(ServerIndex candidate, std::uint64_t term, bool trial);
  [[nodiscard]] bool grants(ServerIndex voter, ServerIndex candidate, std::uint64_t term,
                            bool trial);
  void win(ServerIndex candidate);
  void commit(ServerIndex leader);
  void proceed(ServerIndex leader);
  void admit(ServerIndex leader);

  runtime::Random& random_;
  TimePoint now_{std::chrono::hours(1000)};
  Milliseconds timer_;
  bool prevote_;
  bool at_rest_ = false;
  bool crowded_;  ///< ids often begin with the same four digits
  MemberId cluster_id_;
  std::vector<Host> hosts_;
  std::vector<Server> servers_;
  std::vector<std::vector<Dial>> dials_;
  std::vector<std::vector<Path>> paths_;
  std::optional<TimePoint> served_since_;
};

}  // namespace wardmote::advice
