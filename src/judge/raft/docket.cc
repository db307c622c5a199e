#include "judge/raft/docket.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace wardmote::judge::raft {
namespace {

using enum Code;

enum class Scope : std::uint8_t { kSameThing, kCluster };

struct Suppression {
  Code cause;
  Code consequence;
  Scope scope;
};

// One fault, the smallest true set of findings: while the cause stands (even within its window),
// its consequences only repeat it. Memory keeps counting for them, so that they speak at once if
// they outlive the cause.
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

Ruling Docket::weigh(Conditions conditions, const Look& look) {
  std::vector<Case> cases;
  const auto taken = [&](Code code, std::string_view key) {
    return std::ranges::any_of(
        cases, [&](const Case& c) { return c.finding.code == code && c.key == key; });
  };
  for (Condition& condition : conditions) {
    if (condition.certain && !taken(condition.finding.code, condition.key)) {
      cases.push_back(proceed(std::move(condition), look));
    }
  }
  for (const Condition& condition : conditions) {
    const Case* const old =
        condition.certain ? nullptr : find(condition.finding.code, condition.key);
    if (old && !taken(old->finding.code, old->key)) cases.push_back(keep(*old));
  }
  for (const Case& old : cases_) {
    if (look.blind_to(old.key) && !taken(old.finding.code, old.key)) cases.push_back(keep(old));
  }
  cases_ = std::move(cases);
  std::ranges::sort(cases_,
                    [](const Case& a, const Case& b) { return goes_before(a.finding, b.finding); });

  const auto explained = [&](const Finding& finding) {
    return std::ranges::any_of(kSuppressions, [&](const Suppression& rule) {
      return rule.consequence == finding.code &&
             std::ranges::any_of(cases_, [&](const Case& cause) {
               return cause.finding.code == rule.cause &&
                      (rule.scope == Scope::kCluster || share_a_name(cause.finding, finding));
             });
    });
  };
  Ruling ruling;
  for (const Case& c : cases_) {
    if (explained(c.finding)) continue;
    if (c.raised) {
      ruling.findings.push_back(c.finding);
    } else {
      const std::vector<std::string>& names = c.finding.subjects;
      ruling.observed.push_back(
          {c.finding.code, names.empty() ? "" : names.front(), c.finding.since, c.due});
    }
  }
  return ruling;
}

}  // namespace wardmote::judge::raft
