#include "agent/board.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "base/time.h"
#include "config/config.h"
#include "config/reload_plan.h"
#include "incidents/change_feed.h"
#include "incidents/changes.h"
#include "judge/change.h"
#include "judge/check_machine.h"
#include "judge/condition/condition.h"
#include "judge/condition/signs.h"
#include "judge/finding.h"
#include "judge/gate.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/thing.h"
#include "serve/metrics/fact_samples.h"
#include "serve/thing_view.h"
#include "serve/view.h"

namespace wardmote::agent {
namespace {

using judge::Outcome;
using judge::Reason;
using judge::ReasonCode;

serve::CheckView begin(const std::string& name, std::string_view kind, TimePoint now) {
  serve::CheckView check;
  check.name = name;
  check.kind = kind;
  check.state = judge::begin_check(now);
  check.reason.code = ReasonCode::kNotProbed;
  check.last_begun = now;
  check.last_ended = now;
  return check;
}

void fit(serve::CheckView& check, const config::Schedule& schedule) {
  check.policy = schedule.policy;
  check.policy.every = schedule.every;
  check.optional = schedule.optional;
  check.every = schedule.every;
}

/// What was reported stays so until it is seen good, also by another definition.
void keep_reported(serve::CheckView& begun, const serve::CheckView& before, TimePoint now) {
  if (before.state.state != judge::State::kReported) return;
  begun.state = resume_reported(begun.policy, before.state.seen_good, before.state.since, now);
  begun.reason = before.reason;
}

/// The positions of checks by their names, which are known to be there.
using Positions = std::map<std::string_view, std::size_t>;

Positions positions_in(const std::vector<serve::CheckView>& checks) {
  Positions positions;
  for (std::size_t i = 0; i < checks.size(); ++i) positions.emplace(checks[i].name, i);
  return positions;
}

std::size_t position_of(const std::string& name, const Positions& positions) {
  const auto found = positions.find(name);
  check(found != positions.end(), "a gate or the public page names an unknown check");
  return found->second;
}

judge::GateRule rule_of(const config::Gate& gate, const Positions& positions) {
  judge::GateRule rule;
  rule.all.reserve(gate.all.size());
  for (const std::string& name : gate.all) rule.all.push_back(position_of(name, positions));
  if (!gate.at_least) return rule;
  rule.at_least = judge::GateRule::AtLeast{gate.at_least->count, {}};
  for (const auto& [name, weight] : gate.at_least->of)
    rule.at_least->of.push_back({position_of(name, positions), weight});
  return rule;
}

/// Each once, in the order of the rule.
std::vector<std::uint32_t> checks_of(const judge::GateRule& rule) {
  std::vector<std::uint32_t> checks;
  checks.reserve(rule.all.size());
  std::set<std::size_t> known;
  const auto add = [&](std::size_t check) {
    if (known.insert(check).second) checks.push_back(static_cast<std::uint32_t>(check));
  };
  for (const std::size_t check : rule.all) add(check);
  if (!rule.at_least) return checks;
  for (const judge::GateRule::Member& member : rule.at_least->of) add(member.check);
  return checks;
}

judge::GateStanding standing_of(const judge::CheckState& state, bool optional) noexcept {
  return {ready(state, optional), ready(state, false)};
}

}  // namespace

Board::Board(const config::Config& config, std::string node, incidents::ChangeFeed& feed,
             TimePoint now)
    : feed_(feed) {
  view_.started = now;
  reload(config, std::move(node), config::plan_reload({}, config), now);
}

void Board::reload(const config::Config& config, std::string node, const config::ReloadPlan& plan,
                   TimePoint now) {
  view_.node = std::move(node);
  auto checks = std::exchange(view_.checks, {});
  view_.checks.reserve(config.checks.size());
  for (std::size_t i = 0; i < config.checks.size(); ++i) {
    const config::Check& check = config.checks[i];
    const auto [action, was] = plan.checks[i];
    if (action != config::ReloadAction::kBegun) {
      serve::CheckView& kept = view_.checks.emplace_back(std::move(checks[was]));
      if (kept.optional != check.schedule.optional) reweighed_.push_back(i);
      fit(kept, check.schedule);
      continue;
    }
    serve::CheckView& begun = view_.checks.emplace_back(begin(check.name, check.kind->name, now));
    fit(begun, check.schedule);
    const bool known = was < checks.size() && checks[was].name == check.name;
    if (!known) continue;
    keep_reported(begun, checks[was], now);
    if (begun.optional != checks[was].optional) reweighed_.push_back(i);
  }
  set_gates(config.gates);
  set_public(config.public_page);
}

std::optional<judge::CheckChanged> Board::failing(std::size_t check) const {
  const serve::CheckView& shown = view_.checks[check];
  const judge::CheckState& state = shown.state;
  if (state.state != judge::State::kReported || state.last != Outcome::kFail) return std::nullopt;
  return judge::CheckChanged{state.state, state.state, shown.reason, counts(state, shown.optional),
                             state.seen_good};
}

void Board::tell_reweighed(TimePoint now) {
  for (const std::size_t check : std::exchange(reweighed_, {})) {
    incidents::tell_check_again(feed_, view_.checks[check]);
    tell_findings_again(view_.checks[check], now);
  }
}

void Board::tell_findings_again(const serve::CheckView& check, TimePoint now) {
  const bool counted = counts(check.state, check.optional);
  for (const auto& thing : view_.things) {
    if (thing->id.name == check.name) incidents::tell_findings_again(feed_, *thing, counted, now);
  }
}

void Board::set_public(const std::optional<config::PublicPage>& page) {
  view_.shown_publicly.reset();
  if (!page) return;
  const Positions positions = positions_in(view_.checks);
  serve::PublicPage shown{page->title, {}};
  for (const config::PublicPage::Line& line : page->lines) {
    serve::PublicLine& added = shown.lines.emplace_back(line.name);
    for (const std::string& name : line.checks)
      added.checks.push_back(static_cast<std::uint32_t>(position_of(name, positions)));
  }
  view_.shown_publicly = std::move(shown);
}

void Board::set_gates(const std::vector<config::Gate>& gates) {
  const Positions positions = positions_in(view_.checks);
  const auto before = std::exchange(view_.gates, {});
  gates_.clear();
  shares_.clear();
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const auto earlier = std::ranges::find(before, gates[i].name, &serve::GateView::name);
    Gate& gate = gates_.emplace_back();
    gate.rule = rule_of(gates[i], positions);
    gate.tally = tally(gate.rule, [this](std::size_t check) { return standing(check); });
    view_.gates.push_back(
        {gates[i].name, earlier != before.end() && earlier->ready, {}, checks_of(gate.rule)});
    add_shares(i);
  }
  shares_.shrink_to_fit();
  std::ranges::sort(shares_, {}, [](const Share& share) {
    return std::tuple(share.check, share.gate, share.among_all);
  });
  for (std::size_t i = 0; i < gates_.size(); ++i) tell_gate(i);
}

