#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "codec/ovsdb.h"
#include "judge/outcome.h"
#include "observe/ovn/rpc_client.h"

namespace wardmote::observe::ovn {

/// What `_Server.Database` gave: the row, or the reason why there is none; kUnknownCluster when the
/// server answered that it does not carry the database.
struct RowAnswer {
  std::optional<codec::ServerRow> row;
  judge::Reason reason;
};

/// Asks one ovsdb-server for its own row of one database. One look is ask(), then answer().
class OvsdbClient {
 public:
  OvsdbClient(runtime::Runtime& runtime, runtime::Endpoint ovsdb, std::string_view database,
              RpcOptions options = {});

  runtime::Task<void> ask(runtime::Deadline deadline);
  runtime::Task<RowAnswer> answer(runtime::Deadline deadline);

  [[nodiscard]] const judge::Cost& cost() const noexcept { return rpc_.cost(); }

 private:
  RpcClient rpc_;
  std::string params_;
  Result<void> asked_;
};

/// The answer in a reply, and in what `ovsdb-client query` printed on success.
RowAnswer read_row_reply(const codec::RpcMessage& reply);
RowAnswer read_query_output(std::string_view output);

}  // namespace wardmote::observe::ovn
