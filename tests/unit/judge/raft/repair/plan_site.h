#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "judge/raft/assess.h"
#include "judge/raft/repair/remedy.h"
#include "judge/raft/repair/repair_plan.h"
#include "judge/raft/repair_view.h"
#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::raft::repair {

using namespace std::chrono_literals;
using plan::Plan;
using plan::PlanState;
using plan::Policy;
using plan::Step;
using plan::StepState;

inline constexpr Code kAllCodes[] = {Code::kRaftStaleMember, Code::kRaftDeadMember,
                                     Code::kRaftMemberDown, Code::kRaftJoiningStuck};

inline Policy policy(bool act = true, bool approval = false) {
  Policy made;
  made.name = "repair";
  made.on = {std::begin(kAllCodes), std::end(kAllCodes)};
  made.act = act;
  made.sole = true;
  made.approval = approval;
  made.after = 30s;
  return made;
}

/// A cluster of fakes and the planner that hears of every look at it.
class Site {
 public:
  explicit Site(std::size_t size, std::vector<Policy> policies = {policy()})
      : cluster(size), planner(std::move(policies)) {}

  void watch(Duration time, const std::optional<std::string>& brake = std::nullopt) {
    for (Duration passed{}; passed < time; passed += 1s) {
      last = cluster.watch(1s);
      see(brake);
    }
  }
  void see(const std::optional<std::string>& brake = std::nullopt) {
    view =
        raft::repair_view(cluster.opinions(), cluster.expectation, cluster.memory(), cluster.now());
    // An agent that has just started knows of no finding that needs a window, and of none from
    // before.
    if (cluster.now() - started < 10s) last.findings.clear();
    for (Finding& finding : last.findings) finding.since = std::max(finding.since, started);
    planner.consider(remedy({"ctl-1", "ctl-2", "ctl-3", "ctl-4", "ctl-5"}), last.findings, brake,
                     cluster.now());
  }
  /// As the last look shows the cluster.
  [[nodiscard]] RaftRemedy remedy(std::vector<std::string> rebuildable = {}) const {
    return {{"ovn-nb", "OVN_Northbound", std::move(rebuildable)}, view};
  }
  /// The only plan there is.
  const Plan& the_plan() {
    EXPECT_EQ(planner.plans().size(), 1U);
    return planner.plans().begin()->second;
  }
  RepairPlan the_repair() { return RepairPlan::of(the_plan()).value(); }
  /// The journal's words since it was asked last.
  std::vector<std::string> words() {
    std::vector<std::string> found;
    for (const plan::Change& change : planner.take_changed()) {
      found.push_back(change.word);
    }
    return found;
  }
  /// The agent is started anew, and knows what it wrote down.
  void restart(std::vector<Policy> policies = {policy()}) {
    plan::Planner next(std::move(policies));
    for (const auto& [id, plan] : planner.plans()) next.recall(plan, cluster.now());
    planner = std::move(next);
    started = cluster.now();
  }
  std::string refusal() const {
    return planner.refusals().empty() ? "" : planner.refusals().front().reason;
  }

  FakeCluster cluster;
  plan::Planner planner;
  TimePoint started;
  Assessment last;
  RepairView view;
};

/// A node was wiped and joined again at its address: its former id is still listed.
inline void leave_a_ghost(FakeCluster& cluster) {
  cluster.kill(2);
  cluster.node(2).configured = false;
  const std::size_t fresh =
      cluster.add_node("ctl-3", "aaaabbbb-0000-4000-8000-000000000009", cluster.node(2).address);
  cluster.enlist(fresh);
  cluster.node(fresh).follows = 0;
  cluster.node(fresh).cluster_id = cluster.node(0).cluster_id;
}

/// A ghost, and the plan to kick it.
inline Site site_with_ghost(Policy its) {
  Site site(3, {std::move(its)});
  site.watch(5s);
  leave_a_ghost(site.cluster);
  site.watch(60s);
  return site;
}

}  // namespace wardmote::judge::raft::repair
