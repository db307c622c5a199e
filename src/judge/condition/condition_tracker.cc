#include "judge/condition/condition_tracker.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"

namespace wardmote::judge {

namespace {

/// A condition that was last seen this long ago, and is no finding, is not the beginning of the
/// present one.
constexpr Duration kForgotten = std::chrono::seconds(60);

constexpr std::string_view kHeld =
    "Something else begins, and whether this still holds is not known: wait for what is told next.";

bool share_a_name(const Finding& a, const Finding& b) {
  return std::ranges::find_first_of(a.subjects, b.subjects) != a.subjects.end();
}

constexpr std::string_view kLookAgain =
    "This was so when it was last seen: look again before anything is done.";

Advice general_advice(Code code, const Look& look) {
  const auto own = std::ranges::find(look.advice, code, &CodeAdvice::code);
  const std::string_view text = own != look.advice.end() ? own->text : info(code).advice;
  return {.text = std::string(text), .command = {}, .run_on = {}};
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

ConditionTracker::Entry ConditionTracker::keep(const Entry& old, const Condition* doubt,
                                               const Look& look) {
  Entry kept = old;
  if (!kept.uncertain_since) kept.uncertain_since = look.now;
  kept.finding.confirmed = false;
  if (doubt != nullptr && !doubt->finding.summary.empty()) {
    kept.finding.summary = doubt->finding.summary;
    kept.finding.advice = doubt->finding.advice;
    return kept;
  }
  if (!kept.finding.summary.ends_with(kUnconfirmed)) kept.finding.summary += kUnconfirmed;
  // Advice depends on what was observed then; without a new observation nobody may act on it.
  const Advice general = general_advice(old.finding.code, look);
  const bool own_words = old.finding.advice && old.finding.advice->text != general.text;
  kept.finding.advice = own_words ? Advice{.text = std::string(kLookAgain)} : general;
  return kept;
}

void ConditionTracker::rename(std::string_view from, const std::string& to) {
  for (Entry& entry : entries_) {
    if (entry.key != from) continue;
    entry.key = to;
    std::ranges::replace(entry.finding.subjects, from, to);
    for (Evidence& evidence : entry.finding.evidence) {
      if (evidence.by == from) evidence.by = to;
    }
  }
}

const ConditionTracker::Entry* ConditionTracker::find(Code code,
                                                      std::string_view key) const noexcept {
  const auto found = std::ranges::find_if(
      entries_, [&](const Entry& c) { return c.finding.code == code && c.key == key; });
  return found == entries_.end() ? nullptr : &*found;
}

ConditionTracker::Entry ConditionTracker::proceed(Condition condition, const Look& look) const {
  const Entry* const old = find(condition.finding.code, condition.key);
  Entry next{.key = std::move(condition.key), .finding = std::move(condition.finding)};
  next.told = old && old->told;
  next.first_shown = old ? old->first_shown : condition.shown;
  next.finding.since = condition.since.value_or(condition.shown);
  if (old) next.finding.since = std::min(next.finding.since, old->finding.since);

  const Duration window = length(condition.window, look.round);
  next.due = next.finding.since + window;
  if (old && old->explained_at) {
    next.explained_at = old->explained_at;
    next.due = std::max(next.due, *old->explained_at + window);
  }
  // One sample is never enough for a possible legal transient, however long that sample took.
  const bool seen_twice = window == Duration::zero() || condition.shown > next.first_shown;
  next.firing = (old && old->firing) || (seen_twice && look.now >= next.due);
  if (condition.critical_after) {
    const Duration escalation = length(*condition.critical_after, look.round);
    if (look.now - next.finding.since >= escalation) next.finding.severity = Severity::kCritical;
  }
  if (!next.finding.advice) next.finding.advice = general_advice(next.finding.code, look);
  return next;
}

std::vector<ConditionTracker::Entry> ConditionTracker::gather(Conditions conditions,
                                                              const Look& look) const {
  std::vector<Entry> entries;
  const auto taken = [&](Code code, std::string_view key) {
    return std::ranges::any_of(
        entries, [&](const Entry& c) { return c.finding.code == code && c.key == key; });
  };
  for (Condition& seen : conditions) {
    if (seen.certain && !taken(seen.finding.code, seen.key)) {
      entries.push_back(proceed(std::move(seen), look));
    }
  }
  const auto waits = [](const Entry& c) {
    return !c.firing && !c.uncertain_since && c.finding.severity == Severity::kCritical;
  };
  const bool gets_worse = std::ranges::any_of(entries, waits);
  const auto doubt_of = [&](const Entry& old) {
    const auto found = std::ranges::find_if(conditions, [&](const Condition& c) {
      return !c.certain && c.finding.code == old.finding.code && c.key == old.key;
    });
    return found == conditions.end() ? nullptr : &*found;
  };
  const auto is_open = [&](const Entry& old, const Condition* doubt) {
    const bool forgotten =
        !old.firing && old.uncertain_since && look.now - *old.uncertain_since > kForgotten;
    return !forgotten && (doubt != nullptr || look.blind_to(old.key));
  };
  for (const Entry& old : entries_) {
    if (taken(old.finding.code, old.key)) continue;
    const Condition* const doubt = doubt_of(old);
    const bool open = is_open(old, doubt);
    // What comes next must be said before what stands is taken back. Nobody may act on it.
    const bool held = gets_worse && old.told && old.finding.severity == Severity::kCritical;
    if (!open && !held) continue;
    entries.push_back(keep(old, doubt, look));
    if (!open)
      entries.back().finding.advice = {.text = std::string(kHeld), .command = {}, .run_on = {}};
  }
  std::ranges::sort(
      entries, [](const Entry& a, const Entry& b) { return goes_before(a.finding, b.finding); });
  return entries;
}

const Suppression* ConditionTracker::explanation(
    const Entry& consequence, std::span<const Suppression> suppressions) const noexcept {
  const Finding& finding = consequence.finding;
  // A condition that is only observed does not take back a finding: until it is a finding itself,
  // nothing else would report the outage.
  const bool alarm = consequence.told && finding.severity == Severity::kCritical;
  const auto explains = [&](const Suppression& rule, const Entry& cause) {
    if (cause.finding.code != rule.cause) return false;
    const bool seen = rule.from == Suppression::From::kSeen && !cause.uncertain_since && !alarm;
    return (cause.firing || seen) &&
           (rule.scope == Suppression::Scope::kWhole || share_a_name(cause.finding, finding));
  };
  const auto found = std::ranges::find_if(suppressions, [&](const Suppression& rule) {
    return rule.consequence == finding.code &&
           std::ranges::any_of(entries_, [&](const Entry& cause) { return explains(rule, cause); });
  });
  return found == suppressions.end() ? nullptr : &*found;
}

ConditionReport ConditionTracker::update(Conditions conditions, const Look& look) {
  entries_ = gather(std::move(conditions), look);
  ConditionReport report;
  for (Entry& c : entries_) {
    const Suppression* const why = explanation(c, look.suppressions);
    c.told = why == nullptr && c.firing;
    if (why) {
      if (why->afterwards == Suppression::Afterwards::kWindowAnew) {
        c.explained_at = look.now;
        c.firing = false;
      }
      continue;
    }
    if (c.firing) {
      report.findings.push_back(c.finding);
      continue;
    }
    if (c.uncertain_since && look.now >= c.due) continue;
    const std::vector<std::string>& names = c.finding.subjects;
    std::string subject = names.empty() ? std::string() : names.front();
    report.observed.push_back({c.finding.code, std::move(subject), c.finding.since, c.due});
  }
  return report;
}

}  // namespace wardmote::judge
