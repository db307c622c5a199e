#include "agent/board.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "agent/change_feed.h"
#include "agent/changes.h"
#include "agent/companions.h"
#include "agent/config/config.h"
#include "agent/reload_plan.h"
#include "base/check.h"
#include "base/time.h"
#include "judge/bgp/mesh_assessment.h"
#include "judge/check_machine.h"
#include "judge/finding.h"
#include "judge/gate.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "serve/view.h"

namespace wardmote::agent {
namespace {

using judge::Outcome;
using judge::Reason;
using judge::ReasonCode;
using judge::raft::Assessment;
using judge::raft::MemberId;
using judge::raft::Opinion;
using judge::raft::Source;
using judge::raft::Verdict;

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
  check.optional = schedule.optional;
  check.every = schedule.every;
}

serve::ClusterView begin(const config::Cluster& cluster, TimePoint now) {
  serve::ClusterView view;
  view.name = cluster.name;
  view.expectation = cluster.expectation;
  view.judged = now;
  for (const config::Member& member : cluster.members) {
    Opinion opinion;
    opinion.member = member.name;
    view.opinions.push_back(std::move(opinion));
  }
  view.counters.members.resize(cluster.members.size());
  return view;
}

/// Why the cluster's check stands as it does: its worst finding, or why nobody speaks.
Reason reason_of(const serve::ClusterView& cluster) {
  const Assessment& assessment = cluster.assessment;
  if (assessment.verdict == Verdict::kOk) return {};
  if (!assessment.findings.empty()) {
    const judge::Finding& worst = assessment.findings.front();
    return {ReasonCode::kState, std::string(to_string(worst.code)) + ": " + worst.summary};
  }
  for (const Opinion& opinion : cluster.opinions) {
    if (opinion.silence().code != ReasonCode::kNone) return opinion.silence();
  }
  return {ReasonCode::kNotProbed, {}};
}

bool failed(const Source& source) {
  return !source.answered() && source.reason.code != ReasonCode::kNotProbed;
}

bool asked_in_full(const Opinion& opinion) {
  return !failed(opinion.status_source) && !failed(opinion.local_source);
}

MemberId leader_of(const serve::ClusterView& cluster) {
  const auto& leader = cluster.assessment.leader;
  return leader ? cluster.opinions[*leader].server_id() : MemberId{};
}

/// The positions of checks by their names, which are known to be there.
using Positions = std::map<std::string_view, std::size_t>;

std::size_t position_of(const std::string& name, const Positions& positions) {
  const auto found = positions.find(name);
  check(found != positions.end(), "a gate names an unknown check");
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

std::uint64_t highest_term(const std::vector<Opinion>& opinions) {
  std::uint64_t highest = 0;
  for (const Opinion& opinion : opinions) {
    if (opinion.status) highest = std::max(highest, opinion.status->term);
  }
  return highest;
}

}  // namespace

Outcome outcome_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kOk: return Outcome::kOk;
    case Verdict::kWarning: return Outcome::kWarn;
    case Verdict::kCritical: return Outcome::kFail;
    case Verdict::kUnknown: return Outcome::kUnknown;
  }
  return Outcome::kUnknown;
}

Board::Board(const config::Config& config, std::string node, ChangeFeed& feed, TimePoint now)
    : feed_(feed) {
  view_.started = now;
  reload(config, std::move(node), plan_reload({}, config), now);
}

void Board::reload(const config::Config& config, std::string node, const ReloadPlan& plan,
                   TimePoint now) {
  view_.node = std::move(node);
  const std::size_t old_clusters = view_.clusters.size();
  auto clusters = std::exchange(view_.clusters, {});
  auto checks = std::exchange(view_.checks, {});
  auto leaders = std::exchange(leaders_, {});
  auto terms = std::exchange(terms_, {});
  auto companions = std::exchange(companions_, Companions(config.clusters));
  view_.checks.reserve(config.clusters.size() + config.checks.size());
  for (std::size_t i = 0; i < config.clusters.size(); ++i) {
    const config::Cluster& cluster = config.clusters[i];
    const auto [fate, was] = plan.clusters[i];
    const bool known = fate != Fate::kBegun;
    view_.clusters.push_back(known ? std::move(clusters[was]) : begin(cluster, now));
    view_.clusters.back().every = cluster.schedule.every;
    view_.checks.push_back(known ? std::move(checks[was]) : begin(cluster.name, "cluster", now));
    fit(view_.checks.back(), cluster.schedule);
    leaders_.push_back(known ? leaders[was] : MemberId{});
    terms_.push_back(known ? terms[was] : 0);
    if (known) companions_.take_over(i, companions, was);
  }
  for (std::size_t i = 0; i < config.checks.size(); ++i) {
    const config::Check& check = config.checks[i];
    const auto [fate, was] = plan.checks[i];
    view_.checks.push_back(fate != Fate::kBegun ? std::move(checks[old_clusters + was])
                                                : begin(check.name, check.kind->name, now));
    fit(view_.checks.back(), check.schedule);
  }
  set_meshes(config, plan, now);
  set_gates(config.gates);
}

