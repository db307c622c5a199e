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

/// A server of the newest member list, as far as somebody who wants to change the list must know.
struct ListedServer {
  MemberId id;
  std::string address;
  std::vector<std::string> names;  ///< as findings name it
  /// The configured member that answers as it, else the one that it must be; may be empty.
  std::string member;
  bool answers = false;       ///< that member answers as this server
  bool voter = true;          ///< counts for the quorum now
  bool acknowledges = false;  ///< is the leader, or the leader hears it
  bool leads = false;
  std::optional<std::uint64_t> match_index;  ///< as the leader says
  /// What forbids to kick it as a server that is gone for good; nothing: it may be kicked.
  std::optional<std::string> objection;
};

/// A configured member, as far as somebody who wants to repair it must know.
struct SurveyedMember {
  std::string name;
  bool answers = false;  ///< as a member of this cluster in good standing
  bool joining = false;
  /// It certainly serves nobody: it is down or hung, joins or belongs elsewhere. What could not be
  /// asked is neither this nor `answers`.
  bool out = false;
  MemberId id;  ///< as it says now
};

/// One cluster at one moment, for plans that change it. A plan begins nothing on an older one.
struct Survey {
  TimePoint begun;            ///< of the earliest of the looks that it is made of
  std::string leader;         ///< its name, when it answers with its status; else empty
  std::uint64_t committed{};  ///< the leader's committed index
  bool changing = false;      ///< a server is being added or removed
  bool starved = false;       ///< we were too poor to look at all of it
  std::size_t voters = 0;
  std::size_t needed = 0;         ///< a majority of them
  std::size_t acknowledging = 0;  ///< voters that can acknowledge a change now
  std::vector<ListedServer> servers;
  std::vector<SurveyedMember> members;

  [[nodiscard]] const ListedServer* find(const MemberId& id) const noexcept;
  [[nodiscard]] const SurveyedMember* member(std::string_view name) const noexcept;
  /// The listed server that the configured member is, or was when it answered last.
  [[nodiscard]] const ListedServer* server_of(std::string_view member) const noexcept;
};

/// Pure, as assess(); `memory` has learnt of these opinions already.
Survey survey(std::span<const Opinion> opinions, const Expectation& expectation,
              const Memory& memory, TimePoint now);

}  // namespace wardmote::judge::raft
