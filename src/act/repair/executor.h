#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "act/plan/step_executor.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/raft/member_id.h"
#include "judge/raft/repair/repair_plan.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::repair {

/// How one member can be touched.
struct MemberWays {
  std::optional<runtime::Endpoint> control;    ///< its control socket, else
  std::vector<std::string> control_command;    ///< argv that ends in `ovn-appctl -t SOCKET`
  std::vector<std::string> copy;               ///< argv: copies its database aside
  std::vector<std::string> report;             ///< argv: says what `copy` says, and copies nothing
  std::vector<std::string> rejoin;             ///< argv: has it join anew with an empty database
  Duration timeout = std::chrono::minutes(2);  ///< of each of these
  friend bool operator==(const MemberWays&, const MemberWays&) = default;
};

/// A step of a repair, with its arguments as what they are.
struct RepairRequest {
  judge::raft::repair::RepairPlan plan;
  judge::raft::repair::StepKind kind{};
  std::string leader;                ///< the member that is told to kick
  std::vector<std::string> remotes;  ///< raft addresses of the servers that stay
  judge::raft::MemberId cluster_id;  ///< as its members say; may be unknown
  bool report_only = false;          ///< kCopyDatabase: a report will do, where there is one
  bool may_run = false;              ///< its plan is for a server that runs

  /// Nothing: it is not understood.
  static std::optional<RepairRequest> of(const StepRequest& request);
};

/// Touches the members of OVN's databases: the leader's own `cluster/kick`, and the commands of the
/// member that is rebuilt, which get the request as JSON on standard input. Life cycle: `runtime`
/// outlives it.
class OvnExecutor final : public StepExecutor {
 public:
  /// By cluster, then by member.
  using MemberAccess = std::map<std::string, std::map<std::string, MemberWays>>;

  OvnExecutor(runtime::Runtime& runtime, MemberAccess ways)
      : runtime_(runtime), ways_(std::move(ways)) {}

  void set_ways(MemberAccess ways) { ways_ = std::move(ways); }
  [[nodiscard]] Duration patience(const StepRequest& request) const override;
  runtime::Task<Result<std::string>> act(StepRequest request, runtime::Deadline deadline) override;

 private:
  [[nodiscard]] std::optional<MemberWays> find(const std::string& cluster,
                                               const std::string& member) const;
  runtime::Task<Result<std::string>> kick(RepairRequest request, runtime::Deadline deadline);
  runtime::Task<Result<std::string>> copy(RepairRequest request, MemberWays ways,
                                          runtime::Deadline deadline);
  runtime::Task<Result<std::string>> run(std::vector<std::string> argv, std::string input,
                                         runtime::Deadline deadline);

  runtime::Runtime& runtime_;
  MemberAccess ways_;
};

/// {"plan", "step", "cluster", "cluster_id"|null, "database", "member", "server"|null,
/// "address"|null, "remotes": [], "may_run"}
/// on one line: what a command is given. `step` is `report` for that command. `may_run`: whether
/// the plan is for a server that runs.
std::string deed_json(const RepairRequest& request);

}  // namespace wardmote::act::repair
