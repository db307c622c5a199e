#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/http.h"

namespace wardmote::net {

/// Reads HTTP/1.1 requests out of a byte stream. A facade over Beast's parser, whose headers stay
/// in http_message.cc.
class HttpRequestReader {
 public:
  explicit HttpRequestReader(const runtime::HttpLimits& limits);
  ~HttpRequestReader();

  /// Parses what has come so far and cuts what it used off the front of `bytes`. kProtocol when it
  /// is not HTTP; kLimit.
  Result<void> feed(std::string& bytes);
  /// The whole request is there.
  [[nodiscard]] bool done() const;
  /// The client waits for `100 Continue` before it sends the body; true once.
  [[nodiscard]] bool take_expectation();
  /// After a kLimit: it was the body, not the header.
  [[nodiscard]] bool body_too_long() const;
  /// Once, when done. kProtocol when the target is not a path.
  [[nodiscard]] Result<runtime::HttpRequest> take();
  [[nodiscard]] bool keep_alive() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Reads one HTTP/1.1 response out of a byte stream.
class HttpResponseReader {
 public:
  HttpResponseReader(const runtime::HttpLimits& limits, bool to_head);
  ~HttpResponseReader();

  Result<void> feed(std::string& bytes);
  /// The peer has closed; that ends a body without a length. kClosed when it is too early.
  Result<void> feed_end();
  [[nodiscard]] bool done() const;
  [[nodiscard]] runtime::HttpResponse take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct ResponseForm {
  bool keep_alive = false;
  bool head_only = false;
  WallTime date;
};

/// The bytes of a response; of one with a stream, the head.
std::string encode_response(const runtime::HttpResponse& response, const ResponseForm& form);

/// The bytes of a request that closes its connection; `host` goes into the Host header.
std::string encode_request(const runtime::HttpRequest& request, std::string_view host);

}  // namespace wardmote::net
