#include "runtime/http2_connection.h"

#include <array>
#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "codec/http2_session.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::runtime {
namespace {

constexpr std::size_t kChunk = 16 << 10;

}  // namespace

/// Marks that a task is sending. If that task is cancelled, half of a frame may have been sent.
struct Http2Connection::Turn {
  explicit Turn(Http2Connection& connection) : of(connection) { of.sending_ = true; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    of.sending_ = false;
    if (!ended)
      static_cast<void>(of.break_off({Errc::kClosed, "cut off in the middle of a write"}));
  }
  Http2Connection& of;
  bool ended = false;
};

Http2Connection::Http2Connection(Runtime& runtime, std::unique_ptr<Stream> stream,
                                 const codec::Http2Limits& limits)
    : runtime_(runtime), stream_(std::move(stream)), session_(limits) {}

Task<Result<void>> Http2Connection::send(Deadline deadline) {
  if (broken_) co_return std::unexpected(*broken_);
  if (sending_) co_return Result<void>();
  Turn turn(*this);
  for (std::string bytes = session_.take_output(); !bytes.empty(); bytes = session_.take_output()) {
    const Result<void> written = co_await stream_->write(bytes, deadline);
    if (!written) co_return break_off(written.error());
    traffic_.out += bytes.size();
  }
  turn.ended = true;
  co_return Result<void>();
}

Task<Result<void>> Http2Connection::receive(Deadline deadline) {
  // The server may be waiting for exactly this: data that was consumed has opened its window.
  const Result<void> said = co_await send(deadline);
  if (!said) co_return said;
  // A server that sends one byte at a time keeps every single read short; the deadline covers all
  // of them.
  if (deadline.passed(runtime_.now())) co_return break_off({Errc::kTimeout, "read"});
  std::array<char, kChunk> chunk;
  const Result<std::size_t> got = co_await stream_->read_some(chunk, deadline);
  if (!got) co_return break_off(got.error());
  traffic_.in += *got;
  const Result<void> taken = session_.receive(std::string_view(chunk.data(), *got));
  if (!taken) co_return break_off(taken.error());
  const Result<void> sent = co_await send(deadline);
  co_return sent;
}

void Http2Connection::close() noexcept {
  if (!broken_) broken_ = Error{Errc::kClosed, "closed"};
  stream_->close();
}

Http2Connection::Traffic Http2Connection::take_traffic() noexcept {
  return std::exchange(traffic_, {});
}

std::unexpected<Error> Http2Connection::break_off(const Error& error) {
  // The first error says more than the later ones, which only say that the stream was closed.
  if (!broken_) broken_ = error;
  // Wakes the task that receives.
  stream_->close();
  return std::unexpected(*broken_);
}

}  // namespace wardmote::runtime
