#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {

/// What somebody knows of a server who does not look at it as a member of the judged cluster:
/// another cluster of the configuration, a check, another agent.
struct Sighting {
  MemberId server;         ///< not known: it has never answered, and may be any
  MemberId cluster;        ///< that it belongs to; may be unknown
  std::string by;          ///< `ovn-nb-old/ctl-2`, `check ovn-local`
  TimePoint at;            ///< when it answered last
  bool still = false;      ///< it answered the last look
  std::string database{};  ///< that it is asked for
  /// It was alive while another server of its address was, or while nobody listened there; nothing
  /// else is said of it then, and the id may be short.
  bool beside = false;
  std::string address{};  ///< that it says is its own; may be unknown
  /// Nobody listens where it was looked for last: its process does not hang there.
  bool refused = false;
  /// Another agent tells it; `at` is when it did.
  bool told = false;
  /// That it still answers may have been over for so long when it is told; nothing: nobody knows.
  std::optional<Duration> late{};
  TimePoint still_since{};  ///< since when it has been told that it still answers

  /// When it certainly was alive last.
  [[nodiscard]] std::optional<TimePoint> alive(TimePoint now) const noexcept;
  friend bool operator==(const Sighting&, const Sighting&) = default;
};

/// Who was answered by which server, from every look of the agent at one, and what other agents say
/// of theirs. Holds an entry for each that looks, whatever they have seen.
class Sightings {
 public:
  /// Who will look at a server of this database, or of any if it is empty. Until he has, his server
  /// may be each of them. `late`: a look ends so long after the one before.
  void expect(const std::string& by, std::string database, Duration late = {});
  /// He looks no more, or at another server.
  void forget(const std::string& by);
  /// A look of `by` at a server.
  void hear(const std::string& by, const Opinion& opinion);
  /// What others than the members of this cluster have seen, and who was one of these before
  /// another answered in its place; of servers that certainly belong to another one than `id`
  /// nothing, nor what agents said that went away before `away_after`.
  [[nodiscard]] std::vector<Sighting> besides(const std::string& cluster, const MemberId& id,
                                              TimePoint away_after) const;
  /// What this agent's looks have seen, for other agents: each server once, those first that still
  /// answer anybody, and last those that never said who they are.
  [[nodiscard]] std::vector<Sighting> here() const;
  /// What another agent says of its looks, in place of what it said before.
  void hear_agent(const std::string& node, std::vector<Sighting> seen);
  /// Of these the ones that were alive beside another.
  void hear_beside(const std::vector<Sighting>& seen);
  /// It is not heard any more: whom it saw, nobody sees now.
  void lose_agent(const std::string& node, TimePoint now);
  /// This server may be elsewhere than at its address (RememberedServer::is_loose). That is never
  /// forgotten, also when another agent says so.
  void saw_beside(const MemberId& cluster, const MemberId& server, std::string address);
  /// All those, for a later life of the agent.
  [[nodiscard]] const std::vector<Sighting>& beside() const noexcept { return beside_; }
  /// Somebody may see a server alive and cannot say which one: who that is; empty: nobody.
  void set_unheard(std::string by) { unheard_ = std::move(by); }

  /// How a cluster's member is called in `by`.
  static std::string member(const std::string& cluster, const std::string& member) {
    return cluster + "/" + member;
  }

 private:
  struct Looker {
    Sighting last;
    std::vector<Sighting> before;  ///< who answered there before, and may live elsewhere
  };
  struct Agent {
    std::vector<Sighting> seen;
    std::optional<TimePoint> away_since;
  };

  void take(const std::string& by, Sighting heard);
  void hear_neighbours(const std::string& by, const Opinion& opinion);

  std::map<std::string, Looker> seen_;   // by who looks
  std::map<std::string, Agent> agents_;  // by node
  std::vector<Sighting> beside_;         // the oldest first
  std::string unheard_;
};

}  // namespace wardmote::judge::raft
