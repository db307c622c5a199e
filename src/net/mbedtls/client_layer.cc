#include "net/mbedtls/client_layer.h"

#include <expected>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "net/mbedtls/client_stream.h"
#include "runtime/deadline.h"
#include "runtime/stream.h"
#include "runtime/task.h"
#include "runtime/tls.h"

namespace wardmote::net::mbedtls {

using runtime::Deadline;
using runtime::Stream;
using runtime::Task;
using runtime::TlsSettings;

namespace {

class ClientLayer final : public runtime::TlsLayer {
 public:
  Task<Result<std::unique_ptr<Stream>>> connect(std::unique_ptr<Stream> over, TlsSettings settings,
                                                std::string host, Deadline deadline) override {
    auto stream =
        std::make_unique<ClientStream>(std::move(over), std::move(settings), std::move(host));
    const Result<void> begun = stream->set_up();
    if (!begun) co_return std::unexpected(begun.error());
    const Result<void> done = co_await stream->handshake(deadline);
    if (!done) co_return std::unexpected(done.error());
    co_return std::move(stream);
  }

  Result<std::unique_ptr<Stream>> accept(std::unique_ptr<Stream> over,
                                         TlsSettings settings) override {
    static_cast<void>(over);
    if (const Result<void> possible = can_accept(settings); !possible)
      return std::unexpected(possible.error());
    return nullptr;
  }

  Result<void> can_accept(const TlsSettings&) override {
    return fail(Errc::kInvalid, "this program serves nothing over TLS");
  }
};

}  // namespace

std::unique_ptr<runtime::TlsLayer> make_client_layer() {
  return std::make_unique<ClientLayer>();
}

}  // namespace wardmote::net::mbedtls
