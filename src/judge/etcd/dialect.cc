#include "judge/etcd/dialect.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/condition/condition_tracker.h"
#include "judge/etcd/member_facts.h"
#include "judge/finding.h"
#include "judge/raft/dialect.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::etcd {
namespace {

using raft::Line;
using raft::MemberId;
using raft::PeerName;
using raft::Server;
using raft::Status;

std::string name_of(const MemberId& id) {
  return id.known() ? id_text(id.high) : std::string();
}

std::string name_of(const Status& status) {
  switch (status.leader.kind) {
    case PeerName::Kind::kSelf: return name_of(status.server_id);
    case PeerName::Kind::kNamed: {
      const std::optional<MemberId> id = raft::parse_member_id(status.leader.name);
      return id ? name_of(*id) : status.leader.name;
    }
    case PeerName::Kind::kUnknown: return "0";
  }
  return "0";
}

/// As `etcdctl endpoint status -w fields --hex` names it; empty: etcd has no such line.
std::string quote_line(const Status& status, Line line) {
  switch (line) {
    case Line::kClusterId: return "ClusterID: " + name_of(status.cluster_id);
    case Line::kServerId: return "MemberID: " + name_of(status.server_id);
    case Line::kAddress: return "peer URL: " + status.address;
    case Line::kTerm: return fmt::format("RaftTerm: {}", status.term);
    case Line::kRole:
    case Line::kLeader: return "Leader: " + name_of(status);
    case Line::kLog: return fmt::format("RaftIndex: {}", status.committed_index());
    case Line::kUnapplied: return fmt::format("RaftAppliedIndex: {}", status.applied_index());
    default: return {};
  }
}

std::string quote_status(const Status& status, std::span<const Line> lines) {
  std::vector<std::string> said;
  for (const Line line : lines) {
    std::string text = quote_line(status, line);
    // The leader shows the role as well.
    const bool again = std::ranges::find(said, text) != said.end();
    if (!text.empty() && !again) said.push_back(std::move(text));
  }
  if (said.empty()) said.push_back(quote_line(status, Line::kServerId));
  return fmt::format("{}", fmt::join(said, "; "));
}

std::string quote_server(const Server& server) {
  std::string text = fmt::format("{}: name '{}', peer URL {}", name_of(server.id), server.nickname,
                                 server.address);
  if (server.phase == raft::Phase::kAddingCatchup) text += ", a learner";
  if (server.match_index) text += fmt::format(", RaftIndex {}", *server.match_index);
  return text;
}

std::string quote_list(const Status& status) {
  std::vector<std::string> entries;
  entries.reserve(status.servers.size());
  for (const Server& server : status.servers)
    entries.push_back(fmt::format("{} at {}", name_of(server.id), server.address));
  std::ranges::sort(entries);
  return fmt::format("members: {}", fmt::join(entries, ", "));
}

constexpr auto kAdvice = std::to_array<CodeAdvice>({
    {Code::kRaftClusterIdMismatch,
     "Check that the endpoint of this member leads to the right etcd. If it does, keep the data "
     "folders of both clusters: each has data of its own."},
    {Code::kRaftMemberListMismatch,
     "Compare 'etcdctl member list' of the two, each asked by --endpoints alone. The data of one "
     "of "
     "them are damaged or foreign."},
    {Code::kRaftAddressMismatch,
     "Correct its peer URLs with 'etcdctl member update', and look at the names that they use."},
    {Code::kRaftZombieMember,
     "Stop it. If it should be a member, add it again with 'etcdctl member add', and start it with "
     "an empty data folder."},
    {Code::kRaftMissingMember,
     "Add the missing member with 'etcdctl member add', or correct 'expect' in the configuration."},
    {Code::kRaftNoLeader,
     "If a majority is alive, check the network between the peer URLs, the disks, and "
     "--election-timeout of the members."},
    {Code::kRaftClusterSize,
     "Add what is missing with 'etcdctl member add', or correct 'expect' in the configuration. "
     "Remove nothing because of it."},
    {Code::kRaftServerIdCloned,
     "Correct the endpoints in the configuration. If two processes do run, stop the copy and add "
     "it "
     "as a new member."},
    {Code::kRaftStaleMember,
     "Make sure that the member at this peer URL answers. Do not remove a member before its host "
     "shows that it is gone for good."},
    {Code::kMonitorBlind,
     "Fix what stops the agent from asking: the endpoint, the certificates, a firewall, or its own "
     "load."},
});

}  // namespace

constexpr raft::Dialect kEtcd{
    .id = name_of,
    .short_id = name_of,
    .status = quote_status,
    .server = quote_server,
    .list = quote_list,
    .server_word = "member",
    .removal = "removal",
    .removing = "removing",
    .join = "Add",
    .to_hear_more = "wait until it answers",
    .lost_quorum =
        "Quorum is lost: nothing can be written, and no member added or removed. Look on the hosts "
        "of those that do not answer whether they run, and start them with the data that they had. "
        "When they are lost for good, restore a snapshot, or start one survivor with "
        "--force-new-cluster after its data were copied aside.",
    .removed_member =
        "Find out who removed it. If nobody did, the others may run on older data, and its own may "
        "be the only whole ones. If somebody did, do not start it with them: move its data folder "
        "aside and add it with 'etcdctl member add', or take it out of the configuration.",
    .cloned_member =
        "First compare their endpoints in the configuration: most likely they lead to one process. "
        "If they are two, stop the one that does not run on the host of the peer URL, move its "
        "data "
        "folder aside, and add it with 'etcdctl member add'.",
    .too_many =
        "Correct 'expect' in the configuration. Only its host can tell whether a member is gone "
        "for "
        "good.",
    .advice = kAdvice,
    .kick = {},
    .compact = {},
};

}  // namespace wardmote::judge::etcd
