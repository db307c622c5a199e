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
using runtime::Listener;
using runtime::Stream;
using runtime::Task;
using runtime::TlsSettings;

namespace {

class TlsListener final : public Listener {
 public:
  TlsListener(std::unique_ptr<Listener> below, std::shared_ptr<Contexts> contexts,
              TlsSettings settings)
      : below_(std::move(below)), contexts_(std::move(contexts)), settings_(std::move(settings)) {}

  Task<Result<std::unique_ptr<Stream>>> accept() override {
    Result<std::unique_ptr<Stream>> plain = co_await below_->accept();
    if (!plain) co_return plain;
    Result<SslPtr> ssl = contexts_->open(Side::kServer, settings_);
    if (!ssl) co_return std::unexpected(ssl.error());
    co_return std::make_unique<TlsStream>(*std::move(plain), *std::move(ssl), Side::kServer,
                                          settings_, std::string());
  }

 private:
  std::unique_ptr<Listener> below_;
  std::shared_ptr<Contexts> contexts_;
  TlsSettings settings_;
};

class OpenSslLayer final : public runtime::TlsLayer {
 public:
  Task<Result<std::unique_ptr<Stream>>> connect(std::unique_ptr<Stream> over, TlsSettings settings,
                                                std::string host, Deadline deadline) override {
    Result<SslPtr> ssl = contexts_->open(Side::kClient, settings);
    if (!ssl) co_return std::unexpected(ssl.error());
    auto stream = std::make_unique<TlsStream>(std::move(over), *std::move(ssl), Side::kClient,
                                              std::move(settings), std::move(host));
    const Result<void> done = co_await stream->handshake(deadline);
    if (!done) co_return std::unexpected(done.error());
    co_return std::move(stream);
  }

  Result<std::unique_ptr<Listener>> listen(std::unique_ptr<Listener> over,
                                           TlsSettings settings) override {
    const Result<SslPtr> ssl = contexts_->open(Side::kServer, settings);
    if (!ssl) return std::unexpected(ssl.error());
    return std::make_unique<TlsListener>(std::move(over), contexts_, std::move(settings));
  }

 private:
  std::shared_ptr<Contexts> contexts_ = std::make_shared<Contexts>();
};

}  // namespace

std::unique_ptr<runtime::TlsLayer> make_tls_layer() {
  return std::make_unique<OpenSslLayer>();
}

}  // namespace wardmote::net::tls
