#include "net/http_fetch.h"

#include <array>
#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/percent.h"
#include "base/result.h"
#include "codec/http_answer.h"
#include "net/http_text.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"

namespace wardmote::net {

using codec::HttpAnswer;
using runtime::Deadline;
using runtime::Endpoint;
using runtime::HttpLimits;
using runtime::HttpRequest;
using runtime::HttpResponse;
using runtime::Runtime;
using runtime::Stream;
using runtime::Task;

namespace {

constexpr std::size_t kChunk = 16 << 10;

std::string host_header(const Endpoint& to) {
  if (to.kind == Endpoint::Kind::kUnix) return "localhost";
  return to_string(to).substr(std::string_view("tcp:").size());
}

Result<HttpResponse> response_of(const HttpAnswer& answer, const HttpLimits& limits) {
  if (answer.cut) return fail(Errc::kLimit, "an answer of more than {} bytes", limits.body_bytes);
  HttpResponse response;
  response.status = answer.status;
  response.content_type = answer.header("content-type");
  response.headers = answer.headers;
  response.body = answer.body;
  return response;
}

Task<Result<HttpResponse>> read_response(Stream* stream, bool to_head, HttpLimits limits,
                                         Deadline deadline) {
  codec::HttpAnswerReader reader(
      to_head, {.header_bytes = limits.header_bytes, .body_bytes = limits.body_bytes});
  while (!reader.complete()) {
    std::array<char, kChunk> chunk;
    const Result<std::size_t> got = co_await stream->read_some(chunk, deadline);
    if (!got && got.error().code != Errc::kClosed) co_return std::unexpected(got.error());
    const Result<void> taken =
        got ? reader.take(std::string_view(chunk.data(), *got)) : reader.closed();
    if (!taken) co_return std::unexpected(taken.error());
  }
  co_return response_of(reader.answer(), limits);
}

Task<Result<HttpResponse>> fetch(Runtime* runtime, Endpoint to, HttpRequest request,
                                 Deadline deadline, HttpLimits limits) {
  Result<std::unique_ptr<Stream>> stream = co_await runtime->connect(to, deadline);
  if (!stream) co_return std::unexpected(stream.error());
  const std::string bytes = encode_request(request, host_header(to));
  const Result<void> sent = co_await (*stream)->write(bytes, deadline);
  if (!sent) co_return with_context(sent, "{}", to_string(to));
  const bool to_head = request.method == "HEAD";
  Result<HttpResponse> response = co_await read_response(stream->get(), to_head, limits, deadline);
  if (!response) co_return with_context(response, "{}", to_string(to));
  co_return response;
}

}  // namespace

Task<Result<HttpResponse>> http_fetch(Runtime& runtime, Endpoint to, HttpRequest request,
                                      Deadline deadline, HttpLimits limits) {
  return fetch(&runtime, std::move(to), std::move(request), deadline, limits);
}

std::string encode_request(const HttpRequest& request, std::string_view host) {
  std::string bytes = fmt::format("{} {}", request.method, percent_encode_path(request.path));
  if (!request.query.empty()) bytes += "?" + request.query;
  bytes += " HTTP/1.1\r\n";
  append_header(bytes, "Host", host);
  append_header(bytes, "Connection", "close");
  if (!request.body.empty())
    append_header(bytes, "Content-Length", std::to_string(request.body.size()));
  for (const auto& [name, value] : request.headers) append_header(bytes, name, value);
  return bytes + "\r\n" + request.body;
}

}  // namespace wardmote::net
