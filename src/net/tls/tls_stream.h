#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/tls/contexts.h"
#include "net/tls/openssl.h"
#include "runtime/peer.h"
#include "runtime/stream.h"
#include "runtime/tls.h"

namespace wardmote::net::tls {

/// TLS over another stream: OpenSSL turns text into records and back in memory, and the stream
/// below carries them, so that deadlines and cancellation are those of any stream. The handshake is
/// the caller's first read, write or handshake(); until it has ended there is one operation at a
/// time, afterwards one reader and one writer. Thread: the core loop.
class TlsStream final : public runtime::Stream {
 public:
  /// `host` is whom a client asks for; empty on a server.
  TlsStream(std::unique_ptr<runtime::Stream> below, SslPtr ssl, Side side,
            runtime::TlsSettings settings, std::string host);
  /// Says goodbye, so that the peer need not wonder.
  ~TlsStream() override;

  /// The errors of TlsLayer::connect().
  runtime::Task<Result<void>> handshake(runtime::Deadline deadline);

  runtime::Task<Result<std::size_t>> read_some(std::span<char> into,
                                               runtime::Deadline deadline) override;
  runtime::Task<Result<void>> write(std::string_view bytes, runtime::Deadline deadline) override;
  void close() noexcept override;
  [[nodiscard]] runtime::Peer peer() const override;
  [[nodiscard]] const runtime::TlsPeer* tls_peer() const noexcept override {
    return peer_ ? &*peer_ : nullptr;
  }

 private:
  static int verified(int good, X509_STORE_CTX* by);
  runtime::Task<Result<void>> send_records(runtime::Deadline deadline);
  runtime::Task<Result<void>> receive_records(runtime::Deadline deadline);
  runtime::Task<Result<void>> hear_last_words(runtime::Deadline deadline);
  runtime::Task<Result<void>> ensure_handshake(runtime::Deadline deadline);
  [[nodiscard]] Error fault();
  [[nodiscard]] Error end_of_handshake(const Error& error) const;
  [[nodiscard]] Error end_of_reading(const Error& error) const;

  std::unique_ptr<runtime::Stream> below_;
  SslPtr ssl_;
  BIO* from_peer_;  ///< both belong to ssl_
  BIO* to_peer_;
  runtime::TlsSettings settings_;
  std::string name_;
  std::optional<runtime::TlsPeer> peer_;  ///< since the end of the handshake
  std::optional<Error> distrust_;
  bool asked_for_ours_ = false;
  bool heard_ = false;     ///< a record of the peer's
  bool answered_ = false;  ///< text of the peer's
  bool broken_ = false;    ///< no further record makes sense
};

}  // namespace wardmote::net::tls
