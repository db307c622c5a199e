#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "judge/raft/assess.h"
#include "judge/raft/opinion.h"

// The numbers of cozystack's pkg/ovnstatus, for graphs: agreement of the members on the member
// list, and the list against the expected addresses. The meanings are the same, and the results are
// deterministic; unlike the original, this neither counts a stale server as the member at its
// address, nor suspects live servers. assess() says what is wrong with a cluster, not this.

namespace wardmote::judge::raft {

/// Server id to address. An id is as full as any answering member makes it, so a server has the
/// same name everywhere.
using ServerList = std::map<std::string, std::string>;

/// The member list of one answering member.
struct MemberView {
  std::string from_id;
  std::string from_address;
  ServerList members;
  friend bool operator==(const MemberView&, const MemberView&) = default;
};

/// How a list differs from the true one.
struct ViewDiff {
  std::vector<std::string> missing_ids;
  std::vector<std::string> extra_ids;
  /// Id to the true and the listed address.
  std::map<std::string, std::pair<std::string, std::string>> address_mismatches;
  [[nodiscard]] bool empty() const noexcept {
    return missing_ids.empty() && extra_ids.empty() && address_mismatches.empty();
  }
  friend bool operator==(const ViewDiff&, const ViewDiff&) = default;
};

/// Whether the answering members agree on the list. This is not a raft quorum: silent members do
/// not count here.
struct ConsensusResult {
  bool all_agree = false;
  bool has_majority = false;
  std::size_t quorum_size = 1;  ///< a majority of the answering members
  std::string majority_key;     ///< `id=address|…` of the largest group
  std::vector<std::string> majority_members;
  std::vector<std::string> minority_members;
  MemberView truth_view;  ///< of the largest group; on a tie, of the group with the newest list
  std::map<std::string, ViewDiff> diffs;  ///< by reporter, the lists that differ
};

struct ExtendedConsensusResult : ConsensusResult {
  std::vector<std::string> union_members;  ///< every id in any list
  std::vector<std::string> union_ips;      ///< every host in any list
  std::vector<std::string> reporters;
  std::vector<std::string> missing_reporters;  ///< listed, and not answering
  std::vector<std::string> expected_ips;
  std::vector<std::string> unexpected_ips;
  std::vector<std::string> missing_expected_ips;
  std::size_t members_count = 0;
  std::size_t expected_members = 0;  ///< 0: no expectation
  bool too_many_members = false;
  bool too_few_members = false;
  std::size_t expected_shortfall = 0;
  std::size_t expected_excess = 0;
  /// Address with its port, to several ids.
  std::map<std::string, std::vector<std::string>> ip_conflicts;
  /// Id to its different addresses, if several.
  std::map<std::string, std::size_t> sid_address_disagreements;
  /// RememberedServer, dead, and excess or not expected; never a live one.
  std::vector<std::string> suspect_stale_ids;
};

/// The lists of the answering members of the judged cluster, by id.
std::vector<MemberView> member_views(std::span<const Opinion> opinions);

/// `newest_from`: the reporter whose list wins a tie; else the first by key.
ConsensusResult analyze_consensus(std::span<const MemberView> views,
                                  const std::string& newest_from = {});

ExtendedConsensusResult analyze_consensus(std::span<const Opinion> opinions,
                                          const Expectation& expectation);

}  // namespace wardmote::judge::raft
