#include "observe/ovn/unixctl_client.h"

#include <boost/json/parse.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "codec/json_rpc.h"
#include "codec/ovsdb.h"
#include "codec/raft_status.h"
#include "observe/ovn/refusal.h"
#include "observe/ovn/rpc_client.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"

namespace wardmote::observe::ovn {

using runtime::Deadline;
using runtime::Task;

UnixctlClient::UnixctlClient(runtime::Runtime& runtime, runtime::Endpoint control,
                             std::string_view database, RpcOptions options)
    : rpc_(runtime, std::move(control), options),
      params_("[" + codec::json_string(database) + "]") {}

Task<void> UnixctlClient::ask(Deadline deadline) {
  rpc_.prepare("cluster/status", params_);
  asked_ = co_await rpc_.send(deadline);
}

Task<StatusAnswer> UnixctlClient::answer(Deadline deadline) {
  if (!asked_) co_return StatusAnswer{{}, reason_of_reply(asked_.error())};
  const Result<codec::RpcMessage> reply = co_await rpc_.receive(deadline);
  if (!reply) co_return StatusAnswer{{}, reason_of_reply(reply.error())};
  StatusAnswer answer = read_status_reply(*reply);
  rpc_.rest();
  co_return answer;
}

Task<std::vector<std::string>> UnixctlClient::list_databases(Deadline deadline) {
  rpc_.prepare("ovsdb-server/list-dbs", "[]");
  const Result<void> sent = co_await rpc_.send(deadline);
  if (!sent) co_return std::vector<std::string>();
  const Result<codec::RpcMessage> reply = co_await rpc_.receive(deadline);
  if (!reply) co_return std::vector<std::string>();
  const Result<const boost::json::value*> result = codec::result_of(*reply);
  std::vector<std::string> names;
  if (result && (*result)->is_string())
    names = codec::split_database_names((*result)->get_string());
  rpc_.rest();
  co_return names;
}

Task<StatusAnswer> UnixctlClient::status_of(std::string database, Deadline deadline) {
  rpc_.prepare("cluster/status", "[" + codec::json_string(database) + "]");
  const Result<void> sent = co_await rpc_.send(deadline);
  if (!sent) co_return StatusAnswer{{}, reason_of_reply(sent.error())};
  const Result<codec::RpcMessage> reply = co_await rpc_.receive(deadline);
  if (!reply) co_return StatusAnswer{{}, reason_of_reply(reply.error())};
  StatusAnswer answer = read_status_reply(*reply);
  rpc_.rest();
  co_return answer;
}

StatusAnswer read_status_reply(const codec::RpcMessage& reply) {
  const Result<const boost::json::value*> result = codec::result_of(reply);
  if (!result) return {{}, reason_of_reply(result.error())};
  const boost::json::value* text = *result;
  // OVS 3.4 and later wrap plain replies when a client asked for JSON (lib/unixctl.c, set-options
  // --format).
  if (const boost::json::object* const wrapped = text->if_object())
    text = wrapped->if_contains("reply");
  if (text == nullptr || !text->is_string()) {
    return {{},
            reason_of_reply(Error{Errc::kProtocol, "cluster/status: a result that is not a text"})};
  }
  return read_status_text(text->get_string());
}

namespace {

/// `ovn-appctl --format json` prints a plain reply so, as the server sends it.
std::optional<std::string> unwrapped(std::string_view text) {
  if (!trim(text).starts_with('{')) return std::nullopt;
  boost::system::error_code failed;
  const boost::json::value document =
      boost::json::parse(boost::json::string_view(text.data(), text.size()), failed);
  const boost::json::object* const fields = failed ? nullptr : document.if_object();
  const boost::json::value* const reply = fields ? fields->if_contains("reply") : nullptr;
  if (reply == nullptr || !reply->is_string()) return std::nullopt;
  return std::string(std::string_view(reply->get_string()));
}

}  // namespace

StatusAnswer read_status_text(std::string_view text) {
  if (const std::optional<std::string> plain = unwrapped(text)) return read_status_text(*plain);
  Result<codec::RaftStatus> status = codec::parse_raft_status(text);
  if (!status) return {{}, reason_of_reply(status.error())};
  if (!status->complete())
    return {{}, reason_of_reply(Error{Errc::kProtocol, "cluster/status: cut short"})};
  return {*std::move(status), {}};
}

}  // namespace wardmote::observe::ovn
