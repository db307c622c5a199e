#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/raft/member_id.h"

namespace wardmote::judge::plan {

/// What a plan is for.
enum class Work : std::uint8_t {
  kRemoveServer,   ///< a listed server that is gone for good is kicked
  kRebuildMember,  ///< a configured member that is out gets a new database and joins anew
};

enum class StepKind : std::uint8_t {
  kConfirmQuorum,  ///< the cluster can do without it
  kCopyDatabase,   ///< the member's own command copies its database aside
  kKick,           ///< the leader removes the server from the list
  kRejoin,         ///< the member's own command has it join as a new server
  kVerify,         ///< the list is as it should be, and the member has caught up
};

enum class StepState : std::uint8_t {
  kWaiting,
  kBegun,  ///< its intent is written down, and its result is not
  kDone,
  kFailed,
};

struct Step {
  StepKind kind{};
  StepState state = StepState::kWaiting;
  std::string detail;  ///< what came of it
  friend bool operator==(const Step&, const Step&) = default;
};

enum class PlanState : std::uint8_t {
  kObserved,  ///< its policy only observes
  kProposed,  ///< waits for somebody's approval
  kRunning,   ///< may begin steps
  kUnclear,   ///< nobody knows whether a step was done, or it failed half way: asks what to do
  kDone,
  kFailed,
  kRejected,   ///< by somebody
  kWithdrawn,  ///< its cause was gone before it began
};

/// Ordered steps against one cause, of which each checks its precondition again at the last moment.
struct Plan {
  std::int64_t id = 0;
  std::string policy;
  Work work{};
  std::string cluster;
  std::string database;
  std::string member;  ///< kRebuildMember: who is rebuilt
  /// The server that is kicked; not known when the member is not listed.
  raft::MemberId server;
  std::string address;
  raft::MemberId former;     ///< kRebuildMember: as whom it spoke when the plan was made
  std::optional<Code> code;  ///< of the finding; nothing when somebody asked for it
  std::string why;           ///< one sentence
  std::int64_t incident = 0;
  std::string proposer;    ///< `policy NAME`, or who asked for it
  std::string approver;    ///< who approved it; `policy NAME` when that needs nobody
  std::int64_t token = 0;  ///< the fencing token under which it runs
  std::vector<Step> steps;
  PlanState state = PlanState::kObserved;
  std::string reason;  ///< of its state
  TimePoint created;
  TimePoint begun;    ///< when it began to run; meaningless before
  TimePoint changed;  ///< when its present step or state began
  friend bool operator==(const Plan&, const Plan&) = default;

  /// Will go on, or may.
  [[nodiscard]] bool open() const noexcept {
    return state == PlanState::kObserved || state == PlanState::kProposed || active();
  }
  /// Has begun, and is not at its end.
  [[nodiscard]] bool active() const noexcept {
    return state == PlanState::kRunning || state == PlanState::kUnclear;
  }
  /// The first step that is not done; null: all are.
  [[nodiscard]] Step* current() noexcept;
  [[nodiscard]] const Step* current() const noexcept;
};

/// What may be planned on which evidence, and how much of it.
struct Policy {
  std::string name;
  std::vector<std::string> clusters;  ///< empty: all
  std::vector<Code> on;
  bool act = false;        ///< else it only observes
  bool approval = true;    ///< somebody must approve each plan
  Duration after{};        ///< how long the finding must have stood
  std::size_t budget = 1;  ///< plans that begin within `window`
  Duration window = std::chrono::hours(1);
  Duration cooldown = std::chrono::minutes(10);  ///< in a cluster, after the end of any plan
  friend bool operator==(const Policy&, const Policy&) = default;

  [[nodiscard]] bool covers(std::string_view cluster) const noexcept;
};

/// What a finding of this code can be answered with; nothing for most.
std::optional<Work> work_for(Code code) noexcept;

std::string_view to_string(Work work) noexcept;
std::string_view to_string(StepKind kind) noexcept;
std::string_view to_string(StepState state) noexcept;
std::string_view to_string(PlanState state) noexcept;
std::optional<Work> parse_work(std::string_view name) noexcept;
std::optional<StepKind> parse_step_kind(std::string_view name) noexcept;
std::optional<StepState> parse_step_state(std::string_view name) noexcept;
std::optional<PlanState> parse_plan_state(std::string_view name) noexcept;

/// For sentences: `kick 1430 (tcp:10.0.0.2:6643) out of ovn-nb`.
std::string describe(const Plan& plan);

}  // namespace wardmote::judge::plan
