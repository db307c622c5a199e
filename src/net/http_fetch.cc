#include "net/http_fetch.h"

#include <array>
#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "net/http_message.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"

namespace wardmote::net {

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

Task<Result<HttpResponse>> read_response(Stream* stream, bool to_head, HttpLimits limits,
                                         Deadline deadline) {
  HttpResponseReader reader(limits, to_head);
  std::string received;
  while (!reader.done()) {
    std::array<char, kChunk> chunk;
    const Result<std::size_t> got = co_await stream->read_some(chunk, deadline);
    if (!got && got.error().code != Errc::kClosed) co_return std::unexpected(got.error());
    if (got) received.append(chunk.data(), *got);
    const Result<void> fed = got ? reader.feed(received) : reader.feed_end();
    if (!fed) co_return std::unexpected(fed.error());
  }
  co_return reader.take();
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

}  // namespace wardmote::net
