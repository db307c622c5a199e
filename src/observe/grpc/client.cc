#include "observe/grpc/client.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/bytes.h"
#include "codec/grpc.h"
#include "codec/hpack.h"
#include "codec/http2.h"
#include "judge/endpoint/grpc.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::grpc {

using codec::Http2Frame;
using codec::Http2Type;
using judge::GrpcFacts;
using runtime::Deadline;
using runtime::Endpoint;
using runtime::Task;

namespace {

constexpr std::string_view kPath = "/grpc.health.v1.Health/Check";
constexpr std::size_t kMostData = 4096;
constexpr std::size_t kMostHeaders = 32 << 10;
/// Pings and the like; who sends more does not want to answer.
constexpr int kMostFrames = 1000;
/// A connection's numbers for calls run out at 2^31.
constexpr std::uint32_t kLastStream = 1U << 30;

Http2Frame frame_of(Http2Type type, std::uint8_t flags, std::uint32_t stream, std::string payload) {
  return {static_cast<std::uint8_t>(type), flags, stream, std::move(payload)};
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
  if (fresh_every_ != 0 && looks_++ % fresh_every_ == 0) connection_.reset();
  const bool kept = connection_ != nullptr;
  Result<GrpcFacts> facts = co_await ask(deadline);
  if (!facts && kept && facts.error().code == Errc::kClosed) {
    connection_.reset();
    facts = co_await ask(deadline);
  }
  if (!facts && !connection_) co_return facts;  // it could not connect, and says where to
  if (!facts) {
    connection_.reset();
    co_return with_context(facts, "{}", to_string(at_));
  }
  if (connection_->goes_away || connection_->last_stream >= kLastStream) connection_.reset();
  co_return facts;
}

Task<Result<GrpcFacts>> Client::ask(Deadline deadline) {
  GrpcFacts facts;
  facts.service = service_;
  facts.kept = connection_ != nullptr;
  const TimePoint begun = runtime_.now();
  std::string words;
  if (!connection_) {
    cost_.fresh_connection = true;
    auto stream = co_await runtime_.connect(at_, deadline);
    if (!stream) co_return std::unexpected(connect_failure(at_, stream.error()));
    connection_ = std::make_unique<Connection>();
    connection_->stream = *std::move(stream);
    words.append(codec::kHttp2Preface).append(codec::encode_http2_settings());
  }
  const TimePoint connected = runtime_.now();
  facts.connect_time = connected - begun;
  connection_->last_stream += connection_->last_stream == 0 ? 1 : 2;
  const std::uint32_t stream = connection_->last_stream;
  const std::string_view scheme = at_.kind == Endpoint::Kind::kTls ? "https" : "http";
  words += encode(
      frame_of(Http2Type::kHeaders, codec::kHttp2EndHeaders, stream,
               codec::encode_grpc_headers(scheme, authority_, kPath, deadline.left(connected))));
  words += encode(frame_of(Http2Type::kData, codec::kHttp2EndStream, stream,
                           codec::encode_grpc_message(codec::encode_health_request(service_))));
  const Result<void> written = co_await write(std::move(words), deadline);
  if (!written) co_return std::unexpected(written.error());

  Call call;
  for (int frames = 0; !call.ended; ++frames) {
    if (frames == kMostFrames)
      co_return fail(Errc::kLimit, "no answer within {} frames", kMostFrames);
    Result<Http2Frame> frame = co_await next_frame(deadline);
    if (!frame) co_return std::unexpected(frame.error());
    const Result<void> taken = co_await take(*std::move(frame), &call, deadline);
    if (!taken) co_return std::unexpected(taken.error());
  }
  facts.answer_time = runtime_.now() - connected;
  if (!call.status) co_return fail(Errc::kProtocol, "the call ended without a grpc-status");
  facts.status = call.status->code;
  facts.message = escape_control(call.status->message);
  if (facts.status != 0) co_return facts;
  const Result<std::int64_t> serving = codec::parse_health_response(call.data);
  if (!serving) co_return std::unexpected(serving.error());
  if (*serving < 0 || *serving > static_cast<std::int64_t>(judge::Serving::kNoService))
    co_return fail(Errc::kProtocol, "serving status {}", *serving);
  facts.serving = static_cast<judge::Serving>(*serving);
  co_return facts;
}

Task<Result<void>> Client::write(std::string bytes, Deadline deadline) {
  const Result<void> written = co_await connection_->stream->write(bytes, deadline);
  if (!written) co_return with_context(written, "write");
  cost_.bytes_out += bytes.size();
  co_return Result<void>();
}

Task<Result<Http2Frame>> Client::next_frame(Deadline deadline) {
  for (;;) {
    Result<std::optional<Http2Frame>> frame = connection_->reader.next();
    if (!frame) co_return std::unexpected(frame.error());
    if (*frame) co_return **std::move(frame);
    // Who drips keeps every single read short; the deadline is for all of them.
    if (deadline.passed(runtime_.now())) co_return fail(Errc::kTimeout, "read");
    const std::span<char> room = connection_->reader.room();
    const Result<std::size_t> got = co_await connection_->stream->read_some(room, deadline);
    if (!got) co_return with_context(got, "{} bytes of an answer", connection_->reader.held());
    connection_->reader.received(*got);
    cost_.bytes_in += *got;
  }
}

Task<Result<void>> Client::take(Http2Frame frame, Call* call, Deadline deadline) {
  const bool ours = frame.stream == connection_->last_stream;
  const bool needs_ack = (frame.flags & codec::kHttp2Ack) == 0;
  if (frame.is(Http2Type::kHeaders)) {
    Result<void> taken = co_await take_headers(std::move(frame), call, deadline);
    co_return taken;
  }
  if (frame.is(Http2Type::kSettings) && needs_ack) {
    std::string ack = encode(frame_of(Http2Type::kSettings, codec::kHttp2Ack, 0, {}));
    Result<void> written = co_await write(std::move(ack), deadline);
    co_return written;
  }
  if (frame.is(Http2Type::kPing) && needs_ack) {
    std::string ack =
        encode(frame_of(Http2Type::kPing, codec::kHttp2Ack, 0, std::move(frame.payload)));
    Result<void> written = co_await write(std::move(ack), deadline);
    co_return written;
  }
  if (frame.is(Http2Type::kGoAway)) co_return take_go_away(frame);
  if (frame.is(Http2Type::kData) && ours) co_return take_data(frame, *call);
  if (frame.is(Http2Type::kReset) && ours) {
    if (frame.payload.size() != 4) co_return fail(Errc::kProtocol, "a reset that is none");
    co_return fail(Errc::kRejected, "the call was reset: {}",
                   codec::http2_error_name(codec::big_endian<std::uint32_t>(frame.payload)));
  }
  co_return Result<void>();
}

/// Blocks of calls that we have given up are read too: later ones refer to them.
Task<Result<void>> Client::take_headers(Http2Frame frame, Call* call, Deadline deadline) {
  const Result<std::string_view> content = codec::http2_content(frame);
  if (!content) co_return std::unexpected(content.error());
  std::string block(*content);
  bool whole = (frame.flags & codec::kHttp2EndHeaders) != 0;
  while (!whole) {
    const Result<Http2Frame> more = co_await next_frame(deadline);
    if (!more) co_return std::unexpected(more.error());
    if (!more->is(Http2Type::kContinuation) || more->stream != frame.stream)
      co_return fail(Errc::kProtocol, "headers that do not go on");
    block += more->payload;
    // Empty ones would cost nothing and go on for ever.
    if (block.size() > kMostHeaders || more->payload.empty())
      co_return fail(Errc::kLimit, "headers over {} bytes, or empty", kMostHeaders);
    whole = (more->flags & codec::kHttp2EndHeaders) != 0;
  }
  Result<std::vector<codec::HeaderField>> headers = connection_->headers.decode(block);
  if (!headers) co_return std::unexpected(headers.error());
  if (frame.stream != connection_->last_stream) co_return Result<void>();
  if (!call->has_headers) {
    const Result<void> good = codec::check_grpc_headers(*headers);
    if (!good) co_return good;
  }
  call->has_headers = true;
  Result<std::optional<codec::GrpcStatus>> status = codec::find_grpc_status(*headers);
  if (!status) co_return std::unexpected(status.error());
  if (*status) call->status = **std::move(status);
  call->ended = (frame.flags & codec::kHttp2EndStream) != 0;
  co_return Result<void>();
}

Result<void> Client::take_data(const Http2Frame& frame, Call& call) const {
  const Result<std::string_view> content = codec::http2_content(frame);
  if (!content) return std::unexpected(content.error());
  call.data.append(*content);
  if (call.data.size() > kMostData) return fail(Errc::kLimit, "a message over {} bytes", kMostData);
  call.ended = (frame.flags & codec::kHttp2EndStream) != 0;
  return {};
}

Result<void> Client::take_go_away(const Http2Frame& frame) {
  if (frame.payload.size() < 8) return fail(Errc::kProtocol, "a GOAWAY that is none");
  connection_->goes_away = true;
  const auto last = codec::big_endian<std::uint32_t>(frame.payload) & 0x7fffffffU;
  // It still answers what came before; what came after was not looked at, and may be asked anew.
  if (connection_->last_stream <= last) return {};
  const auto code = codec::big_endian<std::uint32_t>(std::string_view(frame.payload).substr(4));
  return fail(code == 0 ? Errc::kClosed : Errc::kRejected, "it goes away: {}",
              codec::http2_error_name(code));
}

}  // namespace wardmote::observe::grpc
