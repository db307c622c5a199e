#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/thing.h"

namespace wardmote::judge::plan {

/// What a step may change outside the agent, and so what may be done when nobody knows whether it
/// was done.
enum class Impact : std::uint8_t {
  kNone,        ///< it only looks
  kHarmless,    ///< it leaves what is watched as it is: it may be repeated
  kIdempotent,  ///< when it was done, to repeat it changes nothing: looks come first
  kOnce,        ///< it is repeated only when somebody says so
};

enum class StepState : std::uint8_t {
  kWaiting,
  kBegun,  ///< its intent is written down, and its result is not
  kDone,
  kFailed,
};

/// When an act succeeded.
struct Success {
  TimePoint acted;  ///< what it saw, it saw after this moment, and nobody knows how long after
  TimePoint told;   ///< when its end was heard of
  /// When the act was begun that did all of it; later ones may only have confirmed it.
  TimePoint whole;
  friend bool operator==(const Success&, const Success&) = default;
};

struct Step {
  std::string name;  ///< of its remedy: `kick`
  Impact impact{};
  StepState state = StepState::kWaiting;
  std::string detail;  ///< what came of it
  /// How often it was begun. The count of what may be repeated begins anew when somebody approves.
  std::int64_t tries = 0;
  /// Of its last act, if that succeeded. Not written down: what an earlier life of the agent was
  /// told is not believed.
  std::optional<Success> succeeded{};
  /// What showed, while it was the current one, that what it is done to lives; empty: nothing did.
  std::string sign_of_life{};
  /// As what it first took part again since it was begun (Remedy::answers_as); empty: not yet.
  std::string seen_as{};
  std::optional<TimePoint> seen_since{};  ///< by this agent; not written down
  /// Since it was begun, looks that would have shown life have followed on one another until then;
  /// nothing: there was a gap. Not written down.
  std::optional<TimePoint> watched{};

  [[nodiscard]] bool was_begun() const noexcept {
    return tries > 0 || state != StepState::kWaiting;
  }
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

/// The argument of a plan that says by which id its target goes, where it has one: a cluster's.
inline constexpr std::string_view kTargetId = "of_cluster";

/// Ordered steps against one cause, of which each checks its precondition again at the last moment.
/// What the steps mean, the plan's remedy knows (judge/plan/remedy.h).
struct Plan {
  std::int64_t id = 0;
  std::string policy;
  ThingId target;       ///< that it changes: one plan at a time
  std::string remedy;   ///< judge/remedies.h
  std::string subject;  ///< the part of the target that it is about, for people: a member
  std::string summary;  ///< for sentences: `kick 1430 (tcp:10.0.0.2:6643) out of ovn-nb`
  std::map<std::string, std::string> args;  ///< what the remedy needs to know; `member`, `server`
  std::optional<Code> code;                 ///< of the finding; nothing when somebody asked for it
  std::string why;                          ///< one sentence
  std::int64_t incident = 0;
  std::string proposer;    ///< `policy NAME`, or who asked for it
  std::string approver;    ///< who approved it; `policy NAME` when that needs nobody
  std::int64_t token = 0;  ///< the fencing token under which it runs
  std::vector<Step> steps;
  PlanState state = PlanState::kObserved;
  std::string reason;  ///< of its state
  /// kRejected: what it was for was seen well, or gone, since then: it may be planned again.
  bool lifted = false;
  TimePoint created;
  TimePoint begun;    ///< when it began to run; meaningless before
  TimePoint changed;  ///< when its present step or state began
  friend bool operator==(const Plan&, const Plan&) = default;

  /// It can still run a step.
  [[nodiscard]] bool open() const noexcept {
    return state == PlanState::kObserved || state == PlanState::kProposed || active();
  }
  /// Has begun, and is not at its end.
  [[nodiscard]] bool active() const noexcept {
    return state == PlanState::kRunning || state == PlanState::kUnclear;
  }
  /// Something outside the agent may have been changed by it.
  [[nodiscard]] bool acted() const noexcept;
  /// Something that it watches may have been changed by it.
  [[nodiscard]] bool half_way() const noexcept;
  /// Whether both change the same thing, whatever it is called.
  [[nodiscard]] bool shares_target(const Plan& other) const;
  /// Empty: it has no such argument.
  [[nodiscard]] std::string arg(const std::string& name) const;
  /// What showed during any step, before anybody approved it anew, that what it is for lives.
  [[nodiscard]] std::optional<std::string> sign_of_life() const;
  /// The first step that is not done; null: all are.
  [[nodiscard]] Step* current() noexcept;
  /// Null: it has no such step.
  [[nodiscard]] Step* find(std::string_view step) noexcept;
  [[nodiscard]] const Step* find(std::string_view step) const noexcept;
  [[nodiscard]] const Step* current() const noexcept;
};

/// What may be planned on which evidence, and how much of it.
struct Policy {
  std::string name;
  std::vector<std::string> clusters;  ///< empty: all
  std::vector<Code> on;
  bool act = false;   ///< else it only observes
  bool sole = false;  ///< no other agent acts on its clusters: the operator's word, or by election
  bool approval = true;    ///< somebody must approve each plan
  Duration after{};        ///< how long the finding must have stood
  std::size_t budget = 1;  ///< plans that begin within `window`
  Duration window = std::chrono::hours(1);
  Duration cooldown = std::chrono::minutes(10);  ///< in a cluster, after the end of any plan
  friend bool operator==(const Policy&, const Policy&) = default;

  [[nodiscard]] bool covers(std::string_view target) const noexcept;
  [[nodiscard]] bool is_for(Code code) const noexcept;
  /// Whether its plans may begin. Agents that share no store cannot see each other, so `act` alone
  /// does not do.
  [[nodiscard]] bool acts() const noexcept { return act && sole; }
  /// Why it does not act, with what to write; nothing when it does.
  [[nodiscard]] std::optional<std::string> why_it_observes() const;
};

/// Whether the step acts on something outside the agent.
constexpr bool is_act(Impact impact) noexcept {
  return impact != Impact::kNone;
}
/// Whether the step changes what is watched.
constexpr bool is_change(Impact impact) noexcept {
  return impact == Impact::kIdempotent || impact == Impact::kOnce;
}

std::string_view to_string(Impact impact) noexcept;
std::string_view to_string(StepState state) noexcept;
std::string_view to_string(PlanState state) noexcept;
std::optional<Impact> parse_impact(std::string_view name) noexcept;
std::optional<StepState> parse_step_state(std::string_view name) noexcept;
std::optional<PlanState> parse_plan_state(std::string_view name) noexcept;

}  // namespace wardmote::judge::plan
