#include "observe/ovn/rpc_client.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "codec/json_rpc.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"

namespace wardmote::observe::ovn {

using runtime::Deadline;
using runtime::Task;

namespace {

/// A server that sends more than this between a request and its reply never comes to an end.
constexpr std::uint64_t kMaxBytesPerReply = 1 << 20;
constexpr int kMaxMessagesPerReply = 256;

}  // namespace

RpcClient::RpcClient(runtime::Runtime& runtime, runtime::Endpoint to, RpcOptions options)
    : runtime_(runtime), to_(std::move(to)), options_(options) {}

void RpcClient::prepare(std::string_view method, std::string_view params) {
  request_.clear();
  codec::append_request(request_, ++id_, method, params);
  cost_ = {};
}

Task<Result<void>> RpcClient::send(Deadline deadline) {
  if (options_.fresh_every != 0 && id_ % options_.fresh_every == 0) connection_.reset();
  if (connection_) {
    Result<void> sent = co_await write(deadline);
    if (sent || sent.error().code != Errc::kClosed) co_return sent;
  }
  Result<void> connected = co_await connect(deadline);
  if (!connected) co_return connected;
  Result<void> sent = co_await write(deadline);
  co_return sent;
}

Task<Result<codec::RpcMessage>> RpcClient::receive(Deadline deadline) {
  if (!connection_) co_return fail(Errc::kClosed, "{}: nothing was sent", to_string(to_));
  Result<codec::RpcMessage> reply = co_await read_reply(deadline);
  if (!reply && reply.error().code == Errc::kClosed && !cost_.fresh_connection) {
    // The server has closed the connection since the last request (a restart, an idle limit): only
    // a new connection shows its state now.
    Result<void> connected = co_await connect(deadline);
    if (!connected) co_return std::unexpected(connected.error());
    const Result<void> sent = co_await write(deadline);
    if (!sent) co_return std::unexpected(sent.error());
    reply = co_await read_reply(deadline);
  }
  if (!reply) {
    connection_.reset();
    reply = std::unexpected(judge_silence(std::move(reply.error()), true));
    co_return with_context(reply, "{}", to_string(to_));
  }
  co_return reply;
}

Error RpcClient::judge_silence(Error error, bool asked) const {
  const bool tcp = to_.kind == runtime::Endpoint::Kind::kTcp;
  const bool accepted = cost_.fresh_connection && asked;
  if (tcp && !accepted && error.code == Errc::kTimeout) error.code = Errc::kUnreachable;
  return error;
}

void RpcClient::rest() noexcept {
  if (connection_) connection_->reader.rest();
}

Task<Result<void>> RpcClient::connect(Deadline deadline) {
  connection_.reset();
  cost_.fresh_connection = true;
  auto stream = co_await runtime_.connect(to_, deadline);
  if (!stream) co_return std::unexpected(connect_failure(to_, stream.error()));
  connection_ = std::make_unique<Connection>(*std::move(stream), options_.limits);
  co_return Result<void>();
}

Task<Result<void>> RpcClient::write(Deadline deadline) {
  Result<void> written = co_await connection_->stream->write(request_, deadline);
  if (!written) {
    connection_.reset();
    written = std::unexpected(judge_silence(std::move(written.error()), false));
    co_return with_context(written, "{}", to_string(to_));
  }
  cost_.bytes_out += request_.size();
  co_return Result<void>();
}

Task<Result<codec::RpcMessage>> RpcClient::read_reply(Deadline deadline) {
  for (int messages = 0; messages < kMaxMessagesPerReply;) {
    const Result<std::optional<codec::RpcMessage>> next = connection_->reader.next();
    if (!next) co_return std::unexpected(next.error());
    if (!*next) {
      const Result<void> more = co_await read_more(deadline);
      if (!more) co_return std::unexpected(more.error());
      continue;
    }
    ++messages;
    const codec::RpcMessage& message = **next;
    if (message.kind == codec::RpcMessage::Kind::kReply) {
      if (message.answers(id_)) co_return message;
      co_return fail(Errc::kProtocol, "a reply to nothing that was asked");
    }
    if (message.kind == codec::RpcMessage::Kind::kRequest && message.method == "echo") {
      const Result<void> answered = co_await answer_echo(&message, deadline);
      if (!answered) co_return std::unexpected(answered.error());
    }
  }
  co_return fail(Errc::kLimit, "more than {} messages and no reply", kMaxMessagesPerReply);
}

Task<Result<void>> RpcClient::read_more(Deadline deadline) {
  if (cost_.bytes_in > kMaxBytesPerReply)
    co_return fail(Errc::kLimit, "more than {} bytes and no reply", kMaxBytesPerReply);
  const std::span<char> room = connection_->reader.room();
  const Result<std::size_t> got = co_await connection_->stream->read_some(room, deadline);
  if (!got) {
    if (!connection_->reader.partial()) co_return std::unexpected(got.error());
    co_return with_context(got, "half a message");
  }
  connection_->reader.received(*got);
  cost_.bytes_in += *got;
  co_return Result<void>();
}

Task<Result<void>> RpcClient::answer_echo(const codec::RpcMessage* request, Deadline deadline) {
  std::string reply;
  codec::append_echo_reply(reply, *request);
  const Result<void> written = co_await connection_->stream->write(reply, deadline);
  cost_.bytes_out += reply.size();
  co_return written;
}

}  // namespace wardmote::observe::ovn
