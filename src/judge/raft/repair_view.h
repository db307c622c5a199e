#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/raft/assess.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {

/// A server of the newest member list, with what a change of the list must know about it.
struct RepairServer {
  MemberId id;
  std::string address;
  std::vector<std::string> names;  ///< the name in findings
  /// The configured member that answers as it, else the one that it must be; may be empty.
  std::string member;
  bool guessed = false;  ///< `member` is known by elimination alone: not enough to begin anything
  bool answers = false;  ///< that member answers as this server
  bool voter = true;     ///< counts for the quorum now
  bool acknowledges = false;  ///< is the leader, or the leader hears it
  bool shows_life = false;    ///< ListedServer::shows_life()
  bool leads = false;
  std::optional<std::uint64_t> match_index;  ///< as the leader reports
  /// What forbids kicking it as a server that is gone for good; nothing: it may be kicked.
  std::optional<std::string> objection;
  /// Why it may be alive (doubt_of_death); nothing: it certainly is not.
  std::optional<std::string> doubt;
  /// Since when nobody has heard it (ListedServer::silent_since).
  std::optional<TimePoint> silent_since;
  /// Who else waits for its answer, in words: its silence does not count meanwhile.
  std::optional<std::string> awaited;
};

/// A configured member, with what a repair must know about it.
struct RepairMember {
  std::string name;
  bool answers = false;  ///< as a member of this cluster in good standing
  bool joining = false;
  /// It certainly serves nobody: its host says that it is down, it hangs or joins. A member that
  /// could not be reached is neither this nor `answers`.
  bool out = false;
  MemberId id;  ///< the present answer
  /// It answers as a member of another cluster, or did so last.
  bool foreign = false;
  bool hung = false;  ///< its process runs and does not answer
  bool runs = false;  ///< a process answers in its place, as whatever
  /// Since when it has been `out` without interruption.
  std::optional<TimePoint> out_since{};
};

/// One cluster at one moment, for plans that change it. A plan begins nothing on an older one.
struct RepairView {
  TimePoint begun;            ///< of the earliest of its probes
  MemberId cluster_id;        ///< of the members that take part; may be unknown
  std::string leader;         ///< the leader's name, when it answers with its status; else empty
  std::uint64_t committed{};  ///< the leader's committed index
  bool commits = true;        ///< false: the leader has entries that it does not commit
  bool changing = false;      ///< a server is being added or removed
  /// The list itself is changing: a leader adds or removes a server, or a member leaves. A server
  /// that asks to join and is not added changes nothing.
  bool reconfiguring = false;
  /// When the list was last changing, or the leader changed.
  std::optional<TimePoint> unsettled{};
  /// The operator says which servers the cluster should have (Expectation::addresses).
  bool told_of = false;
  bool starved = false;     ///< we lacked the resources to probe all of it
  std::string rolled_back;  ///< a member whose log went back behind what it had committed
  std::size_t voters = 0;
  std::size_t needed = 0;         ///< a majority of them
  std::size_t acknowledging = 0;  ///< voters that can acknowledge a change now
  std::vector<RepairServer> servers;
  std::vector<RepairMember> members;
  /// Short names of servers that nobody lists and that have a connection to some member.
  std::vector<std::string> strangers;

  [[nodiscard]] const RepairServer* find(const MemberId& id) const noexcept;
  [[nodiscard]] const RepairMember* member(std::string_view name) const noexcept;
  /// The listed server that the configured member is, or was at its last answer.
  [[nodiscard]] const RepairServer* server_of(std::string_view member) const noexcept;
};

/// Pure, as assess(); `memory` includes these opinions already.
RepairView repair_view(std::span<const Opinion> opinions, const Expectation& expectation,
                       const Memory& memory, TimePoint now);

}  // namespace wardmote::judge::raft
