#include "judge/raft/docket.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/finding.h"

namespace wardmote::judge::raft {

enum class Scope : std::uint8_t { kSameThing, kCluster };
enum class From : std::uint8_t { kSeen, kRaised };
enum class Afterwards : std::uint8_t { kAtOnce, kWindowAnew };

struct Suppression {
  Code cause;
  Code consequence;
  Scope scope;
  From from = From::kSeen;
  Afterwards afterwards = Afterwards::kAtOnce;
};

namespace {

using enum Code;
using enum Afterwards;

// One fault, the smallest true set of findings: while the cause stands (even within its window,
// unless it comes and goes), its consequences only repeat it. Memory keeps counting for them, so
// that they speak at once if they outlive the cause; but one whose evidence looks back on what
// happened while the cause stood has to be seen for its own window after it.
constexpr auto kSuppressions = std::to_array<Suppression>({
    {kRaftNoQuorum, kRaftNoLeader, Scope::kCluster},
    {kRaftNoQuorum, kRaftQuorumMargin, Scope::kCluster},
    {kRaftNoQuorum, kRaftStaleLeader, Scope::kCluster},
    {kRaftNoQuorum, kRaftCommitStall, Scope::kCluster},
    {kRaftFailedLeader, kRaftStaleLeader, Scope::kSameThing},
    {kRaftFailedLeader, kRaftTermDivergence, Scope::kSameThing},
    {kRaftFailedLeader, kRaftCommitStall, Scope::kSameThing},
    {kRaftServerIdCloned, kRaftTwoLeadersSameTerm, Scope::kSameThing},
    {kRaftTwoLeadersSameTerm, kRaftLeaderDisagreement, Scope::kCluster},
    {kRaftStaleLeader, kRaftTermDivergence, Scope::kSameThing},
    {kRaftZombieMember, kRaftTermDivergence, Scope::kSameThing},
    {kRaftMemberDown, kRaftTermDivergence, Scope::kSameThing},
    {kRaftStaleMember, kRaftDeadMember, Scope::kSameThing},
    {kRaftStaleMember, kRaftUnexpectedMember, Scope::kSameThing},
    {kRaftStaleMember, kRaftUnidentifiedPeer, Scope::kCluster},
    {kRaftClusterIdMismatch, kRaftUnidentifiedPeer, Scope::kCluster},
    {kRaftNoQuorum, kRaftElectionStorm, Scope::kCluster, From::kSeen, kWindowAnew},
    {kRaftNoLeader, kRaftElectionStorm, Scope::kCluster, From::kRaised, kWindowAnew},
    {kRaftTermDivergence, kRaftElectionStorm, Scope::kSameThing, From::kRaised, kWindowAnew},
    {kRaftLeaderFlap, kRaftElectionStorm, Scope::kSameThing, From::kRaised, kWindowAnew},
    {kRaftOneWaySilence, kRaftElectionStorm, Scope::kSameThing, From::kRaised, kWindowAnew},
    {kRaftNoQuorum, kRaftVoteAnomaly, Scope::kCluster},
    {kRaftNoLeader, kRaftVoteAnomaly, Scope::kCluster, From::kRaised},
    {kRaftElectionStorm, kRaftVoteAnomaly, Scope::kSameThing},
    {kRaftTermDivergence, kRaftVoteAnomaly, Scope::kSameThing},
    {kRaftTwoLeadersSameTerm, kRaftVoteAnomaly, Scope::kCluster},
    {kRaftNoQuorum, kRaftLogLag, Scope::kCluster},
    {kRaftCommitStall, kRaftLogLag, Scope::kCluster},
    {kRaftOneWaySilence, kRaftLogLag, Scope::kSameThing},
    {kRaftLinkAsymmetric, kRaftOneWaySilence, Scope::kSameThing},
    {kRaftNoQuorum, kRaftElectionTimerMismatch, Scope::kCluster},
    {kRaftCommitStall, kRaftElectionTimerMismatch, Scope::kCluster},
    {kRaftLogLag, kRaftElectionTimerMismatch, Scope::kSameThing},
    {kRaftAddressMismatch, kRaftMemberListMismatch, Scope::kSameThing},
});

bool share_a_name(const Finding& a, const Finding& b) {
  return std::ranges::find_first_of(a.subjects, b.subjects) != a.subjects.end();
}

Advice general_advice(Code code) {
  return {.text = std::string(info(code).advice), .command = {}, .run_on = {}};
}

/// Most severe first, then by code and subject.
bool goes_before(const Finding& a, const Finding& b) {
  return std::tie(b.severity, a.code, a.subjects) < std::tie(a.severity, b.code, b.subjects);
}

}  // namespace

Condition condition(Code code, std::string key, TimePoint shown) {
  const CodeInfo& row = info(code);
  Condition condition;
  condition.finding.code = code;
  condition.finding.severity = row.severity;
  condition.key = std::move(key);
  condition.shown = shown;
  condition.window = row.window;
  condition.critical_after = row.critical_after;
  return condition;
}

Condition uncertain(Code code, std::string key) {
  Condition condition;
  condition.finding.code = code;
  condition.key = std::move(key);
  condition.certain = false;
  return condition;
}

Docket::Case Docket::keep(const Case& old) {
  Case kept = old;
  // Advice rests on what was seen then; without a new look nobody may act on it.
  kept.finding.advice = general_advice(old.finding.code);
  return kept;
}

const Docket::Case* Docket::find(Code code, std::string_view key) const noexcept {
  const auto found = std::ranges::find_if(
      cases_, [&](const Case& c) { return c.finding.code == code && c.key == key; });
  return found == cases_.end() ? nullptr : &*found;
}

Docket::Case Docket::proceed(Condition condition, const Look& look) const {
  const Case* const old = find(condition.finding.code, condition.key);
  Case next{.key = std::move(condition.key), .finding = std::move(condition.finding)};
  next.first_shown = old ? old->first_shown : condition.shown;
  next.finding.since = condition.since.value_or(condition.shown);
  if (old) next.finding.since = std::min(next.finding.since, old->finding.since);

  const Duration window = length(condition.window, look.election_timer);
  next.due = next.finding.since + window;
  if (old && old->explained_at) {
    next.explained_at = old->explained_at;
    next.due = std::max(next.due, *old->explained_at + window);
  }
  // One sample is never enough for what may be a legal transient, however slow that sample was.
  const bool seen_twice = window == Duration::zero() || condition.shown > next.first_shown;
  next.raised = (old && old->raised) || (seen_twice && look.now >= next.due);
  if (condition.critical_after) {
    const Duration escalation = length(*condition.critical_after, look.election_timer);
    if (look.now - next.finding.since >= escalation) next.finding.severity = Severity::kCritical;
  }
  if (!next.finding.advice) next.finding.advice = general_advice(next.finding.code);
  return next;
}

std::vector<Docket::Case> Docket::gather(Conditions conditions, const Look& look) const {
  std::vector<Case> cases;
  const auto taken = [&](Code code, std::string_view key) {
    return std::ranges::any_of(
        cases, [&](const Case& c) { return c.finding.code == code && c.key == key; });
  };
  for (Condition& seen : conditions) {
    if (seen.certain && !taken(seen.finding.code, seen.key)) {
      cases.push_back(proceed(std::move(seen), look));
    }
  }
  const auto is_open = [&](const Case& old) {
    return look.blind_to(old.key) || std::ranges::any_of(conditions, [&](const Condition& c) {
             return !c.certain && c.finding.code == old.finding.code && c.key == old.key;
           });
  };
  for (const Case& old : cases_) {
    if (is_open(old) && !taken(old.finding.code, old.key)) cases.push_back(keep(old));
  }
  std::ranges::sort(cases,
                    [](const Case& a, const Case& b) { return goes_before(a.finding, b.finding); });
  return cases;
}

const Suppression* Docket::explanation(const Finding& finding) const noexcept {
  const auto* const found = std::ranges::find_if(kSuppressions, [&](const Suppression& rule) {
    return rule.consequence == finding.code && std::ranges::any_of(cases_, [&](const Case& cause) {
             return cause.finding.code == rule.cause &&
                    (cause.raised || rule.from == From::kSeen) &&
                    (rule.scope == Scope::kCluster || share_a_name(cause.finding, finding));
           });
  });
  return found == kSuppressions.end() ? nullptr : found;
}

Ruling Docket::weigh(Conditions conditions, const Look& look) {
  cases_ = gather(std::move(conditions), look);
  Ruling ruling;
  for (Case& c : cases_) {
    if (const Suppression* const why = explanation(c.finding)) {
      if (why->afterwards == kWindowAnew) {
        c.explained_at = look.now;
        c.raised = false;
      }
      continue;
    }
    if (c.raised) {
      ruling.findings.push_back(c.finding);
      continue;
    }
    const std::vector<std::string>& names = c.finding.subjects;
    std::string subject = names.empty() ? std::string() : names.front();
    ruling.observed.push_back({c.finding.code, std::move(subject), c.finding.since, c.due});
  }
  return ruling;
}

}  // namespace wardmote::judge::raft
