#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "judge/plan/plan.h"
#include "judge/raft/member_id.h"

namespace wardmote::judge::raft::repair {

/// What a plan is for.
enum class Work : std::uint8_t {
  kRemoveServer,   ///< a listed server that is gone for good is kicked
  kRebuildMember,  ///< a configured member that is out gets a new database and joins anew
};

enum class StepKind : std::uint8_t {
  kConfirmQuorum,  ///< the cluster can do without it
  kCopyDatabase,   ///< the member's own command copies its database aside, and says whether it runs
  kKick,           ///< the leader removes the server from the list
  kRejoin,         ///< the member's own command has it join as a new server
  kVerify,         ///< the list is as it should be, and the member has caught up
};

/// A plan that repairs a cluster, with its arguments as what they are. They are written into the
/// plan by stored(); the plan's own fields are always true.
struct RepairPlan : plan::Plan {
  Work work{};
  std::string database;
  std::string member;  ///< kRebuildMember: who is rebuilt
  /// The server that is kicked; not known when the member is not listed.
  MemberId server;
  std::string address;
  MemberId former;      ///< kRebuildMember: as whom it spoke when the plan was made
  MemberId cluster_id;  ///< of its cluster when the plan was made; may be unknown
  /// kRebuildMember: how the member was asked then. Names can be given to others.
  std::string place;

  /// Nothing when the plan is none of this remedy, or its arguments are not understood.
  static std::optional<RepairPlan> of(const plan::Plan& plan);
  /// The plan with `remedy`, `args`, `subject` and `summary` as these fields say.
  [[nodiscard]] plan::Plan stored() const;

  void add(StepKind kind);
  using plan::Plan::find;
  /// Null: it has no such step.
  [[nodiscard]] plan::Step* find(StepKind kind) noexcept;
  [[nodiscard]] const plan::Step* find(StepKind kind) const noexcept;
  friend bool operator==(const RepairPlan&, const RepairPlan&) = default;
};

plan::Step step_of(StepKind kind);

std::string_view to_string(Work work) noexcept;
std::string_view to_string(StepKind kind) noexcept;
std::optional<Work> parse_work(std::string_view name) noexcept;
std::optional<StepKind> parse_step_kind(std::string_view name) noexcept;

}  // namespace wardmote::judge::raft::repair