void Board::add_shares(std::size_t gate) {
  const judge::GateRule& rule = gates_[gate].rule;
  const auto add = [&](std::size_t check, bool among_all, std::uint32_t weight) {
    shares_.push_back(
        {static_cast<std::uint32_t>(check), static_cast<std::uint32_t>(gate), among_all, weight});
  };
  for (const std::size_t check : rule.all) add(check, true, 0);
  if (!rule.at_least) return;
  for (const judge::GateRule::Member& member : rule.at_least->of)
    add(member.check, false, member.weight);
}

void Board::check_observed(std::size_t check, const judge::Observation& seen, TimePoint now) {
  serve::CheckView& view = view_.checks[check];
  view.last_begun = seen.begun;
  view.last_ended = seen.ended;
  view.measured = serve::measure(seen, view_.families);
  // What was reported stays so until somebody sees it good, and of what may not exist nobody has.
  const bool reported = view.state.state == judge::State::kReported;
  const bool unseen = reported || !counts(view.state, view.optional);
  if (!seen.presumed || !unseen) return feed(check, seen.outcome, seen.reason, now);
  Reason reason{ReasonCode::kNotProbed, "nothing was seen of it yet"};
  feed(check, Outcome::kUnknown, reported ? view.reason : std::move(reason), now);
}

bool Board::doubt(judge::Observation& seen, std::span<const judge::Observed> signs) const {
  const judge::Observed* const sign = judge::gravest_sign(signs);
  const bool good = seen.outcome == Outcome::kOk || seen.outcome == Outcome::kWarn;
  if (sign == nullptr || !good) return false;
  const auto check = std::ranges::find(view_.checks, seen.subject, &serve::CheckView::name);
  if (check != view_.checks.end()) {
    if (check->state.state == judge::State::kHealthy) return false;
    // Once a grave fault is over, a sign of a lesser one does not keep it up.
    const bool lesser = judge::info(sign->code).severity != judge::Severity::kCritical;
    if (check->state.state == judge::State::kReported && lesser) return false;
  }
  seen.outcome = Outcome::kUnknown;
  seen.reason = {judge::ReasonCode::kState,
                 fmt::format("signs of {}, which is not confirmed yet", to_string(sign->code))};
  return true;
}

void Board::judged(const std::shared_ptr<const serve::ThingView>& thing, TimePoint now) {
  const auto shown =
      std::ranges::find(view_.things, thing->id, [](const auto& one) { return one->id; });
  if (shown == view_.things.end()) return;
  const auto before = std::exchange(*shown, thing);
  if (thing->findings().empty() && before->findings().empty()) return;
  const auto check = std::ranges::find(view_.checks, thing->id.name, &serve::CheckView::name);
  const bool counted = check == view_.checks.end() || counts(check->state, check->optional);
  incidents::tell_findings(feed_, *thing, before->findings(), counted, now);
}

