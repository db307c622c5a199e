#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/plan/plan.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::repair {

/// How one member can be touched.
struct MemberWays {
  std::optional<runtime::Endpoint> control;    ///< its control socket, else
  std::vector<std::string> control_command;    ///< argv that ends in `ovn-appctl -t SOCKET`
  std::vector<std::string> copy;               ///< argv: copies its database aside
  std::vector<std::string> rejoin;             ///< argv: has it join anew with an empty database
  Duration timeout = std::chrono::minutes(2);  ///< of each of these two
  friend bool operator==(const MemberWays&, const MemberWays&) = default;
};

/// One step to do now.
struct Deed {
  judge::plan::Plan plan;
  judge::plan::StepKind kind{};
  std::string leader;                ///< the member that is told to kick
  std::vector<std::string> remotes;  ///< raft addresses of the servers that stay
};

/// What does the steps of a plan. Production: OvnHands. Thread: the core loop.
class Hands {
 public:
  Hands() = default;
  Hands(const Hands&) = delete;
  Hands& operator=(const Hands&) = delete;
  virtual ~Hands() = default;

  /// What came of it, for people. kTimeout and kClosed: it may have been done or not. Everything
  /// else: it failed, and a command may have done a part of it.
  virtual runtime::Task<Result<std::string>> act(Deed deed) = 0;
};

/// Touches the members of OVN's databases: the leader's own `cluster/kick`, and the commands of the
/// member that is rebuilt, which get the deed as JSON on standard input. Life cycle: `runtime`
/// outlives it.
class OvnHands final : public Hands {
 public:
  /// By cluster, then by member.
  using Ways = std::map<std::string, std::map<std::string, MemberWays>>;

  OvnHands(runtime::Runtime& runtime, Ways ways) : runtime_(runtime), ways_(std::move(ways)) {}

  void set_ways(Ways ways) { ways_ = std::move(ways); }
  runtime::Task<Result<std::string>> act(Deed deed) override;

 private:
  [[nodiscard]] std::optional<MemberWays> find(const std::string& cluster,
                                               const std::string& member) const;
  runtime::Task<Result<std::string>> kick(Deed deed);
  runtime::Task<Result<std::string>> run(std::vector<std::string> argv, std::string input,
                                         Duration timeout);

  runtime::Runtime& runtime_;
  Ways ways_;
};

/// {"plan", "step", "cluster", "database", "member", "server"|null, "address"|null, "remotes": []}
/// on one line: what a command is given.
std::string deed_json(const Deed& deed);

}  // namespace wardmote::act::repair
