#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <optional>

#include "base/result.h"
#include "codec/http2_session.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::runtime {

/// An HTTP/2 session on a stream. Several tasks may have calls at the same time: each sends its own
/// request, and one task at a time receives for all. After an error of send() or receive(), and
/// after one of them was cancelled, the connection cannot be used any more. Life cycle: `runtime`
/// outlives it; it outlives those who use it. Thread: the core loop.
class Http2Connection {
 public:
  struct Traffic {
    std::size_t in = 0;
    std::size_t out = 0;
  };

  Http2Connection(Runtime& runtime, std::unique_ptr<Stream> stream,
                  const codec::Http2Limits& limits = {});
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;
  ~Http2Connection() = default;

  /// Where calls are begun, read and closed.
  [[nodiscard]] codec::Http2Session& session() noexcept { return session_; }

  /// Sends what the session has to send. If another task is sending, that task sends this too, and
  /// this returns at once.
  Task<Result<void>> send(Deadline deadline);
  /// As send(); then waits once for bytes, gives them to the session, and sends the session's
  /// answer. Errors are those of the stream and of Http2Session::receive(). One task at a time.
  Task<Result<void>> receive(Deadline deadline);

  /// Ends the connection now: all that run or come answer kClosed.
  void close() noexcept;

  /// Returns the bytes received since the last call.
  Traffic take_traffic() noexcept;

 private:
  struct Turn;
  std::unexpected<Error> break_off(const Error& error);

  Runtime& runtime_;
  std::unique_ptr<Stream> stream_;
  codec::Http2Session session_;
  Traffic traffic_;
  bool sending_ = false;
  std::optional<Error> broken_;
};

}  // namespace wardmote::runtime
