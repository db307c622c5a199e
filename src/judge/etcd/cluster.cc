#include "judge/etcd/cluster.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/condition/condition_tracker.h"
#include "judge/etcd/dialect.h"
#include "judge/etcd/member_facts.h"
#include "judge/finding.h"
#include "judge/judgement.h"
#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/verdict.h"

namespace wardmote::judge::etcd {
namespace {

using raft::MemberId;
using raft::Opinion;
using raft::PeerName;

MemberId to_id(std::uint64_t id) noexcept {
  return id == 0 ? MemberId{} : MemberId{.high = id, .low = 0, .digits = 16};
}

std::string address_of(const ListedMember& member) {
  return member.peer_urls.empty() ? std::string() : member.peer_urls.front();
}

raft::Server to_server(const ListedMember& member, const MemberFacts& facts) {
  raft::Server server;
  server.nickname = member.name.empty() ? id_text(member.id) : member.name;
  server.id = to_id(member.id);
  server.address = address_of(member);
  server.self = member.id == facts.member_id;
  if (member.learner) server.phase = raft::Phase::kAddingCatchup;
  return server;
}

raft::Status to_status(const MemberFacts& facts) {
  raft::Status status;
  status.nickname = facts.name;
  status.cluster_id = to_id(facts.cluster_id);
  status.server_id = to_id(facts.member_id);
  status.standing = raft::Standing::kMember;
  const bool leads = facts.leader != 0 && facts.leader == facts.member_id;
  status.role = leads ? raft::Role::kLeader : raft::Role::kFollower;
  status.term = facts.term;
  if (leads) status.leader = {PeerName::Kind::kSelf, {}};
  if (!leads && facts.leader != 0)
    status.leader = {PeerName::Kind::kNamed, to_string(to_id(facts.leader))};
  // etcd says the last committed index, and nothing of what comes after it, nor where its log
  // begins.
  status.log_start = status.log_next = facts.index + 1;
  status.unapplied = facts.index - std::min(facts.applied, facts.index);
  for (const ListedMember& member : facts.members) {
    status.servers.push_back(to_server(member, facts));
    if (member.id == facts.member_id) status.address = address_of(member);
  }
  return status;
}

/// A leader of etcd does not say how far the others are: they say it themselves.
void fill_match_indexes(std::vector<Opinion>& opinions) {
  for (Opinion& leader : opinions) {
    if (!leader.status || leader.status->role != raft::Role::kLeader) continue;
    for (raft::Server& server : leader.status->servers) {
      const auto is_it = [&](const Opinion& other) {
        return other.status && other.status->server_id == server.id &&
               other.status->cluster_id == leader.status->cluster_id;
      };
      const auto found = std::ranges::find_if(opinions, is_it);
      if (found != opinions.end()) server.match_index = found->status->committed_index();
    }
  }
}

bool comes_before(const Finding& a, const Finding& b) {
  return std::tie(b.severity, a.code, a.subjects, a.summary) <
         std::tie(a.severity, b.code, b.subjects, b.summary);
}

Verdict with(Verdict verdict, const std::vector<Finding>& own) {
  for (const Finding& finding : own) {
    if (finding.severity == Severity::kInfo) continue;
    const Verdict of =
        finding.severity == Severity::kCritical ? Verdict::kCritical : Verdict::kWarning;
    if (badness(of) > badness(verdict)) verdict = of;
  }
  return verdict;
}

}  // namespace

std::string id_text(std::uint64_t id) {
  return fmt::format("{:x}", id);
}

Opinion opinion_of(const MemberView& view) {
  Opinion opinion;
  opinion.member = view.name;
  opinion.dialect = &kEtcd;
  opinion.begun = view.begun;
  opinion.ended = view.ended;
  opinion.status_source.reason = view.reason;
  if (!view.facts) return opinion;
  opinion.mode = raft::Mode::kClustered;
  opinion.status_source.reason = {};
  opinion.status = to_status(*view.facts);
  return opinion;
}

Assessment assess(std::span<const MemberView> views, const Expectation& expectation, Memory& memory,
                  TimePoint now) {
  std::vector<Opinion> opinions;
  opinions.reserve(views.size());
  for (const MemberView& view : views) opinions.push_back(opinion_of(view));
  fill_match_indexes(opinions);
  raft::Expectation wanted;
  wanted.addresses = expectation.peer_urls;
  raft::Assessment generic = raft::assess(opinions, wanted, memory.raft, now);

  // An alarm stands in the whole cluster, so any member shows it, and none hides it.
  const bool anybody = std::ranges::any_of(views, [](const MemberView& v) { return !!v.facts; });
  const Look look{.now = now, .blind_to = [&](std::string_view) { return !anybody; }};
  Assessment assessment;
  Conditions conditions = detect(views, expectation);
  std::ranges::move(detect_load(views, memory, assessment.loads), std::back_inserter(conditions));
  ConditionReport own = memory.conditions.update(std::move(conditions), look);

  assessment.verdict = with(generic.verdict, own.findings);
  assessment.findings = std::move(generic.findings);
  std::ranges::move(own.findings, std::back_inserter(assessment.findings));
  std::ranges::sort(assessment.findings, comes_before);
  assessment.observed = std::move(generic.observed);
  std::ranges::move(own.observed, std::back_inserter(assessment.observed));
  assessment.members = std::move(generic.members);
  assessment.quorum = generic.quorum;
  assessment.leader = generic.leader;
  return assessment;
}

Judgement judge_member(const MemberFacts& facts, std::optional<std::uint64_t> quota) {
  const auto state = [](Outcome outcome, std::string text) -> Judgement {
    return {outcome, {ReasonCode::kState, std::move(text)}};
  };
  for (const Alarm& alarm : facts.alarms) {
    if (alarm.kind != AlarmKind::kOther) {
      return state(Outcome::kFail,
                   fmt::format("the alarm {} of member {}", alarm.name, id_text(alarm.member)));
    }
  }
  if (facts.leader == 0) return state(Outcome::kFail, "knows no leader");
  if (!facts.alarms.empty())
    return state(Outcome::kWarn, fmt::format("the alarm {}", facts.alarms.front().name));
  const std::optional<double> share = share_of_quota(facts, quota);
  if (share && *share >= 0.8)
    return state(Outcome::kWarn,
                 fmt::format("its database has {:.0f} % of its quota", *share * 100));
  if (facts.learner) return state(Outcome::kWarn, "a learner: it does not vote");
  return {};
}

}  // namespace wardmote::judge::etcd
