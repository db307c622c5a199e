#pragma once

#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/http.h"
#include "runtime/http_client.h"
#include "runtime/task.h"

namespace wardmote::runtime {

/// Access to HTTP servers that go on to answer, a line whenever something happens. Production:
/// net::CurlHttpClient. Thread: the core loop.
class HttpLines {
 public:
  HttpLines() = default;
  HttpLines(const HttpLines&) = delete;
  HttpLines& operator=(const HttpLines&) = delete;
  virtual ~HttpLines() = default;

  /// As HttpClient::call, but the answer ends as soon as it has a line: its body is what had come
  /// by then, one line or more, and perhaps a part of another. No line: the server ended it.
  virtual Task<Result<HttpResponse>> call_for_line(HttpCall call, Deadline deadline) = 0;
};

}  // namespace wardmote::runtime
