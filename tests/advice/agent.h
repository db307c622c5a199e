#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "advice/cluster.h"
#include "advice/view.h"
#include "base/time.h"
#include "judge/plan/consent.h"
#include "judge/plan/machine.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "judge/raft/assess.h"
#include "judge/raft/memory.h"
#include "judge/raft/opinion.h"
#include "judge/raft/repair/remedy.h"
#include "judge/raft/repair/repair_plan.h"
#include "judge/raft/repair_view.h"
#include "judge/raft/sighting.h"
#include "runtime/random.h"

namespace wardmote::advice {

using judge::plan::Plan;
using judge::raft::repair::RepairPlan;
using judge::raft::repair::StepKind;
using judge::raft::repair::Work;

/// An agent as it is configured.
struct AgentSetup {
  std::string name;
  std::optional<HostIndex> home;  ///< it runs there; nothing: elsewhere
  std::vector<Way> ways;          ///< its `members`
  std::vector<Way> checks;        ///< servers that it looks at without their being members
  judge::raft::Expectation expectation;
  std::vector<judge::plan::Policy> policies;
  std::vector<std::string> rebuildable;
  Duration every{};
  Duration timeout = std::chrono::milliseconds(900);
  bool ages = true;  ///< what OVS prints, not what the agent wants
};

/// An agent in the simulated world: it looks, has what it saw judged and planned by the code under
/// test, and carries plans out as act/plan/plan_runner.cc does.
class Agent {
 public:
  /// Who is told of everything that it says and does.
  struct Witness {
    std::function<void(const Agent&, const judge::raft::Assessment&)> judged;
    std::function<void(const Agent&, const RepairPlan&)> planned;
    /// The intent of the plan's next step is being written, or its copy hangs after it has looked
    /// at the host, for so long.
    std::function<void(const Agent&, const RepairPlan&, Duration)> delayed;
    std::function<judge::plan::Effect(const Agent&, const RepairPlan&, StepKind)> act;
  };

  Agent(AgentSetup setup, Cluster& cluster, runtime::Random& random, Witness witness);

  [[nodiscard]] const AgentSetup& setup() const noexcept { return setup_; }
  [[nodiscard]] AgentSetup& setup() noexcept { return setup_; }
  [[nodiscard]] Way* way_to(HostIndex host);
  [[nodiscard]] const judge::raft::Assessment& last() const noexcept { return last_; }
  /// What it was told, in the order of its ways; empty: it has not looked yet.
  [[nodiscard]] const std::vector<judge::raft::Opinion>& opinions() const noexcept {
    return opinions_;
  }

  /// When its process began last that could not remember what was before.
  [[nodiscard]] TimePoint remembers_since() const noexcept { return remembers_since_; }

  void step();
  /// Its process ends and starts. The plans were written down; what it remembers may not be.
  void restart(bool remembers);
  void freeze(Duration time) { frozen_until_ = cluster_.now() + time; }
  void thaw() { frozen_until_ = {}; }

 private:
  /// A step whose intent is being written down.
  struct Intent {
    Plan before;
    TimePoint written;  ///< when it is
  };

  /// A copy whose program has looked at its host, and has not ended.
  struct Copying {
    std::int64_t plan = 0;
    judge::plan::Effect effect{};
    TimePoint looked;
    TimePoint ends;
  };

  judge::raft::RepairView look();
  void expect_checks();
  void hear(const judge::raft::Opinion& opinion);
  void proceed();
  void carry_on(Plan plan);
  void act_on(const Plan& before);
  void carry_out(Plan plan);
  void end_copy();
  [[nodiscard]] judge::raft::repair::RaftRemedy remedy(judge::raft::RepairView view) const;
  [[nodiscard]] judge::plan::Consent consent(const Plan& plan) const;

  AgentSetup setup_;
  Cluster& cluster_;
  runtime::Random& random_;
  Witness witness_;
  judge::raft::Memory memory_;
  judge::raft::Sightings sightings_;
  TimePoint checks_begin_;  ///< before, no check has looked
  std::vector<judge::raft::Opinion> opinions_;
  judge::raft::Assessment last_;
  judge::plan::Planner planner_;
  std::optional<Intent> intent_;
  std::optional<Copying> copying_;
  TimePoint next_look_;
  TimePoint next_move_;
  TimePoint frozen_until_;
  TimePoint remembers_since_;
};

}  // namespace wardmote::advice
