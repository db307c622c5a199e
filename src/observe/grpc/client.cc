#include "observe/grpc/client.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/grpc.h"
#include "codec/http2_session.h"
#include "judge/endpoint/grpc.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/http2_connection.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::grpc {

using codec::Http2Call;
using codec::Http2Session;
using judge::GrpcFacts;
using runtime::Deadline;
using runtime::Endpoint;
using runtime::Task;

namespace {

constexpr std::string_view kPath = "/grpc.health.v1.Health/Check";
constexpr std::size_t kMostData = 4096;
/// The most bytes of pings and the like; a server that sends more does not want to answer.
constexpr codec::Http2Limits kLimits{.calls = 1, .idle_bytes = 16 << 10};

/// Reads what the server has sent of its answer. kRejected, kClosed, kProtocol, kLimit.
Result<void> check_so_far(const Http2Call& call, std::string_view data) {
  if (!call.headers.empty()) {
    const Result<void> good = codec::check_grpc_headers(call.headers);
    if (!good) return good;
  }
  if (data.size() > kMostData) return fail(Errc::kLimit, "a message over {} bytes", kMostData);
  if (call.failure) return std::unexpected(*call.failure);
  return {};
}

/// Checks a complete answer.
Result<void> read_answer(const Http2Call& call, std::string_view data, GrpcFacts& facts) {
  const Result<codec::GrpcStatus> status = codec::read_grpc_status(call);
  if (!status) return std::unexpected(status.error());
  facts.status = status->code;
  facts.message = escape_control(status->message);
  if (facts.status != 0) return {};
  const Result<std::int64_t> serving = codec::parse_health_response(data);
  if (!serving) return std::unexpected(serving.error());
  if (*serving < 0 || *serving > static_cast<std::int64_t>(judge::Serving::kNoService))
    return fail(Errc::kProtocol, "serving status {}", *serving);
  facts.serving = static_cast<judge::Serving>(*serving);
  return {};
}

}  // namespace

Client::Client(runtime::Runtime& runtime, Endpoint at, std::string authority, std::string service,
               unsigned fresh_every)
    : runtime_(runtime),
      at_(std::move(at)),
      authority_(std::move(authority)),
      service_(std::move(service)),
      fresh_every_(fresh_every) {}

Task<Result<GrpcFacts>> Client::look(Deadline deadline) {
  cost_ = {};
  // A cancelled probe has left its call open.
  if (std::exchange(looking_, true)) connection_.reset();
  if (fresh_every_ != 0 && looks_++ % fresh_every_ == 0) connection_.reset();
  Result<GrpcFacts> facts = co_await ask_twice(deadline);
  looking_ = false;
  co_return facts;
}

Task<Result<GrpcFacts>> Client::ask_twice(Deadline deadline) {
  const bool kept = connection_ != nullptr;
  Result<GrpcFacts> facts = co_await ask(deadline);
  if (!facts && kept && facts.error().code == Errc::kClosed) {
    drop();
    facts = co_await ask(deadline);
  }
  // the connection failed; the context names the address
  if (!facts && !connection_) co_return facts;
  if (!facts) {
    drop();
    co_return with_context(facts, "{}", to_string(at_));
  }
  count_traffic();
  if (!connection_->session().takes_calls()) connection_.reset();
  co_return facts;
}

Task<Result<GrpcFacts>> Client::ask(Deadline deadline) {
  GrpcFacts facts;
  facts.service = service_;
  facts.kept = connection_ != nullptr;
  const TimePoint begun = runtime_.now();
  if (!connection_) {
    cost_.fresh_connection = true;
    auto stream = co_await runtime_.connect(at_, deadline);
    if (!stream) co_return std::unexpected(connect_failure(at_, stream.error()));
    connection_ = std::make_unique<runtime::Http2Connection>(runtime_, *std::move(stream), kLimits);
  }
  const TimePoint connected = runtime_.now();
  facts.connect_time = connected - begun;
  Http2Session& session = connection_->session();
  const Result<Http2Session::CallId> call = open_call(deadline.left(connected));
  if (!call) co_return std::unexpected(call.error());

  std::string data;
  while (!session.call(*call).ended) {
    const Result<void> received = co_await connection_->receive(deadline);
    if (!received) co_return std::unexpected(received.error());
    data += session.take_data(*call);
    const Result<void> good = check_so_far(session.call(*call), data);
    if (!good) co_return std::unexpected(good.error());
  }
  facts.answer_time = runtime_.now() - connected;
  const Result<void> read = read_answer(session.call(*call), data, facts);
  if (!read) co_return std::unexpected(read.error());
  session.close(*call);
  co_return facts;
}

Result<Http2Session::CallId> Client::open_call(Duration left) {
  Http2Session& session = connection_->session();
  const std::string_view scheme = at_.kind == Endpoint::Kind::kTls ? "https" : "http";
  const Result<Http2Session::CallId> call =
      session.open(codec::grpc_headers(scheme, authority_, kPath, left));
  if (!call) return call;
  const std::string message = codec::encode_grpc_message(codec::encode_health_request(service_));
  const Result<void> sent = session.send(*call, message, true);
  if (!sent) return std::unexpected(sent.error());
  return call;
}

void Client::drop() {
  count_traffic();
  connection_.reset();
}

void Client::count_traffic() {
  const runtime::Http2Connection::Traffic traffic = connection_->take_traffic();
  cost_.bytes_in += traffic.in;
  cost_.bytes_out += traffic.out;
}

}  // namespace wardmote::observe::grpc
