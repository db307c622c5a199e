#pragma once

#include <string>
#include <string_view>

#include "runtime/http.h"
#include "runtime/runtime.h"

namespace wardmote::net {

/// Sends one request to an HTTP/1.1 server and closes the connection. Of `limits` only header_bytes
/// and body_bytes count. Any status is an answer; kProtocol, kLimit, kClosed and the errors of
/// connect().
runtime::Task<Result<runtime::HttpResponse>> http_fetch(
    runtime::Runtime& runtime, runtime::Endpoint to, runtime::HttpRequest request,
    runtime::Deadline deadline, runtime::HttpLimits limits = {.body_bytes = 16 << 20});

/// The bytes of a request that closes its connection; `host` goes into the Host header.
std::string encode_request(const runtime::HttpRequest& request, std::string_view host);

}  // namespace wardmote::net
