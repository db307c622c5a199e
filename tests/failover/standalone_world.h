#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"
#include "judge/failover/duty.h"
#include "judge/failover/member.h"
#include "runtime/random.h"

namespace wardmote::failover {

/// Three nodes with the manager of wardmoted, a store with leases, and a client; faults come at
/// random moments. The nodes do what act/failover does, by the same decisions, and the world knows
/// the truth. Time goes in tenths of a second.
class StandaloneWorld {
 public:
  StandaloneWorld(std::uint64_t seed, std::span<const judge::failover::DutyRow> table);

  /// A guard of the choice of a candidate that is taken away, to see that it is missed.
  enum class Without : std::uint8_t { kNothing, kPublished, kPeers, kKernelTimer };
  void without(Without guard) noexcept { without_ = guard; }

  /// What must never happen and did; nothing when all went well.
  std::optional<std::string> play();
  [[nodiscard]] const std::string& story() const noexcept { return story_; }

 private:
  struct Server {
    bool up = false;
    bool hung = false;
    bool active = false;
    int source = -1;   ///< the node that it is a backup of; -1: of nobody
    int session = -1;  ///< the node that it copies from now
    bool synced = false;
  };
  struct Copy {
    std::uint64_t epoch = 0;
    std::string author;
    bool has_row = false;
    std::vector<int> rows;  ///< what clients wrote
  };
  struct Lease {
    std::int64_t revision = 0;  ///< of its key; 0: there is none
    int stop_at = 0;
    int renew_at = 0;
  };
  struct Store {
    judge::failover::PairRecord record;
    std::int64_t changed = 0;                           ///< revision of the record
    std::map<std::int64_t, std::pair<int, int>> queue;  ///< by revision: node, end of the lease
    std::map<int, std::pair<judge::failover::Member, int>> members;  ///< and the end of the lease
    int order_to = -1;
  };
  struct Node {
    bool power = true;
    bool agent = true;
    bool agent_stopped = false;
    bool cut = false;        ///< from everybody
    bool cut_store = false;  ///< from the store alone
    bool disk_full = false;
    bool lags = false;
    std::array<Server, 2> server;
    std::array<Copy, 2> copy;
    bool address = false;
    int address_until = 0;
    // The agent's memory.
    Lease lease;
    judge::failover::Trail ring;
    bool announced = false;
    int phase = 0;  ///< of a promotion; 0: none
    std::uint64_t claimed = 0;
    int unfit_until = 0;
    int rest_until = 0;
    int publish_at = 0;
    int heir = -1;  ///< to whom it hands over; -1: to nobody
    int heir_until = 0;
    bool was_active = false;
    Store view;
    int confirmed = -1000;
  };

  // The world (standalone_world.cc).
  void fault();
  void heal_all();
  void write();
  void replicate(int node, int database);
  void expire();
  void power_off(int node);
  void agent_ends(int node);
  void check_split();
  void check_choice(int node);
  void check_end();
  void check_life();
  void check_writable();
  [[nodiscard]] bool could_serve(int node) const;
  void wrong(const std::string& what);
  void tell(const std::string& what);
  bool chance(unsigned percent) { return random_.below(100) < percent; }
  [[nodiscard]] bool serves(int node) const;
  [[nodiscard]] bool reaches(int a, int b) const;
  [[nodiscard]] bool reaches_store(int node) const;
  [[nodiscard]] static judge::failover::ContentHash hash_of(const Copy& copy);

  // The manager (standalone_node.cc).
  void step(int node);
  void renew(int node);
  void observe_content(int node);
  void carry_out(int node, judge::failover::Duty duty);
  void promote_on(int node);
  void hand_over_on(int node);
  void isolate(int node);
  void follow(int node);
  bool write_record(int node, const judge::failover::PairRecord& record);
  void resign(int node);
  [[nodiscard]] bool leads(int node) const;
  [[nodiscard]] int leader_in(const Store& store) const;
  [[nodiscard]] judge::failover::Lock lock(int node) const;
  [[nodiscard]] judge::failover::Copy state(int node, int database, int active) const;
  [[nodiscard]] judge::failover::Member describe(int node) const;
  [[nodiscard]] std::vector<judge::failover::Member> peers(int node, const Store& store) const;
  [[nodiscard]] judge::failover::Candidacy candidacy(int node, const Store& store) const;
  [[nodiscard]] static std::string name(int node) { return "n" + std::to_string(node + 1); }
  [[nodiscard]] static int index(const std::string& name) {
    return name.empty() ? -1 : name.back() - '1';
  }

  runtime::Random random_;
  std::span<const judge::failover::DutyRow> table_;
  Without without_ = Without::kNothing;
  std::array<Node, 3> nodes_;
  Store store_;
  std::int64_t revision_ = 1;
  bool store_up_ = true;
  bool calm_ = false;
  int now_ = 0;
  std::array<int, 3> starts_at_{};       ///< the first agents
  std::array<int, 3> no_right_since_{};  ///< since when a node is writable without a right to it
  std::array<int, 3> could_since_{};     ///< since when a node could serve, and nobody does
  int next_row_ = 0;
  std::vector<int> kept_;            ///< rows of copies that were set aside
  std::vector<int> published_rows_;  ///< what the content was that was published last
  std::string story_;
  std::optional<std::string> wrong_;
};

}  // namespace wardmote::failover
