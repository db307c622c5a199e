#include "incidents/changes.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "incidents/change_feed.h"
#include "judge/change.h"
#include "judge/check_machine.h"
#include "judge/finding.h"
#include "judge/thing.h"
#include "serve/thing_view.h"
#include "serve/view.h"

namespace wardmote::incidents {
namespace {

using judge::Finding;
using judge::FindingChanged;
using judge::ThingId;
using judge::ThingKind;

/// A subject learns names while it is looked at, so one name in common makes it the same.
bool same(const Finding& a, const Finding& b) {
  if (a.code != b.code) return false;
  if (a.subjects.empty() || b.subjects.empty()) return a.subjects.empty() && b.subjects.empty();
  return std::ranges::find_first_of(a.subjects, b.subjects) != a.subjects.end();
}

const Finding* find_same(std::span<const Finding> findings, const Finding& wanted) {
  const auto found =
      std::ranges::find_if(findings, [&](const Finding& one) { return same(one, wanted); });
  return found == findings.end() ? nullptr : &*found;
}

std::string without_numbers(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

/// Whether it says the same. Numbers may be others with every look.
bool says_the_same(const Finding& a, const Finding& b) {
  return a.severity == b.severity &&
         (a.summary == b.summary || without_numbers(a.summary) == without_numbers(b.summary));
}

/// A finding as of now.
struct Told {
  FindingChanged::Step step{};
  const Finding& finding;
  bool counts = true;
};

FindingChanged change_of(const serve::ThingView& thing, const Told& told, TimePoint now) {
  return {.step = told.step,
          .finding = told.finding,
          .now = now,
          .owner = thing.owner(),
          .component = thing.component_of(told.finding),
          .counts = told.counts};
}

void tell(ChangeFeed& feed, const serve::ThingView& thing, const Told& told, TimePoint now) {
  feed.tell(thing.id, change_of(thing, told, now));
}

}  // namespace

void tell_findings_again(ChangeFeed& feed, const serve::ThingView& thing, bool counts,
                         TimePoint now) {
  for (const Finding& finding : thing.findings())
    tell(feed, thing, {FindingChanged::Step::kChanged, finding, counts}, now);
}

void tell_findings(ChangeFeed& feed, const serve::ThingView& thing, std::span<const Finding> before,
                   bool counts, TimePoint now) {
  using enum FindingChanged::Step;
  for (const Finding& finding : thing.findings()) {
    const Finding* const earlier = find_same(before, finding);
    if (earlier != nullptr && says_the_same(*earlier, finding)) {
      feed.restate(thing.id, change_of(thing, {kChanged, finding, counts}, now));
      continue;
    }
    tell(feed, thing, {earlier == nullptr ? kRaised : kChanged, finding, counts}, now);
  }
  for (const Finding& finding : before) {
    if (find_same(thing.findings(), finding) == nullptr)
      tell(feed, thing, {kCleared, finding, counts}, now);
  }
}

void tell_check_change(ChangeFeed& feed, const serve::CheckView& check,
                       const judge::CheckState& before) {
  const ThingId of{ThingKind::kCheck, check.name};
  const judge::CheckState& after = check.state;
  if (before.state != after.state) {
    feed.tell(of, judge::CheckChanged{before.state, after.state, check.reason,
                                      judge::counts(after, check.optional), after.seen_good});
  }
  if (before.blind != after.blind)
    feed.tell(of, judge::CheckBlind{after.blind, check.reason, after.state,
                                    judge::counts(after, check.optional)});
}

void tell_check_again(ChangeFeed& feed, const serve::CheckView& check) {
  const ThingId of{ThingKind::kCheck, check.name};
  const judge::CheckState& state = check.state;
  if (state.state == judge::State::kReported) {
    feed.tell(of, judge::CheckChanged{state.state, state.state, check.reason,
                                      judge::counts(state, check.optional), state.seen_good});
  }
  if (state.blind) {
    feed.tell(of, judge::CheckBlind{true, check.reason, state.state,
                                    judge::counts(state, check.optional)});
  }
}

void tell_gate_change(ChangeFeed& feed, const serve::GateView& gate,
                      const std::vector<serve::CheckView>& checks) {
  feed.tell({ThingKind::kGate, gate.name},
            judge::GateChanged{gate.ready, serve::names_of(checks, gate.failing)});
}

void tell_self_change(ChangeFeed& feed, const std::string& node,
                      const std::optional<std::string>& before,
                      const std::optional<std::string>& after) {
  if (before.has_value() == after.has_value()) return;
  feed.tell({ThingKind::kAgent, node}, judge::AgentHealth{after});
}

}  // namespace wardmote::incidents