/// What a mesh knows stays as long as its check does.
void Board::set_meshes(const config::Config& config, const ReloadPlan& plan, TimePoint now) {
  auto before = std::exchange(view_.meshes, {});
  for (const config::Mesh& mesh : config.meshes) {
    const auto check = std::ranges::find(config.checks, mesh.name, &config::Check::name);
    const auto index = static_cast<std::size_t>(check - config.checks.begin());
    const auto earlier = std::ranges::find(before, mesh.name, &serve::MeshView::name);
    if (earlier != before.end() && plan.checks[index].fate != Fate::kBegun) {
      view_.meshes.push_back(std::move(*earlier));
      continue;
    }
    serve::MeshView& view = view_.meshes.emplace_back();
    view.name = mesh.name;
    view.judged = now;
    for (const config::Mesh::Member& member : mesh.members)
      view.nodes.push_back({member.check, {}, {}, {ReasonCode::kNotProbed, {}}});
  }
}

void Board::set_gates(const std::vector<config::Gate>& gates) {
  Positions positions;
  for (std::size_t i = 0; i < view_.checks.size(); ++i) positions.emplace(view_.checks[i].name, i);
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
  const std::size_t index = view_.clusters.size() + check;
  serve::CheckView& view = view_.checks[index];
  view.last_begun = seen.begun;
  view.last_ended = seen.ended;
  feed(index, seen.outcome, seen.reason, now);
}

void Board::member_observed(std::size_t cluster, std::size_t member, const Opinion& seen) {
  serve::MemberCounters& counters = view_.clusters[cluster].counters.members[member];
  counters.looks.add(seen.ended - seen.begun);
  for (const Source* const source : {&seen.status_source, &seen.local_source}) {
    if (failed(*source)) ++counters.errors[source->reason.code];
  }
}

void Board::cluster_judged(std::size_t cluster, std::vector<Opinion> opinions,
                           Assessment assessment, TimePoint now, bool final_of_round) {
  check(opinions.size() == view_.clusters[cluster].opinions.size(), "a cluster's members changed");
  serve::ClusterView& view = view_.clusters[cluster];
  companions_.compare(cluster, opinions, assessment, view_.clusters, now);
  const Assessment before = std::exchange(view.assessment, std::move(assessment));
  view.opinions = std::move(opinions);
  view.judged = now;
  count(cluster);
  tell_cluster_changes(feed_, view, before, now);

  if (!final_of_round) return;
  if (!std::ranges::all_of(view.opinions, asked_in_full)) ++view.counters.collect_errors;
  serve::CheckView& check = view_.checks[cluster];
  check.last_begun = view.opinions.front().begun;
  check.last_ended = now;
  feed(cluster, outcome_of(view.assessment.verdict), reason_of(view), now);
}

void Board::mesh_judged(const std::string& name, std::vector<serve::MeshView::Node> nodes,
                        judge::bgp::MeshAssessment assessment, TimePoint now) {
  const auto view = std::ranges::find(view_.meshes, name, &serve::MeshView::name);
  if (view == view_.meshes.end()) return;
  view->nodes = std::move(nodes);
  view->judged = now;
  const judge::bgp::MeshAssessment before = std::exchange(view->assessment, std::move(assessment));
  tell_mesh_changes(feed_, *view, before, now);
}

void Board::count(std::size_t cluster) {
  serve::ClusterView& view = view_.clusters[cluster];
  ++view.counters.judgements;
  const MemberId leader = leader_of(view);
  if (leader.known()) {
    MemberId& last = leaders_[cluster];
    if (last.known() && !compatible(last, leader)) ++view.counters.leader_transitions;
    last = leader;
  }
  const std::uint64_t term = highest_term(view.opinions);
  std::uint64_t& highest = terms_[cluster];
  if (highest != 0 && term > highest) view.counters.elections += term - highest;
  highest = std::max(highest, term);
}

void Board::heart_beat(Duration lateness, std::optional<std::string> complaint) {
  view_.self.lateness = lateness;
  view_.self.worst_lateness = std::max(view_.self.worst_lateness, lateness);
  const auto before = std::exchange(view_.self.complaint, std::move(complaint));
  tell_self_change(feed_, view_.node, before, view_.self.complaint);
}

void Board::set_missed(const std::function<std::uint64_t(const std::string& name)>& missed) {
  for (serve::CheckView& check : view_.checks) check.missed = missed(check.name);
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
  const judge::Step next = step(before, check.policy, outcome, now);
  check.state = next.next;
  check.reason = std::move(reason);
  ++check.looks;
  tell_check_change(feed_, check, before);
  standing_changed(index, standing_of(before, check.optional));
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
  tell_gate_change(feed_, view, view_.checks);
}

void Board::find_failing(std::size_t gate) {
  const auto stands = [this](std::size_t check) { return standing(check); };
  const std::vector<std::size_t> failing = judge::failing(gates_[gate].rule, stands);
  view_.gates[gate].failing.assign(failing.begin(), failing.end());
  gates_[gate].failing_stale = false;
}

}  // namespace wardmote::agent
