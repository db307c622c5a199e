#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/condition/condition_tracker.h"
#include "judge/raft/history.h"
#include "judge/raft/member_id.h"
#include "judge/raft/sighting.h"

namespace wardmote::judge::raft {

struct ClusterSnapshot;

/// One round alone may mix what two servers said before and after a change.
inline constexpr int kSure = 2;

/// The identity of a configured member when it last answered as a member of the cluster.
struct Identity {
  std::string member;
  MemberId id;
  std::string address;
  /// Its earlier addresses, as long as some server is still listed there.
  std::vector<std::string> former_addresses{};
  MemberId cluster;  ///< the cluster of its last answer, whether that is the judged one or not
  /// When the first round ended that showed that it serves nobody (Member::out), while it does not.
  std::optional<TimePoint> out_since;
  /// When the first round without its answer ended, while it does not answer. What was heard of it
  /// before is no sign of life.
  std::optional<TimePoint> silent_from;
  std::optional<TimePoint> heard_since{};  ///< Member::heard_since
  /// Member::elsewhere
  bool elsewhere = false;
  /// It was leaving the cluster when it said last how it was.
  bool leaving = false;
  /// Rounds in a row, up to kSure, that showed Member::outvoted_now; stays while it is outvoted.
  int outvoted = 0;
  /// The servers that went on without it then (Member::outvoted_by).
  std::vector<MemberId> outvoted_by{};
  /// The server that answered last where the member is asked, of whatever cluster, and since when.
  MemberId answers_as{};
  TimePoint answers_since{};
};

/// That all others have connections to a server (reach_of()), for all that anybody has said.
struct Reached {
  static constexpr int kLooks = 24;  ///< more are not counted
  TimePoint since;
  TimePoint last;   ///< of these looks
  Duration widest;  ///< between two of them
  int looks = 1;
  friend bool operator==(const Reached&, const Reached&) = default;
};

/// A server of the newest member list, with as much of its id as was ever known.
struct RememberedServer {
  MemberId id;
  std::string nickname;
  std::string address;
  bool voter = true;
  /// Nothing: it was listed when the agent started.
  std::optional<TimePoint> listed_since;
  std::optional<TimePoint> unlisted_at{};  ///< ListedServer::unlisted_at
  /// Since when nobody has heard it (ListedServer::silent_since), and the last round that showed
  /// so.
  std::optional<TimePoint> silent_since;
  TimePoint silent_seen;
  std::optional<TimePoint> alive_since{};  ///< ListedServer::alive_since
  std::optional<Reached> reached{};        ///< ListedServer::reached
  bool shares_address = false;             ///< ListedServer::shares_address
  bool may_have_shared = false;            ///< ListedServer::may_have_shared
  bool displaced = false;                  ///< ListedServer::displaced

  /// To be written down (Sightings::saw_beside): who comes later cannot see it again.
  [[nodiscard]] bool is_loose() const noexcept { return shares_address || displaced; }
};

/// What must be remembered between two rounds of one cluster: since when conditions last, the
/// identity of each member, which members the cluster had. Grows with the configured members and
/// the listed servers only; entries that are no longer seen are forgotten. A value: a copy judges
/// on its own.
class Memory {
 public:
  [[nodiscard]] const Identity* identity(std::string_view member) const noexcept;
  [[nodiscard]] const std::vector<RememberedServer>& list() const noexcept { return list_; }
  /// Whether the list was committed when it was read (is_list_settled of removal.h), as far as its
  /// members told.
  [[nodiscard]] bool is_list_settled() const noexcept { return list_settled_; }
  /// When the list was last read at a leader that hears a majority; nothing: never.
  [[nodiscard]] std::optional<TimePoint> list_read() const noexcept { return list_read_; }
  [[nodiscard]] const MemberId& cluster_id() const noexcept { return cluster_id_; }
  [[nodiscard]] std::optional<std::chrono::milliseconds> election_timer() const noexcept {
    return election_timer_;
  }
  [[nodiscard]] ConditionTracker& conditions() noexcept { return conditions_; }
  /// What others have seen of servers of this or any cluster, as of the round to come.
  [[nodiscard]] const std::vector<Sighting>& elsewhere() const noexcept { return elsewhere_; }
  void set_elsewhere(std::vector<Sighting> seen) { elsewhere_ = std::move(seen); }
  [[nodiscard]] History& history() noexcept { return history_; }
  [[nodiscard]] const History& history() const noexcept { return history_; }
  /// Entries of all kinds, for tests of the bound.
  [[nodiscard]] std::size_t size() const noexcept {
    return identities_.size() + list_.size() + conditions_.size() + history_.size();
  }

  /// Stores what this round has shown. The snapshot may point into this memory; it must not be used
  /// afterwards.
  void learn(const ClusterSnapshot& snapshot);
  /// The member is asked in another way from now on, and may be another server: forgets everything
  /// about it.
  void forget(std::string_view member);
  /// The same member is called otherwise from now on.
  void rename(std::string_view from, const std::string& to);

 private:
  void learn_identities(const ClusterSnapshot& snapshot);
  void learn_list(const ClusterSnapshot& snapshot);

  std::vector<Identity> identities_;  // by member name
  std::vector<RememberedServer> list_;
  bool list_settled_ = true;
  std::optional<TimePoint> list_read_;
  MemberId cluster_id_;
  std::optional<std::chrono::milliseconds> election_timer_;
  ConditionTracker conditions_;
  History history_;
  std::vector<Sighting> elsewhere_;
};

}  // namespace wardmote::judge::raft
