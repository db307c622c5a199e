#include "net/tls/tls_layer.h"

#include <expected>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "net/tls/contexts.h"
#include "net/tls/openssl.h"
#include "net/tls/tls_stream.h"
#include "runtime/deadline.h"
#include "runtime/stream.h"
#include "runtime/task.h"
#include "runtime/tls.h"

namespace wardmote::net::tls {

using runtime::Deadline;
using runtime::Stream;
using runtime::Task;
using runtime::TlsSettings;

namespace {

class OpenSslLayer final : public runtime::TlsLayer {
 public:
  Task<Result<std::unique_ptr<Stream>>> connect(std::unique_ptr<Stream> over, TlsSettings settings,
                                                std::string host, Deadline deadline) override {
    Result<SslPtr> ssl = contexts_.open(Side::kClient, settings);
    if (!ssl) co_return std::unexpected(ssl.error());
    auto stream = std::make_unique<TlsStream>(std::move(over), *std::move(ssl), Side::kClient,
                                              std::move(settings), std::move(host));
    const Result<void> done = co_await stream->handshake(deadline);
    if (!done) co_return std::unexpected(done.error());
    co_return std::move(stream);
  }

  Result<std::unique_ptr<Stream>> accept(std::unique_ptr<Stream> over,
                                         TlsSettings settings) override {
    Result<SslPtr> ssl = contexts_.open(Side::kServer, settings);
    if (!ssl) return std::unexpected(ssl.error());
    return std::make_unique<TlsStream>(std::move(over), *std::move(ssl), Side::kServer,
                                       std::move(settings), std::string());
  }

  Result<void> can_accept(const TlsSettings& settings) override {
    const Result<SslPtr> ssl = contexts_.open(Side::kServer, settings);
    if (!ssl) return std::unexpected(ssl.error());
    return {};
  }

 private:
  Contexts contexts_;
};

}  // namespace

std::unique_ptr<runtime::TlsLayer> make_tls_layer() {
  return std::make_unique<OpenSslLayer>();
}

}  // namespace wardmote::net::tls
