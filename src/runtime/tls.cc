#include "runtime/tls.h"

#include <expected>
#include <memory>
#include <utility>

#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::runtime {
namespace {

TlsSettings settings_of(const Endpoint& endpoint) {
  return endpoint.tls ? *endpoint.tls : TlsSettings{};
}

std::unexpected<Error> no_tls(const Endpoint& endpoint) {
  return fail(
      Errc::kInvalid,
      "{}: this program has no TLS; ask the agent, and let it look (a check in its configuration)",
      to_string(endpoint));
}

}  // namespace

Task<Result<std::unique_ptr<Stream>>> connect_tls(Runtime* runtime, TlsLayer* layer, Endpoint to,
                                                  Deadline deadline) {
  if (layer == nullptr) co_return no_tls(to);
  Endpoint below = Endpoint::tcp(to.host, to.port);
  Result<std::unique_ptr<Stream>> plain = co_await runtime->connect(std::move(below), deadline);
  if (!plain) {
    Error error = plain.error();
    if (error.code == Errc::kTimeout) error.code = Errc::kUnreachable;
    co_return std::unexpected(std::move(error));
  }
  TlsSettings settings = settings_of(to);
  Result<std::unique_ptr<Stream>> stream =
      co_await layer->connect(*std::move(plain), std::move(settings), to.host, deadline);
  if (!stream) co_return with_context(stream, "{}", to_string(to));
  co_return stream;
}

Result<std::unique_ptr<Listener>> listen_tls(Runtime& runtime, TlsLayer* layer,
                                             const Endpoint& at) {
  if (layer == nullptr) return no_tls(at);
  Result<std::unique_ptr<Listener>> plain = runtime.listen(Endpoint::tcp(at.host, at.port));
  if (!plain) return plain;
  Result<std::unique_ptr<Listener>> listener = layer->listen(*std::move(plain), settings_of(at));
  if (!listener) return with_context(listener, "{}", to_string(at));
  return listener;
}

}  // namespace wardmote::runtime
