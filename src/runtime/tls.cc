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

class TcpListener final : public Listener {
 public:
  TcpListener(std::unique_ptr<Listener> plain, TlsLayer* layer, Endpoint at)
      : plain_(std::move(plain)), layer_(layer), at_(std::move(at)) {}

  Task<Result<std::unique_ptr<Stream>>> accept() override {
    Result<std::unique_ptr<Stream>> stream = co_await plain_->accept();
    if (!stream || at_.kind != Endpoint::Kind::kTls) co_return stream;
    co_return layer_->accept(*std::move(stream), settings_of(at_));
  }

  Result<void> change_to(const Endpoint& at) override {
    if (at.kind == Endpoint::Kind::kUnix || at.host != at_.host || at.port != at_.port)
      return Listener::change_to(at);
    if (const Result<void> able = can_serve(layer_, at); !able) return able;
    at_ = at;
    return {};
  }

  static Result<void> can_serve(TlsLayer* layer, const Endpoint& at) {
    if (at.kind != Endpoint::Kind::kTls) return {};
    if (layer == nullptr) return no_tls(at);
    const Result<void> able = layer->can_accept(settings_of(at));
    if (!able) return with_context(able, "{}", to_string(at));
    return able;
  }

 private:
  std::unique_ptr<Listener> plain_;
  TlsLayer* layer_;
  Endpoint at_;
};

}  // namespace

Result<void> Listener::change_to(const Endpoint& at) {
  return fail(Errc::kInvalid, "{}: not what is served here", to_string(at));
}

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

Result<std::unique_ptr<Listener>> listen_tcp(std::unique_ptr<Listener> plain, TlsLayer* layer,
                                             const Endpoint& at) {
  const Result<void> able = TcpListener::can_serve(layer, at);
  if (!able) return std::unexpected(able.error());
  return std::make_unique<TcpListener>(std::move(plain), layer, at);
}

}  // namespace wardmote::runtime
