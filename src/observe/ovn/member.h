#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/raft/opinion.h"
#include "observe/ovn/ovsdb_client.h"
#include "observe/ovn/rpc_client.h"
#include "observe/ovn/unixctl_client.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::ovn {

/// One configured member of a raft database, and the ways to ask it. At least one way is given.
struct MemberTarget {
  std::string name;
  std::string database;                      ///< `OVN_Northbound`
  std::optional<runtime::Endpoint> control;  ///< the control socket of its ovsdb-server
  /// Instead of `control`: a command that ends in `ovn-appctl -t SOCKET`, for a member on another
  /// host.
  std::vector<std::string> control_command;
  std::optional<runtime::Endpoint> ovsdb;  ///< the OVSDB socket or port
  /// Instead of `ovsdb`: a command that ends in `ovsdb-client query SERVER`.
  std::vector<std::string> ovsdb_command;
  RpcOptions options;
};

/// Asks one member in both ways at the same time and returns its opinion. Life cycle: `runtime`
/// outlives it. Thread: the core loop; one probe at a time.
class Member {
 public:
  Member(runtime::Runtime& runtime, MemberTarget target);

  /// Always answers by `deadline`; a failure of one way does not hide the other.
  runtime::Task<judge::raft::Opinion> look(runtime::Deadline deadline);

  [[nodiscard]] const MemberTarget& target() const noexcept { return target_; }
  /// What the last probe cost, without what it asked of other databases.
  [[nodiscard]] const judge::Cost& cost() const noexcept { return cost_; }
  /// Lines of `cluster/status` that were not understood, over all probes.
  [[nodiscard]] std::uint64_t lines_not_understood() const noexcept {
    return lines_not_understood_;
  }

 private:
  runtime::Task<void> look_at_sockets(judge::raft::Opinion* opinion, runtime::Deadline deadline);
  runtime::Task<void> look_by_command(judge::raft::Opinion* opinion, runtime::Deadline deadline);
  runtime::Task<void> run_status(judge::raft::Opinion* opinion, runtime::Deadline deadline);
  runtime::Task<void> run_query(judge::raft::Opinion* opinion, runtime::Deadline deadline);
  /// Asks a server that does not have the database which databases it has.
  runtime::Task<void> ask_what_it_serves(judge::raft::Opinion* opinion, runtime::Deadline deadline);
  /// Now and then: which other databases the process has, and who it is there.
  runtime::Task<void> ask_neighbours(judge::raft::Opinion* opinion, runtime::Deadline deadline);
  runtime::Task<std::optional<judge::raft::Neighbour>> ask_neighbour(std::string database,
                                                                     runtime::Deadline deadline);
  /// Without `_Server`; empty: it does not say.
  runtime::Task<std::vector<std::string>> list_databases(runtime::Deadline deadline);
  [[nodiscard]] judge::Cost spent() const noexcept;
  [[nodiscard]] bool roams(const judge::raft::Opinion& opinion) const noexcept;
  /// The output of the command, or the reason why it is no answer.
  runtime::Task<std::expected<std::string, judge::Reason>> run(std::vector<std::string> argv,
                                                               runtime::Deadline deadline);
  void take(judge::raft::Opinion& opinion, StatusAnswer answer);
  void take(judge::raft::Opinion& opinion, RowAnswer answer);

  runtime::Runtime& runtime_;
  MemberTarget target_;
  std::vector<std::string> control_argv_;
  std::unique_ptr<UnixctlClient> control_;
  std::unique_ptr<OvsdbClient> ovsdb_;
  std::uint64_t lines_not_understood_ = 0;
  std::optional<std::vector<judge::raft::Neighbour>> neighbours_;
  std::optional<TimePoint> asked_at_;  ///< for them
  judge::Cost cost_;
};

}  // namespace wardmote::observe::ovn
