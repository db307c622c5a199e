#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/peer.h"
#include "runtime/task.h"

namespace wardmote::runtime {

struct Endpoint;
struct TlsPeer;

/// A connected byte stream. One reader and one writer at a time. Destroying it closes it.
/// Every operation ends by its deadline with kTimeout; the stream is then in an unknown state and
/// must be dropped.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;

  /// At least one byte into `into` (not empty; kept alive by the caller). kClosed when the peer has
  /// closed.
  virtual Task<Result<std::size_t>> read_some(std::span<char> into, Deadline deadline) = 0;
  /// All of `bytes` (kept alive by the caller). kClosed when the peer has closed.
  virtual Task<Result<void>> write(std::string_view bytes, Deadline deadline) = 0;
  /// Ends the stream now; a pending operation answers kClosed.
  virtual void close() noexcept = 0;
  /// Who connected to a Listener, or who listens on a unix socket; empty for all other streams.
  [[nodiscard]] virtual Peer peer() const { return {}; }
  /// Writes `bytes` if that is possible at once and completely, as a last message before close().
  virtual void write_now(std::string_view bytes) noexcept { static_cast<void>(bytes); }
  /// Who is at the other end by TLS; null without TLS and before the handshake has ended. Valid as
  /// long as the stream.
  [[nodiscard]] virtual const TlsPeer* tls_peer() const noexcept { return nullptr; }
};

/// Accepts connections. Destroying it closes it and removes a unix socket file that it made.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;

  virtual Task<Result<std::unique_ptr<Stream>>> accept() = 0;
  /// From the next connection on, the same host and port are served as `at` says: with TLS, with
  /// other TLS settings, or without TLS. Accepted connections do not change. kInvalid: another
  /// address, our own files, or a program without TLS; then nothing has changed.
  virtual Result<void> change_to(const Endpoint& at);
};

}  // namespace wardmote::runtime
