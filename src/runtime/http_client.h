#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/http.h"
#include "runtime/task.h"

namespace wardmote::runtime {

/// One request to an HTTP server.
struct HttpCall {
  std::string method = "POST";
  std::string url;  ///< http or https; a user and password in it are not used
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string trust;                   ///< a file with the trusted CA certificates;
                                       ///< empty: the system's
  std::string trust_pem{};             ///< the same as bytes, instead of the file
  std::string certificate_pem{};       ///< ours with its chain; empty: none
  std::string key_pem{};               ///< of the certificate
  std::size_t answer_bytes = 1 << 20;  ///< a longer answer is kLimit
  /// From then on the request is not sent any more, however long it took to connect: kTimeout. What
  /// was sent before is waited for.
  std::optional<TimePoint> send_before{};
};

/// Access to HTTP servers: names are resolved, TLS is verified, redirects are not followed.
/// Production: net::CurlHttpClient. Thread: the core loop.
class HttpClient {
 public:
  HttpClient() = default;
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  virtual ~HttpClient() = default;

  /// Any status is an answer. kTimeout, kRefused, kUnreachable (the name too), kDenied (the
  /// certificate), kClosed, kProtocol, kLimit, kInvalid.
  virtual Task<Result<HttpResponse>> call(HttpCall call, Deadline deadline) = 0;
};

}  // namespace wardmote::runtime
