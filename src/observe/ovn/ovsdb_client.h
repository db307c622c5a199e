#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/ovsdb.h"
#include "judge/outcome.h"
#include "observe/ovn/rpc_client.h"

namespace wardmote::observe::ovn {

/// The result of `_Server.Database`: the row, or the reason why there is none; kUnknownCluster when
/// the server answered that it does not have the database.
struct RowAnswer {
  std::optional<codec::ServerRow> row;
  judge::Reason reason;
  std::vector<std::string> serves;  ///< of a server without the row: the databases that it has
};

/// Asks one ovsdb-server for its own row of one database. One probe is ask(), then answer().
class OvsdbClient {
 public:
  OvsdbClient(runtime::Runtime& runtime, runtime::Endpoint ovsdb, std::string_view database,
              RpcOptions options = {});

  runtime::Task<void> ask(runtime::Deadline deadline);
  /// Asks a server that does not have the database which databases it has, within the same time.
  runtime::Task<RowAnswer> answer(runtime::Deadline deadline);

  /// The databases of the server, without `_Server`; empty when it does not say.
  runtime::Task<std::vector<std::string>> list_databases(runtime::Deadline deadline);
  /// Of another database of the server.
  runtime::Task<RowAnswer> row_of(std::string database, runtime::Deadline deadline);

  [[nodiscard]] const judge::Cost& cost() const noexcept { return rpc_.cost(); }

 private:
  RpcClient rpc_;
  std::string params_;
  Result<void> asked_;
};

/// The answer in a reply, and in the output of a successful `ovsdb-client query`.
RowAnswer read_row_reply(const codec::RpcMessage& reply);
RowAnswer read_query_output(std::string_view output);

}  // namespace wardmote::observe::ovn
