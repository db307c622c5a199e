#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/raft_status.h"
#include "judge/outcome.h"
#include "observe/ovn/rpc_client.h"

namespace wardmote::observe::ovn {

/// The result of `cluster/status`: a complete status, or the reason why there is none.
struct StatusAnswer {
  std::optional<codec::RaftStatus> status;
  judge::Reason reason;
};

/// Asks the control socket of one ovsdb-server for the raft status of one database (lib/unixctl.c).
/// One probe is ask(), then answer(); in between, another server can be asked.
class UnixctlClient {
 public:
  UnixctlClient(runtime::Runtime& runtime, runtime::Endpoint control, std::string_view database,
                RpcOptions options = {});

  runtime::Task<void> ask(runtime::Deadline deadline);
  runtime::Task<StatusAnswer> answer(runtime::Deadline deadline);
  /// The databases of the server, without `_Server`; empty when it does not say.
  runtime::Task<std::vector<std::string>> list_databases(runtime::Deadline deadline);
  /// Of another database of the server.
  runtime::Task<StatusAnswer> status_of(std::string database, runtime::Deadline deadline);

  [[nodiscard]] const judge::Cost& cost() const noexcept { return rpc_.cost(); }

 private:
  RpcClient rpc_;
  std::string params_;
  Result<void> asked_;
};

/// The answer in a reply, and in the output of `ovn-appctl … cluster/status`. A status that was cut
/// short is kProtocol: it must not look like a cluster without members.
StatusAnswer read_status_reply(const codec::RpcMessage& reply);
StatusAnswer read_status_text(std::string_view text);

}  // namespace wardmote::observe::ovn
