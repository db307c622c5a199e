#include "observe/ovn/ovsdb_client.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codec/json_rpc.h"
#include "codec/ovsdb.h"
#include "judge/outcome.h"
#include "observe/ovn/refusal.h"
#include "observe/ovn/rpc_client.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"

namespace wardmote::observe::ovn {

using runtime::Deadline;
using runtime::Task;

namespace {

RowAnswer to_answer(Result<std::optional<codec::ServerRow>> row) {
  if (!row) return {{}, reason_of_reply(row.error()), {}};
  if (!*row)
    return {{}, {judge::ReasonCode::kUnknownCluster, "_Server.Database has no row for it"}, {}};
  return {*std::move(row), {}, {}};
}

}  // namespace

OvsdbClient::OvsdbClient(runtime::Runtime& runtime, runtime::Endpoint ovsdb,
                         std::string_view database, RpcOptions options)
    : rpc_(runtime, std::move(ovsdb), options), params_(codec::select_server_row(database)) {}

Task<void> OvsdbClient::ask(Deadline deadline) {
  rpc_.prepare("transact", params_);
  asked_ = co_await rpc_.send(deadline);
}

Task<RowAnswer> OvsdbClient::answer(Deadline deadline) {
  if (!asked_) co_return RowAnswer{{}, reason_of_reply(asked_.error()), {}};
  const Result<codec::RpcMessage> reply = co_await rpc_.receive(deadline);
  if (!reply) co_return RowAnswer{{}, reason_of_reply(reply.error()), {}};
  RowAnswer answer = read_row_reply(*reply);
  if (answer.reason.code == judge::ReasonCode::kUnknownCluster) {
    std::vector<std::string> names = co_await list_databases(deadline);
    answer.serves = std::move(names);
  }
  rpc_.rest();
  co_return answer;
}

Task<std::vector<std::string>> OvsdbClient::list_databases(Deadline deadline) {
  rpc_.prepare("transact", codec::select_database_names());
  const Result<void> sent = co_await rpc_.send(deadline);
  if (!sent) co_return std::vector<std::string>();
  const Result<codec::RpcMessage> reply = co_await rpc_.receive(deadline);
  if (!reply) co_return std::vector<std::string>();
  Result<std::vector<std::string>> names = codec::read_database_names(*reply);
  rpc_.rest();
  co_return names ? *std::move(names) : std::vector<std::string>();
}

Task<RowAnswer> OvsdbClient::row_of(std::string database, Deadline deadline) {
  rpc_.prepare("transact", codec::select_server_row(database));
  const Result<void> sent = co_await rpc_.send(deadline);
  if (!sent) co_return RowAnswer{{}, reason_of_reply(sent.error()), {}};
  const Result<codec::RpcMessage> reply = co_await rpc_.receive(deadline);
  if (!reply) co_return RowAnswer{{}, reason_of_reply(reply.error()), {}};
  RowAnswer answer = read_row_reply(*reply);
  rpc_.rest();
  co_return answer;
}

RowAnswer read_row_reply(const codec::RpcMessage& reply) {
  return to_answer(codec::read_server_row(reply));
}

RowAnswer read_query_output(std::string_view output) {
  return to_answer(codec::parse_query_output(output));
}

}  // namespace wardmote::observe::ovn