void Board::show(judge::ThingKind kind,
                 std::vector<std::shared_ptr<const serve::ThingView>> things) {
  std::erase_if(view_.things, [kind](const auto& thing) { return thing->id.kind == kind; });
  const auto behind = std::ranges::find_if(
      view_.things, [kind](const auto& thing) { return thing->id.kind > kind; });
  view_.things.insert(behind, std::move_iterator(things.begin()), std::move_iterator(things.end()));
}

void Board::heart_beat(Duration lateness, std::optional<std::string> complaint) {
  view_.self.lateness = lateness;
  view_.self.worst_lateness = std::max(view_.self.worst_lateness, lateness);
  const auto before = std::exchange(view_.self.complaint, std::move(complaint));
  incidents::tell_self_change(feed_, view_.node, before, view_.self.complaint);
}

std::size_t Board::set_missed(std::size_t first,
                              const std::function<std::uint64_t(const std::string& name)>& missed) {
  constexpr std::size_t kSome = 500;
  const std::size_t end = std::min(view_.checks.size(), first + kSome);
  for (std::size_t i = first; i < end; ++i) view_.checks[i].missed = missed(view_.checks[i].name);
  return end < view_.checks.size() ? end : 0;
}

const serve::AgentView& Board::view(TimePoint now, WallTime wall_now) {
  view_.now = now;
  view_.wall_now = wall_now;
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    if (gates_[i].failing_stale) find_failing(i);
  }
  return view_;
}

void Board::feed(std::size_t index, Outcome outcome, Reason reason, TimePoint now) {
  serve::CheckView& check = view_.checks[index];
  const judge::CheckState before = check.state;
  const judge::Step next = step(before, check.policy, outcome, reason.code, now);
  check.state = next.next;
  check.reason = std::move(reason);
  ++check.looks;
  incidents::tell_check_change(feed_, check, before);
  if (!counts(before, check.optional) && counts(check.state, check.optional))
    tell_findings_again(check, now);
  standing_changed(index, standing_of(before, check.optional));
}

void Board::restore_reported(std::string_view name, Reason reason, bool seen_good, TimePoint since,
                             TimePoint now) {
  const auto found = std::ranges::find(view_.checks, name, &serve::CheckView::name);
  if (found == view_.checks.end()) return;
  const judge::CheckState before = found->state;
  found->state = resume_reported(found->policy, seen_good, since, now);
  found->reason = std::move(reason);
  standing_changed(static_cast<std::size_t>(found - view_.checks.begin()),
                   standing_of(before, found->optional));
}

void Board::restore_seen_good(std::string_view name, bool blind) {
  const auto found = std::ranges::find(view_.checks, name, &serve::CheckView::name);
  if (found == view_.checks.end()) return;
  const judge::CheckState before = found->state;
  found->state.seen_good = true;
  found->state.blind = blind;
  standing_changed(static_cast<std::size_t>(found - view_.checks.begin()),
                   standing_of(before, found->optional));
}

judge::GateStanding Board::standing(std::size_t check) const {
  return standing_of(view_.checks[check].state, view_.checks[check].optional);
}

/// Counts, since a gate may have ten thousand checks that become ready one after the other.
void Board::standing_changed(std::size_t check, judge::GateStanding before) {
  const judge::GateStanding now = standing(check);
  if (now == before) return;
  const auto index = static_cast<std::uint32_t>(check);
  for (const Share& share : std::ranges::equal_range(shares_, index, {}, &Share::check)) {
    judge::GateTally& tally = gates_[share.gate].tally;
    if (share.among_all && now.ready != before.ready) tally.failing += now.ready ? -1 : 1;
    if (now.proven != before.proven) {
      tally.weight = now.proven ? tally.weight + share.weight : tally.weight - share.weight;
    }
    tell_gate(share.gate);
  }
}

void Board::tell_gate(std::size_t gate) {
  serve::GateView& view = view_.gates[gate];
  gates_[gate].failing_stale = true;
  const bool was_ready = std::exchange(view.ready, passes(gates_[gate].rule, gates_[gate].tally));
  if (view.ready == was_ready) return;
  find_failing(gate);
  incidents::tell_gate_change(feed_, view, view_.checks);
}

void Board::find_failing(std::size_t gate) {
  const auto stands = [this](std::size_t check) { return standing(check); };
  const std::vector<std::size_t> failing = judge::failing(gates_[gate].rule, stands);
  view_.gates[gate].failing.assign(failing.begin(), failing.end());
  gates_[gate].failing_stale = false;
}

}  // namespace wardmote::agent
