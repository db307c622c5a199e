#include "observe/etcd/convert.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "codec/etcd/messages.h"
#include "judge/etcd/member_facts.h"

namespace wardmote::observe::etcd {

using judge::etcd::AlarmKind;
using judge::etcd::ListedMember;
using judge::etcd::MemberFacts;

namespace {

constexpr std::size_t kLongestText = 256;
constexpr std::size_t kMostMembers = 64;
constexpr std::size_t kMostUrls = 8;
constexpr std::size_t kMostErrors = 64;
/// What a member without a leader says, beside the leader 0.
constexpr std::string_view kNoLeader = "etcdserver: no leader";

std::string cut(std::string_view text) {
  return std::string(text.substr(0, kLongestText));
}

AlarmKind kind_of(std::string_view name) noexcept {
  if (name == "NOSPACE") return AlarmKind::kNospace;
  if (name == "CORRUPT") return AlarmKind::kCorrupt;
  return AlarmKind::kOther;
}

ListedMember to_member(const codec::etcd::Member& member) {
  ListedMember listed{
      .id = member.id, .name = cut(member.name), .peer_urls = {}, .learner = member.learner};
  for (const std::string& url : member.peer_urls) {
    if (listed.peer_urls.size() < kMostUrls) listed.peer_urls.push_back(cut(url));
  }
  std::ranges::sort(listed.peer_urls);
  return listed;
}

}  // namespace

MemberFacts to_facts(const codec::etcd::Status& status, const codec::etcd::MemberList& list) {
  MemberFacts facts;
  facts.cluster_id = status.cluster_id;
  facts.member_id = status.member_id;
  facts.version = cut(status.version);
  facts.leader = status.leader;
  facts.term = status.raft_term;
  facts.index = status.raft_index;
  facts.applied = status.raft_applied_index;
  facts.learner = status.learner;
  facts.db_bytes = status.db_size;
  facts.db_bytes_in_use = status.db_size_in_use;
  if (status.db_size_quota > 0) facts.quota_bytes = status.db_size_quota;
  for (const std::string& error : status.errors) {
    if (facts.alarms.size() + facts.errors.size() == kMostErrors) break;
    if (const auto alarm = codec::etcd::parse_alarm(error)) {
      facts.alarms.push_back({alarm->member, kind_of(alarm->name), alarm->name});
    } else if (error != kNoLeader) {
      facts.errors.push_back(cut(error));
    }
  }
  for (const codec::etcd::Member& member : list.members) {
    if (facts.members.size() == kMostMembers) break;
    facts.members.push_back(to_member(member));
    if (member.id == status.member_id) facts.name = cut(member.name);
  }
  return facts;
}

}  // namespace wardmote::observe::etcd
