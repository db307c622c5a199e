#include "judge/failover/report.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/failover/decision.h"
#include "judge/failover/member.h"

namespace wardmote::judge::failover {

std::optional<std::size_t> lag_of(const Member& member, const PairRecord& record) noexcept {
  if (member.trail.empty() || record.trail.empty()) return std::nullopt;
  const Relation relation = relate(member.trail, record.trail);
  if (relation == Relation::kSame || relation == Relation::kAhead) return 0;
  if (relation == Relation::kUnknown) return std::nullopt;
  const auto at = std::ranges::find(record.trail, member.trail.back());
  return static_cast<std::size_t>(record.trail.end() - at) - 1;
}

Candidacy could_take_over(const Member& member, const PairReport& report) {
  using Verdict = Candidacy::Verdict;
  if (!report.active.empty()) {
    if (member.name == report.active) return {Verdict::kGo, "it is the active node"};
    std::string why = heir_hindrance(member);
    if (!why.empty()) return {Verdict::kRefuse, std::move(why)};
    return {Verdict::kGo, "it follows the active node"};
  }
  if (!report.paused_by.empty())
    return {Verdict::kWait, "failover is paused by " + report.paused_by};
  if (member.name == report.own.name) return report.candidacy;
  Choice choice{.members = report.missing};
  std::vector<Member> others;
  choice.members.push_back(report.own.name);
  others.push_back(report.own);
  for (const Member& other : report.members) {
    choice.members.push_back(other.name);
    if (other.name != member.name) others.push_back(other);
  }
  return judge_candidate(member, others, report.record, choice);
}

std::string_view to_string(Lock lock) noexcept {
  switch (lock) {
    case Lock::kMine: return "mine";
    case Lock::kReleased: return "released";
    case Lock::kOther: return "other";
    case Lock::kNone: return "none";
    case Lock::kUnknown: return "unknown";
  }
  return "unknown";
}

}  // namespace wardmote::judge::failover
