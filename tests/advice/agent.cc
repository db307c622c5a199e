#include "advice/agent.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "advice/cluster.h"
#include "advice/view.h"
#include "base/time.h"
#include "judge/outcome.h"
#include "judge/plan/consent.h"
#include "judge/plan/machine.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "judge/raft/assess.h"
#include "judge/raft/memory.h"
#include "judge/raft/repair_view.h"
#include "judge/raft/sighting.h"

namespace wardmote::advice {
namespace {

using namespace std::chrono_literals;
using judge::plan::Decision;
using judge::plan::Effect;
using judge::plan::Move;
using judge::plan::Planner;
using judge::plan::PlanState;
using judge::raft::RepairView;
using judge::raft::repair::RaftRemedy;

constexpr const char* kCluster = "ovn-nb";
// As in act/plan/plan_runner.cc.
constexpr Duration kBetweenLooks = 500ms;

}  // namespace

Agent::Agent(AgentSetup setup, Cluster& cluster, runtime::Random& random, Witness witness)
    : setup_(std::move(setup)),
      cluster_(cluster),
      random_(random),
      witness_(std::move(witness)),
      planner_(setup_.policies),
      next_look_(cluster.now() + Duration(random.below(10'000'000'000))) {
  expect_checks();
}

/// Each has a schedule of its own.
void Agent::expect_checks() {
  // Who was alive beside another at its address is written down.
  const std::vector<judge::raft::Sighting> beside = sightings_.beside();
  sightings_ = {};
  for (const judge::raft::Sighting& seen : beside)
    sightings_.saw_beside(seen.cluster, seen.server, seen.address);
  if (setup_.checks.empty()) return;
  // Nobody could know who had answered at the name before.
  for (Way& check : setup_.checks) check.leads_to.reset();
  checks_begin_ = cluster_.now() + Duration(random_.below(60'000'000'000));
  for (const Way& check : setup_.checks)
    sightings_.expect("check " + check.member, setup_.expectation.database);
}

Way* Agent::way_to(HostIndex host) {
  const auto found = std::ranges::find(setup_.ways, host, &Way::host);
  return found == setup_.ways.end() ? nullptr : &*found;
}

void Agent::step() {
  const TimePoint now = cluster_.now();
  if (now < frozen_until_) return;
  if (setup_.home && !cluster_.hosts()[*setup_.home].up) return;
  if (now >= next_look_) {
    next_look_ = now + setup_.every;
    look();
  }
  if (copying_) {
    if (now >= copying_->ends) end_copy();
  } else if (intent_) {
    if (now < intent_->written) return;
    const Intent intent = *std::exchange(intent_, std::nullopt);
    act_on(intent.before);
  } else if (now >= next_move_) {
    proceed();
  }
}

void Agent::restart(bool remembers) {
  if (!remembers) {
    memory_ = {};
    remembers_since_ = cluster_.now();
  }
  expect_checks();
  opinions_.clear();
  Planner reborn(setup_.policies);
  for (auto [id, plan] : planner_.plans()) {
    for (judge::plan::Step& step : plan.steps) step.succeeded.reset();  // it is not written down
    reborn.recall(std::move(plan), cluster_.now());
  }
  planner_ = std::move(reborn);
  intent_.reset();
  copying_.reset();
  frozen_until_ = {};
  next_look_ = cluster_.now() + 1s;
}

void Agent::hear(const judge::raft::Opinion& opinion) {
  sightings_.hear(judge::raft::Sightings::member(kCluster, opinion.member), opinion);
}

/// A round: a member that is slow is judged by what it said last, and again when the round ends.
RepairView Agent::look() {
  const TimePoint now = cluster_.now();
  for (const Way& check : setup_.checks) {
    if (now < checks_begin_) break;
    sightings_.hear("check " + check.member,
                    look_at(cluster_, check, setup_.ages, now, setup_.timeout));
  }
  opinions_.resize(setup_.ways.size());
  std::vector<std::size_t> slow;
  for (std::size_t i = 0; i < setup_.ways.size(); ++i) {
    const Way& way = setup_.ways[i];
    judge::raft::Opinion seen = look_at(cluster_, way, setup_.ages, now, setup_.timeout);
    if (seen.ended - seen.begun >= setup_.timeout) {
      slow.push_back(i);
      opinions_[i].member = way.member;
    } else {
      opinions_[i] = std::move(seen);
      hear(opinions_[i]);
    }
  }
  memory_.set_elsewhere(sightings_.besides(kCluster, memory_.cluster_id(), {}));
  if (!slow.empty() && slow.size() < opinions_.size()) {
    last_ = assess(opinions_, setup_.expectation, memory_, now + 100ms);
    witness_.judged(*this, last_);
  }
  for (const std::size_t i : slow) {
    opinions_[i] = look_at(cluster_, setup_.ways[i], setup_.ages, now, setup_.timeout);
    hear(opinions_[i]);
  }
  const TimePoint end = now + (slow.empty() ? 5ms : setup_.timeout);
  last_ = assess(opinions_, setup_.expectation, memory_, end);
  for (const judge::raft::RememberedServer& listed : memory_.list()) {
    if (listed.is_loose() && listed.id.known())
      sightings_.saw_beside(memory_.cluster_id(), listed.id, listed.address);
  }
  witness_.judged(*this, last_);
  RepairView view = judge::raft::repair_view(opinions_, setup_.expectation, memory_, end);
  planner_.consider(remedy(view), last_.findings, std::nullopt, end);
  planner_.take_changed();
  planner_.take_forgotten();
  for (const auto& [id, plan] : planner_.plans()) {
    if (plan.open()) witness_.planned(*this, RepairPlan::of(plan).value());
  }
  return view;
}

void Agent::proceed() {
  for (const auto& [id, plan] : planner_.plans()) {
    if (plan.state == PlanState::kRunning) return carry_on(plan);
  }
}

RaftRemedy Agent::remedy(RepairView view) const {
  return {{kCluster, "OVN_Northbound", setup_.rebuildable}, std::move(view)};
}

judge::plan::Consent Agent::consent(const Plan& plan) const {
  return {std::nullopt, withdrawn_by_policy(plan, planner_.policies())};
}

void Agent::carry_on(Plan plan) {
  const RepairView view = look();
  const TimePoint now = cluster_.now() + setup_.timeout;
  next_move_ = cluster_.now() + kBetweenLooks;
  Decision decision = decide(plan, remedy(view), consent(plan), now);
  if (decision.move == Move::kWait) {
    plan.reason = std::move(decision.detail);
  } else if (decision.move == Move::kBegin) {
    // Mostly the disk takes the intent at once.
    const Duration disk = random_.chance(0.7) ? 0ms : Duration(random_.below(20'000'000'000));
    intent_ = Intent{plan, cluster_.now() + disk};
    witness_.delayed(*this, RepairPlan::of(plan).value(), disk);
    begin(plan, 1, now);
  } else {
    settle(plan, decision, now);
  }
  planner_.update(std::move(plan));
}

/// The intent is written: who lets it act and the cluster are asked once more.
void Agent::act_on(const Plan& before) {
  const RepairView view = look();
  const TimePoint now = cluster_.now() + setup_.timeout;
  const auto found = planner_.plans().find(before.id);
  if (found == planner_.plans().end()) return;
  Plan plan = found->second;
  const bool runs = plan.state == PlanState::kRunning;
  const Decision decision = runs ? decide(before, remedy(view), consent(plan), now) : Decision{};
  if (decision.move == Move::kBegin) return carry_out(std::move(plan));
  plan.steps = before.steps;
  if (runs) plan.changed = before.changed;
  if (decision.move != Move::kWait) settle(plan, decision, now);
  planner_.update(std::move(plan));
}

void Agent::carry_out(Plan plan) {
  const auto kind = judge::raft::repair::parse_step_kind(plan.current()->name).value();
  const Effect effect = witness_.act(*this, RepairPlan::of(plan).value(), kind);
  const TimePoint now = cluster_.now() + setup_.timeout;
  if (kind == StepKind::kCopyDatabase && random_.chance(0.4)) {
    // A large database, or a connection that hangs.
    const Duration hangs(random_.below(40'000'000'000));
    copying_ = Copying{plan.id, effect, now, cluster_.now() + hangs};
    witness_.delayed(*this, RepairPlan::of(plan).value(), hangs);
    return;
  }
  end_act(plan, effect, "", now, now);
  planner_.update(std::move(plan));
}

void Agent::end_copy() {
  const Copying copying = *std::exchange(copying_, std::nullopt);
  const auto found = planner_.plans().find(copying.plan);
  if (found == planner_.plans().end()) return;
  Plan plan = found->second;
  end_act(plan, copying.effect, "", copying.looked, cluster_.now() + setup_.timeout);
  planner_.update(std::move(plan));
}

}  // namespace wardmote::advice
