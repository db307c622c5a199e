#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"
#include "runtime/random.h"

namespace wardmote::failover {

/// The truth about one database of a node.
struct Copy {
  std::uint64_t epoch = 0;
  std::string author;    ///< the node that began the epoch
  bool has_row = false;  ///< the global row, which is there from the first write on
  int content = 0;       ///< the last row that was written into it: its whole content
};

/// An ovsdb-server, as far as replication goes.
struct Server {
  bool up = false;
  bool hung = false;
  bool active = false;
  bool to_address = false;  ///< a backup of the address; else of nobody
  bool synced = false;      ///< it had the content of its source
  bool half = false;        ///< its rows were removed, and the new ones are not there yet
  int session = -1;         ///< the node that it copies from; -1: none
  int chosen = -1;          ///< the node that the agent told it to follow
};

/// What the agent keeps on the node's disk, and what of it the cluster knows.
struct Node {
  bool power = true;
  bool paused = false;
  bool disk_full = false;
  int side = 0;  ///< of the network; the clients and most nodes are on side 0
  std::array<Server, 2> server;
  std::array<Copy, 2> copy;
  bool address = false;

  bool mark = false;  ///< this promotion, of these processes
  std::uint64_t epoch = 0;
  judge::failover::SyncState sync = judge::failover::SyncState::kUnknown;
  bool diverged = false;
  bool quarantine = false;
  bool matched = false;
  bool yielded = false;
  /// The highest row that this copy had and that a copy of it which was kept still has.
  int kept = 0;
  bool lags = false;  ///< what its source sends does not arrive

  std::optional<judge::failover::Peer> published;
  int score = -2;
  bool started = false;
  bool promoted = false;
  int next_monitor = 0;
  int alone = 0;                          ///< since how long it runs without a quorum
  judge::failover::ClusterRecord record;  ///< its copy of the cluster's configuration
  int version = 0;
};

/// Three nodes, a cluster manager like Pacemaker, and a client; faults come at random moments. The
/// nodes do what the resource agent does, by the same decisions, and the world knows the truth.
class World {
 public:
  World(std::uint64_t seed, std::span<const judge::failover::Row> table);

  /// What must never happen and did; nothing when all went well.
  std::optional<std::string> play();
  [[nodiscard]] const std::string& story() const noexcept { return story_; }

 private:
  using Decision = judge::failover::Decision;

  // The world (world.cc).
  void fault();
  void heal_all();
  void write();
  void replicate(int node, int database);
  void reset(int node, int database, int source);
  void power_off(int node);
  void boot(int node);
  void check_split();
  void check_end();
  void wrong(const std::string& what);
  void tell(const std::string& what);
  [[nodiscard]] bool runs(int node) const;
  [[nodiscard]] bool reaches(int from, int to) const;
  [[nodiscard]] int holder_of_address(int seen_from) const;
  bool chance(unsigned percent) { return random_.below(100) < percent; }

  // The cluster manager (manager.cc).
  void manage();
  std::vector<int> quorum();
  bool fence(const std::vector<int>& members);
  void run_monitor(int node);
  void recover(int node);
  int choose(const std::vector<int>& members);
  void elect(const std::vector<int>& members);
  void join(const std::vector<int>& members);
  void leave_without_quorum(const std::vector<int>& members);

  // The resource agent (agent.cc).
  [[nodiscard]] judge::failover::Copy state(int node, int database) const;
  [[nodiscard]] judge::failover::Situation situation(int node, judge::failover::Lock lock) const;
  [[nodiscard]] judge::failover::Position position(int node) const;
  [[nodiscard]] judge::failover::Source judge_source(int node, int holder) const;
  [[nodiscard]] std::vector<judge::failover::Peer> peers(int node) const;
  [[nodiscard]] Decision decide(const judge::failover::Situation& now) const;
  void remember(int node);
  void publish(int node, bool rank);
  bool crashes(int node);
  void start(int node);
  void stop(int node);
  void demote(int node);
  bool promote(int node);
  void check_choice(int node);
  bool monitor(int node);
  void before_promotion(int node);
  void compare_all(int node);
  void after_promotion(int node, int active);
  void follow(int node, int active);
  void isolate(int node);

  runtime::Random random_;
  std::span<const judge::failover::Row> table_;
  std::array<Node, 3> nodes_;
  bool fencing_ = false;
  bool calm_ = false;  ///< no more faults
  int now_ = 0;        ///< in tenths of a second
  int busy_until_ = 0;
  int last_change_ = 0;
  int members_ = 0;
  int split_ = 0;
  int next_row_ = 0;
  std::string story_;
  std::optional<std::string> wrong_;
};

}  // namespace wardmote::failover
