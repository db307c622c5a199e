#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

/// One field of a header.
struct HeaderField {
  std::string name;  ///< in lower case
  std::string value;
  friend bool operator==(const HeaderField&, const HeaderField&) = default;
};
using HeaderFields = std::vector<HeaderField>;

/// How much a server may cost.
struct Http2Limits {
  /// The bytes of an answer's headers, and of its trailers, as RFC 9113 6.5.2 counts them.
  std::size_t header_bytes = 16 << 10;
  /// The bytes of one call's data that nobody has taken: its flow-control window, so that the
  /// server waits.
  std::size_t window = 65'535;
  std::size_t calls = 64;  ///< calls at the same time
  /// bytes of one call's request that wait, while the server takes no more
  std::size_t unsent = 1 << 20;
  /// bytes received that bring no call forward: pings and the like
  std::size_t idle_bytes = 256 << 10;
};

/// What has arrived of one call.
struct Http2Call {
  HeaderFields headers;  ///< of the final answer; empty until it has arrived
  std::string data;      ///< data that nobody has taken
  HeaderFields trailers;
  bool ended = false;  ///< the call is complete
  /// Why it ended too early. kRejected: the server reset it; kClosed: the server goes away and has
  /// not processed it; kProtocol.
  std::optional<Error> failure{};
};

/// The client's side of an HTTP/2 connection (RFC 9113), by nghttp2 and without I/O: received bytes
/// go into receive(), and take_output() returns the bytes to send after every other call. Several
/// calls run at the same time. After an error of receive() the connection cannot be used any more.
/// Pure.
class Http2Session {
 public:
  using CallId = std::int32_t;

  explicit Http2Session(const Http2Limits& limits = {});
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;
  ~Http2Session();

  /// Begins a call; its request continues until send() says that it is complete. `headers` have
  /// `:method` and the other pseudo-headers first. kLimit: too many calls at the same time;
  /// kClosed: no more calls on this connection.
  Result<CallId> open(const HeaderFields& headers);
  /// Sends more of the request's data. kLimit when too much data waits. Data for a call that has
  /// ended is dropped.
  Result<void> send(CallId call, std::string_view data, bool last);
  /// An open call. Valid until the next call of a method.
  [[nodiscard]] const Http2Call& call(CallId call) const;
  /// Takes the data that has arrived since the last time; the server may then send as much again.
  std::string take_data(CallId call);
  /// Forgets a call; the server gets a reset unless the call has ended.
  void close(CallId call);

  /// Processes received bytes. kProtocol: they are not HTTP/2, or break its rules; kLimit: over a
  /// limit.
  Result<void> receive(std::string_view bytes);
  /// The bytes to send; empty when there are none.
  std::string take_output();
  /// False after a GOAWAY of the server, when the stream numbers are used up, and after an error of
  /// receive().
  [[nodiscard]] bool takes_calls() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wardmote::codec
