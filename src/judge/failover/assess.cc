#include "judge/failover/assess.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/condition/condition_tracker.h"
#include "judge/failover/decision.h"
#include "judge/failover/member.h"
#include "judge/failover/report.h"
#include "judge/finding.h"
#include "judge/verdict.h"

namespace wardmote::judge::failover {
namespace {

using enum Code;

std::vector<Member> all_of(const PairReport& report) {
  std::vector<Member> all = {report.own};
  all.insert(all.end(), report.members.begin(), report.members.end());
  return all;
}

bool is_managed(const PairReport& report) {
  return !std::ranges::all_of(all_of(report), [](const Member& one) { return one.observes; });
}

std::string copies_of(const Member& member) {
  return fmt::format("nb {}, sb {}", to_string(member.nb), to_string(member.sb));
}

Condition about(Code code, std::string key, TimePoint now) {
  Condition found = condition(code, key, now);
  if (!key.empty()) found.finding.subjects = {std::move(key)};
  return found;
}

/// A failover that goes well takes the lease and a little more.
void wait_for_lease(Condition& condition, Duration ttl) {
  condition.window.fixed = std::max(condition.window.fixed, 2 * ttl);
}

/// What each node is, and whether it could become active.
void testify(const PairReport& report, Finding& finding) {
  for (const Member& member : all_of(report)) {
    const Candidacy could = could_take_over(member, report);
    finding.evidence.push_back(
        {member.name, fmt::format("{}; could become active: {} ({})", copies_of(member),
                                  to_string(could.verdict), could.reason)});
  }
  for (const std::string& name : report.missing)
    finding.evidence.push_back({name, "its agent says nothing"});
}

void add_no_active(const PairReport& report, TimePoint now, Conditions& out) {
  if (!report.active.empty()) return;
  // This node has been active and gives up; who comes next it does not look at.
  if (report.lock == Lock::kReleased) {
    out.push_back(uncertain(kFailoverNoActive, ""));
    return;
  }
  Condition found = about(kFailoverNoActive, "", now);
  wait_for_lease(found, report.ttl);
  found.finding.summary = report.paused_by.empty()
                              ? "nobody is active"
                              : "nobody is active, and failover is paused by " + report.paused_by;
  testify(report, found.finding);
  out.push_back(std::move(found));
}

void add_two_active(const PairReport& report, TimePoint now, Conditions& out) {
  Condition found = about(kFailoverTwoActive, "", now);
  for (const Member& member : all_of(report)) {
    if (member.nb != Copy::kActive && member.sb != Copy::kActive) continue;
    found.finding.subjects.push_back(member.name);
    found.finding.evidence.push_back({member.name, copies_of(member)});
  }
  const std::vector<std::string>& names = found.finding.subjects;
  if (names.size() < 2) return;
  wait_for_lease(found, report.ttl);
  found.finding.summary =
      fmt::format("{} have a writable database, {} is the active node", fmt::join(names, " and "),
                  report.active.empty() ? "nobody" : report.active);
  out.push_back(std::move(found));
}

void add_address(const PairReport& report, TimePoint now, Conditions& out) {
  if (report.active != report.own.name || report.has_address || !report.acts) return;
  Condition found = about(kFailoverAddressMissing, report.own.name, now);
  found.finding.summary =
      fmt::format("{} is active without the address {}", report.own.name, report.address);
  for (const std::string& complaint : report.complaints)
    found.finding.evidence.push_back({report.own.name, complaint});
  out.push_back(std::move(found));
}

void add_not_following(const PairReport& report, TimePoint now, Conditions& out) {
  if (report.active.empty()) return;
  for (const Member& member : all_of(report)) {
    const auto has = [&](Copy copy) { return member.nb == copy || member.sb == copy; };
    const bool follows = member.nb == Copy::kFollowing && member.sb == Copy::kFollowing;
    if (member.name == report.active || follows || member.observes) continue;
    const bool only_unknown = has(Copy::kUnknown) &&
                              (member.nb == Copy::kUnknown || member.nb == Copy::kFollowing) &&
                              (member.sb == Copy::kUnknown || member.sb == Copy::kFollowing);
    if (only_unknown) {
      out.push_back(uncertain(kFailoverNotFollowing, member.name));
      continue;
    }
    Condition found = about(kFailoverNotFollowing, member.name, now);
    wait_for_lease(found, report.ttl);
    found.finding.summary =
        fmt::format("{} does not follow {}: {}", member.name, report.active, copies_of(member));
    found.finding.evidence = {{member.name, copies_of(member)}};
    if (!member.unfit.empty()) found.finding.evidence.push_back({member.name, member.unfit});
    out.push_back(std::move(found));
  }
}

/// Those that the configuration keeps from it are no standby that was lost.
void add_no_standby(const PairReport& report, TimePoint now, Conditions& out) {
  if (report.active.empty()) return;
  bool meant = !report.missing.empty();
  for (const Member& member : all_of(report)) {
    if (member.name == report.active || member.observes || member.nofailover) continue;
    if (could_take_over(member, report).verdict == Candidacy::Verdict::kGo) return;
    meant = true;
  }
  if (!meant) return;
  Condition found = about(kFailoverNoStandby, "", now);
  wait_for_lease(found, report.ttl);
  found.finding.summary = fmt::format("nobody could take over from {}", report.active);
  testify(report, found.finding);
  out.push_back(std::move(found));
}

void add_missing(const PairReport& report, TimePoint now, Conditions& out) {
  for (const std::string& name : report.missing) {
    Condition found = about(kFailoverMemberMissing, name, now);
    wait_for_lease(found, report.ttl);
    found.finding.summary = fmt::format("nothing is heard of the agent of {}", name);
    found.finding.evidence = {{report.node, "no record of it in the store"}};
    out.push_back(std::move(found));
  }
}

void add_paused(const PairReport& report, TimePoint now, Conditions& out) {
  if (report.paused_by.empty()) return;
  Condition found = about(kFailoverPaused, "", now);
  found.finding.summary = "failover is paused by " + report.paused_by;
  found.finding.advice = Advice{.text = "Nobody is promoted until then.",
                                .command = {"wardmote", "failover", "resume", report.name},
                                .run_on = report.node};
  out.push_back(std::move(found));
}

Conditions detect(const PairReport& report, TimePoint now) {
  Conditions found;
  add_no_active(report, now, found);
  add_two_active(report, now, found);
  add_address(report, now, found);
  add_not_following(report, now, found);
  add_no_standby(report, now, found);
  add_missing(report, now, found);
  add_paused(report, now, found);
  return found;
}

}  // namespace

Assessment assess(const PairReport& report, ConditionTracker& conditions, TimePoint now) {
  const bool blind = report.lock == Lock::kUnknown;
  const bool managed = is_managed(report);
  const Look look{.now = now, .blind_to = [blind](std::string_view) { return blind; }};
  ConditionReport seen =
      conditions.update(blind || !managed ? Conditions() : detect(report, now), look);
  Assessment assessment;
  assessment.verdict = blind ? Verdict::kUnknown : Verdict::kOk;
  for (const Finding& finding : seen.findings) {
    const Verdict of = verdict_of(finding.severity);
    if (badness(of) > badness(assessment.verdict)) assessment.verdict = of;
  }
  assessment.findings = std::move(seen.findings);
  assessment.observed = std::move(seen.observed);
  return assessment;
}

}  // namespace wardmote::judge::failover
