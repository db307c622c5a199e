#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/raft/assess.h"
#include "judge/raft/memory.h"
#include "judge/raft/opinion.h"
#include "judge/raft/repair_view.h"
#include "judge/raft/sighting.h"

namespace wardmote::judge::raft {

/// A server of the fake cluster, as a test sets it up. Its opinion is made from this.
struct Node {
  std::string name;  ///< `ctl-1`
  MemberId id;
  std::string address;     ///< `tcp:10.0.0.1:6643`
  bool configured = true;  ///< whether the agent looks at it
  Mode mode = Mode::kClustered;
  ReasonCode silence = ReasonCode::kNone;         ///< how both ways to ask it fail
  ReasonCode status_silence = ReasonCode::kNone;  ///< how only `cluster/status` fails
  MemberId cluster_id;
  Standing standing = Standing::kMember;
  Role role = Role::kFollower;
  std::uint64_t term = 1;
  std::optional<std::size_t> follows;      ///< the node that it names as leader
  std::optional<TimePoint> unheard_since;  ///< nobody hears it since then, nor it anybody
  std::uint64_t log_next = 5;
  std::uint64_t uncommitted = 0;
  std::optional<TimePoint> election_begun;  ///< when it last started one
  Milliseconds election_timer{1000};
  std::uint64_t disconnections = 0;
  std::vector<Link> links;
  std::optional<std::vector<Server>> own_list;  ///< instead of the list that all share
};

/// Servers whose opinions are made up from a few facts, and an agent that looks at them once a
/// second. Node 0 leads at first.
class FakeCluster {
 public:
  explicit FakeCluster(std::size_t size);

  [[nodiscard]] Node& node(std::size_t i) { return nodes_[i]; }
  [[nodiscard]] std::vector<Server>& list() { return list_; }
  [[nodiscard]] TimePoint now() const { return now_; }
  [[nodiscard]] const Memory& memory() const { return memory_; }
  /// As by a reload.
  void rename(std::size_t node, const std::string& to) {
    memory_.rename(nodes_[node].name, to);
    nodes_[node].name = to;
  }

  /// A server that is not (yet) in the list. Returns its number.
  std::size_t add_node(std::string name, std::string id, std::string address);
  void enlist(std::size_t i, Phase phase = Phase::kNone);
  void strike(std::size_t i);
  void strike(const std::string& nickname);

  void kill(std::size_t i, ReasonCode silence = ReasonCode::kRefused);
  void isolate(std::size_t i);
  void heal(std::size_t i);
  /// All that hear each other follow it in a later term.
  void elect(std::size_t i);

  /// The opinions of this moment.
  [[nodiscard]] std::vector<Opinion> opinions() const;
  /// One look now. Whatever it tells must be well told.
  Assessment look();
  /// Looks once a second for `time`; returns the last.
  Assessment watch(Duration time);
  /// Time goes on, and nobody looks.
  void sleep(Duration time) { now_ += time; }
  /// What a plan would see of the last look.
  [[nodiscard]] RepairView repair_view() const;

  Expectation expectation{.database = "OVN_Northbound", .addresses = {}, .replicas = 0};
  /// What others than the members see of servers.
  std::vector<Sighting> elsewhere;
  /// Edits each look's opinions last.
  std::function<void(std::vector<Opinion>&)> edit;

 private:
  [[nodiscard]] Opinion opinion_of(std::size_t i) const;
  [[nodiscard]] Status status_of(std::size_t i) const;
  [[nodiscard]] std::vector<Link> links_of(std::size_t self) const;
  [[nodiscard]] std::optional<Milliseconds> age_between(std::size_t self,
                                                        const Server& other) const;
  [[nodiscard]] std::optional<std::size_t> node_of(const Server& server) const;

  std::vector<Node> nodes_;
  std::vector<Server> list_;
  Memory memory_;
  TimePoint now_{std::chrono::hours(100)};
};

/// `critical RAFT_MEMBER_DOWN ctl-2`, one a finding, with its first subject.
std::vector<std::string> told(const Assessment& assessment);
/// The finding of that code; the test fails if there is not exactly one.
Finding the(Code code, const Assessment& assessment);
bool has(Code code, const Assessment& assessment);

using Told = std::vector<std::string>;

}  // namespace wardmote::judge::raft
