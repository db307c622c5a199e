#pragma once

#include "runtime/http.h"
#include "runtime/runtime.h"

namespace wardmote::net {

/// Asks one HTTP/1.1 server once and closes the connection. Of `limits` only header_bytes and
/// body_bytes count. Any status is an answer; kProtocol, kLimit, kClosed and the errors of
/// connect().
runtime::Task<Result<runtime::HttpResponse>> http_fetch(
    runtime::Runtime& runtime, runtime::Endpoint to, runtime::HttpRequest request,
    runtime::Deadline deadline, runtime::HttpLimits limits = {.body_bytes = 16 << 20});

}  // namespace wardmote::net
