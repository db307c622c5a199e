#include "judge/raft/consensus.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/raft/address.h"
#include "judge/raft/assess.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/member_id.h"
#include "judge/raft/memory.h"
#include "judge/raft/opinion.h"
#include "judge/raft/removal.h"

namespace wardmote::judge::raft {
namespace {

/// Gives a server the same id in every list: full if it answers, else as far as lists show it.
/// Another address does not make another server as long as the digits fit only one.
MemberId full_id(const ClusterSnapshot& snapshot, const Status& list,
                 const Server& server) noexcept {
  const Member* only = nullptr;
  for (const Member& member : snapshot.members) {
    if (!member.takes_part()) continue;
    if (same_server(member.id, member.address, server.id, server.address)) return member.id;
    if (!compatible(member.id, server.id)) continue;
    if (only) return server.id;
    only = &member;
  }
  const auto fits = [&](const Server& other) { return compatible(other.id, only->id); };
  return only && std::ranges::count_if(list.servers, fits) == 1 ? only->id : server.id;
}

MemberView view_of(const ClusterSnapshot& snapshot, const Member& member) {
  MemberView view{
      .from_id = to_string(member.id), .from_address = std::string(member.address), .members = {}};
  for (const Server& server : member.status()->servers) {
    if (server.id.known() && !server.address.empty()) {
      view.members.emplace(to_string(full_id(snapshot, *member.status(), server)), server.address);
    }
  }
  return view;
}

std::vector<MemberView> views_of(const ClusterSnapshot& snapshot) {
  std::vector<MemberView> views;
  for (const Member& member : snapshot.members) {
    if (member.takes_part() && member.status()) views.push_back(view_of(snapshot, member));
  }
  std::ranges::sort(views, {},
                    [](const MemberView& v) { return std::tie(v.from_id, v.from_address); });
  return views;
}

std::string key_of(const MemberView& view) {
  std::vector<std::string> entries;
  for (const auto& [id, address] : view.members)
    entries.push_back(fmt::format("{}={}", id, address));
  return fmt::format("{}", fmt::join(entries, "|"));
}

ViewDiff compare(const ServerList& truth, const ServerList& other) {
  ViewDiff diff;
  for (const auto& [id, address] : truth) {
    const auto found = other.find(id);
    if (found == other.end()) {
      diff.missing_ids.push_back(id);
    } else if (found->second != address) {
      diff.address_mismatches.emplace(id, std::pair(address, found->second));
    }
  }
  for (const auto& [id, address] : other) {
    if (!truth.contains(id)) diff.extra_ids.push_back(id);
  }
  return diff;
}

std::vector<std::string> to_vector(const std::set<std::string>& set) {
  return {set.begin(), set.end()};
}

std::vector<std::string> minus(const std::set<std::string>& all,
                               const std::set<std::string>& without) {
  std::vector<std::string> rest;
  std::ranges::set_difference(all, without, std::back_inserter(rest));
  return rest;
}

void compare_with_expectation(const Expectation& expectation, const std::set<std::string>& ips,
                              ExtendedConsensusResult& result) {
  std::set<std::string> expected;
  for (const std::string& address : expectation.addresses) expected.emplace(host_of(address));
  result.expected_ips = to_vector(expected);
  if (!expected.empty()) {
    result.unexpected_ips = minus(ips, expected);
    result.missing_expected_ips = minus(expected, ips);
  }
  result.expected_members =
      expectation.replicas > 0 ? expectation.replicas : expectation.addresses.size();
  if (result.expected_members == 0) return;
  result.too_many_members = result.members_count > result.expected_members;
  result.too_few_members = result.members_count < result.expected_members;
  if (result.too_many_members)
    result.expected_excess = result.members_count - result.expected_members;
  if (result.too_few_members)
    result.expected_shortfall = result.expected_members - result.members_count;
}

/// Only a server that is certainly dead and belongs to no configured member is suspect; a hint
/// alone makes no server suspect.
std::vector<std::string> suspects(const ClusterSnapshot& snapshot,
                                  const ExtendedConsensusResult& result) {
  std::set<std::string> ids;
  for (const ListedServer& listed : snapshot.servers) {
    if (listed.lives() || listed.reporter || listed.life != Life::kSilent) continue;
    const bool replaced = live_heir(snapshot, listed) != nullptr;
    const std::string host(host_of(listed.address));
    const bool unexpected = std::ranges::binary_search(result.unexpected_ips, host);
    if (replaced || (!listed.attributed && (unexpected || result.too_many_members)))
      ids.insert(to_string(listed.id));
  }
  return to_vector(ids);
}

}  // namespace

std::vector<MemberView> member_views(std::span<const Opinion> opinions) {
  return views_of(take_snapshot(opinions, {}, {}, {}));
}

ConsensusResult analyze_consensus(std::span<const MemberView> views,
                                  const std::string& newest_from) {
  ConsensusResult result;
  result.quorum_size = views.size() / 2 + 1;
  if (views.empty()) return result;
  std::map<std::string, std::vector<const MemberView*>> groups;
  for (const MemberView& view : views) groups[key_of(view)].push_back(&view);

  const auto holds_newest = [&](const auto& group) {
    return std::ranges::any_of(group.second,
                               [&](const MemberView* v) { return v->from_id == newest_from; });
  };
  const auto largest = std::ranges::max_element(groups, {}, [&](const auto& group) {
    return std::pair(group.second.size(), holds_newest(group));
  });
  result.all_agree = groups.size() == 1;
  result.has_majority = largest->second.size() >= result.quorum_size;
  result.majority_key = largest->first;
  result.truth_view = *largest->second.front();
  for (const auto& [key, group] : groups) {
    for (const MemberView* view : group) {
      const bool agrees = key == largest->first;
      (agrees ? result.majority_members : result.minority_members).push_back(view->from_id);
      if (!agrees)
        result.diffs.emplace(view->from_id, compare(result.truth_view.members, view->members));
    }
  }
  std::ranges::sort(result.majority_members);
  std::ranges::sort(result.minority_members);
  return result;
}

ExtendedConsensusResult analyze_consensus(std::span<const Opinion> opinions,
                                          const Expectation& expectation) {
  const Memory nothing;
  const ClusterSnapshot snapshot = take_snapshot(opinions, expectation, nothing, {});
  const std::vector<MemberView> views = views_of(snapshot);
  ExtendedConsensusResult result;
  static_cast<ConsensusResult&>(result) =
      analyze_consensus(views, snapshot.newest ? to_string(snapshot.newest->id) : std::string());

  std::set<std::string> ids;
  std::set<std::string> ips;
  std::set<std::string> reporters;
  std::map<std::string, std::set<std::string>> ids_at;
  std::map<std::string, std::set<std::string>> addresses_of;
  for (const MemberView& view : views) {
    reporters.insert(view.from_id);
    for (const auto& [id, address] : view.members) {
      ids.insert(id);
      ips.emplace(host_of(address));
      ids_at[address].insert(id);
      addresses_of[id].insert(address);
    }
  }
  result.union_members = to_vector(ids);
  result.union_ips = to_vector(ips);
  result.reporters = to_vector(reporters);
  result.missing_reporters = minus(ids, reporters);
  result.members_count = ids.size();
  for (const auto& [address, at] : ids_at) {
    if (at.size() > 1) result.ip_conflicts.emplace(address, to_vector(at));
  }
  for (const auto& [id, addresses] : addresses_of) {
    if (addresses.size() > 1) result.sid_address_disagreements.emplace(id, addresses.size());
  }
  compare_with_expectation(expectation, ips, result);
  result.suspect_stale_ids = suspects(snapshot, result);
  return result;
}

}  // namespace wardmote::judge::raft
