#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "runtime/http.h"

namespace wardmote::net {

/// Reads HTTP/1.1 requests out of a byte stream: a facade over Beast's parser, whose headers stay
/// in http_message.cc. Answers are read by codec::HttpAnswerReader.
class HttpRequestReader {
 public:
  explicit HttpRequestReader(const runtime::HttpLimits& limits);
  ~HttpRequestReader();

  /// Parses the bytes received so far and cuts what it used off the front of `bytes`. kProtocol
  /// when they are not HTTP; kLimit.
  Result<void> feed(std::string& bytes);
  /// The same, but not beyond the end of the header.
  Result<void> feed_header(std::string& bytes);
  /// True when the header is complete and a body is to follow.
  [[nodiscard]] bool body_follows() const;
  /// The request without its body, once the header is complete. kProtocol as of take(); kRejected
  /// when the body has an unknown transfer coding (RFC 9112 6.1).
  [[nodiscard]] Result<runtime::HttpRequest> head() const;
  /// The memory that the body takes.
  [[nodiscard]] std::size_t body_bytes() const;
  /// True when the whole request has arrived.
  [[nodiscard]] bool done() const;
  /// The client waits for `100 Continue` before it sends the body; true once.
  [[nodiscard]] bool take_expectation();
  /// After a kLimit: true when the body was too long, and not the header.
  [[nodiscard]] bool body_too_long() const;
  /// Returns the request, once, when done. kProtocol when the target is not a path or hides a
  /// slash, and when there is no Host or more than one.
  [[nodiscard]] Result<runtime::HttpRequest> take();
  [[nodiscard]] bool keep_alive() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct ResponseForm {
  bool keep_alive = false;
  bool head_only = false;
  WallTime date;
};

/// The bytes of a response; for a response with a stream, its header. HttpResponse::shared follows
/// them.
std::string encode_response(const runtime::HttpResponse& response, const ResponseForm& form);

}  // namespace wardmote::net
